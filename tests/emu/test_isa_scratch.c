/* tests/emu/test_isa_scratch.c: private memory, each lane in its own piece.    SPDX-License-Identifier: MIT
 */
#include "tests/emu/memory.h"

#include <stdio.h>
#include <string.h>

enum { ADDRESS = 10, DATA = 20, LOADED = 40, PIECE = 256, S_OFFSET = 5, S_BYTES = 40 };

static uint8_t scratch[64 * PIECE + 64], reference[64 * PIECE + 64];

/* Address operands as LLVM prints them, and which parts take part. */
static const struct {
    const char *vaddr, *saddr;
    bool has_vaddr, has_saddr;
} forms[] = {{"off", "off", false, false},
             {"off", "s5", false, true},
             {"v10", "off", true, false},
             {"v10", "s5", true, true}};
enum { N_FORMS = 4 };

static machine *machine_with_scratch(uint64_t seed)
{
    machine *m = machine_new(seed);
    memory_fill(m, scratch, sizeof scratch);
    m->wave.scratch = scratch;
    m->wave.scratch_bytes = PIECE;
    m->wave.s[S_OFFSET] = S_BYTES;
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, ADDRESS, lane, machine_random(m) % 128);
    return m;
}

static size_t place(const machine *m, int form, int lane)
{
    return (size_t)lane * PIECE + 20 +
           (forms[form].has_vaddr ? machine_lane(m, ADDRESS, lane) : 0) +
           (forms[form].has_saddr ? S_BYTES : 0);
}

static void test_loads(void **state)
{
    (void)state;
    machine *m = machine_with_scratch(41);
    for (int i = 0; i < memory_n_loads; i++)
        for (int form = 0; form < N_FORMS; form++)
            for (int mask = 0; mask < machine_n_masks; mask++) {
                char text[128], registers[24];
                const access *a = &memory_loads[i];
                const uint8_t *from[MACHINE_LANES];
                for (int lane = 0; lane < MACHINE_LANES; lane++)
                    from[lane] = scratch + place(m, form, lane);
                machine_set_exec(m, machine_masks[mask]);
                snprintf(text, sizeof text, "\tscratch_load_%s %s, %s, %s offset:20", a->name,
                         memory_registers(LOADED, memory_dwords(a->bytes), registers),
                         forms[form].vaddr, forms[form].saddr);
                machine *before = memory_clone(m);
                machine_run(m, text);
                memory_expect_loaded(before, m, a, LOADED, from, machine_masks[mask], text);
                machine_free(before);
            }
    machine_free(m);
}

static void test_stores(void **state)
{
    (void)state;
    machine *m = machine_with_scratch(42);
    for (int i = 0; i < memory_n_stores; i++)
        for (int form = 0; form < N_FORMS; form++)
            for (int mask = 0; mask < machine_n_masks; mask++) {
                char text[128], registers[24];
                const access *a = &memory_stores[i];
                uint8_t *to[MACHINE_LANES];
                for (int lane = 0; lane < MACHINE_LANES; lane++)
                    to[lane] = reference + place(m, form, lane);
                machine_set_exec(m, machine_masks[mask]);
                snprintf(text, sizeof text, "\tscratch_store_%s %s, %s, %s offset:20", a->name,
                         forms[form].vaddr,
                         memory_registers(DATA, memory_dwords(a->bytes), registers),
                         forms[form].saddr);
                memcpy(reference, scratch, sizeof scratch);
                memory_store(m, a, DATA, to, machine_masks[mask]);
                machine_run(m, text);
                if (memcmp(scratch, reference, sizeof scratch) != 0)
                    fail_msg("%s, exec %llx: scratch differs", text,
                             (unsigned long long)machine_masks[mask]);
            }
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_stores),
    };
    return machine_main("isa_scratch", tests, sizeof tests / sizeof *tests);
}
