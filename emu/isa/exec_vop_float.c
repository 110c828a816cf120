/* emu/isa/exec_vop_float.c: vector arithmetic in single precision, rows of vop_float.def, and packed pairs.
 *
 * Denormals are kept and results round to nearest even, as kernels are started.
 * Tested by tests/emu/test_isa_float.c.                            SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd_math.h"

LANE_INLINE i32v is_signalling(f32v x)
{
    return (x != x) & (((u32v)x & 0x400000) == 0);
}

LANE_INLINE f32v quiet(f32v x)
{
    return (f32v)((u32v)x | 0x400000);
}

/* The rules of IEEE mode for NaN: a signalling one is returned quiet, else the other operand. */
LANE_INLINE f32v choose_number(f32v a, f32v b, f32v r)
{
    if (__builtin_expect(bits_of_lanes((a != a) | (b != b)) == 0, 1))
        return r;
    r = SELECT(a != a, b, SELECT(b != b, a, r));
    r = SELECT(is_signalling(b), quiet(b), r);
    return SELECT(is_signalling(a), quiet(a), r);
}

/* Equal numbers differ at most in the sign of zero. */
LANE_INLINE f32v minimum(f32v a, f32v b)
{
    f32v equal = (f32v)((u32v)a | (u32v)b);
    return choose_number(a, b, SELECT(a == b, equal, SELECT(a < b, a, b)));
}

LANE_INLINE f32v maximum(f32v a, f32v b)
{
    f32v equal = (f32v)((u32v)a & (u32v)b);
    return choose_number(a, b, SELECT(a == b, equal, SELECT(a > b, a, b)));
}

/* The larger of those that are left when the largest is taken away. */
LANE_INLINE f32v median(f32v a, f32v b, f32v c)
{
    f32v ab = maximum(a, b), most = maximum(ab, c);
    f32v r = SELECT(most == a, maximum(b, c), SELECT(most == b, maximum(a, c), ab));
    i32v has_nan = (a != a) | (b != b) | (c != c);
    if (__builtin_expect(bits_of_lanes(has_nan) == 0, 1))
        return r;
    return SELECT(has_nan, minimum(minimum(a, b), c), r);
}

/* --- powers of two: through double precision, where every f32 is a normal number --- */

LANE_INLINE f64v scale64(f64v x, i32v n, int half)
{
    i64v wide = (i64v)(widen(half_of((u32v)n, half)) << 32) >> 32;
    return x * (f64v)((u64v)(wide + 1023) << 52);
}

LANE_INLINE f32v scale(f32v x, i32v n)
{
    n = SELECT(n > 500, (i32v)splat32(500), n);
    n = SELECT(n < -500, -(i32v)splat32(500), n);
    return (f32v)of_halves(bits_of_f32(scale64(to_f64(x, 0), n, 0)),
                           bits_of_f32(scale64(to_f64(x, 1), n, 1)));
}

LANE_INLINE i32v is_nonzero_number(f32v x)
{
    u32v magnitude = (u32v)x & 0x7fffffff;
    return (magnitude != 0) & (magnitude < 0x7f800000);
}

LANE_INLINE f64v fraction64(f64v x)
{
    return (f64v)(((u64v)x & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}

/* In [1/2, 1), with the sign. */
LANE_INLINE f32v fraction(f32v x)
{
    return SELECT(is_nonzero_number(x), THROUGH_F64(fraction64, x), x);
}

LANE_INLINE u32h exponent64(f64v x)
{
    return narrow(((u64v)x >> 52 & 0x7ff) - 1022);
}

LANE_INLINE u32v exponent(f32v x)
{
    u32v e = of_halves(exponent64(to_f64(x, 0)), exponent64(to_f64(x, 1)));
    return SELECT(is_nonzero_number(x), e, (u32v){0});
}

/* --- cube maps: the face that (x, y, z) looks at, coordinates on it --- */

LANE_INLINE f32v magnitude(f32v x)
{
    return (f32v)((u32v)x & 0x7fffffff);
}

#define Z_LEADS ((magnitude(z) >= magnitude(x)) & (magnitude(z) >= magnitude(y)))
#define Y_LEADS (magnitude(y) >= magnitude(x))

LANE_INLINE f32v cube_face(f32v x, f32v y, f32v z)
{
    f32v on_z = SELECT(z < 0, splat_f32(5), splat_f32(4)),
         on_y = SELECT(y < 0, splat_f32(3), splat_f32(2));
    f32v on_x = SELECT(x < 0, splat_f32(1), splat_f32(0));
    return SELECT(Z_LEADS, on_z, SELECT(Y_LEADS, on_y, on_x));
}

LANE_INLINE f32v cube_s(f32v x, f32v y, f32v z)
{
    f32v on_z = SELECT(z < 0, -x, x), on_x = SELECT(x < 0, z, -z);
    return SELECT(Z_LEADS, on_z, SELECT(Y_LEADS, x, on_x));
}

LANE_INLINE f32v cube_t(f32v x, f32v y, f32v z)
{
    f32v on_y = SELECT(y < 0, -z, z);
    return SELECT(Z_LEADS, -y, SELECT(Y_LEADS, on_y, -y));
}

LANE_INLINE f32v cube_major(f32v x, f32v y, f32v z)
{
    return 2 * SELECT(Z_LEADS, z, SELECT(Y_LEADS, y, x));
}

/* --- packed pairs: low and high half pick their registers on their own --- */

typedef struct pair_source {
    lane_source low, high;
} pair_source;

LANE_INLINE pair_source pair_at(const emu_wave *w, uint32_t low, uint32_t high, bool is_scalar)
{
    return (pair_source){source_at(w, low, is_scalar), source_at(w, high, is_scalar)};
}

LANE_INLINE void all_lanes_pair(uint8_t *d, pair_source a, pair_source b, pair_source c,
                                uint64_t exec, lanes_f32 *f)
{
    EACH_CHUNK(i)
    {
        f32v low = f((f32v)load32(a.low, i), (f32v)load32(b.low, i), (f32v)load32(c.low, i));
        f32v high = f((f32v)load32(a.high, i), (f32v)load32(b.high, i), (f32v)load32(c.high, i));
        store32(d, i, exec, (u32v)low);
        store32(d + EMU_VGPR_STRIDE, i, exec, (u32v)high);
    }
}

LANE_INLINE const emu_op *run_pair(emu_wave *w, const emu_op *op, uint32_t scalar, lanes_f32 *f)
{
    pair_source a = pair_at(w, op->a, op->a2, scalar & 1),
                b = pair_at(w, op->b, op->b2, scalar & 2);
    pair_source c = pair_at(w, op->c, op->c2, scalar & 4);
    uint8_t *d = w->vgprs + op->d;
    WITH_EXEC(w, exec, all_lanes_pair(d, a, b, c, exec, f));
    EMU_NEXT;
}

/* op->neg: signs of the low half, op->abs: of the high half. */
LANE_INLINE f32v load_negated(lane_source s, uint32_t chunk, uint32_t negate)
{
    return (f32v)(load32(s, chunk) ^ negate << 31);
}

LANE_INLINE const emu_op *run_pair_modified(emu_wave *w, const emu_op *op, lanes_f32 *f)
{
    uint32_t scalar = op->scalar_sources, n = op->neg, m = op->abs;
    pair_source a = pair_at(w, op->a, op->a2, scalar & 1),
                b = pair_at(w, op->b, op->b2, scalar & 2);
    pair_source c = pair_at(w, op->c, op->c2, scalar & 4);
    uint8_t *d = w->vgprs + op->d;
    uint64_t exec = emu_exec_mask(w);
    _Pragma("GCC unroll 1") for (uint32_t i = 0; i < N_CHUNKS; i++)
    {
        f32v low = f(load_negated(a.low, i, n & 1), load_negated(b.low, i, n >> 1 & 1),
                     load_negated(c.low, i, n >> 2 & 1));
        f32v high = f(load_negated(a.high, i, m & 1), load_negated(b.high, i, m >> 1 & 1),
                      load_negated(c.high, i, m >> 2 & 1));
        store32(d, i, exec, (u32v)(op->modifier & 1 ? clamp32(low) : low));
        store32(d + EMU_VGPR_STRIDE, i, exec, (u32v)(op->modifier & 1 ? clamp32(high) : high));
    }
    EMU_NEXT;
}

/* --- handlers --- */

#define DEFINE(name, value)                                                                        \
    LANE_INLINE f32v name##_of(f32v a, f32v b, f32v c)                                             \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    }
#define MODIFIED(n, name, value)                                                                   \
    DEFINE(name, value)                                                                            \
    HANDLER(name##_modified)                                                                       \
    {                                                                                              \
        return run_f32_modified(w, op, name##_of);                                                 \
    }                                                                                              \
    VARIANTS_AND_MODIFIED(n, name, run_f32, name##_of)
#define PAIR(n, name, value)                                                                       \
    DEFINE(name, value)                                                                            \
    HANDLER(name##_modified)                                                                       \
    {                                                                                              \
        return run_pair_modified(w, op, name##_of);                                                \
    }                                                                                              \
    VARIANTS_AND_MODIFIED(n, name, run_pair, name##_of)
#define F0(name, operands, cycles, value) DEFINE(name, value) VARIANTS(0, name, run_f32, name##_of)
#define M1(name, operands, cycles, value) MODIFIED(1, name, value)
#define M2(name, operands, cycles, value) MODIFIED(2, name, value)
#define M3(name, operands, cycles, value) MODIFIED(3, name, value)
#define P2(name, operands, cycles, value) PAIR(2, name, value)
#define P3(name, operands, cycles, value) PAIR(3, name, value)
#include "emu/isa/vop_float.def"
#undef F0
#undef M1
#undef M2
#undef M3
#undef P2
#undef P3

enum { BOTH = EMU_VARIANT_SCALAR | EMU_VARIANT_MODIFIER };

#define F0(name, operands, cycles, value) VALU_ROW(name, operands, cycles, 0),
#define M1(name, operands, cycles, value) VALU_ROW(name, operands, cycles, BOTH),
#define M2                                M1
#define M3                                M1
#define P2                                M1
#define P3                                M1
static const emu_row rows[] = {
#include "emu/isa/vop_float.def"
};

DEFINE_TABLE(emu_table_vop_float);
