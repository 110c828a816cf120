/* templates/common/types.h: element and vector types, bf16 rounding.
 *
 * Owns what every layer needs and the compiler does not bring: hiprtc has no standard headers, and gfx942 has
 * no instruction that rounds fp32 to bf16.                                    SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_COMMON_TYPES_H
#define MOESAIC_COMMON_TYPES_H

typedef short bf16; /* the bits; arithmetic happens in fp32 */
typedef short bf16x4 __attribute__((ext_vector_type(4)));
typedef short bf16x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef unsigned u32x2 __attribute__((ext_vector_type(2)));

template <int Elems> struct Bf16Vector;
template <> struct Bf16Vector<4> {
    typedef bf16x4 type;
};
template <> struct Bf16Vector<8> {
    typedef bf16x8 type;
};

/* Rounds to nearest even; the result is in the upper half.  A NaN stays one, made quiet. */
__device__ inline unsigned round_bf16(float value)
{
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    const unsigned rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return value == value ? rounded : bits | 0x00400000u;
}

/* The upper halves of two words as one: the first one low. */
__device__ inline unsigned pack_upper(unsigned low, unsigned high)
{
    return __builtin_amdgcn_perm(high, low, 0x07060302u);
}

__device__ inline bf16x4 to_bf16(f32x4 v)
{
    const u32x2 packed = {pack_upper(round_bf16(v[0]), round_bf16(v[1])),
                          pack_upper(round_bf16(v[2]), round_bf16(v[3]))};
    return __builtin_bit_cast(bf16x4, packed);
}

#endif
