/* emu/isa/exec_vop_f16.c: vector arithmetic in half precision, rows of vop_f16.def.
 *
 * Sums, products and quotients go through f32: its 24 bits are enough for a second rounding to do no harm.
 * Fused multiply-add rounds to odd in between.          Tested by tests/emu/test_isa_f16.c.
 * SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd_f16.h"
#include "emu/isa/simd_math.h"

LANE_INLINE f32v f32(u32v bits)
{
    return f32_of_f16(bits);
}

LANE_INLINE u32v f16(f32v x)
{
    return f16_of_f32(x);
}

/* a * b + c rounded once.  The product is exact; an inexact sum gets an odd last bit, so that it lies on
 * the right side of every number halfway between two of f16. */
LANE_INLINE u32v fused(u32v a, u32v b, u32v c)
{
    f32v p = f32(a) * f32(b), q = f32(c), sum = p + q;
    f32v of_q = sum - p, error = (p - (sum - of_q)) + (q - of_q);
    u32v bits = (u32v)sum, towards_zero = (u32v)((i32v)((u32v)error ^ bits) < 0);
    i32v is_even = ((error < 0) | (error > 0)) & ((bits & 1) == 0);
    bits += (u32v)is_even & (towards_zero | 1);
    return f16((f32v)bits);
}

LANE_INLINE i32v is_signalling(u32v bits)
{
    return ((bits & 0x7e00) == 0x7c00) & ((bits & 0x1ff) != 0);
}

/* The rules of IEEE mode for NaN, on bits. */
LANE_INLINE u32v choose_number(u32v a, u32v b, u32v r)
{
    f32v x = f32(a), y = f32(b);
    r = SELECT(x != x, b, SELECT(y != y, a, r));
    r = SELECT(is_signalling(b), b | 0x200, r);
    return SELECT(is_signalling(a), a | 0x200, r) & 0xffff;
}

LANE_INLINE u32v minimum(u32v a, u32v b)
{
    f32v x = f32(a), y = f32(b);
    return choose_number(a, b, SELECT(x == y, a | b, SELECT(x < y, a, b)));
}

LANE_INLINE u32v maximum(u32v a, u32v b)
{
    f32v x = f32(a), y = f32(b);
    return choose_number(a, b, SELECT(x == y, a & b, SELECT(x > y, a, b)));
}

LANE_INLINE u32v median(u32v a, u32v b, u32v c)
{
    f32v x = f32(a), y = f32(b), z = f32(c);
    u32v ab = maximum(a, b);
    f32v most = f32(maximum(ab, c));
    u32v r = SELECT(most == x, maximum(b, c), SELECT(most == y, maximum(a, c), ab));
    return SELECT((x != x) | (y != y) | (z != z), minimum(minimum(a, b), c), r);
}

/* a * 2^b; every step is exact in f32 but the last. */
LANE_INLINE u32v scale(u32v a, u32v b)
{
    i32v n = (i32v)(b << 16) >> 16;
    n = SELECT(n > 50, (i32v)splat32(50), n);
    n = SELECT(n < -50, -(i32v)splat32(50), n);
    return f16(f32(a) * (f32v)((u32v)(n + 127) << 23));
}

LANE_INLINE i32v is_nonzero_number(u32v bits)
{
    u32v magnitude = bits & 0x7fff;
    return (magnitude != 0) & (magnitude < 0x7c00);
}

/* Every f16 is a normal number in f32. */
LANE_INLINE u32v fraction(u32v a)
{
    u32v r = ((u32v)f32(a) & 0x807fffff) | 0x3f000000;
    return SELECT(is_nonzero_number(a), f16((f32v)r), a & 0xffff);
}

LANE_INLINE u32v exponent(u32v a)
{
    u32v e = ((u32v)f32(a) >> 23 & 255) - 126;
    return (u32v)is_nonzero_number(a) & e & 0xffff;
}

/* Quotient, denominator, numerator: special cases of a division. */
LANE_INLINE u32v fixup(u32v q, u32v den, u32v num)
{
    f32v x = f32(den), y = f32(num);
    u32v sign = (den ^ num) & 0x8000, r = q & 0x7fff;
    i32v den_inf = (den & 0x7fff) == 0x7c00, num_inf = (num & 0x7fff) == 0x7c00;
    r = SELECT(den_inf | (y == 0), splat32(0), r);
    r = SELECT(num_inf | (x == 0), splat32(0x7c00), r) | sign;
    r = SELECT(((x == 0) & (y == 0)) | (den_inf & num_inf), splat32(0xfe00), r);
    r = SELECT(x != x, (den & 0xffff) | 0x200, r);
    return SELECT(y != y, (num & 0xffff) | 0x200, r);
}

LANE_INLINE u32v dot2(u32v a, u32v b, u32v c)
{
    return (u32v)fma32(f32(a >> 16), f32(b >> 16), fma32(f32(a), f32(b), (f32v)c));
}

#define DEFINE(name, value)                                                                        \
    LANE_INLINE u32v name##_of(u32v a, u32v b, u32v c)                                             \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    }
#define H(name, operands, cycles, value) DEFINE(name, value) VARIANTS(0, name, run32, name##_of)
#define PK(name, operands, cycles, value)                                                          \
    DEFINE(name, value)                                                                            \
    LANE_INLINE u32v name##_both(u32v a, u32v b, u32v c)                                           \
    {                                                                                              \
        u32v high = name##_of(a >> 16, b >> 16, c >> 16);                                          \
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
