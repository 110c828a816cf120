/* emu/isa/mfma_fast.h: products of planes in f32 (or i32) arithmetic, k ascending, one rounding per product.
 *
 * Eight rows of the result stay in host registers over all k.  Where the host multiplies pairs of bf16
 * (VDPBF16PS), bf16 registers serve as planes as they are: such a step covers two k, the odd one first, and denormal
 * inputs and results count as 0.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MFMA_FAST_H
#define MOESAIC_EMU_ISA_MFMA_FAST_H

#include "emu/isa/mfma_operand.h"

enum { FAST_ROWS = 8 };

#ifdef __AVX512BF16__
#define MULTIPLIES_BF16_PAIRS 1
enum { FAST_UNROLL_K = 8 };
LANE_INLINE chunk_u32 multiply_add_pairs(chunk_u32 sum, chunk_u32 a, chunk_u32 b)
{
    return (chunk_u32)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}
#else
#define MULTIPLIES_BF16_PAIRS 0
enum { FAST_UNROLL_K = 1 };
LANE_INLINE chunk_u32 multiply_add_pairs(chunk_u32 sum, chunk_u32 a, chunk_u32 b)
{
    (void)a, (void)b;
    return sum;
}
#endif

/* Without FMA in the instruction set, products that are exact in f32 need none; only F32's are not. */
LANE_INLINE chunk_u32 multiply_add_f32(mfma_type t, chunk_u32 sum, chunk_u32 a, chunk_u32 b)
{
    chunk_f32 x = (chunk_f32)a, y = (chunk_f32)b, z = (chunk_f32)sum;
#ifdef __AVX512F__
    (void)t;
    z = (chunk_f32)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#else
    if (t == F32)
        for (uint32_t l = 0; l < CHUNK_LANES; l++)
            z[l] = __builtin_fmaf(x[l], y[l], z[l]);
    else
        z += x * y;
#endif
    return (chunk_u32)z;
}

LANE_INLINE chunk_u32 multiply_add(mfma_type t, bool pairs, chunk_u32 sum, chunk_u32 a, chunk_u32 b)
{
    if (t == I8)
        return sum + a * b;
    if (pairs)
        return multiply_add_pairs(sum, a, b);
    return multiply_add_f32(t, sum, a, b);
}

/* --- eight rows of the result in host registers: i is a multiple of 8, so offsets of i and of r add up --- */

enum { FAST_MAX_PIECES = 2 };
typedef chunk_u32 fast_sums[FAST_ROWS][FAST_MAX_PIECES];

/* From registers, or a constant everywhere when c is NULL. */
LANE_INLINE void fast_start(mfma_shape s, const uint8_t *c, uint32_t constant, uint32_t b, uint32_t i,
                            fast_sums sum)
{
    if (c)
        c += row_offset(s, b, i);
#pragma GCC unroll 8
    for (uint32_t r = 0; r < FAST_ROWS; r++)
#pragma GCC unroll 2
        for (uint32_t p = 0; p < s.m / CHUNK_LANES; p++)
            sum[r][p] = c ? *chunk_of(c + row_offset(s, 0, r) + 64 * p, 0) : chunk_splat(constant);
}

LANE_INLINE void fast_finish(mfma_shape s, uint8_t *d, uint32_t b, uint32_t i, fast_sums sum)
{
    d += row_offset(s, b, i);
#pragma GCC unroll 8
    for (uint32_t r = 0; r < FAST_ROWS; r++)
#pragma GCC unroll 2
        for (uint32_t p = 0; p < s.m / CHUNK_LANES; p++)
            *chunk_of(d + row_offset(s, 0, r) + 64 * p, 0) = sum[r][p];
}

/* s.k counts steps, of which a lane holds per_lane. */
LANE_INLINE void fast_accumulate(mfma_type t, mfma_shape s, uint32_t per_lane, const uint8_t *a,
                                 const uint8_t *b, uint32_t block, uint32_t i, fast_sums sum)
{
#pragma GCC unroll FAST_UNROLL_K
    for (uint32_t k = 0; k < s.k; k++) {
        const uint32_t *left = (const uint32_t *)(a + element_offset(s, per_lane, block, i, k));
        const uint8_t *row = b + element_offset(s, per_lane, block, 0, k);
#pragma GCC unroll 8
        for (uint32_t r = 0; r < FAST_ROWS; r++)
#pragma GCC unroll 2
            for (uint32_t p = 0; p < s.m / CHUNK_LANES; p++)
                sum[r][p] = multiply_add(t, t == BF16 && MULTIPLIES_BF16_PAIRS, sum[r][p],
                                         chunk_splat(left[r]), *chunk_of(row + 64 * p, 0));
    }
}

LANE_INLINE void fast_rows(mfma_type t, mfma_shape s, uint32_t per_lane, const mfma_operands *o, uint32_t b,
                           uint32_t i)
{
    fast_sums sum;
    fast_start(s, o->c, o->constant, b, i, sum);
    fast_accumulate(t, s, per_lane, o->a, o->b, b, i, sum);
    fast_finish(s, o->d, b, i, sum);
}

/* 4x4 blocks: row i of all 16 blocks is register i; a quad of lanes shares a block. */
LANE_INLINE void fast_quads(mfma_type t, mfma_shape s, const mfma_operands *o)
{
#define QUAD_0(l) ((l) & ~3)
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t c = 0; c < N_CHUNKS; c++) {
            chunk_u32 sum = o->c ? *chunk_of(o->c + 64 * c, i) : chunk_splat(o->constant);
            for (uint32_t k = 0; k < s.k; k++) {
                chunk_u32 row = *chunk_of(o->a + 64 * c, k), b = *chunk_of(o->b + 64 * c, k);
                sum = multiply_add(t, false, sum, __builtin_shuffle(row, CHUNK_INDEX(QUAD_0) + i), b);
            }
            *chunk_of(o->d + 64 * c, i) = sum;
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
                fast_rows(t, s, per_lane, o, b, i);
}

#endif
