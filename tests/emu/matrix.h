/* tests/emu/matrix.h: what tests of matrix instructions need: number formats, and sums as silicon rounds them.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TESTS_EMU_MATRIX_H
#define MOESAIC_TESTS_EMU_MATRIX_H

#include "tests/emu/machine.h"

#include <math.h>

typedef enum type { F32, XF32, F16, BF16, FP8, BF8, I8 } type;

/* --- number formats, by their definition --- */

typedef struct format {
    int bits, mantissa, bias;
} format;

static const format formats[] = {
    [F32] = {32, 23, 127}, [XF32] = {32, 23, 127}, [F16] = {16, 10, 15}, [BF16] = {16, 7, 127},
    [FP8] = {8, 3, 8},     [BF8] = {8, 2, 16},     [I8] = {8, 0, 0},
};

static inline double decode(type t, uint32_t bits)
{
    const format *f = &formats[t];
    int n = f->bits - 1 - f->mantissa, field = (int)(bits >> f->mantissa) & ((1 << n) - 1);
    uint32_t fraction = bits & ((1u << f->mantissa) - 1);
    double sign = bits >> (f->bits - 1) & 1 ? -1 : 1;
    if (t == I8)
        return (int8_t)bits;
    if (t == FP8 || t == BF8) {
        if (bits == 0x80)
            return NAN;
    } else if (field == (1 << n) - 1) {
        return fraction ? NAN : sign * (double)INFINITY;
    }
    if (t == XF32)
        fraction &= ~0x1fffu;
    double significand = ldexp(fraction, -f->mantissa) + (field ? 1 : 0);
    return sign * ldexp(significand, (field ? field : 1) - f->bias);
}

/* Random bits whose exponent is within `spread` of 1; spread 0: any bits. */
static inline uint32_t number(machine *m, type t, int spread)
{
    const format *f = &formats[t];
    uint32_t bits = machine_random(m) & (f->bits == 32 ? ~0u : (1u << f->bits) - 1);
    if (!spread || t == I8)
        return bits;
    uint32_t field =
        (uint32_t)(f->bias + (int)(machine_random(m) % (unsigned)(2 * spread)) - spread);
    uint32_t others = (1u << f->mantissa) - 1;
    return (bits & (others | 1u << (f->bits - 1))) | field << f->mantissa;
}

/* --- silicon: the rules of arXiv 2511.10909 in doubles --- */

typedef struct scientific {
    double significand;
    int exponent;
} scientific;

static inline scientific scientific_of(double x, type t)
{
    int lowest = t == F16 ? -14 : t == FP8 ? -7 : t == BF8 ? -15 : -126;
    scientific s = {0, -126};
    if (x == 0)
        return s;
    s.significand = 2 * frexp(x, &s.exponent);
    s.exponent--;
    if (s.exponent < lowest) {
        s.significand = ldexp(s.significand, s.exponent - lowest);
        s.exponent = lowest;
    }
    return s;
}

static inline scientific truncated_sum(const scientific *x, int n, int stride)
{
    scientific sum = {0, x[0].exponent};
    for (int i = 0; i < n; i += stride)
        sum.exponent = x[i].exponent > sum.exponent ? x[i].exponent : sum.exponent;
    for (int i = 0; i < n; i += stride)
        sum.significand +=
            ldexp(trunc(ldexp(x[i].significand, 24 + x[i].exponent - sum.exponent)), -24);
    return sum;
}

static inline double downward(scientific x, int exponent, int bits)
{
    return ldexp(floor(ldexp(x.significand, bits + x.exponent - exponent)), -bits);
}

static inline float silicon_group(type ta, type tb, const double *a, const double *b, int n,
                                  float c)
{
    scientific product[16] = {{0}}, sum, old = scientific_of((double)c, F32);
    double plain = (double)c, huge = 0;
    for (int k = 0; k < n; k++) {
        scientific x = scientific_of(a[k], ta), y = scientific_of(b[k], tb);
        product[k] = (scientific){x.significand * y.significand, x.exponent + y.exponent};
        plain += a[k] * b[k];
        if (fabs(a[k] * b[k]) >= 0x1p128)
            huge += a[k] * b[k] > 0 ? (double)INFINITY : -(double)INFINITY;
    }
    if (!isfinite(plain) || huge != 0)
        return (float)(isfinite(plain) ? huge : plain);
    if (ta == FP8 || ta == BF8) {
        scientific even = truncated_sum(product, n, 2), odd = truncated_sum(product + 1, n - 1, 2);
        sum.exponent = even.exponent > odd.exponent ? even.exponent : odd.exponent;
        sum.significand = downward(even, sum.exponent, 24) + downward(odd, sum.exponent, 24);
    } else {
        sum = truncated_sum(product, n, 1);
    }
    int most = sum.exponent > old.exponent ? sum.exponent : old.exponent;
    bool drops = (ta == FP8 || ta == BF8) && old.exponent < most - 25;
    double kept = drops ? 0 : downward(old, most, 24);
    return (float)ldexp(downward(sum, most, 31) + kept, most);
}

static inline float silicon_dot(type ta, type tb, const double *a, const double *b, int n, float c)
{
    int most = ta == XF32 ? 4 : ta == FP8 || ta == BF8 ? 16 : 8, group = n < most ? n : most;
    for (int k = 0; k < n; k += group)
        c = silicon_group(ta, tb, a + k, b + k, group, c);
    return c;
}

#endif
