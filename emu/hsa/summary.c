/* emu/hsa/summary.c: one line at the end of the process: what its kernels did.
 *
 * Owns the totals of all dispatches since the library was loaded.  They outlive hsa_shut_down,
 * since a program may open the device several times.
 * Tested by tests/hsa/test_system.c and tests/cli/test_sim_programs.sh.   SPDX-License-Identifier: MIT
 */
#include "emu/hsa/summary.h"

#include "emu/hsa/message.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    _Atomic pid_t process; /* that prints the line; 0: none */
    _Atomic uint64_t kernels, counted, wave_instructions, faults;
} totals;

void emu_summary_begin(void)
{
    const char *wanted = getenv("MOESAIC_SIM_SUMMARY");
    atomic_store(&totals.process, wanted && strcmp(wanted, "1") == 0 ? getpid() : 0);
}

void emu_summary_add(const moesaic_sim_result *result, bool counted)
{
    atomic_fetch_add(&totals.kernels, 1);
    atomic_fetch_add(&totals.faults, result->status != MOESAIC_SIM_OK);
    if (!counted)
        return;
    atomic_fetch_add(&totals.counted, 1);
    atomic_fetch_add(&totals.wave_instructions, result->wave_instructions);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

void emu_summary_text(char *text, size_t text_bytes)
{
    uint64_t kernels = atomic_load(&totals.kernels), counted = atomic_load(&totals.counted),
             instructions = atomic_load(&totals.wave_instructions),
             faults = atomic_load(&totals.faults);
    char work[96];
    if (counted == kernels)
        snprintf(work, sizeof work, "%" PRIu64 " wave-instruction%s", instructions,
                 plural(instructions));
    else if (counted == 0)
        snprintf(work, sizeof work, "wave-instructions not counted (mode exact)");
    else
        snprintf(work, sizeof work, "%" PRIu64 " wave-instruction%s in the %" PRIu64 " timed",
                 instructions, plural(instructions), counted);
    snprintf(text, text_bytes, "%" PRIu64 " kernel%s run, %s, %" PRIu64 " fault%s", kernels,
             plural(kernels), work, faults, plural(faults));
}

static void __attribute__((destructor)) print_at_exit(void)
{
    char text[256];
    if (atomic_load(&totals.process) != getpid())
        return;
    emu_summary_text(text, sizeof text);
    emu_message("%s", text);
}
