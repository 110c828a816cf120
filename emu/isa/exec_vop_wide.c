/* emu/isa/exec_vop_wide.c: vector arithmetic on 64-bit integers and with carries, rows of vop_wide.def; v_mad_u64_u32.
 * Tested by tests/emu/test_isa_wide.c.                             SPDX-License-Identifier: MIT
 */
#include "emu/isa/simd.h"

/* --- 64 bits --- */

#define DEFINE(name, n, operands, value)                                                           \
    LANE_INLINE u64v name##_of(u64v a, u64v b, u64v c)                                             \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return (u64v)(value);                                                                      \
    }                                                                                              \
    VARIANTS(n, name, run64, operands, name##_of)
#define W1(name, operands, cycles, value) DEFINE(name, 1, operands, value)
#define W2(name, operands, cycles, value) DEFINE(name, 2, operands, value)
#define W3(name, operands, cycles, value) DEFINE(name, 3, operands, value)
#include "emu/isa/vop_wide.def"
#undef W1
#undef W2
#undef W3

/* --- carries --- */

typedef u32v lanes_with_carry(u32v a, u32v b, i32v in, i32v *out);

LANE_INLINE uint64_t all_lanes_with_carry(uint8_t *d, lane_source a, lane_source b, uint64_t carry,
                                          uint64_t exec, lanes_with_carry *f)
{
    uint64_t carries = 0;
    EACH_CHUNK(i)
    {
        i32v out, in = lanes_of_bits(chunk_mask(carry, i));
        store32(d, i, exec, f(load32(a, i), load32(b, i), in, &out));
        carries |= (uint64_t)bits_of_lanes(out) << CHUNK_LANES * i;
    }
    return carries & exec;
}

/* Carry in: s[c]; out: s[a2]. */
LANE_INLINE const emu_op *run_with_carry(emu_wave *w, const emu_op *op, uint32_t scalar, bool takes,
                                         lanes_with_carry *f)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    uint64_t carry = takes ? emu_s64(w, op->c) : 0, carries;
    uint8_t *d = w->vgprs + op->d;
    WITH_EXEC(w, exec, carries = all_lanes_with_carry(d, a, b, carry, exec, f));
    emu_set_s64(w, op->a2, carries);
    EMU_NEXT;
}

#define WITH_CARRY(name, operands, takes, value, carries)                                          \
    LANE_INLINE u32v name##_of(u32v a, u32v b, i32v in, i32v *out)                                 \
    {                                                                                              \
        u32v r = value;                                                                            \
        (void)in;                                                                                  \
        *out = carries;                                                                            \
        return r;                                                                                  \
    }                                                                                              \
    VARIANTS(2, name, run_with_carry, takes, name##_of)
#include "emu/isa/vop_wide.def"
#undef WITH_CARRY

/* --- v_mad_u64_u32, v_mad_i64_i32: 32 x 32 + 64 bits, with a carry mask --- */

LANE_INLINE uint64_t all_lanes_mad64(uint8_t *d, lane_source a, lane_source b, lane_source c,
                                     uint64_t exec, bool is_signed)
{
    uint64_t carries = 0;
    EACH_HALF(i)
    {
        u64v x = load64(a, i, false), y = load64(b, i, false), z = load64(c, i, true);
        u64v product = multiply_even((u32v)x, (u32v)y);
        if (is_signed)
            product -= (SELECT((i64v)(x << 32) < 0, y, (u64v){0}) +
                        SELECT((i64v)(y << 32) < 0, x, (u64v){0}))
                       << 32;
        u64v r = product + z;
        i64v carry = r < z;
        if (is_signed)
            carry = (i64v)((product ^ r) & (z ^ r)) < 0;
        store64(d, i, exec, r);
        carries |= (uint64_t)bits_of_lanes64(carry) << HALF_LANES * i;
    }
    return carries & exec;
}

LANE_INLINE const emu_op *run_mad64(emu_wave *w, const emu_op *op, uint32_t scalar, bool is_signed)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    lane_source c = source_at(w, op->c, scalar & 4);
    uint8_t *d = w->vgprs + op->d;
    uint64_t carries;
    WITH_EXEC(w, exec, carries = all_lanes_mad64(d, a, b, c, exec, is_signed));
    emu_set_s64(w, op->a2, carries);
    EMU_NEXT;
}

VARIANTS(3, v_mad_u64_u32, run_mad64, false)
VARIANTS(3, v_mad_i64_i32, run_mad64, true)

#define W1(name, operands, cycles, value) VALU_ROW(name, operands, cycles, EMU_VARIANT_SCALAR),
#define W2                                W1
#define W3                                W1
#define WITH_CARRY(name, operands, takes, value, carries)                                          \
    VALU_ROW(name, operands, 4, EMU_VARIANT_SCALAR),
static const emu_row rows[] = {
#include "emu/isa/vop_wide.def"
    VALU_ROW(v_mad_u64_u32, "QS=iiq", 16, EMU_VARIANT_SCALAR),
    VALU_ROW(v_mad_i64_i32, "QS=iil", 16, EMU_VARIANT_SCALAR),
};

DEFINE_TABLE(emu_table_vop_wide);
