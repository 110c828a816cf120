/* emu/isa/exec_vop_f64.c: vector arithmetic in double precision, one row of vop_f64.def per instruction.
 * Tested by tests/emu/test_isa_f64.c.                              SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd.h"

LANE_INLINE i64v is_signalling(f64v x)
{
    return (x != x) & (((u64v)x & 0x8000000000000ull) == 0);
}

LANE_INLINE f64v quiet(f64v x)
{
    return (f64v)((u64v)x | 0x8000000000000ull);
}

/* The rules of IEEE mode for NaN: a signalling one is returned quiet, else the other operand. */
LANE_INLINE f64v choose_number(f64v a, f64v b, f64v r)
{
    if (__builtin_expect(bits_of_lanes64((a != a) | (b != b)) == 0, 1))
        return r;
    r = SELECT(a != a, b, SELECT(b != b, a, r));
    r = SELECT(is_signalling(b), quiet(b), r);
    return SELECT(is_signalling(a), quiet(a), r);
}

LANE_INLINE f64v minimum(f64v a, f64v b)
{
    f64v equal = (f64v)((u64v)a | (u64v)b);
    return choose_number(a, b, SELECT(a == b, equal, SELECT(a < b, a, b)));
}

LANE_INLINE f64v maximum(f64v a, f64v b)
{
    f64v equal = (f64v)((u64v)a & (u64v)b);
    return choose_number(a, b, SELECT(a == b, equal, SELECT(a > b, a, b)));
}

/* x * 2^n, rounded once: libm knows how for denormal results. */
LANE_INLINE f64v scale(f64v x, f64v n)
{
    for (uint32_t l = 0; l < HALF_LANES; l++)
        x[l] = __builtin_ldexp(x[l], (int32_t)((i64v)n)[l]);
    return x;
}

LANE_INLINE i64v is_nonzero_number(f64v x)
{
    u64v magnitude = (u64v)x << 1 >> 1;
    return (magnitude != 0) & (magnitude < 0x7ff0000000000000ull);
}

/* Denormals as normal numbers; *shift: by which power of two. */
LANE_INLINE f64v normal(f64v x, i64v *shift)
{
    i64v is_small = ((u64v)x >> 52 & 0x7ff) == 0;
    *shift = is_small & 54;
    return SELECT(is_small, x * 0x1p54, x);
}

/* In [1/2, 1), with the sign. */
LANE_INLINE f64v fraction(f64v x)
{
    i64v shift;
    u64v bits = (u64v)normal(x, &shift);
    return SELECT(is_nonzero_number(x),
                  (f64v)((bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull), x);
}

/* As an integer in the low word. */
LANE_INLINE f64v exponent(f64v x)
{
    i64v shift, e = (i64v)((u64v)normal(x, &shift) >> 52 & 0x7ff) - 1022 - shift;
    return (f64v)(is_nonzero_number(x) & e);
}

/* Bits of 2 / pi behind the point, 1200 of them, 32 a word. */
static const uint32_t two_over_pi_bits[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};

/* 64 bits of 2 / pi from bit `first` on. */
static uint64_t bits_of_two_over_pi(uint32_t first)
{
    uint32_t word = first / 32, bit = first % 32;
    const uint32_t *p = two_over_pi_bits + word;
    uint64_t high = (uint64_t)p[0] << 32 | p[1];
    return bit ? high << bit | p[2] >> (32 - bit) : high;
}

/* The segment of 53 bits that an argument reduction of |x| multiplies with, `segment` of 0, 1, 2. */
static double two_over_pi_segment(double x, uint32_t segment)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    int32_t exponent = (int32_t)(u >> 52 & 0x7ff), skip = exponent > 1077 ? exponent - 1077 : 0;
    uint32_t shift = (segment & 31) * 53 + (uint32_t)skip;
    if (shift + 96 > 32 * sizeof two_over_pi_bits / sizeof *two_over_pi_bits)
        return 0;
    double r = (double)(bits_of_two_over_pi(shift) >> 11);
    return __builtin_ldexp(r, -53 - (int)shift + (exponent >= 1968 ? 128 : 0));
}

LANE_INLINE f64v two_over_pi(f64v x, f64v segment)
{
    for (uint32_t l = 0; l < HALF_LANES; l++)
        x[l] = two_over_pi_segment(x[l], (uint32_t)((u64v)segment)[l]);
    return x;
}

#define DEFINE(n, name, operands, value)                                                           \
    LANE_INLINE u64v name##_of(u64v x, u64v y, u64v z)                                             \
    {                                                                                              \
        f64v a = (f64v)x, b = (f64v)y, c = (f64v)z;                                                \
        (void)a, (void)b, (void)c;                                                                 \
        return (u64v)(value);                                                                      \
    }                                                                                              \
    VARIANTS(n, name, run64, operands, name##_of)
#define D1(name, operands, cycles, value) DEFINE(1, name, operands, value)
#define D2(name, operands, cycles, value) DEFINE(2, name, operands, value)
#define D3(name, operands, cycles, value) DEFINE(3, name, operands, value)
#include "emu/isa/vop_f64.def"
#undef D1
#undef D2
#undef D3

#define D1(name, operands, cycles, value) VALU_ROW(name, operands, cycles, EMU_VARIANT_SCALAR),
#define D2                                D1
#define D3                                D1
static const emu_row rows[] = {
#include "emu/isa/vop_f64.def"
};

DEFINE_TABLE(emu_table_vop_f64);
