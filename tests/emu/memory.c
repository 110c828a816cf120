/* tests/emu/memory.c: references of loads, stores and atomics, lane by lane.    SPDX-License-Identifier: MIT
 */
#include "tests/emu/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const access memory_loads[] = {
    {"ubyte", "u8", 1, false, WHOLE},        {"sbyte", "i8", 1, true, WHOLE},
    {"ushort", "u16", 2, false, WHOLE},      {"sshort", "i16", 2, true, WHOLE},
    {"dword", "b32", 4, false, WHOLE},       {"dwordx2", "b64", 8, false, WHOLE},
    {"dwordx3", "b96", 12, false, WHOLE},    {"dwordx4", "b128", 16, false, WHOLE},
    {"ubyte_d16", "u8_d16", 1, false, LOW},  {"ubyte_d16_hi", "u8_d16_hi", 1, false, HIGH},
    {"sbyte_d16", "i8_d16", 1, true, LOW},   {"sbyte_d16_hi", "i8_d16_hi", 1, true, HIGH},
    {"short_d16", "u16_d16", 2, false, LOW}, {"short_d16_hi", "u16_d16_hi", 2, false, HIGH},
};
const int memory_n_loads = sizeof memory_loads / sizeof *memory_loads;

const access memory_stores[] = {
    {"byte", "b8", 1, false, WHOLE},      {"byte_d16_hi", "b8_d16_hi", 1, false, HIGH},
    {"short", "b16", 2, false, WHOLE},    {"short_d16_hi", "b16_d16_hi", 2, false, HIGH},
    {"dword", "b32", 4, false, WHOLE},    {"dwordx2", "b64", 8, false, WHOLE},
    {"dwordx3", "b96", 12, false, WHOLE}, {"dwordx4", "b128", 16, false, WHOLE},
};
const int memory_n_stores = sizeof memory_stores / sizeof *memory_stores;

/* --- atomics --- */

#define NEXT(name, expression)                                                                     \
    static uint64_t name(uint64_t old, uint64_t data, uint64_t compared)                           \
    {                                                                                              \
        (void)old, (void)compared;                                                                 \
        return expression;                                                                         \
    }
NEXT(swap, data)
NEXT(compare_swap, old == compared ? data : old)
NEXT(add, old + data)
NEXT(subtract, old - data)
NEXT(min_u, data < old ? data : old)
NEXT(max_u, data > old ? data : old)
NEXT(min_i32, (int32_t)data < (int32_t)old ? data : old)
NEXT(max_i32, (int32_t)data > (int32_t)old ? data : old)
NEXT(min_i64, (int64_t)data < (int64_t)old ? data : old)
NEXT(max_i64, (int64_t)data > (int64_t)old ? data : old)
NEXT(and_bits, old &data)
NEXT(or_bits, old | data)
NEXT(xor_bits, old ^ data)
NEXT(increment, old >= data ? 0 : old + 1)
NEXT(decrement, old == 0 || old > data ? data : old - 1)
NEXT(add_f32, machine_bits(machine_float((uint32_t)old) + machine_float((uint32_t)data)))
NEXT(add_f64, machine_bits64(machine_double(old) + machine_double(data)))
NEXT(min_f64, machine_double(data) < machine_double(old) ? data : old)
NEXT(max_f64, machine_double(data) > machine_double(old) ? data : old)

const atomic memory_atomics[] = {
    {"swap", "wrxchg|b32", 32, swap, false},
    {"cmpswap", "cmpst|b32", 32, compare_swap, true},
    {"add", "add|u32", 32, add, false},
    {"sub", "sub|u32", 32, subtract, false},
    {"smin", "min|i32", 32, min_i32, false},
    {"umin", "min|u32", 32, min_u, false},
    {"smax", "max|i32", 32, max_i32, false},
    {"umax", "max|u32", 32, max_u, false},
    {"and", "and|b32", 32, and_bits, false},
    {"or", "or|b32", 32, or_bits, false},
    {"xor", "xor|b32", 32, xor_bits, false},
    {"inc", "inc|u32", 32, increment, false},
    {"dec", "dec|u32", 32, decrement, false},
    {"add_f32", "add|f32", 32, add_f32, false},
    {"swap_x2", "wrxchg|b64", 64, swap, false},
    {"cmpswap_x2", "cmpst|b64", 64, compare_swap, true},
    {"add_x2", "add|u64", 64, add, false},
    {"sub_x2", "sub|u64", 64, subtract, false},
    {"smin_x2", "min|i64", 64, min_i64, false},
    {"umin_x2", "min|u64", 64, min_u, false},
    {"smax_x2", "max|i64", 64, max_i64, false},
    {"umax_x2", "max|u64", 64, max_u, false},
    {"and_x2", "and|b64", 64, and_bits, false},
    {"or_x2", "or|b64", 64, or_bits, false},
    {"xor_x2", "xor|b64", 64, xor_bits, false},
    {"inc_x2", "inc|u64", 64, increment, false},
    {"dec_x2", "dec|u64", 64, decrement, false},
    {"add_f64", "add|f64", 64, add_f64, false},
    {"min_f64", "min|f64", 64, min_f64, false},
    {"max_f64", "max|f64", 64, max_f64, false},
};
const int memory_n_atomics = sizeof memory_atomics / sizeof *memory_atomics;

uint64_t memory_value(const machine *m, const atomic *a, int first, int lane)
{
    return a->bits == 32 ? machine_lane(m, first, lane) : machine_lane64(m, first, lane);
}

void memory_apply(const machine *m, const atomic *a, int data, int compared,
                  uint8_t *const at[MACHINE_LANES], uint64_t exec, uint64_t old[MACHINE_LANES])
{
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        old[lane] = 0;
        if (!(exec >> lane & 1) || !at[lane])
            continue;
        memcpy(&old[lane], at[lane], (size_t)a->bits / 8);
        uint64_t next =
            a->next(old[lane], memory_value(m, a, data, lane), memory_value(m, a, compared, lane));
        memcpy(at[lane], &next, (size_t)a->bits / 8);
    }
}

/* --- loads and stores --- */

int memory_dwords(int bytes)
{
    return (bytes + 3) / 4;
}

const char *memory_registers(int first, int n, char text[24])
{
    snprintf(text, 24, n == 1 ? "v%d" : "v[%d:%d]", first, first + n - 1);
    return text;
}

static uint32_t expected_dword(const access *a, uint32_t before, const uint8_t *from, int dword)
{
    static const uint8_t zeros[16];
    uint32_t value = 0;
    memcpy(&value, (from ? from : zeros) + 4 * dword, a->bytes < 4 ? (size_t)a->bytes : 4);
    if (a->is_signed)
        value = a->bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    if (a->part == LOW)
        return (before & 0xffff0000) | (value & 0xffff);
    return a->part == HIGH ? (before & 0xffff) | value << 16 : value;
}

void memory_expect_loaded(const machine *before, const machine *after, const access *a, int first,
                          const uint8_t *const from[MACHINE_LANES], uint64_t exec, const char *what)
{
    for (int dword = 0; dword < memory_dwords(a->bytes); dword++)
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint32_t old = machine_lane(before, first + dword, lane);
            uint32_t want = exec >> lane & 1 ? expected_dword(a, old, from[lane], dword) : old;
            uint32_t got = machine_lane(after, first + dword, lane);
            if (got != want)
                fail_msg("%s, exec %llx, dword %d of lane %d: want %08x got %08x", what,
                         (unsigned long long)exec, dword, lane, want, got);
        }
}

void memory_store(const machine *m, const access *a, int first, uint8_t *const to[MACHINE_LANES],
                  uint64_t exec)
{
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint32_t words[4];
        for (int dword = 0; dword < memory_dwords(a->bytes); dword++)
            words[dword] = machine_lane(m, first + dword, lane);
        if (exec >> lane & 1 && to[lane])
            memcpy(to[lane], (const uint8_t *)words + (a->part == HIGH ? 2 : 0), (size_t)a->bytes);
    }
}

void memory_offsets(machine *m, int pattern, int bytes, uint32_t out[MACHINE_LANES])
{
    uint32_t n = (uint32_t)bytes, start = machine_random(m) % 1024 * 8, odd = start + 3;
    for (uint32_t l = 0; l < MACHINE_LANES; l++) {
        const uint32_t by_pattern[MEMORY_PATTERNS] = {
            start + l * n,
            odd + l * n,
            start + l * 80,
            start + l / 4 * 80 + l % 4 * n,
            machine_random(m) % (MEMORY_BYTES - n),
            start,
        };
        out[l] = by_pattern[pattern];
    }
}

void memory_fill(machine *m, uint8_t *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (uint8_t)(machine_random(m) >> 7);
}

machine *memory_clone(const machine *m)
{
    machine *copy = aligned_alloc(64, (sizeof *copy + 63) / 64 * 64);
    assert_non_null(copy);
    memcpy(copy, m, sizeof *copy);
    copy->wave.vgprs = copy->registers;
    return copy;
}
