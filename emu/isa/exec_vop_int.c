/* emu/isa/exec_vop_int.c: vector arithmetic on 32-bit and 16-bit integers, one row of vop_int.def per instruction.
 * Tested by tests/emu/test_isa_int.c.                              SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd.h"

#define MIN(x, y)       SELECT((x) < (y), x, y)
#define MAX(x, y)       SELECT((x) >= (y), x, y)
#define MEDIAN(x, y, z) MAX(MIN(x, y), MIN(MAX(x, y), z))

LANE_INLINE u32x16 reverse_bits(u32x16 x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}

/* Zeros above the highest one; all ones for 0. */
LANE_INLINE u32x16 leading_zeros(u32x16 x)
{
    u32x16 none = (u32x16)(x == 0);
    for (int shift = 1; shift < 32; shift *= 2)
        x |= x >> shift;
    return (32 - count_bits(x)) | none;
}

LANE_INLINE u32x16 trailing_zeros(u32x16 x)
{
    return count_bits((x & -x) - 1) | (u32x16)(x == 0);
}

LANE_INLINE i32x16 signed24(u32x16 x)
{
    return (i32x16)(x << 8) >> 8;
}

LANE_INLINE i32x16 signed16(u32x16 x)
{
    return (i32x16)(x << 16) >> 16;
}

LANE_INLINE i32x16 high16(u32x16 x)
{
    return (i32x16)x >> 16;
}

LANE_INLINE u32x16 low_bits(u32x16 n)
{
    return (splat32(1) << n) - 1;
}

LANE_INLINE u32x16 signed_field(u32x16 x, u32x16 shift, u32x16 width)
{
    u32x16 unused = (32 - width) & 31;
    u32x16 field = x >> shift & low_bits(width);
    return (u32x16)((i32x16)(field << unused) >> (i32x16)unused);
}

/* The low word of {high, low} >> n, n < 32. */
LANE_INLINE u32x16 shift_pair(u32x16 high, u32x16 low, u32x16 n)
{
    return low >> n | (high << (31 - n)) << 1;
}

LANE_INLINE u32x16 multiply_high(u32x16 a, u32x16 b)
{
    u64x8 even = multiply_even(a, b);
    u64x8 odd = multiply_even((u32x16)((u64x8)a >> 32), (u32x16)((u64x8)b >> 32));
    return (u32x16)(even >> 32 | (odd & 0xffffffff00000000ull));
}

LANE_INLINE u32x16 multiply_high_signed(u32x16 a, u32x16 b)
{
    u32x16 minus = ((u32x16)((i32x16)a < 0) & b) + ((u32x16)((i32x16)b < 0) & a);
    return multiply_high(a, b) - minus;
}

/* `sum`, or where the sign bit of `overflow` is set the end of the range on the side of a. */
LANE_INLINE u32x16 saturate(u32x16 sum, u32x16 a, u32x16 overflow)
{
    u32x16 limit = (u32x16)((i32x16)a >> 31) ^ 0x7fffffff;
    return SELECT((i32x16)overflow < 0, limit, sum);
}

LANE_INLINE u32x16 clamp_i16(i32x16 x)
{
    return (u32x16)MIN(MAX(x, (i32x16)splat32(0xffff8000u)), (i32x16)splat32(0x7fff));
}

LANE_INLINE u32x16 clamp_u8(i32x16 x)
{
    return (u32x16)MIN(MAX(x, (i32x16){0}), (i32x16)splat32(255));
}

/* Two signed sums of 16 bits, saturated. */
LANE_INLINE u32x16 both_halves(i32x16 low, i32x16 high)
{
    return (clamp_i16(low) & 0xffff) | clamp_i16(high) << 16;
}

#define SATURATED_SUM(x, y) (((x) + (y)) | (u16x32)((x) + (y) < (x)))

/* Selectors: 0-3 bytes of b, 4-7 of a, 8-11 the sign of an odd byte of {a, b}, 12 zero, above 0xff. */
LANE_INLINE u32x16 permute_bytes(u32x16 a, u32x16 b, u32x16 selectors)
{
    const u32x16 dword = {0,          0x04040404, 0x08080808, 0x0c0c0c0c, 0,          0x04040404,
                          0x08080808, 0x0c0c0c0c, 0,          0x04040404, 0x08080808, 0x0c0c0c0c,
                          0,          0x04040404, 0x08080808, 0x0c0c0c0c};
    u8x64 selector = (u8x64)selectors, low = selector & 3;
    u8x64 index = low | (u8x64)dword;
    i8x64 of_a = (selector & 4) != 0;
    u8x64 byte =
        (u8x64)SELECT(of_a, shuffle_bytes((u8x64)a, index), shuffle_bytes((u8x64)b, index));
    u8x64 odd = ((low & 1) << 1 | 1) | (u8x64)dword;
    i8x64 sign_of_a = (selector & 2) != 0;
    i8x64 sign =
        (i8x64)SELECT(sign_of_a, shuffle_bytes((u8x64)a, odd), shuffle_bytes((u8x64)b, odd)) < 0;
    u8x64 special = SELECT(selector < 12, (u8x64)sign, (u8x64)(selector > 12));
    return (u32x16)SELECT(selector < 8, byte, special);
}

/* Sums over fields of `width` bits. */
LANE_INLINE u32x16 sum_of_differences(u32x16 a, u32x16 b, int width)
{
    u32x16 sum = {0}, mask = splat32((1u << width) - 1);
    for (int shift = 0; shift < 32; shift += width) {
        u32x16 x = a >> shift & mask, y = b >> shift & mask;
        sum += MAX(x, y) - MIN(x, y);
    }
    return sum;
}

/* Bytes of the reference b that are zero do not count. */
LANE_INLINE u32x16 masked_sum_of_differences(u32x16 a, u32x16 b)
{
    u8x64 counts = (u8x64)((u8x64)b != 0);
    return sum_of_differences((u32x16)((u8x64)a & counts), b, 8);
}

/* (a + b + low bit of c) / 2 in each byte. */
LANE_INLINE u32x16 average_bytes(u32x16 a, u32x16 b, u32x16 c)
{
    u32x16 carry = ((a & b) | ((a | b) & c)) & 0x01010101;
    return (a >> 1 & 0x7f7f7f7f) + (b >> 1 & 0x7f7f7f7f) + carry;
}

LANE_INLINE u32x16 dot_unsigned(u32x16 a, u32x16 b, int width)
{
    u32x16 sum = {0}, mask = splat32((1u << width) - 1);
    for (int shift = 0; shift < 32; shift += width)
        sum += (a >> shift & mask) * (b >> shift & mask);
    return sum;
}

LANE_INLINE u32x16 dot_signed(u32x16 a, u32x16 b, int width)
{
    u32x16 sum = {0};
    for (int shift = 32 - width; shift >= 0; shift -= width) {
        i32x16 x = (i32x16)(a << shift) >> (32 - width), y = (i32x16)(b << shift) >> (32 - width);
        sum += (u32x16)x * (u32x16)y;
    }
    return sum;
}

#define DEFINE(name, n, value)                                                                     \
    LANE_INLINE u32x16 name##_of(u32x16 a, u32x16 b, u32x16 c)                                     \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return (u32x16)(value);                                                                    \
    }                                                                                              \
    VARIANTS(n, name, run32, name##_of)
#define I0(name, operands, cycles, value) DEFINE(name, 0, value)
#define I1(name, operands, cycles, value) DEFINE(name, 1, value)
#define I2(name, operands, cycles, value) DEFINE(name, 2, value)
#define I3(name, operands, cycles, value) DEFINE(name, 3, value)
#include "emu/isa/vop_int.def"
#undef I0
#undef I1
#undef I2
#undef I3

#define I0(name, operands, cycles, value) VALU_ROW(name, operands, cycles, 0),
#define I1(name, operands, cycles, value) VALU_ROW(name, operands, cycles, EMU_VARIANT_SCALAR),
#define I2(name, operands, cycles, value) VALU_ROW(name, operands, cycles, EMU_VARIANT_SCALAR),
#define I3(name, operands, cycles, value) VALU_ROW(name, operands, cycles, EMU_VARIANT_SCALAR),
static const emu_row rows[] = {
#include "emu/isa/vop_int.def"
};

DEFINE_TABLE(emu_table_vop_int);
