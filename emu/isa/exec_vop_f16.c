/* emu/isa/exec_vop_f16.c: vector arithmetic in half precision, rows of vop_f16.def.
 *
 * Sums, products and quotients go through f32: its 24 bits are enough for a second rounding to do no harm.
 * Fused multiply-add rounds to odd in between.          Tested by tests/emu/test_isa_f16.c.
 * SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd_f16.h"
#include "emu/isa/simd_math.h"

LANE_INLINE f32x16 f32(u32x16 bits)
{
    return f32_of_f16(bits);
}

LANE_INLINE u32x16 f16(f32x16 x)
{
    return f16_of_f32(x);
}

/* a * b + c rounded once.  The product is exact; an inexact sum gets an odd last bit, so that it lies on
 * the right side of every number halfway between two of f16. */
LANE_INLINE u32x16 fused(u32x16 a, u32x16 b, u32x16 c)
{
    f32x16 p = f32(a) * f32(b), q = f32(c), sum = p + q;
    f32x16 of_q = sum - p, error = (p - (sum - of_q)) + (q - of_q);
    u32x16 bits = (u32x16)sum, towards_zero = (u32x16)((i32x16)((u32x16)error ^ bits) < 0);
    i32x16 is_even = ((error < 0) | (error > 0)) & ((bits & 1) == 0);
    bits += (u32x16)is_even & (towards_zero | 1);
    return f16((f32x16)bits);
}

LANE_INLINE i32x16 is_signalling(u32x16 bits)
{
    return ((bits & 0x7e00) == 0x7c00) & ((bits & 0x1ff) != 0);
}

/* The rules of IEEE mode for NaN, on bits. */
LANE_INLINE u32x16 choose_number(u32x16 a, u32x16 b, u32x16 r)
{
    f32x16 x = f32(a), y = f32(b);
    r = SELECT(x != x, b, SELECT(y != y, a, r));
    r = SELECT(is_signalling(b), b | 0x200, r);
    return SELECT(is_signalling(a), a | 0x200, r) & 0xffff;
}

LANE_INLINE u32x16 minimum(u32x16 a, u32x16 b)
{
    f32x16 x = f32(a), y = f32(b);
    return choose_number(a, b, SELECT(x == y, a | b, SELECT(x < y, a, b)));
}

LANE_INLINE u32x16 maximum(u32x16 a, u32x16 b)
{
    f32x16 x = f32(a), y = f32(b);
    return choose_number(a, b, SELECT(x == y, a & b, SELECT(x > y, a, b)));
}

LANE_INLINE u32x16 median(u32x16 a, u32x16 b, u32x16 c)
{
    f32x16 x = f32(a), y = f32(b), z = f32(c);
    u32x16 ab = maximum(a, b);
    f32x16 most = f32(maximum(ab, c));
    u32x16 r = SELECT(most == x, maximum(b, c), SELECT(most == y, maximum(a, c), ab));
    return SELECT((x != x) | (y != y) | (z != z), minimum(minimum(a, b), c), r);
}

/* a * 2^b; every step is exact in f32 but the last. */
LANE_INLINE u32x16 scale(u32x16 a, u32x16 b)
{
    i32x16 n = (i32x16)(b << 16) >> 16;
    n = SELECT(n > 50, (i32x16)splat32(50), n);
    n = SELECT(n < -50, -(i32x16)splat32(50), n);
    return f16(f32(a) * (f32x16)((u32x16)(n + 127) << 23));
}

LANE_INLINE i32x16 is_nonzero_number(u32x16 bits)
{
    u32x16 magnitude = bits & 0x7fff;
    return (magnitude != 0) & (magnitude < 0x7c00);
}

/* Every f16 is a normal number in f32. */
LANE_INLINE u32x16 fraction(u32x16 a)
{
    u32x16 r = ((u32x16)f32(a) & 0x807fffff) | 0x3f000000;
    return SELECT(is_nonzero_number(a), f16((f32x16)r), a & 0xffff);
}

LANE_INLINE u32x16 exponent(u32x16 a)
{
    u32x16 e = ((u32x16)f32(a) >> 23 & 255) - 126;
    return (u32x16)is_nonzero_number(a) & e & 0xffff;
}

/* Quotient, denominator, numerator: special cases of a division. */
LANE_INLINE u32x16 fixup(u32x16 q, u32x16 den, u32x16 num)
{
    f32x16 x = f32(den), y = f32(num);
    u32x16 sign = (den ^ num) & 0x8000, r = q & 0x7fff;
    i32x16 den_inf = (den & 0x7fff) == 0x7c00, num_inf = (num & 0x7fff) == 0x7c00;
    r = SELECT(den_inf | (y == 0), splat32(0), r);
    r = SELECT(num_inf | (x == 0), splat32(0x7c00), r) | sign;
    r = SELECT(((x == 0) & (y == 0)) | (den_inf & num_inf), splat32(0xfe00), r);
    r = SELECT(x != x, (den & 0xffff) | 0x200, r);
    return SELECT(y != y, (num & 0xffff) | 0x200, r);
}

LANE_INLINE u32x16 dot2(u32x16 a, u32x16 b, u32x16 c)
{
    return (u32x16)fma32(f32(a >> 16), f32(b >> 16), fma32(f32(a), f32(b), (f32x16)c));
}

#define DEFINE(name, value)                                                                        \
    LANE_INLINE u32x16 name##_of(u32x16 a, u32x16 b, u32x16 c)                                     \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    }
#define H(name, operands, cycles, value) DEFINE(name, value) VARIANTS(0, name, run32, name##_of)
#define PK(name, operands, cycles, value)                                                          \
    DEFINE(name, value)                                                                            \
    LANE_INLINE u32x16 name##_both(u32x16 a, u32x16 b, u32x16 c)                                   \
    {                                                                                              \
        u32x16 high = name##_of(a >> 16, b >> 16, c >> 16);                                        \
        return (name##_of(a, b, c) & 0xffff) | high << 16;                                         \
    }                                                                                              \
    VARIANTS(0, name, run32, name##_both)
#define DOT(name, operands, cycles) VARIANTS(0, name, run32, dot2)
#include "emu/isa/vop_f16.def"
#undef H
#undef PK
#undef DOT

#define H(name, operands, cycles, value) VALU_ROW(name, operands, cycles, 0),
#define PK                               H
#define DOT(name, operands, cycles)      VALU_ROW(name, operands, cycles, 0),
static const emu_row rows[] = {
#include "emu/isa/vop_f16.def"
};

DEFINE_TABLE(emu_table_vop_f16);
