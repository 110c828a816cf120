/* emu/isa/simd_math.h: what the transcendental unit computes, in vectors.
 *
 * Results come from double precision, rounded once: within 0.51 ulp of the exact value, where the hardware
 * promises 1 ulp.  Denormals are flushed where it flushes them (rcp, rsq, exp, log).
 * Source: CDNA3 ISA guide; LLVM AMDGPUUsage and its expansions of exp2f and log2f.     SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_MATH_H
#define MOESAIC_EMU_ISA_SIMD_MATH_H

#include "emu/isa/simd.h"

/* A function of double precision applied to f32 lanes. */
#define THROUGH_F64(f, x)                                                                          \
    ((f32v)of_halves(bits_of_f32(f(to_f64(x, 0))), bits_of_f32(f(to_f64(x, 1)))))

LANE_INLINE f32v flush32(f32v x)
{
    u32v bits = (u32v)x;
    return (f32v)SELECT((bits & 0x7f800000) == 0, bits & 0x80000000, bits);
}

LANE_INLINE f32v reciprocal32(f32v x)
{
    return flush32(1.0f / flush32(x));
}

LANE_INLINE f64v reciprocal_root64(f64v x)
{
    return 1.0 / sqrt64(x);
}

LANE_INLINE f32v reciprocal_root32(f32v x)
{
    return THROUGH_F64(reciprocal_root64, flush32(x));
}

/* 2^n for integers n in [-1022, 1023]. */
LANE_INLINE f64v power_of_two64(f64v n)
{
    const double bias = 0x1.8p52 + 1023; /* puts the integer in the low bits of the sum */
    return (f64v)((u64v)(n + bias) << 52);
}

/* 2^x for |x| < 1000: 2^n * 2^f, |f| <= 1/2, by the series of exp(f ln 2). */
LANE_INLINE f64v exp2_64(f64v x)
{
    static const double inverse_factorial[] = {
        1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
        1.0 / 120,      1.0 / 24,      1.0 / 6,      1.0 / 2,     1.0,        1.0};
    f64v n = rint64(x), t = (x - n) * 0x1.62e42fefa39efp-1; /* ln 2 */
    f64v sum = splat_f64(inverse_factorial[0]);
    for (unsigned i = 1; i < sizeof inverse_factorial / sizeof *inverse_factorial; i++)
        sum = fma64(sum, t, splat_f64(inverse_factorial[i]));
    return sum * power_of_two64(n);
}

LANE_INLINE f32v exp2_32(f32v x)
{
    f32v in = SELECT(x > 200, splat_f32(200), x);
    in = SELECT(in < -200, splat_f32(-200), in);
    f32v r = flush32(THROUGH_F64(exp2_64, in));
    return SELECT(x != x, x + x, r);
}

/* log2 of positive finite numbers: exponent + 2 atanh(s) / ln 2, s = (m-1)/(m+1), m in [sqrt 1/2, sqrt 2). */
LANE_INLINE f64v log2_64(f64v x)
{
    const u64v root_half = splat64(0x3fe6a09e667f3bcdull);
    u64v above = (u64v)x - root_half;
    f64v m = (f64v)((above & 0x000fffffffffffffull) + root_half);
    i64v exponent = (i64v)above >> 52;
    f64v s = (m - 1) / (m + 1), s2 = s * s, sum = splat_f64(1.0 / 17);
    for (int k = 15; k > 0; k -= 2)
        sum = fma64(sum, s2, splat_f64(1.0 / k));
    const double scale = 0x1.71547652b82fep+1; /* 2 / ln 2 */
    f64v whole = (f64v)((u64v)(exponent + 0x4338000000000000ll)) - 0x1.8p52;
    return fma64(s * sum, splat_f64(scale), whole);
}

LANE_INLINE f32v log2_32(f32v x)
{
    x = flush32(x);
    i32v is_usual = (x > 0) & (x < __builtin_inff());
    f32v r = THROUGH_F64(log2_64, SELECT(is_usual, x, splat_f32(1)));
    f32v special = SELECT(x == 0, splat_f32(-__builtin_inff()), x);
    special = SELECT(x < 0, (f32v)splat32(0x7fc00000), special);
    return SELECT(is_usual, r, SELECT(x != x, x + x, special));
}

/* sin(2 pi r) for |r| <= 1/4, by its series. */
LANE_INLINE f64v sine_of_turn(f64v r)
{
    static const double inverse_factorial[] = {1.0 / 355687428096000,
                                               -1.0 / 1307674368000,
                                               1.0 / 6227020800,
                                               -1.0 / 39916800,
                                               1.0 / 362880,
                                               -1.0 / 5040,
                                               1.0 / 120,
                                               -1.0 / 6,
                                               1.0};
    f64v t = r * 0x1.921fb54442d18p+2, t2 = t * t; /* 2 pi */
    f64v sum = splat_f64(inverse_factorial[0]);
    for (unsigned i = 1; i < sizeof inverse_factorial / sizeof *inverse_factorial; i++)
        sum = fma64(sum, t2, splat_f64(inverse_factorial[i]));
    return sum * t;
}

/* sin(2 pi x): to the nearest half turn, which only changes the sign. */
LANE_INLINE f64v sine64(f64v x)
{
    x -= rint64(x);
    f64v half = rint64(2 * x), r = x - half * 0.5;
    f64v sine = sine_of_turn(r);
    return SELECT(half != 0, -sine, sine);
}

LANE_INLINE f64v cosine64(f64v x)
{
    x -= rint64(x);
    return sine64(x + 0.25);
}

/* Inputs are in turns and valid to 256; beyond, the hardware gives sin 0. */
LANE_INLINE f32v sine32(f32v x)
{
    f32v r = THROUGH_F64(sine64, x);
    return SELECT((x > 256) | (x < -256), x - x, r);
}

LANE_INLINE f32v cosine32(f32v x)
{
    f32v r = THROUGH_F64(cosine64, x);
    return SELECT((x > 256) | (x < -256), x - x + 1, r);
}

#endif
