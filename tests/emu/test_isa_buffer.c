/* tests/emu/test_isa_buffer.c: buffer instructions, their addresses and their range check.
 *
 * The reference applies the check dword by dword to offsets of unlimited size.    SPDX-License-Identifier: MIT
 */
#include "tests/emu/memory.h"

#include <stdio.h>
#include <string.h>

enum {
    INDEX = 10,
    OFFSET = 11,
    DATA = 20,
    LOADED = 40,
    S_DESCRIPTOR = 8,
    S_OFFSET = 5,
    IMMEDIATE = 8
};

static uint8_t memory[2 * MEMORY_BYTES], reference[2 * MEMORY_BYTES];

/* Which parts of an address take part, and the descriptor's fields. */
typedef struct buffer {
    bool offen, idxen, has_soffset;
    uint32_t stride, records, soffset;
} buffer;

static const buffer buffers[] = {
    {true, false, false, 0, 0x80000000, 0}, /* no limit in practice */
    {true, false, true, 0, 9001, 100},      /* ragged end, not on a dword */
    {true, false, true, 0, 50, 100},        /* soffset alone is beyond the end */
    {false, false, true, 0, 4096, 64},      /* every lane looks at one place */
    {true, true, true, 16, 600, 32},        /* records are elements */
    {false, true, false, 48, 100, 0},       /* index only */
    {true, true, false, 0, 5000, 0},        /* an index without a stride does not matter */
};
enum { N_BUFFERS = sizeof buffers / sizeof *buffers };

static void aim(machine *m, const buffer *b, int pattern, int bytes)
{
    uint64_t base = (uint64_t)(uintptr_t)memory;
    uint32_t at[MACHINE_LANES], *s = &m->wave.s[S_DESCRIPTOR];
    s[0] = (uint32_t)base;
    s[1] = (uint32_t)(base >> 32) | b->stride << 16;
    s[2] = b->records;
    s[3] = 0x20000;
    m->wave.s[S_OFFSET] = b->soffset;
    memory_offsets(m, pattern, bytes, at);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint32_t index = at[lane] / (b->stride ? b->stride : 64) % 120;
        machine_set_lane(m, INDEX, lane, b->idxen ? index : at[lane]);
        machine_set_lane(m, OFFSET, lane, b->stride ? at[lane] % 16 : at[lane]);
    }
}

/* The lane's offset from the base, soffset and immediate included; *index as it is checked. */
static uint64_t offset_of(const machine *m, const buffer *b, int lane, uint32_t *index)
{
    uint32_t voffset = machine_lane(m, b->idxen ? OFFSET : INDEX, lane);
    *index = b->idxen ? machine_lane(m, INDEX, lane) : 0;
    return (uint64_t)*index * b->stride + (b->offen ? voffset : 0) +
           (b->has_soffset ? b->soffset : 0) + IMMEDIATE;
}

static bool in_range(const buffer *b, uint64_t offset, uint32_t index, uint64_t bytes)
{
    return b->idxen && b->stride ? index < b->records : offset + bytes <= b->records;
}

static void write_text(char text[160], const char *name, const char *data, const buffer *b,
                       const char *more)
{
    snprintf(text, 160, "\tbuffer_%s %s%s%s, s[8:11], %s%s%s offset:8%s", name, data,
             *data ? ", " : "",
             b->offen && b->idxen   ? "v[10:11]"
             : b->offen || b->idxen ? "v10"
                                    : "off",
             b->has_soffset ? "s5" : "0", b->offen ? " offen" : "", b->idxen ? " idxen" : "", more);
}

/* Every dword of a load on its own, as a load of that dword alone. */
static void check_load(machine *m, const buffer *b, const access *a, int pattern, uint64_t exec)
{
    char text[160], name[32], registers[24];
    int dwords = memory_dwords(a->bytes);
    access one = *a;
    one.bytes = a->bytes < 4 ? a->bytes : 4;
    aim(m, b, pattern, a->bytes);
    machine_set_exec(m, exec);
    snprintf(name, sizeof name, "load_%s", a->name);
    write_text(text, name, memory_registers(LOADED, dwords, registers), b, "");
    machine *before = memory_clone(m);
    machine_run(m, text);
    for (int dword = 0; dword < dwords; dword++) {
        const uint8_t *from[MACHINE_LANES];
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint32_t index;
            uint64_t offset = offset_of(before, b, lane, &index) + 4 * (uint64_t)dword;
            from[lane] = in_range(b, offset, index, (uint64_t)one.bytes) ? memory + offset : NULL;
        }
        memory_expect_loaded(before, m, &one, LOADED + dword, from, exec, text);
    }
    machine_free(before);
}

static void check_store(machine *m, const buffer *b, const access *a, int pattern, uint64_t exec)
{
    char text[160], name[32], registers[24];
    access one = *a;
    one.bytes = a->bytes < 4 ? a->bytes : 4;
    aim(m, b, pattern, a->bytes);
    machine_set_exec(m, exec);
    snprintf(name, sizeof name, "store_%s", a->name);
    write_text(text, name, memory_registers(DATA, memory_dwords(a->bytes), registers), b, "");
    memcpy(reference, memory, sizeof memory);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        for (int dword = 0; dword < memory_dwords(a->bytes); dword++) {
            uint8_t *to[MACHINE_LANES] = {NULL};
            uint32_t index;
            uint64_t offset = offset_of(m, b, lane, &index) + 4 * (uint64_t)dword;
            if (in_range(b, offset, index, (uint64_t)one.bytes))
                to[lane] = reference + offset;
            memory_store(m, &one, DATA + dword, to, exec & 1ull << lane);
        }
    machine_run(m, text);
    if (memcmp(memory, reference, sizeof memory) != 0)
        fail_msg("%s, records %u, exec %llx: memory differs", text, b->records,
                 (unsigned long long)exec);
}

static void check_all(void (*check)(machine *, const buffer *, const access *, int, uint64_t),
                      const access *accesses, int n, int patterns)
{
    machine *m = machine_new(51);
    memory_fill(m, memory, sizeof memory);
    for (int b = 0; b < N_BUFFERS; b++)
        for (int i = 0; i < n; i++)
            for (int pattern = 0; pattern < patterns; pattern++)
                for (int mask = 0; mask < machine_n_masks; mask++)
                    check(m, &buffers[b], &accesses[i], pattern, machine_masks[mask]);
    machine_free(m);
}

static void test_loads(void **state)
{
    (void)state;
    check_all(check_load, memory_loads, memory_n_loads, MEMORY_PATTERNS);
}

/* Lanes that overlap partly are left out: hardware gives no order between a wave's dwords either. */
static void test_stores(void **state)
{
    (void)state;
    check_all(check_store, memory_stores, memory_n_stores, 4);
}

static void test_atomics_are_all_or_nothing(void **state)
{
    (void)state;
    machine *m = machine_new(52);
    for (int i = 0; i < memory_n_atomics; i++)
        for (int b = 0; b < N_BUFFERS; b++) {
            char text[160], name[40], registers[24];
            const atomic *a = &memory_atomics[i];
            int dwords = a->bits / 32;
            uint64_t old[MACHINE_LANES];
            uint8_t *to[MACHINE_LANES];
            if (strstr(a->name, "_f"))
                continue;
            memory_fill(m, memory, sizeof memory);
            aim(m, &buffers[b], 0, 8);
            memcpy(reference, memory, sizeof memory);
            for (int lane = 0; lane < MACHINE_LANES; lane++) {
                uint32_t index;
                uint64_t offset = offset_of(m, &buffers[b], lane, &index);
                to[lane] = in_range(&buffers[b], offset, index, (uint64_t)a->bits / 8)
                               ? reference + offset
                               : NULL;
            }
            snprintf(name, sizeof name, "atomic_%s", a->name);
            write_text(text, name,
                       memory_registers(DATA, a->compares ? 2 * dwords : dwords, registers),
                       &buffers[b], " sc0");
            memory_apply(m, a, DATA, DATA + dwords, to, ~0ull, old);
            machine_run(m, text);
            if (memcmp(memory, reference, sizeof memory) != 0)
                fail_msg("%s, records %u: memory differs", text, buffers[b].records);
            for (int lane = 0; lane < MACHINE_LANES; lane++)
                if (memory_value(m, a, DATA, lane) != old[lane])
                    fail_msg("%s, lane %d: wrong old value", text, lane);
        }
    machine_free(m);
}

static void test_loads_to_lds_fill_zeros_beyond_the_end(void **state)
{
    (void)state;
    static uint8_t lds[1024 + 64];
    machine *m = machine_new(53);
    const buffer b = {true, false, false, 0, 130, 0};
    memory_fill(m, memory, sizeof memory);
    aim(m, &b, 0, 4);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, INDEX, lane, 4 * (uint32_t)lane);
    m->wave.lds = lds;
    m->wave.lds_bytes = 1024;
    m->wave.s[EMU_S_M0] = 0x100;
    machine_run(m, "\tbuffer_load_dword v10, s[8:11], 0 offen offset:8 lds");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint32_t want = 0;
        if (8 + 4 * lane + 4 <= 130)
            memcpy(&want, memory + 8 + 4 * lane, 4);
        assert_memory_equal(lds + 0x100 + 8 + 4 * lane, &want, 4);
    }
    machine_free(m);
}

static void test_lane_number_as_index(void **state)
{
    (void)state;
    machine *m = machine_new(54);
    const buffer b = {false, false, false, 40, 3, 0};
    memory_fill(m, memory, sizeof memory);
    aim(m, &b, 0, 4);
    m->wave.s[S_DESCRIPTOR + 3] = 1u << 23;
    machine_run(m, "\tbuffer_load_dword v40, off, s[8:11], 0 offset:8");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint32_t got = machine_lane(m, LOADED, lane);
        assert_memory_equal(memory + 40 * lane + 8, &got, 4);
    }
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_atomics_are_all_or_nothing),
        cmocka_unit_test(test_loads_to_lds_fill_zeros_beyond_the_end),
        cmocka_unit_test(test_lane_number_as_index),
    };
    return machine_main("isa_buffer", tests, sizeof tests / sizeof *tests);
}
