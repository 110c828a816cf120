/* emu/isa/exec_vop_divide.c: the three steps around a division: v_div_scale, v_div_fmas, v_div_fixup, f32 and f64.
 *
 * Compilers divide by scale (numerator and denominator into a safe range), reciprocal, Newton steps by fma, fmas (the
 * last step, undoing the scale in lanes with VCC set) and fixup (special cases).  The scale is 2^64 for f32, 2^128 for
 * f64.  Where the guide's pseudocode would not give the right quotient (it scales a huge denominator up, and
 * multiplies by 2^32), the operation is what makes the whole sequence exact.
 * Source: CDNA3 and RDNA4 ISA guides, V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP.  Tested by tests/emu/test_isa_divide.c.
 * SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd.h"

/* The same code for both widths: DIVISION(suffix, bits, signed bits, numbers, mantissa bits, exponent mask, ...). */
#define DIVISION(width, U, I, F, MANTISSA, EXPONENTS, SCALE, BIG, TINY, UNDERFLOW)                 \
    LANE_INLINE I exponent##width(F x)                                                             \
    {                                                                                              \
        return (I)((U)x >> MANTISSA & EXPONENTS);                                                  \
    }                                                                                              \
    LANE_INLINE F magnitude##width(F x)                                                            \
    {                                                                                              \
        return (F)((U)x << 1 >> 1);                                                                \
    }                                                                                              \
    LANE_INLINE I is_denormal##width(F x)                                                          \
    {                                                                                              \
        return (exponent##width(x) == 0) & (x != 0);                                               \
    }                                                                                              \
    /* x = numerator or denominator, scaled; *undo: lanes whose quotient is to be scaled back */   \
    LANE_INLINE F scale##width(F x, F den, F num, I *undo)                                         \
    {                                                                                              \
        const F zero = {0}, up = zero + SCALE, down = zero + 1 / SCALE, one = zero + 1;            \
        I is_den = x == den, is_num = x == num;                                                    \
        I by_zero = (den == 0) | (num == 0);                                                       \
        I big = exponent##width(num) - exponent##width(den) >= BIG;                                \
        I small_den = is_denormal##width(den), tiny_num = exponent##width(num) <= TINY;            \
        I small_rcp = is_denormal##width(1 / den), small = is_denormal##width(num / den);          \
        F f = SELECT(tiny_num, up, one);                                                           \
        f = SELECT(small, SELECT(is_num, up, one), f);                                             \
        f = SELECT(small_rcp, down, f);                                                            \
        f = SELECT(small_rcp & small, SELECT(is_den, down, one), f);                               \
        f = SELECT(small_den, up, f);                                                              \
        f = SELECT(big, SELECT(is_den, up, one), f);                                               \
        *undo = ~by_zero & (big | (~small_den & small));                                           \
        return SELECT(by_zero, zero + __builtin_nanf(""), x * f);                                  \
    }                                                                                              \
    /* quotient, denominator, numerator */                                                         \
    LANE_INLINE F fixup##width(F q, F den, F num)                                                  \
    {                                                                                              \
        const F zero = {0}, infinity = zero + __builtin_inff();                                    \
        const U top = (U)(I){0} + ((__typeof__(((U){0})[0]))1 << (width - 1));                     \
        const U quiet = (U)(I){0} + ((__typeof__(((U){0})[0]))1 << (MANTISSA - 1));                \
        U sign = ((U)den ^ (U)num) & top;                                                          \
        I den_inf = magnitude##width(den) == infinity,                                             \
          num_inf = magnitude##width(num) == infinity;                                             \
        I invalid = ((den == 0) & (num == 0)) | (den_inf & num_inf);                               \
        F r = SELECT(q != q, infinity, magnitude##width(q)); /* the steps overflowed */            \
        r = SELECT(exponent##width(num) - exponent##width(den) < UNDERFLOW, zero, r);              \
        r = SELECT(den_inf | (num == 0), zero, r);                                                 \
        r = SELECT(num_inf | (den == 0), infinity, r);                                             \
        r = (F)((U)r | sign);                                                                      \
        r = SELECT(invalid, (F)(top | quiet | (U)infinity), r);                                    \
        r = SELECT(den != den, (F)((U)den | quiet), r);                                            \
        return SELECT(num != num, (F)((U)num | quiet), r);                                         \
    }

DIVISION(32, u32v, i32v, f32v, 23, 0xff, 0x1p64f, 96, 23, -150)
DIVISION(64, u64v, i64v, f64v, 52, 0x7ff, 0x1p128, 768, 53, -1075)

/* --- v_div_scale: result and mask --- */

HANDLER(v_div_scale_f32)
{
    lane_source a = source_at(w, op->a, false), b = source_at(w, op->b, false),
                c = source_at(w, op->c, false);
    uint64_t exec = emu_exec_mask(w), mask = 0;
    EACH_CHUNK(i)
    {
        i32v undo;
        f32v r = scale32((f32v)load32(a, i), (f32v)load32(b, i), (f32v)load32(c, i), &undo);
        store32(w->vgprs + op->d, i, exec, (u32v)r);
        mask |= (uint64_t)bits_of_lanes(undo) << CHUNK_LANES * i;
    }
    emu_set_s64(w, op->a2, mask & exec);
    EMU_NEXT;
}

HANDLER(v_div_scale_f64)
{
    lane_source a = source_at(w, op->a, false), b = source_at(w, op->b, false),
                c = source_at(w, op->c, false);
    uint64_t exec = emu_exec_mask(w), mask = 0;
    EACH_HALF(i)
    {
        i64v undo;
        f64v x = (f64v)load64(a, i, true), den = (f64v)load64(b, i, true),
             num = (f64v)load64(c, i, true);
        store64(w->vgprs + op->d, i, exec, (u64v)scale64(x, den, num, &undo));
        mask |= (uint64_t)bits_of_lanes64(undo) << HALF_LANES * i;
    }
    emu_set_s64(w, op->a2, mask & exec);
    EMU_NEXT;
}

/* --- v_div_fmas: a large quotient had its denominator scaled up, a small one was scaled up itself --- */

LANE_INLINE f64v scaled_fma32(f32v a, f32v b, f32v c, int half)
{
    f64v q = to_f64(c, half), r = fma64(to_f64(a, half), to_f64(b, half), q);
    return r * SELECT((exponent64(q) > 1023), splat_f64(0x1p64), splat_f64(0x1p-64));
}

HANDLER(v_div_fmas_f32)
{
    lane_source s[3] = {source_at(w, op->a, false), source_at(w, op->b, false),
                        source_at(w, op->c, false)};
    uint64_t exec = emu_exec_mask(w), vcc = emu_s64(w, EMU_S_VCC);
    EACH_CHUNK(i)
    {
        f32v a = (f32v)load32(s[0], i), b = (f32v)load32(s[1], i), c = (f32v)load32(s[2], i);
        uint32_t undo = chunk_mask(vcc, i);
        u32v r = (u32v)fma32(a, b, c);
        if (undo)
            r = SELECT(lanes_of_bits(undo),
                       of_halves(bits_of_f32(scaled_fma32(a, b, c, 0)),
                                 bits_of_f32(scaled_fma32(a, b, c, 1))),
                       r);
        store32(w->vgprs + op->d, i, exec, r);
    }
    EMU_NEXT;
}

HANDLER(v_div_fmas_f64)
{
    lane_source s[3] = {source_at(w, op->a, false), source_at(w, op->b, false),
                        source_at(w, op->c, false)};
    uint64_t exec = emu_exec_mask(w), vcc = emu_s64(w, EMU_S_VCC);
    EACH_HALF(i)
    {
        f64v c = (f64v)load64(s[2], i, true);
        f64v r = fma64((f64v)load64(s[0], i, true), (f64v)load64(s[1], i, true), c);
        f64v factor = SELECT(exponent64(c) > 1023, splat_f64(0x1p128), splat_f64(0x1p-128));
        r = SELECT(lanes_of_bits64(half_mask(vcc, i)), r * factor, r);
        store64(w->vgprs + op->d, i, exec, (u64v)r);
    }
    EMU_NEXT;
}

/* --- v_div_fixup --- */

LANE_INLINE u32v fixup_lanes32(u32v a, u32v b, u32v c)
{
    return (u32v)fixup32((f32v)a, (f32v)b, (f32v)c);
}

LANE_INLINE u64v fixup_lanes64(u64v a, u64v b, u64v c)
{
    return (u64v)fixup64((f64v)a, (f64v)b, (f64v)c);
}

HANDLER(v_div_fixup_f32)
{
    return run32(w, op, 0, fixup_lanes32);
}
HANDLER(v_div_fixup_f64)
{
    return run64(w, op, 0, "Q=ddd", fixup_lanes64);
}

static const emu_row rows[] = {
    PLAIN_ROW(v_div_scale_f32, "DS=fff", 4), PLAIN_ROW(v_div_scale_f64, "QS=ddd", 4),
    PLAIN_ROW(v_div_fmas_f32, "D=fff", 4),   PLAIN_ROW(v_div_fmas_f64, "Q=ddd", 4),
    PLAIN_ROW(v_div_fixup_f32, "D=fff", 4),  PLAIN_ROW(v_div_fixup_f64, "Q=ddd", 4),
};

DEFINE_TABLE(emu_table_vop_divide);
