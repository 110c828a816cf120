/* emu/isa/mfma_amx.h: bf16 matrix instructions through the host's matrix tiles (Intel AMX).
 *
 * A tile holds 16 rows of 64 bytes, at any constant distance in memory.  C of 32x32x8 is four tiles straight from the
 * registers: half h of the lanes and 16 columns at a time, row v being register v.  C of 16x16x16 is four tiles of
 * four rows: one per register, row q being lanes 16 * q and up.  B's pairs of k are rows as they are.  A has one row
 * of the matrix per lane and is turned round: rows of 4 or 8 pairs of k, in the order of C's rows.
 *
 * The unit adds even and odd k apart and then both to C, rounds to nearest even, and takes denormals as 0, in and
 * out: allowed in fast numerics, and never used for silicon ones.  An instruction is one step of the unit
 * whether it runs alone or in a run, so that joining changes no value.
 * Source: Intel SDM, TDPBF16PS.                                                SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MFMA_AMX_H
#define MOESAIC_EMU_ISA_MFMA_AMX_H

#include "emu/isa/mfma_operand.h"

/* The instructions as text: their intrinsics do not say that they touch memory. */
#define TILE_LOAD(tile, at, stride)                                                                \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(at), "r"((size_t)(stride))           \
                     : "memor"                                                                     \
                       "y")
#define TILE_STORE(tile, at, stride)                                                               \
    __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(at), "r"((size_t)(stride))       \
                     : "memory")
#define TILE_MULTIPLY(c, a, b) __asm__ volatile("tdpbf16ps %tmm" #b ", %tmm" #a ", %tmm" #c)

enum { AMX_OPERAND_BYTES = 512 }; /* A or B of one instruction, prepared */

typedef struct amx_shape {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} __attribute__((aligned(64))) amx_shape;

/* Tiles 0 to 3 are C, 4 and 5 A, 6 and 7 B. */
static const amx_shape amx_32x32x8 = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 16, 16, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 4, 4},
};
static const amx_shape amx_16x16x16 = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 32, 32, 64, 64},
    .rows = {4, 4, 4, 4, 4, 4, 8, 8},
};

/* Loading a shape costs ten times as much as looking at it.  It is lost when a fault unwinds the thread. */
LANE_INLINE void amx_use(const amx_shape *shape)
{
    amx_shape now;
    __asm__ volatile("sttilecfg %0" : "=m"(now));
    if (mask_differs(*(const u32v *)(const void *)&now, *(const u32v *)(const void *)shape))
        __asm__ volatile("ldtilecfg %0" ::"m"(*shape));
}

/* --- operands --- */

/* Pair p of 16 lanes from `lane` on: register p % 2, group of lanes p / 2. */
LANE_INLINE u32v amx_pairs(const uint8_t *registers, uint32_t m, uint32_t lane, uint32_t p)
{
    return *chunk_of(registers + 4 * (lane + m * (p / 2)), p % 2);
}

/* Four pairs of 16 lanes -> 16 rows of four pairs, four rows to a vector. */
LANE_INLINE void amx_turn(const uint8_t *registers, uint32_t m, uint32_t lane, uint32_t first,
                          u32v rows[4])
{
    u32v p0 = amx_pairs(registers, m, lane, first), p1 = amx_pairs(registers, m, lane, first + 1);
    u32v p2 = amx_pairs(registers, m, lane, first + 2),
         p3 = amx_pairs(registers, m, lane, first + 3);
    u32v even_low = __builtin_shuffle(p0, p2, EACH_LANE(INTERLEAVED_LOW));
    u32v even_high = __builtin_shuffle(p0, p2, EACH_LANE(INTERLEAVED_HIGH));
    u32v odd_low = __builtin_shuffle(p1, p3, EACH_LANE(INTERLEAVED_LOW));
    u32v odd_high = __builtin_shuffle(p1, p3, EACH_LANE(INTERLEAVED_HIGH));
    rows[0] = __builtin_shuffle(even_low, odd_low, EACH_LANE(INTERLEAVED_LOW));
    rows[1] = __builtin_shuffle(even_low, odd_low, EACH_LANE(INTERLEAVED_HIGH));
    rows[2] = __builtin_shuffle(even_high, odd_high, EACH_LANE(INTERLEAVED_LOW));
    rows[3] = __builtin_shuffle(even_high, odd_high, EACH_LANE(INTERLEAVED_HIGH));
}

/* Two tiles of 16 rows of 16 bytes: rows i with i / 4 even, then odd. */
LANE_INLINE void amx_prepare_a_32(const uint8_t *a, uint8_t *out)
{
    for (uint32_t half = 0; half < 2; half++) {
        u32v rows[4];
        amx_turn(a, 32, 16 * half, 0, rows);
        for (uint32_t b = 0; b < 4; b++)
            *chunk_of(out + 256 * (b % 2) + 64 * (2 * half + b / 2), 0) = rows[b];
    }
}

/* Two tiles of 4 rows of 64 bytes: columns 0 to 15, then 16 to 31. */
LANE_INLINE void amx_prepare_b_32(const uint8_t *b, uint8_t *out)
{
    for (uint32_t p = 0; p < 4; p++)
        for (uint32_t piece = 0; piece < 2; piece++)
            *chunk_of(out + 256 * piece + 64 * p, 0) = amx_pairs(b, 32, 16 * piece, p);
}

/* Quarters 0 and 1 (or 2 and 3) of two vectors, by turns. */
#define QUARTER_OF(i)    ((i) % 4 + (i) / 8 * 4 + (i) / 4 % 2 * 16)
#define QUARTER_ABOVE(i) (QUARTER_OF(i) + 8)

/* 16 rows of 32 bytes; the tile of register v takes rows v, v + 4, v + 8, v + 12. */
LANE_INLINE void amx_prepare_a_16(const uint8_t *a, uint8_t *out)
{
    u32v low[4], high[4];
    amx_turn(a, 16, 0, 0, low);
    amx_turn(a, 16, 0, 4, high);
    for (uint32_t b = 0; b < 4; b++) {
        *chunk_of(out + 128 * b, 0) = __builtin_shuffle(low[b], high[b], EACH_LANE(QUARTER_OF));
        *chunk_of(out + 128 * b + 64, 0) =
            __builtin_shuffle(low[b], high[b], EACH_LANE(QUARTER_ABOVE));
    }
}

LANE_INLINE void amx_prepare_b_16(const uint8_t *b, uint8_t *out)
{
    for (uint32_t p = 0; p < 8; p++)
        *chunk_of(out + 64 * p, 0) = amx_pairs(b, 16, 0, p);
}

/* --- sums --- */

/* Distances between C's four tiles and between their rows, for M = 32 and 16. */
#define AMX_TILE_BYTES(m) ((m) == 32 ? 64 : EMU_VGPR_STRIDE)
#define AMX_ROW_BYTES(m)  ((m) == 32 ? EMU_VGPR_STRIDE : 64)

LANE_INLINE void amx_load_sums(const uint8_t *c, uint32_t m)
{
    TILE_LOAD(0, c, AMX_ROW_BYTES(m));
    TILE_LOAD(1, c + AMX_TILE_BYTES(m), AMX_ROW_BYTES(m));
    TILE_LOAD(2, c + 2 * AMX_TILE_BYTES(m), AMX_ROW_BYTES(m));
    TILE_LOAD(3, c + 3 * AMX_TILE_BYTES(m), AMX_ROW_BYTES(m));
}

/* The same value everywhere: rows at distance 0. */
LANE_INLINE void amx_splat_sums(uint32_t constant)
{
    u32v row = splat32(constant);
    TILE_LOAD(0, &row, 0);
    TILE_LOAD(1, &row, 0);
    TILE_LOAD(2, &row, 0);
    TILE_LOAD(3, &row, 0);
}

LANE_INLINE void amx_store_sums(uint8_t *d, uint32_t m)
{
    TILE_STORE(0, d, AMX_ROW_BYTES(m));
    TILE_STORE(1, d + AMX_TILE_BYTES(m), AMX_ROW_BYTES(m));
    TILE_STORE(2, d + 2 * AMX_TILE_BYTES(m), AMX_ROW_BYTES(m));
    TILE_STORE(3, d + 3 * AMX_TILE_BYTES(m), AMX_ROW_BYTES(m));
}

LANE_INLINE void amx_multiply_32(const uint8_t *a, const uint8_t *b)
{
    TILE_LOAD(4, a, 16);
    TILE_LOAD(6, b, 64);
    TILE_MULTIPLY(0, 4, 6);
    TILE_LOAD(7, b + 256, 64);
    TILE_MULTIPLY(1, 4, 7);
    TILE_LOAD(5, a + 256, 16);
    TILE_MULTIPLY(2, 5, 6);
    TILE_MULTIPLY(3, 5, 7);
}

LANE_INLINE void amx_multiply_16(const uint8_t *a, const uint8_t *b)
{
    TILE_LOAD(6, b, 64);
    TILE_LOAD(4, a, 128);
    TILE_MULTIPLY(0, 4, 6);
    TILE_LOAD(5, a + 32, 128);
    TILE_MULTIPLY(1, 5, 6);
    TILE_LOAD(4, a + 64, 128);
    TILE_MULTIPLY(2, 4, 6);
    TILE_LOAD(5, a + 96, 128);
    TILE_MULTIPLY(3, 5, 6);
}

#endif
