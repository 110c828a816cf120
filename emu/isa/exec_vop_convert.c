/* emu/isa/exec_vop_convert.c: conversions between integers, f16, f32, f64 and 8-bit floats, rows of vop_convert.def.
 *
 * To integers: towards zero, saturating, NaN to 0.  The 8-bit floats are CDNA3's (FNUZ): no infinity, no -0, 0x80 is NaN.
 * Tested by tests/emu/test_isa_convert.c.                          SPDX-License-Identifier: MIT
 */
#include "emu/isa/mode.h"
#include "emu/isa/simd_f16.h"

LANE_INLINE f32v f(u32v x)
{
    return (f32v)x;
}

LANE_INLINE u32v words(f32v x)
{
    return (u32v)x;
}

LANE_INLINE u64v bits(f64v x)
{
    return (u64v)x;
}

LANE_INLINE u32v pack(u32v low, u32v high)
{
    return (low & 0xffff) | high << 16;
}

/* --- to integers --- */

LANE_INLINE u32v to_i32(f32v x)
{
    i32v inside = (x < 0x1p31f) & (x > -0x1p31f);
    u32v r = (u32v) __builtin_convertvector(SELECT(inside, x, splat_f32(0)), i32v);
    r = SELECT(x >= 0x1p31f, splat32(0x7fffffff), r);
    return SELECT(x <= -0x1p31f, splat32(0x80000000), r);
}

LANE_INLINE u32v to_u32(f32v x)
{
    i32v is_high = x >= 0x1p31f, inside = (x > 0) & (x < 0x1p32f);
    f32v low = SELECT(is_high, x - 0x1p31f, x);
    u32v r = (u32v) __builtin_convertvector(SELECT(inside, low, splat_f32(0)), i32v);
    r ^= (u32v)is_high & 0x80000000;
    return SELECT(x >= 0x1p32f, splat32(0xffffffff), r);
}

/* Limits are exact in f32 and within i32. */
LANE_INLINE u32v to_integer(f32v x, float least, float most)
{
    x = SELECT(x == x, x, splat_f32(0));
    x = SELECT(x > least, x, splat_f32(least));
    x = SELECT(x < most, x, splat_f32(most));
    return (u32v) __builtin_convertvector(x, i32v);
}

LANE_INLINE u32v to_u8(f32v x)
{
    return to_integer(rint32(x), 0, 255);
}

LANE_INLINE u32v to_snorm16(f32v x)
{
    return to_integer(rint32(x * 32767), -32767, 32767);
}

LANE_INLINE u32v to_unorm16(f32v x)
{
    return to_integer(rint32(x * 65535), 0, 65535);
}

/* As 64-bit integers, of which the caller keeps the low word. */
LANE_INLINE u64v to_range64(f64v x, double least, double most)
{
    x = SELECT(x == x, x, splat_f64(0));
    x = SELECT(x > least, x, splat_f64(least));
    x = SELECT(x < most, x, splat_f64(most));
    return (u64v) __builtin_convertvector(x, i64v);
}

LANE_INLINE u32v byte_to_f32(u32v x)
{
    return (u32v) __builtin_convertvector((i32v)(x & 255), f32v);
}

LANE_INLINE u32v insert_byte(u32v into, u32v place, u32v byte)
{
    u32v shift = (place & 3) * 8;
    return (into & ~(splat32(255) << shift)) | byte << shift;
}

LANE_INLINE u64v f64_of_f32(u64v x)
{
    f32h narrow_x = (f32h)narrow(x);
    return (u64v) __builtin_convertvector(narrow_x, f64v);
}

/* --- 8-bit floats --- */

/* Where a format differs from f32: mantissa bits, bias of the exponent. */
enum { FP8_MANTISSA = 3, FP8_BIAS = 8, BF8_MANTISSA = 2, BF8_BIAS = 16 };

/* 2^n as a constant. */
#define POWER_OF_TWO(n)                                                                            \
    ((union {                                                                                      \
         uint32_t u;                                                                               \
         float f;                                                                                  \
     }){.u = (uint32_t)((n) + 127) << 23}                                                          \
         .f)

LANE_INLINE f32v f32_of_small(u32v x, int mantissa, int bias)
{
    f32v magnitude = (f32v)((x & 0x7f) << (23 - mantissa)) * POWER_OF_TWO(127 - bias);
    u32v r = (u32v)magnitude | (x & 0x80) << 24;
    return (f32v)SELECT((x & 0xff) == 0x80, splat32(0x7fc00000), r);
}

LANE_INLINE f32v f32_of_fp8(u32v x)
{
    return f32_of_small(x, FP8_MANTISSA, FP8_BIAS);
}

LANE_INLINE f32v f32_of_bf8(u32v x)
{
    return f32_of_small(x, BF8_MANTISSA, BF8_BIAS);
}

/* The code of |x| given: out of range is NaN or the largest number, and so on. */
LANE_INLINE u32v finish_small(f32v x, u32v code, bool saturate)
{
    u32v magnitude = (u32v)x & 0x7fffffff, sign = (u32v)x >> 24 & 0x80;
    i32v is_special = magnitude >= 0x7f800000, too_large = magnitude >= (200u << 23);
    i32v overflow = (code > 0x7f) | too_large;
    u32v limit = splat32(0x80);
    if (saturate)
        limit = 0x7f | sign;
    u32v r = SELECT(code == 0, code, code | sign);
    r = SELECT(overflow, limit, r);
    return SELECT(is_special, splat32(0x80), r);
}

/* Numbers below the least normal one are multiples of a step, 2^(1 - bias - mantissa). */
LANE_INLINE f32v small_steps(u32v magnitude, int mantissa, int bias)
{
    u32v least_normal = splat32((uint32_t)(128 - bias) << 23);
    f32v tiny = (f32v)SELECT(magnitude < least_normal, magnitude, (u32v){0});
    return tiny * POWER_OF_TWO(bias + mantissa - 1);
}

LANE_INLINE u32v small_of_f32(f32v x, int mantissa, int bias, bool saturate)
{
    int shift = 23 - mantissa;
    u32v magnitude = (u32v)x & 0x7fffffff, odd = magnitude >> shift & 1;
    u32v normal =
        (magnitude - ((uint32_t)(127 - bias) << 23) + ((1u << (shift - 1)) - 1) + odd) >> shift;
    f32v steps = rint32(small_steps(magnitude, mantissa, bias));
    u32v denormal = (u32v) __builtin_convertvector(steps, i32v);
    return finish_small(x, SELECT(magnitude < (uint32_t)(128 - bias) << 23, denormal, normal),
                        saturate);
}

/* Stochastic rounding: a random number below the last place is added, the rest cut off. */
LANE_INLINE u32v small_of_f32_random(f32v x, u32v seed, int mantissa, int bias, bool saturate)
{
    int shift = 23 - mantissa;
    u32v magnitude = (u32v)x & 0x7fffffff, random = seed >> (32 - shift);
    u32v normal = (magnitude - ((uint32_t)(127 - bias) << 23) + random) >> shift;
    f32v steps = small_steps(magnitude, mantissa, bias) * POWER_OF_TWO(shift);
    u32v denormal = ((u32v) __builtin_convertvector(steps, i32v) + random) >> shift;
    return finish_small(x, SELECT(magnitude < (uint32_t)(128 - bias) << 23, denormal, normal),
                        saturate);
}

LANE_INLINE u32v fp8_of_f32(f32v x, bool saturate)
{
    return small_of_f32(x, FP8_MANTISSA, FP8_BIAS, saturate);
}

LANE_INLINE u32v bf8_of_f32(f32v x, bool saturate)
{
    return small_of_f32(x, BF8_MANTISSA, BF8_BIAS, saturate);
}

LANE_INLINE u32v fp8_of_f32_random(f32v x, u32v seed, bool saturate)
{
    return small_of_f32_random(x, seed, FP8_MANTISSA, FP8_BIAS, saturate);
}

LANE_INLINE u32v bf8_of_f32_random(f32v x, u32v seed, bool saturate)
{
    return small_of_f32_random(x, seed, BF8_MANTISSA, BF8_BIAS, saturate);
}

/* Two bytes to two registers. */
LANE_INLINE const emu_op *run_unpack(emu_wave *w, const emu_op *op, f32v g(u32v))
{
    uint64_t exec = emu_exec_mask(w);
    lane_source s = source_at(w, op->a, false);
    EACH_CHUNK(i)
    {
        u32v a = load32(s, i);
        store32(w->vgprs + op->d, i, exec, words(g(a)));
        store32(w->vgprs + op->d + EMU_VGPR_STRIDE, i, exec, words(g(a >> 8)));
    }
    EMU_NEXT;
}

HANDLER(v_cvt_pk_f32_fp8)
{
    return run_unpack(w, op, f32_of_fp8);
}
HANDLER(v_cvt_pk_f32_bf8)
{
    return run_unpack(w, op, f32_of_bf8);
}

/* --- f32 to f16, rounded as MODE says --- */

/* The truncated number, and the next larger one where it lies on the wrong side. */
LANE_INLINE u32v f16_of_f32_directed(f32v x, uint32_t rounding)
{
    u32v r = f16_of_f32_truncated(x);
    f32v value = f32_of_f16(r);
    i32v away = (i32v){0};
    if (rounding == EMU_ROUND_UP)
        away = (x > 0) & (value < x);
    else if (rounding == EMU_ROUND_DOWN)
        away = (x < 0) & (value > x);
    return r - (u32v)away;
}

HANDLER(v_cvt_f16_f32)
{
    uint32_t rounding = w->mode >> 2 & 3;
    uint64_t exec = emu_exec_mask(w);
    lane_source a = source_at(w, op->a, false);
    if (__builtin_expect(rounding == EMU_ROUND_NEAREST, 1)) {
        EACH_CHUNK(i)
        store32(w->vgprs + op->d, i, exec, f16_of_f32(f(load32(a, i))));
    } else {
        for (uint32_t i = 0; i < N_CHUNKS; i++)
            store32(w->vgprs + op->d, i, exec, f16_of_f32_directed(f(load32(a, i)), rounding));
    }
    EMU_NEXT;
}

/* --- handlers --- */

typedef u32v lanes_to_8(u32v a, u32v b, bool saturate);

LANE_INLINE const emu_op *run_to_8(emu_wave *w, const emu_op *op, uint32_t scalar, lanes_to_8 *g)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    uint64_t exec = emu_exec_mask(w);
    bool saturate = w->mode & EMU_MODE_FP16_OVFL;
    for (uint32_t i = 0; i < N_CHUNKS; i++)
        store32(w->vgprs + op->d, i, exec, g(load32(a, i), load32(b, i), saturate));
    EMU_NEXT;
}

#define C(name, operands, value)                                                                   \
    LANE_INLINE u32v name##_of(u32v a, u32v b, u32v c)                                             \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    }                                                                                              \
    VARIANTS(0, name, run32, name##_of)
#define C64(name, operands, value)                                                                 \
    LANE_INLINE u64v name##_of(u64v a, u64v b, u64v c)                                             \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        return value;                                                                              \
    }                                                                                              \
    VARIANTS(0, name, run64, operands, name##_of)
#define C8(name, operands, value)                                                                  \
    LANE_INLINE u32v name##_of(u32v a, u32v b, bool saturate)                                      \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    VARIANTS(0, name, run_to_8, name##_of)
#include "emu/isa/vop_convert.def"
#undef C
#undef C64
#undef C8

/* LLVM SISchedule.td: quarter rate. */
enum { CONVERT_CYCLES = 16 };

#define C(name, operands, value) VALU_ROW(name, operands, CONVERT_CYCLES, 0),
#define C64                      C
#define C8                       C
static const emu_row rows[] = {
#include "emu/isa/vop_convert.def"
    PLAIN_ROW(v_cvt_f16_f32, "D=f", CONVERT_CYCLES),
    PLAIN_ROW(v_cvt_pk_f32_fp8, "P=i", CONVERT_CYCLES),
    PLAIN_ROW(v_cvt_pk_f32_bf8, "P=i", CONVERT_CYCLES),
};

DEFINE_TABLE(emu_table_vop_convert);
