/* emu/isa/exec_sop.c: scalar arithmetic, one row of sop.def per instruction.    SPDX-License-Identifier: MIT */
#include "emu/isa/decode.h"
#include "emu/isa/wave.h"

static inline uint32_t reverse32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}

/* Groups of four bits of which one is set become all ones. */
static inline uint64_t whole_quads(uint64_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    return (x & 0x1111111111111111u) * 15;
}

/* A bit per group of four: whether one of them is set. */
static inline uint64_t gather_quads(uint64_t x)
{
    uint64_t quads = 0;
    for (int i = 0; i < 16; i++)
        quads |= (uint64_t)((x >> 4 * i & 15) != 0) << i;
    return quads;
}

/* Each bit twice. */
static inline uint64_t double_bits(uint32_t x)
{
    uint64_t doubled = 0;
    for (int i = 0; i < 32; i++)
        doubled |= (uint64_t)(x >> i & 1) * 3 << 2 * i;
    return doubled;
}

static inline uint64_t field(uint64_t x, uint32_t shift, uint32_t width)
{
    x >>= shift;
    return width < 64 ? x & ((1ull << width) - 1) : x;
}

static inline uint64_t signed_field(uint64_t x, uint32_t shift, uint32_t width)
{
    if (width == 0)
        return 0;
    x = (uint64_t)((int64_t)x >> shift);
    return width < 64 ? (uint64_t)((int64_t)(x << (64 - width)) >> (64 - width)) : x;
}

#define NZ   w->scc = r != 0
#define SAVE emu_set_s64(w, EMU_S_EXEC, exec), w->scc = exec != 0

#define SCALAR(name, R, A, B, D, store, ...)                                                       \
    static const emu_op *name(emu_wave *w, const emu_op *op)                                       \
    {                                                                                              \
        A a;                                                                                       \
        B b;                                                                                       \
        D d;                                                                                       \
        R r;                                                                                       \
        memcpy(&a, &w->s[op->a], sizeof a);                                                        \
        memcpy(&b, &w->s[op->b], sizeof b);                                                        \
        memcpy(&d, &w->s[op->d], sizeof d);                                                        \
        uint32_t scc = w->scc;                                                                     \
        uint64_t exec = emu_exec_mask(w);                                                          \
        (void)a, (void)b, (void)d, (void)scc, (void)exec;                                          \
        __VA_ARGS__;                                                                               \
        store;                                                                                     \
        EMU_NEXT;                                                                                  \
    }
#define STORE memcpy(&w->s[op->d], &r, sizeof r)
#define S32(name, operands, ...)                                                                   \
    SCALAR(name, uint32_t, uint32_t, uint32_t, uint32_t, STORE, __VA_ARGS__)
#define S64(name, operands, ...)                                                                   \
    SCALAR(name, uint64_t, uint64_t, uint64_t, uint64_t, STORE, __VA_ARGS__)
#define N64(name, operands, ...)                                                                   \
    SCALAR(name, uint32_t, uint64_t, uint64_t, uint32_t, STORE, __VA_ARGS__)
#define M64(name, operands, ...)                                                                   \
    SCALAR(name, uint64_t, uint64_t, uint32_t, uint64_t, STORE, __VA_ARGS__)
#define W64(name, operands, ...)                                                                   \
    SCALAR(name, uint64_t, uint32_t, uint32_t, uint64_t, STORE, __VA_ARGS__)
#define C32(name, operands, compare)                                                               \
    SCALAR(name, uint32_t, uint32_t, uint32_t, uint32_t, w->scc = r, r = (compare) != 0)
#define C64(name, operands, compare)                                                               \
    SCALAR(name, uint32_t, uint64_t, uint64_t, uint32_t, w->scc = r, r = (compare) != 0)
#define B64(name, operands, compare)                                                               \
    SCALAR(name, uint32_t, uint64_t, uint32_t, uint32_t, w->scc = r, r = (compare) != 0)
#include "emu/isa/sop.def"
#undef S32
#undef S64
#undef N64
#undef M64
#undef W64
#undef C32
#undef C64
#undef B64

#define ROW(name, pattern)                                                                         \
    {.mnemonic = #name,                                                                            \
     .encode = emu_encode_salu,                                                                    \
     .exec = (const emu_exec[]){name},                                                             \
     .unit = EMU_UNIT_SALU,                                                                        \
     .cycles = 4,                                                                                  \
     .operands = pattern},
#define S32(name, operands, ...) ROW(name, operands)
#define S64(name, operands, ...) ROW(name, operands)
#define N64(name, operands, ...) ROW(name, operands)
#define M64(name, operands, ...) ROW(name, operands)
#define W64(name, operands, ...) ROW(name, operands)
#define C32(name, operands, ...) ROW(name, operands)
#define C64(name, operands, ...) ROW(name, operands)
#define B64(name, operands, ...) ROW(name, operands)
static const emu_row rows[] = {
#include "emu/isa/sop.def"
};

extern const emu_table EMU_LEVEL(emu_table_sop);
const emu_table EMU_LEVEL(emu_table_sop) = {rows, sizeof rows / sizeof rows[0]};
