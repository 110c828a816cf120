/* tests/emu/test_isa_global.c: global and flat memory against plain bytes.    SPDX-License-Identifier: MIT
 */
#include "tests/emu/memory.h"

#include <stdio.h>
#include <string.h>

enum { ADDRESS = 10, DATA = 20, OTHER = 30, LOADED = 40, S_BASE = 8 };
typedef enum form { VADDR, SADDR, FLAT, N_FORMS } form;

static uint8_t memory[MEMORY_BYTES + 64], reference[MEMORY_BYTES + 64];
static const int offsets[] = {0, 16, -8};
enum { N_OFFSETS = 3, SLACK = 16 };

/* Address registers so that lane l, with the instruction's offset, looks at memory + SLACK + at[l]. */
static void aim(machine *m, form f, const uint32_t at[MACHINE_LANES], int offset)
{
    uint64_t base = (uint64_t)(uintptr_t)memory + SLACK - (uint64_t)(int64_t)offset;
    m->wave.shared_aperture = 1ull << 62;
    m->wave.private_aperture = 2ull << 62;
    emu_set_s64(&m->wave, S_BASE, base);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        if (f == SADDR)
            machine_set_lane(m, ADDRESS, lane, at[lane]);
        else
            machine_set_lane64(m, ADDRESS, lane, base + at[lane]);
}

/* "global_load_dword v40, v[10:11], off offset:16" and the like; data first or last. */
static void write_text(char text[160], form f, const char *name, const char *first,
                       const char *last, int offset, const char *more)
{
    static const char *const address[] = {"v[10:11]", "v10", "v[10:11]"};
    static const char *const base[] = {", off", ", s[8:9]", ""};
    snprintf(text, 160, "\t%s_%s %s%s%s%s%s%s offset:%d%s", f == FLAT ? "flat" : "global", name,
             first, *first ? ", " : "", address[f], *last ? ", " : "", last, base[f], offset, more);
}

static void check_load(machine *m, const access *a, form f, const uint32_t at[MACHINE_LANES],
                       int offset, uint64_t exec)
{
    char text[160], name[32], registers[24];
    const uint8_t *from[MACHINE_LANES];
    aim(m, f, at, offset);
    machine_set_exec(m, exec);
    snprintf(name, sizeof name, "load_%s", a->name);
    write_text(text, f, name, memory_registers(LOADED, memory_dwords(a->bytes), registers), "",
               offset, "");
    machine *before = memory_clone(m);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        from[lane] = memory + SLACK + at[lane];
    machine_run(m, text);
    memory_expect_loaded(before, m, a, LOADED, from, exec, text);
    machine_free(before);
}

static void check_store(machine *m, const access *a, form f, const uint32_t at[MACHINE_LANES],
                        int offset, uint64_t exec)
{
    char text[160], name[32], registers[24];
    uint8_t *to[MACHINE_LANES];
    aim(m, f, at, offset);
    machine_set_exec(m, exec);
    snprintf(name, sizeof name, "store_%s", a->name);
    write_text(text, f, name, "", memory_registers(DATA, memory_dwords(a->bytes), registers),
               offset, "");
    memcpy(reference, memory, sizeof memory);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        to[lane] = reference + SLACK + at[lane];
    memory_store(m, a, DATA, to, exec);
    machine_run(m, text);
    if (memcmp(memory, reference, sizeof memory) != 0)
        fail_msg("%s, exec %llx: memory differs", text, (unsigned long long)exec);
}

typedef void check(machine *, const access *, form, const uint32_t *, int, uint64_t);

static void check_all(check *f, const access *accesses, int n)
{
    machine *m = machine_new(21);
    memory_fill(m, memory, sizeof memory);
    for (int i = 0; i < n; i++)
        for (int kind = 0; kind < N_FORMS; kind++)
            for (int pattern = 0; pattern < MEMORY_PATTERNS; pattern++)
                for (int mask = 0; mask < machine_n_masks; mask++) {
                    uint32_t at[MACHINE_LANES];
                    int offset = offsets[(pattern + mask) % N_OFFSETS];
                    memory_offsets(m, pattern, accesses[i].bytes, at);
                    f(m, &accesses[i], kind, at, kind == FLAT && offset < 0 ? 0 : offset,
                      machine_masks[mask]);
                }
    machine_free(m);
}

static void test_loads(void **state)
{
    (void)state;
    check_all(check_load, memory_loads, memory_n_loads);
}

static void test_stores(void **state)
{
    (void)state;
    check_all(check_store, memory_stores, memory_n_stores);
}

static void test_a_load_may_overwrite_its_address(void **state)
{
    (void)state;
    machine *m = machine_new(22);
    uint32_t at[MACHINE_LANES];
    const uint8_t *from[MACHINE_LANES];
    const access *a = &memory_loads[7];
    memory_fill(m, memory, sizeof memory);
    for (int pattern = 0; pattern < MEMORY_PATTERNS; pattern++) {
        memory_offsets(m, pattern, 16, at);
        aim(m, VADDR, at, 0);
        for (int lane = 0; lane < MACHINE_LANES; lane++)
            from[lane] = memory + SLACK + at[lane];
        machine_run(m, "\tglobal_load_dwordx4 v[9:12], v[10:11], off");
        memory_expect_loaded(m, m, a, 9, from, ~0ull, "over its address");
    }
    machine_free(m);
}

static uint32_t word_at(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static void check_atomic(machine *m, const atomic *a, form f, bool returns, int pattern,
                         uint64_t exec)
{
    char text[160], name[40], data[24], loaded[24];
    uint32_t at[MACHINE_LANES];
    uint64_t old[MACHINE_LANES];
    uint8_t *to[MACHINE_LANES];
    int dwords = a->bits / 32;
    memory_offsets(m, pattern, a->bits / 8, at);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        at[lane] &= ~7u;
        to[lane] = reference + SLACK + at[lane];
        if (lane % 2) /* every other comparison succeeds, unless somebody else was there first */
            for (int d = 0; d < dwords; d++)
                machine_set_lane(m, DATA + dwords + d, lane,
                                 word_at(memory + SLACK + at[lane] + 4 * d));
    }
    aim(m, f, at, 0);
    machine_set_exec(m, exec);
    snprintf(name, sizeof name, "atomic_%s", a->name);
    memory_registers(DATA, a->compares ? 2 * dwords : dwords, data);
    write_text(text, f, name, returns ? memory_registers(LOADED, dwords, loaded) : "", data, 0,
               returns ? " sc0" : "");
    memcpy(reference, memory, sizeof memory);
    memory_apply(m, a, DATA, DATA + dwords, to, exec, old);
    machine_run(m, text);
    if (memcmp(memory, reference, sizeof memory) != 0)
        fail_msg("%s: memory differs", text);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        if (returns && exec >> lane & 1 && memory_value(m, a, LOADED, lane) != old[lane])
            fail_msg("%s, lane %d: want %llx got %llx", text, lane, (unsigned long long)old[lane],
                     (unsigned long long)memory_value(m, a, LOADED, lane));
}

/* Numbers near 1, so that sums and comparisons of floats mean something. */
static void tame_floats(machine *m, const atomic *a)
{
    for (size_t i = 0; strstr(a->name, "_f") && i + 8 <= sizeof memory; i += (size_t)a->bits / 8) {
        double number = (int32_t)machine_random(m) * 0x1p-20;
        uint64_t bits = a->bits == 32 ? machine_bits((float)number) : machine_bits64(number);
        memcpy(memory + i, &bits, (size_t)a->bits / 8);
    }
    for (int lane = 0; strstr(a->name, "_f") && lane < MACHINE_LANES; lane++)
        if (a->bits == 32)
            machine_set_lane(m, DATA, lane, machine_bits((float)lane - 30.5f));
        else
            machine_set_lane64(m, DATA, lane, machine_bits64(lane - 30.25));
}

static void test_atomics(void **state)
{
    (void)state;
    machine *m = machine_new(23);
    for (int i = 0; i < memory_n_atomics; i++)
        for (int f = 0; f < N_FORMS; f++)
            for (int pattern = 0; pattern < MEMORY_PATTERNS; pattern++)
                for (int mask = 0; mask < machine_n_masks; mask++) {
                    memory_fill(m, memory, sizeof memory);
                    tame_floats(m, &memory_atomics[i]);
                    check_atomic(m, &memory_atomics[i], f, (pattern + mask) % 2, pattern,
                                 machine_masks[mask]);
                }
    machine_free(m);
}

static void test_packed_halves_add(void **state)
{
    (void)state;
    machine *m = machine_new(24);
    uint32_t at[MACHINE_LANES], start = 0x3c004000; /* 1, 2 */
    memory_offsets(m, 0, 4, at);
    aim(m, VADDR, at, 0);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        memcpy(memory + SLACK + at[lane], &start, 4);
        machine_set_lane(m, DATA, lane, 0x3c01b800); /* 1 + 2^-10, -0.5 */
    }
    machine_run(m, "\tglobal_atomic_pk_add_f16 v[10:11], v20, off");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint32_t got;
        memcpy(&got, memory + SLACK + at[lane], 4);
        assert_int_equal(got, 0x40003e00); /* 2 + 2^-10 rounds to even; 1.5 */
        start = 0x3f803f81;
        memcpy(memory + SLACK + at[lane], &start, 4);
        machine_set_lane(m, DATA, lane, 0x40003f80);
    }
    machine_run(m, "\tglobal_atomic_pk_add_bf16 v[10:11], v20, off");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint32_t got;
        memcpy(&got, memory + SLACK + at[lane], 4);
        assert_int_equal(got, 0x40404000); /* 3; 2 + 2^-7 rounds to even */
    }
    machine_free(m);
}

/* --- LDS and scratch by flat addresses --- */

static void test_flat_reaches_lds_and_scratch(void **state)
{
    (void)state;
    static uint8_t lds[1024 + 64], scratch[64 * 64];
    machine *m = machine_new(25);
    memory_fill(m, lds, sizeof lds);
    memory_fill(m, scratch, sizeof scratch);
    m->wave.lds = lds;
    m->wave.lds_bytes = 1024;
    m->wave.scratch = scratch;
    m->wave.scratch_bytes = 64;
    m->wave.shared_aperture = 0x1000000000000ull;
    m->wave.private_aperture = 0x2000000000000ull;
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        static const uint64_t base[] = {0x1000000000000ull, 0x2000000000000ull};
        uint64_t global = (uint64_t)(uintptr_t)memory + 8 * (uint64_t)lane;
        machine_set_lane64(m, ADDRESS, lane,
                           lane % 3 < 2 ? base[lane % 3] + 8 * ((uint64_t)lane % 7) : global);
    }
    machine_run(m, "\tflat_load_dwordx2 v[40:41], v[10:11] offset:4");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        const uint8_t *at = lane % 3 == 0   ? lds + lane % 7 * 8
                            : lane % 3 == 1 ? scratch + 64 * lane + lane % 7 * 8
                                            : memory + 8 * lane;
        uint64_t want;
        memcpy(&want, at + 4, 8);
        assert_true(machine_lane64(m, LOADED, lane) == want);
    }
    machine_free(m);
}

static void test_loads_to_lds_lie_lane_by_lane(void **state)
{
    (void)state;
    static uint8_t lds[1024 + 64], before[1024 + 64];
    const uint64_t exec = 0xffff00ff0f0ff0f1ull;
    machine *m = machine_new(26);
    uint32_t at[MACHINE_LANES];
    memory_fill(m, memory, sizeof memory);
    memory_fill(m, lds, sizeof lds);
    memcpy(before, lds, sizeof lds);
    m->wave.lds = lds;
    m->wave.lds_bytes = 1024;
    m->wave.s[EMU_S_M0] = 0xabcd0040;
    memory_offsets(m, 4, 4, at);
    aim(m, SADDR, at, 16);
    machine_set_exec(m, exec);
    machine_run(m, "\tglobal_load_lds_dword v10, s[8:9] offset:16");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        const uint8_t *want =
            exec >> lane & 1 ? memory + SLACK + at[lane] : before + 0x40 + 16 + 4 * lane;
        assert_memory_equal(lds + 0x40 + 16 + 4 * lane, want, 4);
    }
    assert_memory_equal(lds, before, 0x50);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_a_load_may_overwrite_its_address),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_packed_halves_add),
        cmocka_unit_test(test_flat_reaches_lds_and_scratch),
        cmocka_unit_test(test_loads_to_lds_lie_lane_by_lane),
    };
    return machine_main("isa_global", tests, sizeof tests / sizeof *tests);
}
