/* emu/isa/exec_vop_int.c: vector arithmetic on 32-bit and 16-bit integers, one row of vop_int.def per instruction.
 * Tested by tests/emu/test_isa_int.c.                              SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd.h"

#define MIN(x, y)       SELECT((x) < (y), x, y)
#define MAX(x, y)       SELECT((x) >= (y), x, y)
#define MEDIAN(x, y, z) MAX(MIN(x, y), MIN(MAX(x, y), z))

LANE_INLINE u32v reverse_bits(u32v x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}

/* Zeros above the highest one; all ones for 0. */
LANE_INLINE u32v leading_zeros(u32v x)
{
    u32v none = (u32v)(x == 0);
    for (int shift = 1; shift < 32; shift *= 2)
        x |= x >> shift;
    return (32 - count_bits(x)) | none;
}

LANE_INLINE u32v trailing_zeros(u32v x)
{
    return count_bits((x & -x) - 1) | (u32v)(x == 0);
}

LANE_INLINE i32v signed24(u32v x)
{
    return (i32v)(x << 8) >> 8;
}

LANE_INLINE i32v signed16(u32v x)
{
    return (i32v)(x << 16) >> 16;
}

LANE_INLINE i32v high16(u32v x)
{
    return (i32v)x >> 16;
}

LANE_INLINE u32v low_bits(u32v n)
{
    return (splat32(1) << n) - 1;
}

LANE_INLINE u32v signed_field(u32v x, u32v shift, u32v width)
{
    u32v unused = (32 - width) & 31;
    u32v field = x >> shift & low_bits(width);
    return (u32v)((i32v)(field << unused) >> (i32v)unused);
}

/* The low word of {high, low} >> n, n < 32. */
LANE_INLINE u32v shift_pair(u32v high, u32v low, u32v n)
{
    return low >> n | (high << (31 - n)) << 1;
}

LANE_INLINE u32v multiply_high(u32v a, u32v b)
{
    u64v even = multiply_even(a, b);
    u64v odd = multiply_even((u32v)((u64v)a >> 32), (u32v)((u64v)b >> 32));
    return (u32v)(even >> 32 | (odd & 0xffffffff00000000ull));
}

LANE_INLINE u32v multiply_high_signed(u32v a, u32v b)
{
    u32v minus = ((u32v)((i32v)a < 0) & b) + ((u32v)((i32v)b < 0) & a);
    return multiply_high(a, b) - minus;
}

/* `sum`, or where the sign bit of `overflow` is set the end of the range on the side of a. */
LANE_INLINE u32v saturate(u32v sum, u32v a, u32v overflow)
{
    u32v limit = (u32v)((i32v)a >> 31) ^ 0x7fffffff;
    return SELECT((i32v)overflow < 0, limit, sum);
}

LANE_INLINE u32v clamp_i16(i32v x)
{
    return (u32v)MIN(MAX(x, (i32v)splat32(0xffff8000u)), (i32v)splat32(0x7fff));
}

LANE_INLINE u32v clamp_u8(i32v x)
{
    return (u32v)MIN(MAX(x, (i32v){0}), (i32v)splat32(255));
}

/* Two signed sums of 16 bits, saturated. */
LANE_INLINE u32v both_halves(i32v low, i32v high)
{
    return (clamp_i16(low) & 0xffff) | clamp_i16(high) << 16;
}

#define SATURATED_SUM(x, y) (((x) + (y)) | (u16v)((x) + (y) < (x)))

/* Selectors: 0-3 bytes of b, 4-7 of a, 8-11 the sign of an odd byte of {a, b}, 12 zero, above 0xff. */
LANE_INLINE u32v permute_bytes(u32v a, u32v b, u32v selectors)
{
#define DWORD_IN_PIECE(i) (0x04040404 * ((i) % 4))
    const u32v dword = EACH_LANE(DWORD_IN_PIECE);
#undef DWORD_IN_PIECE
    u8v selector = (u8v)selectors, low = selector & 3;
    u8v index = low | (u8v)dword;
    i8v of_a = (selector & 4) != 0;
    u8v byte = (u8v)SELECT(of_a, shuffle_bytes((u8v)a, index), shuffle_bytes((u8v)b, index));
    u8v odd = ((low & 1) << 1 | 1) | (u8v)dword;
    i8v sign_of_a = (selector & 2) != 0;
    i8v sign = (i8v)SELECT(sign_of_a, shuffle_bytes((u8v)a, odd), shuffle_bytes((u8v)b, odd)) < 0;
    u8v special = SELECT(selector < 12, (u8v)sign, (u8v)(selector > 12));
    return (u32v)SELECT(selector < 8, byte, special);
}

/* Sums over fields of `width` bits. */
LANE_INLINE u32v sum_of_differences(u32v a, u32v b, int width)
{
    u32v sum = {0}, mask = splat32((1u << width) - 1);
    for (int shift = 0; shift < 32; shift += width) {
        u32v x = a >> shift & mask, y = b >> shift & mask;
        sum += MAX(x, y) - MIN(x, y);
    }
    return sum;
}

/* Bytes of the reference b that are zero do not count. */
LANE_INLINE u32v masked_sum_of_differences(u32v a, u32v b)
{
    u8v counts = (u8v)((u8v)b != 0);
    return sum_of_differences((u32v)((u8v)a & counts), b, 8);
}

/* (a + b + low bit of c) / 2 in each byte. */
LANE_INLINE u32v average_bytes(u32v a, u32v b, u32v c)
{
    u32v carry = ((a & b) | ((a | b) & c)) & 0x01010101;
    return (a >> 1 & 0x7f7f7f7f) + (b >> 1 & 0x7f7f7f7f) + carry;
}

LANE_INLINE u32v dot_unsigned(u32v a, u32v b, int width)
{
    u32v sum = {0}, mask = splat32((1u << width) - 1);
    for (int shift = 0; shift < 32; shift += width)
        sum += (a >> shift & mask) * (b >> shift & mask);
    return sum;
}

LANE_INLINE u32v dot_signed(u32v a, u32v b, int width)
{
    u32v sum = {0};
    for (int shift = 32 - width; shift >= 0; shift -= width) {
        i32v x = (i32v)(a << shift) >> (32 - width), y = (i32v)(b << shift) >> (32 - width);
        sum += (u32v)x * (u32v)y;
    }
    return sum;
}

/* --- four sums over four bytes of a pair of registers, from byte 0, 1, 2 and 3 on --- */

LANE_INLINE void four_sums(u32v low, u32v high, u32v b, bool masked, u32v sum[4])
{
    for (int n = 0; n < 4; n++) {
        u32v a = n ? (u32v)(low >> 8 * n | high << (32 - 8 * n)) : low;
        sum[n] = masked ? masked_sum_of_differences(a, b) : sum_of_differences(a, b, 8);
    }
}

LANE_INLINE u32v register_chunk(const emu_wave *w, uint32_t at, uint32_t n, uint32_t chunk)
{
    return *(const u32v *)(w->vgprs + at + (size_t)EMU_VGPR_STRIDE * n + CHUNK_BYTES * chunk);
}

/* The sums are added to c: to its four halves, or to four registers. */
LANE_INLINE const emu_op *run_four_sums(emu_wave *w, const emu_op *op, bool masked, bool to_halves)
{
    uint64_t exec = emu_exec_mask(w);
    uint32_t n_results = to_halves ? 2 : 4;
    for (uint32_t i = 0; i < N_CHUNKS; i++) {
        u32v r[4];
        four_sums(register_chunk(w, op->a, 0, i), register_chunk(w, op->a, 1, i),
                  register_chunk(w, op->b, 0, i), masked, r);
        for (uint32_t n = 0; n < n_results; n++) {
            u32v c = register_chunk(w, op->c, n, i);
            if (to_halves)
                r[n] = (u32v)((u16v)c + (u16v)(r[2 * n] | r[2 * n + 1] << 16));
            else
                r[n] += c;
        }
        for (uint32_t n = 0; n < n_results; n++)
            store32(w->vgprs + op->d + (size_t)EMU_VGPR_STRIDE * n, i, exec, r[n]);
    }
    EMU_NEXT;
}

HANDLER(v_qsad_pk_u16_u8)
{
    return run_four_sums(w, op, false, true);
}

HANDLER(v_mqsad_pk_u16_u8)
{
    return run_four_sums(w, op, true, true);
}

HANDLER(v_mqsad_u32_u8)
{
    return run_four_sums(w, op, true, false);
}

/* Four registers as the last source: a signature knows pairs at most, so a scalar cannot be spread. */
static bool encode_mqsad_u32(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                             emu_op *op)
{
    if (text->n_operands != 4 || text->operand[3].kind != EMU_VGPR)
        return emu_decode_fail(decoder, text, "four VGPRs were expected");
    return emu_encode_alu(decoder, text, row, op);
}

/* --- tables --- */

#define DEFINE(name, n, value)                                                                     \
    LANE_INLINE u32v name##_of(u32v a, u32v b, u32v c)                                             \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return (u32v)(value);                                                                      \
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
    PLAIN_ROW(v_qsad_pk_u16_u8, "Q=qiq", 16),
    PLAIN_ROW(v_mqsad_pk_u16_u8, "Q=qiq", 16),
    {.mnemonic = "v_mqsad_u32_u8",
     .encode = encode_mqsad_u32,
     .exec = (const emu_exec[]){v_mqsad_u32_u8},
     .unit = EMU_UNIT_VALU,
     .cycles = 16,
     .n_dwords = 4,
     .operands = "Q=qiq"},
};

DEFINE_TABLE(emu_table_vop_int);
