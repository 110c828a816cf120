/* tests/emu/half.h: half precision in plain arithmetic, the tests' own.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TESTS_EMU_HALF_H
#define MOESAIC_TESTS_EMU_HALF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline double half_value(uint32_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double x = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                              : ldexp(mantissa, -24);
    return bits & 0x8000 ? -x : x;
}

/* The nearest half, ties to even, or the next towards zero; a NaN is 0x7e00. */
static inline uint32_t half_of(long double x, bool truncate)
{
    int exponent;
    uint32_t sign = signbit(x) ? 0x8000 : 0;
    if (x != x)
        return 0x7e00;
    x = fabsl(x);
    if (isinf(x))
        return sign | 0x7c00;
    frexpl(x, &exponent);
    exponent =
        exponent < -13 ? -13 : exponent; /* denormals have the step of the least normal number */
    long double steps = ldexpl(x, 11 - exponent);
    long double rounded = truncate ? floorl(steps) : nearbyintl(steps);
    long double value = ldexpl(rounded, exponent - 11);
    if (value >= 65536)
        return sign | (truncate ? 0x7bff : 0x7c00);
    if (value < 0x1p-14L)
        return sign | (uint32_t)ldexpl(value, 24);
    frexpl(value, &exponent);
    return sign | (uint32_t)(exponent + 14) << 10 | ((uint32_t)ldexpl(value, 11 - exponent) & 1023);
}

#endif
