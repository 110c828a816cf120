/* emu/isa/exec_vop_compare.c: vector compares: a mask of lanes to VCC or a scalar pair, and to EXEC (v_cmpx).
 *
 * Lanes outside of EXEC get 0.  Conditions are rows of vop_compare.def, each for every type.
 * Tested by tests/emu/test_isa_compare.c.                          SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd.h"
#include "emu/isa/simd_f16.h"

typedef i32v compare32(u32v a, u32v b);
typedef i64v compare64(u64v a, u64v b);

LANE_INLINE const emu_op *set_mask(emu_wave *w, const emu_op *op, uint64_t mask, bool is_cmpx)
{
    mask &= emu_exec_mask(w);
    emu_set_s64(w, op->d, mask);
    if (is_cmpx)
        emu_set_s64(w, EMU_S_EXEC, mask);
    EMU_NEXT;
}

LANE_INLINE const emu_op *run_compare32(emu_wave *w, const emu_op *op, uint32_t scalar,
                                        bool is_cmpx, compare32 *f)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    uint64_t mask = 0;
    EACH_CHUNK(i)
    mask |= (uint64_t)bits_of_lanes(f(load32(a, i), load32(b, i))) << CHUNK_LANES * i;
    return set_mask(w, op, mask, is_cmpx);
}

/* b_wide: the second source is 64 bits, too (not the class mask). */
LANE_INLINE const emu_op *run_compare64(emu_wave *w, const emu_op *op, uint32_t scalar,
                                        bool is_cmpx, bool b_wide, compare64 *f)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    uint64_t mask = 0;
    EACH_HALF(i)
    mask |= (uint64_t)bits_of_lanes64(f(load64(a, i, true), load64(b, i, b_wide)))
            << HALF_LANES * i;
    return set_mask(w, op, mask, is_cmpx);
}

LANE_INLINE i32v of_i16(u32v x)
{
    return (i32v)(x << 16) >> 16;
}

LANE_INLINE u32v of_u16(u32v x)
{
    return x & 0xffff;
}

/* --- v_cmp_class: bit per kind of number --- */

enum {
    CLASS_SNAN,
    CLASS_QNAN,
    CLASS_NEG_INF,
    CLASS_NEG_NORMAL,
    CLASS_NEG_DENORMAL,
    CLASS_NEG_ZERO,
    CLASS_ZERO,
    CLASS_DENORMAL,
    CLASS_NORMAL,
    CLASS_INF
};

/* x: bits of a number with a sign in the top bit, `mantissa` low bits and an exponent between. */
#define CLASS_OF(x, wanted, unsigned_lanes, signed_lanes, mantissa)                                \
    ({                                                                                             \
        const unsigned_lanes one = (unsigned_lanes){0} + 1;                                        \
        unsigned_lanes magnitude_ = (x) << 1 >> 1,                                                 \
                       sign_ = (unsigned_lanes)((signed_lanes)(x) < 0);                            \
        unsigned_lanes infinity_ = (one << (8 * sizeof(x)[0] - 1)) - (one << (mantissa));          \
        unsigned_lanes kind_ =                                                                     \
            SELECT(magnitude_ == 0, one * CLASS_ZERO,                                              \
                   SELECT(magnitude_ < (one << (mantissa)), one * CLASS_DENORMAL,                  \
                          SELECT(magnitude_ < infinity_, one * CLASS_NORMAL, one * CLASS_INF)));   \
        kind_ = SELECT((signed_lanes)sign_ != 0, CLASS_ZERO + CLASS_NEG_ZERO - kind_, kind_);      \
        unsigned_lanes quiet_ = magnitude_ >> ((mantissa)-1) & 1;                                  \
        kind_ = SELECT(magnitude_ > infinity_, quiet_, kind_);                                     \
        ((wanted) >> kind_ & 1) != 0;                                                              \
    })

LANE_INLINE i32v class_f32(u32v a, u32v b)
{
    return CLASS_OF(a, b, u32v, i32v, 23);
}

LANE_INLINE i64v class_f64(u64v a, u64v b)
{
    return CLASS_OF(a, b, u64v, i64v, 52);
}

/* The exponent's range is the same relative to the top when the number is moved up: 10 mantissa bits become 26. */
LANE_INLINE i32v class_f16(u32v a, u32v b)
{
    return CLASS_OF(a << 16, b, u32v, i32v, 26);
}

/* --- handlers --- */

#define COMPARE32(name, n, convert, condition)                                                     \
    LANE_INLINE i32v name##_of(u32v x, u32v y)                                                     \
    {                                                                                              \
        __typeof__(convert(x)) a = convert(x), b = convert(y);                                     \
        (void)b;                                                                                   \
        return (condition);                                                                        \
    }                                                                                              \
    VARIANTS(n, v_cmp_##name, run_compare32, false, name##_of)                                     \
    VARIANTS(0, v_cmpx_##name, run_compare32, true, name##_of)
#define COMPARE64(name, n, lanes, condition)                                                       \
    LANE_INLINE i64v name##_of(u64v x, u64v y)                                                     \
    {                                                                                              \
        lanes a = (lanes)x, b = (lanes)y;                                                          \
        (void)b;                                                                                   \
        return (condition);                                                                        \
    }                                                                                              \
    VARIANTS(n, v_cmp_##name, run_compare64, false, true, name##_of)                               \
    VARIANTS(0, v_cmpx_##name, run_compare64, true, true, name##_of)

#define INTEGER(name, condition)                                                                   \
    COMPARE32(name##_i32, 2, (i32v), condition)                                                    \
    COMPARE32(name##_u32, 2, (u32v), condition)                                                    \
    COMPARE32(name##_i16, 0, of_i16, condition)                                                    \
    COMPARE32(name##_u16, 0, of_u16, condition)                                                    \
    COMPARE64(name##_i64, 2, i64v, condition)                                                      \
    COMPARE64(name##_u64, 2, u64v, condition)
#define FLOAT(name, condition)                                                                     \
    COMPARE32(name##_f32, 2, (f32v), condition)                                                    \
    COMPARE32(name##_f16, 0, f32_of_f16, condition)                                                \
    COMPARE64(name##_f64, 0, f64v, condition)
#include "emu/isa/vop_compare.def"
#undef INTEGER
#undef FLOAT

VARIANTS(2, v_cmp_class_f32, run_compare32, false, class_f32)
VARIANTS(0, v_cmpx_class_f32, run_compare32, true, class_f32)
VARIANTS(0, v_cmp_class_f16, run_compare32, false, class_f16)
VARIANTS(0, v_cmpx_class_f16, run_compare32, true, class_f16)
VARIANTS(0, v_cmp_class_f64, run_compare64, false, false, class_f64)
VARIANTS(0, v_cmpx_class_f64, run_compare64, true, false, class_f64)

#define ROWS(name, operands, has)                                                                  \
    VALU_ROW(v_cmp_##name, operands, 4, has), VALU_ROW(v_cmpx_##name, operands, 4, 0)
#define INTEGER(name, condition)                                                                   \
    ROWS(name##_i32, "S=ii", EMU_VARIANT_SCALAR), ROWS(name##_u32, "S=ii", EMU_VARIANT_SCALAR),    \
        ROWS(name##_i16, "S=ww", 0), ROWS(name##_u16, "S=ww", 0),                                  \
        ROWS(name##_i64, "S=ll", EMU_VARIANT_SCALAR),                                              \
        ROWS(name##_u64, "S=qq", EMU_VARIANT_SCALAR),
#define FLOAT(name, condition)                                                                     \
    ROWS(name##_f32, "S=ff", EMU_VARIANT_SCALAR), ROWS(name##_f16, "S=hh", 0),                     \
        ROWS(name##_f64, "S=dd", 0),
static const emu_row rows[] = {
#include "emu/isa/vop_compare.def"
    ROWS(class_f32, "S=fi", EMU_VARIANT_SCALAR),
    ROWS(class_f16, "S=hi", 0),
    ROWS(class_f64, "S=di", 0),
};

DEFINE_TABLE(emu_table_vop_compare);
