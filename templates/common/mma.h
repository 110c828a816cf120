/* templates/common/mma.h: matrix instructions on fragments read from LDS.
 *
 * Owns which lane holds which element.  Weights are the left operand, activations the right one, so that the
 * result has four neighbouring output columns in four registers of one lane, and one token per lane:
 *
 *   Mfma = 32:  token lane % 32, column 8 * quad + 4 * (lane / 32) + 0..3, four quads
 *   Mfma = 16:  token lane % 16, column 4 * (lane / 16) + 0..3, one quad
 *
 * A lane reads eight neighbouring k of its row at once and feeds them to two instructions, four each: the
 * order of k differs from memory's, in both operands alike.
 * Source: docs/hardware.md, "MFMA layouts".                                   SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_COMMON_MMA_H
#define MOESAIC_COMMON_MMA_H

#include "common/types.h"

template <int Mfma> struct Mma;

template <> struct Mma<32> {
    typedef f32x16 Result;
    static constexpr int k_per_read = 16;
    static constexpr int quads = 4;
    static constexpr int quad_pitch = 8;
    __device__ static Result multiply(bf16x4 left, bf16x4 right, Result sum)
    {
        return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(left, right, sum, 0, 0, 0);
    }
};

template <> struct Mma<16> {
    typedef f32x4 Result;
    static constexpr int k_per_read = 32;
    static constexpr int quads = 1;
    static constexpr int quad_pitch = 4;
    __device__ static Result multiply(bf16x4 left, bf16x4 right, Result sum)
    {
        return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(left, right, sum, 0, 0, 0);
    }
};

/* The four columns of one quad. */
template <int Mfma> __device__ inline f32x4 quad_of(const typename Mma<Mfma>::Result &r, int quad)
{
    return f32x4{r[4 * quad], r[4 * quad + 1], r[4 * quad + 2], r[4 * quad + 3]};
}

__device__ inline bf16x4 low_half(bf16x8 v)
{
    return __builtin_shufflevector(v, v, 0, 1, 2, 3);
}
__device__ inline bf16x4 high_half(bf16x8 v)
{
    return __builtin_shufflevector(v, v, 4, 5, 6, 7);
}

/* What one wave multiplies: BlocksM x BlocksN results of Mfma x Mfma. */
template <int Mfma, int BlocksM, int BlocksN> struct WaveResult {
    typename Mma<Mfma>::Result r[BlocksM][BlocksN];

    __device__ void clear()
    {
        for (int i = 0; i < BlocksM; i++)
            for (int j = 0; j < BlocksN; j++)
                r[i][j] = 0;
    }
};

template <int Mfma, int BlocksM, int BlocksN> struct Fragments {
    bf16x8 m[BlocksM], n[BlocksN];

    __device__ void multiply_into(WaveResult<Mfma, BlocksM, BlocksN> &sum) const
    {
        for (int i = 0; i < BlocksM; i++)
            for (int j = 0; j < BlocksN; j++)
                sum.r[i][j] = Mma<Mfma>::multiply(low_half(n[j]), low_half(m[i]), sum.r[i][j]);
        for (int i = 0; i < BlocksM; i++)
            for (int j = 0; j < BlocksN; j++)
                sum.r[i][j] = Mma<Mfma>::multiply(high_half(n[j]), high_half(m[i]), sum.r[i][j]);
    }
};

#endif
