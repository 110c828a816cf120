/* emu/isa/mfma_fast.h: products of planes in f32 (or i32) arithmetic, k ascending, one rounding per product.
 *
 * A few rows of the result stay in host registers over all k.  Where the host multiplies pairs of bf16
 * (VDPBF16PS), bf16 registers serve as planes as they are: such a step covers two k, the odd one first, and denormal
 * inputs and results count as 0.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MFMA_FAST_H
#define MOESAIC_EMU_ISA_MFMA_FAST_H

#include "emu/isa/mfma_operand.h"

#ifdef __AVX512BF16__
#define MULTIPLIES_BF16_PAIRS 1
LANE_INLINE u32v multiply_add_pairs(u32v sum, u32v a, u32v b)
{
    return (u32v)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}
#else
#define MULTIPLIES_BF16_PAIRS 0
LANE_INLINE u32v multiply_add_pairs(u32v sum, u32v a, u32v b)
{
    (void)a, (void)b;
    return sum;
}
#endif

/* Without FMA in the instruction set, products that are exact in f32 need none; only F32's are not. */
LANE_INLINE u32v multiply_add_f32(mfma_type t, u32v sum, u32v a, u32v b)
{
    f32v x = (f32v)a, y = (f32v)b, z = (f32v)sum;
#ifdef __AVX2__
    (void)t;
    z = (f32v)HOST(fmadd_ps)((host_f32)x, (host_f32)y, (host_f32)z);
#else
    if (t == F32)
        for (uint32_t l = 0; l < CHUNK_LANES; l++)
            z[l] = __builtin_fmaf(x[l], y[l], z[l]);
    else
        z += x * y;
#endif
    return (u32v)z;
}

LANE_INLINE u32v multiply_add(mfma_type t, bool pairs, u32v sum, u32v a, u32v b)
{
    if (t == I8)
        return sum + a * b;
    if (pairs)
        return multiply_add_pairs(sum, a, b);
    return multiply_add_f32(t, sum, a, b);
}

/* --- a block of the result in host registers ---
 *
 * Rows i to i + FAST_ROWS - 1 (i is a multiple of FAST_ROWS, so offsets of i and of r add up), columns from j on. */

#ifdef __AVX512F__
enum { FAST_ROWS = 8, FAST_PIECES = 2 };
#define FAST_UNROLL _Pragma("GCC unroll 8")
#elif defined __AVX2__
enum { FAST_ROWS = 4, FAST_PIECES = 2 };
#define FAST_UNROLL _Pragma("GCC unroll 8")
#else
enum { FAST_ROWS = 8, FAST_PIECES = 1 };
#define FAST_UNROLL _Pragma("GCC unroll 1")
#endif
typedef u32v fast_sums[FAST_ROWS][FAST_PIECES];

LANE_INLINE uint32_t fast_pieces(mfma_shape s)
{
    return s.m < FAST_PIECES * CHUNK_LANES ? 1 : FAST_PIECES;
}

LANE_INLINE uint32_t fast_columns(mfma_shape s)
{
    return fast_pieces(s) * CHUNK_LANES;
}

/* From registers, or a constant everywhere when c is NULL. */
LANE_INLINE void fast_start(mfma_shape s, const uint8_t *c, uint32_t constant, uint32_t b,
                            uint32_t i, uint32_t j, fast_sums sum)
{
    if (c)
        c += row_offset(s, b, i) + 4 * j;
#pragma GCC unroll 8
    for (uint32_t r = 0; r < FAST_ROWS; r++)
#pragma GCC unroll 2
        for (uint32_t p = 0; p < fast_pieces(s); p++)
            sum[r][p] =
                c ? *chunk_of(c + row_offset(s, 0, r) + CHUNK_BYTES * p, 0) : splat32(constant);
}

LANE_INLINE void fast_finish(mfma_shape s, uint8_t *d, uint32_t b, uint32_t i, uint32_t j,
                             fast_sums sum)
{
    d += row_offset(s, b, i) + 4 * j;
#pragma GCC unroll 8
    for (uint32_t r = 0; r < FAST_ROWS; r++)
#pragma GCC unroll 2
        for (uint32_t p = 0; p < fast_pieces(s); p++)
            *chunk_of(d + row_offset(s, 0, r) + CHUNK_BYTES * p, 0) = sum[r][p];
}

/* s.k counts steps, of which a lane holds per_lane. */
LANE_INLINE void fast_accumulate(mfma_type t, mfma_shape s, uint32_t per_lane, const uint8_t *a,
                                 const uint8_t *b, uint32_t block, uint32_t i, uint32_t j,
                                 fast_sums sum)
{
    a += 4 * i;
    b += 4 * j;
    __asm__("" : "+r"(a), "+r"(b)); /* gcc would rather keep dozens of offsets than two pointers */
    FAST_UNROLL for (uint32_t k = 0; k < s.k; k++)
    {
        const uint32_t *left = (const uint32_t *)(a + element_offset(s, per_lane, block, 0, k));
        const uint8_t *row = b + element_offset(s, per_lane, block, 0, k);
#pragma GCC unroll 8
        for (uint32_t r = 0; r < FAST_ROWS; r++)
#pragma GCC unroll 2
            for (uint32_t p = 0; p < fast_pieces(s); p++)
                sum[r][p] = multiply_add(t, t == BF16 && MULTIPLIES_BF16_PAIRS, sum[r][p],
                                         splat32(left[r]), *chunk_of(row + CHUNK_BYTES * p, 0));
    }
}

LANE_INLINE void fast_block(mfma_type t, mfma_shape s, uint32_t per_lane, const mfma_operands *o,
                            uint32_t b, uint32_t i, uint32_t j)
{
    fast_sums sum;
    fast_start(s, o->c, o->constant, b, i, j, sum);
    fast_accumulate(t, s, per_lane, o->a, o->b, b, i, j, sum);
    fast_finish(s, o->d, b, i, j, sum);
}

/* 4x4 blocks: row i of all 16 blocks is register i; a quad of lanes shares a block. */
LANE_INLINE void fast_quads(mfma_type t, mfma_shape s, const mfma_operands *o)
{
#define QUAD_0(l) ((l) & ~3)
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t c = 0; c < N_CHUNKS; c++) {
            u32v sum = o->c ? *chunk_of(o->c + CHUNK_BYTES * c, i) : splat32(o->constant);
            for (uint32_t k = 0; k < s.k; k++) {
                u32v row = *chunk_of(o->a + CHUNK_BYTES * c, k),
                     b = *chunk_of(o->b + CHUNK_BYTES * c, k);
                sum = multiply_add(t, false, sum, __builtin_shuffle(row, EACH_LANE(QUAD_0) + i), b);
            }
            *chunk_of(o->d + CHUNK_BYTES * c, i) = sum;
        }
#undef QUAD_0
}

LANE_INLINE void fast_product(mfma_type t, mfma_shape s, uint32_t per_lane, const mfma_operands *o)
{
    if (s.m == 4)
        fast_quads(t, s, o);
    else
        for (uint32_t b = 0; b < s.blocks; b++)
            for (uint32_t i = 0; i < s.m; i += FAST_ROWS)
                for (uint32_t j = 0; j < s.m; j += fast_columns(s))
                    fast_block(t, s, per_lane, o, b, i, j);
}

#endif
