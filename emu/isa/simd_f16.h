/* emu/isa/simd_f16.h: half precision in vectors: each lane in the low half of a word.
 *
 * Hosts with F16C convert in hardware; at the base level integer arithmetic does it.  Both round to nearest even and
 * keep denormals, as MODE does from the start.                     SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_F16_H
#define MOESAIC_EMU_ISA_SIMD_F16_H

#include "emu/isa/simd.h"

/* Exact.  The high half of a lane is ignored. */
LANE_INLINE f32v f32_of_f16(u32v x)
{
#ifdef __AVX512F__
    return (f32v)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)x));
#elif defined __AVX2__
    u32v low = x & 0xffff;
    return (f32v)_mm256_cvtph_ps(_mm_packus_epi32(((__m128i *)&low)[0], ((__m128i *)&low)[1]));
#else
    u32v sign = (x & 0x8000) << 16, magnitude = (x & 0x7fff) << 13;
    f32v scaled =
        (f32v)magnitude * 0x1p112f;        /* moves the exponent's bias; denormals become normal */
    u32v special = magnitude | 0x7f800000; /* infinity, NaN */
    i32v is_nan = magnitude > 0x0f800000;
    special = SELECT(is_nan, special | 0x400000, special);
    return (f32v)(SELECT(magnitude >= 0x0f800000, special, (u32v)scaled) | sign);
#endif
}

/* Round to nearest even; the high half of a lane is zero. */
LANE_INLINE u32v f16_of_f32(f32v x)
{
#ifdef __AVX512F__
    return (u32v)_mm512_cvtepu16_epi32(
        _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined __AVX2__
    return (u32v)_mm256_cvtepu16_epi32(
        _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
    u32v bits = (u32v)x, sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    u32v odd = magnitude >> 13 & 1;
    u32v normal = (magnitude - (112u << 23) + 0xfff + odd) >> 13;
    f32v aligned = (f32v)magnitude + 0.5f; /* rounds at 2^-24, the step of f16 denormals */
    u32v denormal = (u32v)aligned - 0x3f000000;
    u32v nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    u32v r = SELECT(magnitude < (113u << 23), denormal, normal);
    r = SELECT(magnitude >= (143u << 23) - 0x1000, splat32(0x7c00), r);
    return SELECT(magnitude > 0x7f800000, nan, r) | sign;
#endif
}

/* Round towards zero; too large numbers become the largest. */
LANE_INLINE u32v f16_of_f32_truncated(f32v x)
{
    u32v bits = (u32v)x, sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    u32v normal = (magnitude - (112u << 23)) >> 13;
    f32v steps = (f32v)SELECT(magnitude < (113u << 23), magnitude, (u32v){0}) * 0x1p24f;
    u32v denormal = (u32v) __builtin_convertvector(steps, i32v);
    u32v r = SELECT(magnitude < (113u << 23), denormal, normal);
    r = SELECT(magnitude >= (143u << 23), splat32(0x7bff), r);
    r = SELECT(magnitude == 0x7f800000, splat32(0x7c00), r);
    return SELECT(magnitude > 0x7f800000, 0x7e00 | (magnitude >> 13 & 0x3ff), r) | sign;
}

#endif
