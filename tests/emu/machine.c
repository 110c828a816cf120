/* tests/emu/machine.c: one hand-made wave that executes single instructions given as text.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

#include "emu/isa/mode.h"
#include "emu/isa/rows.h"
#include "emu/isa/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const uint64_t machine_masks[] = {
    ~0ull, 0, 1, 1ull << 63, 0x5555aaaa0f0f3333ull, 0xffff, 0x00ffff0000000000ull};
const int machine_n_masks = sizeof machine_masks / sizeof *machine_masks;

static const uint32_t interesting[] = {
    0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x800000,   0x80800000,
    0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
    0x7f800001, 0xffffffff, 0x7fffffff, 0x3f000000, 0x4b000000, 0x4effffff, 0x4f000000,
    0xcf000000, 0x4f800000, 0x1f,       0x20,       0xffff,     0x8000};

/* Stops the run loop of machine_run. */
static const emu_op *stop(emu_wave *wave, const emu_op *op)
{
    (void)wave;
    (void)op;
    return NULL;
}

uint32_t machine_random(machine *m)
{
    m->random = m->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(m->random >> 33) ^ (uint32_t)(m->random >> 17 << 16);
}

uint32_t machine_interesting(machine *m)
{
    uint32_t x = machine_random(m);
    return x & 3 ? machine_random(m)
                 : interesting[(x >> 2) % (sizeof interesting / sizeof *interesting)];
}

machine *machine_new(uint64_t seed)
{
    machine *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
    assert_non_null(m);
    memset(m, 0, sizeof *m);
    m->random = seed;
    m->decoder.n_vgprs = MACHINE_VGPRS;
    m->decoder.accum_offset = MACHINE_VGPRS / 2;
    m->wave.vgprs = m->registers;
    m->wave.mode = 0x2f0 | 1u << 8;
    m->wave.loop_budget = 1000;
    for (size_t i = 0; i < sizeof m->registers; i += 4) {
        uint32_t x = machine_interesting(m);
        memcpy(m->registers + i, &x, sizeof x);
    }
    for (int i = 0; i < 106; i++)
        m->wave.s[i] = machine_interesting(m);
    machine_set_exec(m, ~0ull);
    return m;
}

void machine_free(machine *m)
{
    free(m);
}

static bool decode(machine *m, const char *line, emu_op *op)
{
    emu_text text = {
        .line = line, .size_bytes = 4, .address = 0x1000, .words = {m->words[0], m->words[1]}};
    if (!emu_text_parse(line, m->decoder.accum_offset, &text))
        return false;
    return emu_decode(&m->decoder, &text, emu_decode_row(&text), op);
}

bool machine_decodes(machine *m, const char *line)
{
    emu_op op;
    return decode(m, line, &op);
}

/* Append what the text decodes to. */
static size_t append(machine *m, const char *line, emu_op *ops)
{
    size_t n = 0;
    emu_op op;
    if (!decode(m, line, &op))
        fail_msg("%s: %s", line, m->decoder.message);
    for (uint32_t i = 0; i < m->decoder.n_before; i++)
        ops[n++] = m->decoder.before[i];
    ops[n++] = op;
    for (uint32_t i = 0; i < m->decoder.n_after; i++)
        ops[n++] = m->decoder.after[i];
    return n;
}

void machine_run_all(machine *m, const char *const *lines, size_t n_lines, bool fused)
{
    enum { MOST = EMU_MAX_BEFORE + EMU_MAX_AFTER + 1 };
    emu_op *ops = aligned_alloc(64, (n_lines * MOST + 1) * sizeof *ops);
    bool *is_target = calloc(n_lines * MOST + 1, sizeof *is_target);
    size_t n = 0;
    assert_true(ops && is_target);
    for (size_t i = 0; i < n_lines; i++)
        n += append(m, lines[i], ops + n);
    memcpy(&m->wave.s[EMU_S_CONSTANT], m->decoder.constants,
           m->decoder.n_constants * sizeof(uint32_t));
    if (fused)
        emu_rows_fuse(ops, n, is_target);
    ops[n] = (emu_op){.exec = stop};
    emu_mode_enter(m->wave.mode);
    for (const emu_op *at = ops; at;)
        at = at->exec(&m->wave, at);
    emu_mode_leave();
    free(ops);
    free(is_target);
}

void machine_run(machine *m, const char *line)
{
    machine_run_all(m, &line, 1, false);
}

void machine_run_words(machine *m, const char *line, uint32_t word0, uint32_t word1)
{
    m->words[0] = word0, m->words[1] = word1;
    machine_run(m, line);
    m->words[0] = m->words[1] = 0;
}

static uint8_t *lane_at(const machine *m, int vgpr, int lane)
{
    return m->wave.vgprs + vgpr * EMU_VGPR_STRIDE + 4 * lane;
}

uint32_t machine_lane(const machine *m, int vgpr, int lane)
{
    uint32_t x;
    memcpy(&x, lane_at(m, vgpr, lane), sizeof x);
    return x;
}

uint64_t machine_lane64(const machine *m, int vgpr, int lane)
{
    return machine_lane(m, vgpr, lane) | (uint64_t)machine_lane(m, vgpr + 1, lane) << 32;
}

void machine_set_lane(machine *m, int vgpr, int lane, uint32_t value)
{
    memcpy(lane_at(m, vgpr, lane), &value, sizeof value);
}

void machine_set_lane64(machine *m, int vgpr, int lane, uint64_t value)
{
    machine_set_lane(m, vgpr, lane, (uint32_t)value);
    machine_set_lane(m, vgpr + 1, lane, (uint32_t)(value >> 32));
}

void machine_set_exec(machine *m, uint64_t exec)
{
    emu_set_s64(&m->wave, EMU_S_EXEC, exec);
}

float machine_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint32_t machine_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double machine_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

uint64_t machine_bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The level is chosen once per process, so each runs in a child. */
static int run_level(const char *level, const char *name, const struct CMUnitTest *tests, size_t n)
{
    char group[128];
    int status = 1;
    pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        setenv("MOESAIC_EMU_SIMD", level, 1);
        snprintf(group, sizeof group, "%s (%s)", name, emu_rows_level());
        _exit(_cmocka_run_group_tests(group, tests, n, NULL, NULL) != 0);
    }
    waitpid(child, &status, 0);
    return status != 0;
}

int machine_main(const char *name, const struct CMUnitTest *tests, size_t n)
{
    static const char *const levels[] = {"base", "avx2", "avx512", "amx"};
    const char *best = emu_rows_level();
    int failed = 0;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        failed |= run_level(levels[i], name, tests, n);
        if (!strcmp(levels[i], best))
            break;
    }
    return failed;
}
