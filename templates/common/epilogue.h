/* templates/common/epilogue.h: from a wave's sums to memory.
 *
 * Owns activation, rounding and stores.  A quad is four neighbouring columns of one row, held by one lane
 * (common/mma.h); nothing beyond the last row or column is written.
 *                                                                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_COMMON_EPILOGUE_H
#define MOESAIC_COMMON_EPILOGUE_H

#include "common/mma.h"
#include "common/types.h"

/* x / (1 + e^-x), within 4 ulp of fp32: the error of v_exp_f32 and v_rcp_f32 (1 ulp each) and two roundings. */
__device__ inline float silu(float x)
{
    const float e = __builtin_amdgcn_exp2f(x * -1.44269504f);
    return x * __builtin_amdgcn_rcpf(1.0f + e);
}

__device__ inline f32x4 swiglu(f32x4 gate, f32x4 up)
{
    return f32x4{silu(gate[0]) * up[0], silu(gate[1]) * up[1], silu(gate[2]) * up[2],
                 silu(gate[3]) * up[3]};
}

/* Stores the first `cols` elements of a quad; Aligned: all or none of them. */
template <int Aligned, class Element, class Quad>
__device__ inline void store_quad(Element *p, Quad quad, int cols)
{
    if (Aligned) {
        if (cols > 0)
            *reinterpret_cast<Quad *>(p) = quad;
    } else {
        for (int i = 0; i < 4; i++)
            if (i < cols)
                p[i] = quad[i];
    }
}

#endif
