/* emu/isa/simd_f16.h: half precision in vectors: 16 lanes, each in the low half of a word.
 *
 * Hosts of the avx512 level convert in hardware; elsewhere integer arithmetic does it.  Both round to nearest even and
 * keep denormals, as MODE does from the start.                     SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_F16_H
#define MOESAIC_EMU_ISA_SIMD_F16_H

#include "emu/isa/simd.h"

/* Exact.  The high half of a lane is ignored. */
LANE_INLINE f32x16 f32_of_f16(u32x16 x)
{
#ifdef __AVX512F__
    return (f32x16)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)x));
#else
    u32x16 sign = (x & 0x8000) << 16, magnitude = (x & 0x7fff) << 13;
    f32x16 scaled =
        (f32x16)magnitude * 0x1p112f; /* moves the exponent's bias; denormals become normal */
    u32x16 special = magnitude | 0x7f800000; /* infinity, NaN */
    i32x16 is_nan = magnitude > 0x0f800000;
    special = SELECT(is_nan, special | 0x400000, special);
    return (f32x16)(SELECT(magnitude >= 0x0f800000, special, (u32x16)scaled) | sign);
#endif
}

/* Round to nearest even; the high half of a lane is zero. */
LANE_INLINE u32x16 f16_of_f32(f32x16 x)
{
#ifdef __AVX512F__
    return (u32x16)_mm512_cvtepu16_epi32(
        _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
    u32x16 bits = (u32x16)x, sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    u32x16 odd = magnitude >> 13 & 1;
    u32x16 normal = (magnitude - (112u << 23) + 0xfff + odd) >> 13;
    f32x16 aligned = (f32x16)magnitude + 0.5f; /* rounds at 2^-24, the step of f16 denormals */
    u32x16 denormal = (u32x16)aligned - 0x3f000000;
    u32x16 nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    u32x16 r = SELECT(magnitude < (113u << 23), denormal, normal);
    r = SELECT(magnitude >= (143u << 23) - 0x1000, splat32(0x7c00), r);
    return SELECT(magnitude > 0x7f800000, nan, r) | sign;
#endif
}

/* Round towards zero; too large numbers become the largest. */
LANE_INLINE u32x16 f16_of_f32_truncated(f32x16 x)
{
    u32x16 bits = (u32x16)x, sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    u32x16 normal = (magnitude - (112u << 23)) >> 13;
    f32x16 steps = (f32x16)SELECT(magnitude < (113u << 23), magnitude, (u32x16){0}) * 0x1p24f;
    u32x16 denormal = (u32x16) __builtin_convertvector(steps, i32x16);
    u32x16 r = SELECT(magnitude < (113u << 23), denormal, normal);
    r = SELECT(magnitude >= (143u << 23), splat32(0x7bff), r);
    r = SELECT(magnitude == 0x7f800000, splat32(0x7c00), r);
    return SELECT(magnitude > 0x7f800000, 0x7e00 | (magnitude >> 13 & 0x3ff), r) | sign;
}

#endif
