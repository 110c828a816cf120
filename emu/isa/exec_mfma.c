/* emu/isa/exec_mfma.c: dense matrix instructions, D = A * B + C.
 *
 * EXEC does not matter: all 64 lanes take part.  Every row has two handlers, one per numerics: fast ones
 * (mfma_fast.h), and silicon ones that round as the chip does (mfma_silicon.h).
 * Tested by tests/emu/test_isa_mfma.c.                          SPDX-License-Identifier: MIT
 */
#include "emu/isa/decode_memory.h"
#include "emu/isa/exec_mfma_run.h"
#include "emu/isa/mfma_fast.h"
#include "emu/isa/mfma_planes.h"
#include "emu/isa/mfma_run.h"
#include "emu/isa/mfma_silicon.h"

/* Do the fast kernels take this type's registers as planes? */
LANE_INLINE bool is_plane(mfma_type t, mfma_shape s)
{
    return t == F32 || (t == BF16 && MULTIPLIES_BF16_PAIRS && s.m != 4);
}

LANE_INLINE const emu_op *fast(emu_wave *w, const emu_op *op, mfma_type ta, mfma_type tb,
                               mfma_shape s)
{
    mfma_copy copy;
    mfma_planes a, b;
    uint32_t per_lane = values_per_lane(s), per_register = values_per_register(ta);
    mfma_operands o = mfma_operands_of(w, op);
    mfma_protect(op, s, per_lane / per_register, &o, &copy);
    if (is_plane(ta, s)) {
        s.k /= per_register;
        per_lane /= per_register;
    } else {
        unpack_planes(ta, per_lane, o.a, &a);
        unpack_planes(tb, per_lane, o.b, &b);
        o.a = a.bytes;
        o.b = b.bytes;
    }
    fast_product(ta, s, per_lane, &o);
    EMU_RETURN_NEXT;
}

LANE_INLINE const emu_op *silicon(emu_wave *w, const emu_op *op, mfma_type ta, mfma_type tb,
                                  mfma_shape s)
{
    mfma_copy copy;
    mfma_planes a, b;
    uint32_t per_lane = values_per_lane(s);
    mfma_operands o = mfma_operands_of(w, op);
    mfma_protect(op, s, per_lane / values_per_register(ta), &o, &copy);
    unpack_planes(ta, per_lane, o.a, &a);
    unpack_planes(tb, per_lane, o.b, &b);
    o.a = a.bytes;
    o.b = b.bytes;
    silicon_product(ta, tb, s, per_lane, &o);
    EMU_RETURN_NEXT;
}

/* --- f64 --- */

LANE_INLINE uint64_t double_bits(const uint8_t *registers, uint32_t lane)
{
    uint32_t word[2];
    uint64_t bits;
    memcpy(&word[0], registers + 4 * lane, 4);
    memcpy(&word[1], registers + EMU_VGPR_STRIDE + 4 * lane, 4);
    memcpy(&bits, word, 8);
    return bits;
}

/* Value of a lane, its sign changed when bit `sign` of the instruction's neg is set. */
LANE_INLINE double double_at(const uint8_t *registers, uint32_t lane, const emu_op *op,
                             uint32_t sign)
{
    uint64_t bits = double_bits(registers, lane) ^ (uint64_t)(op->neg >> sign & 1) << 63;
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/* Element [i][j] of block b of C and D is register pair i / (4 / blocks) of lane 16 * (i % 4) + m * b + j. */
LANE_INLINE const emu_op *product_f64(emu_wave *w, const emu_op *op, uint32_t m, uint32_t blocks)
{
    uint8_t result[8 * EMU_VGPR_STRIDE];
    const uint8_t *a = w->vgprs + op->a, *b = w->vgprs + op->b;
    bool is_constant = op->scalar_sources & 4;
    uint32_t n_registers = 2 * m * m * blocks / 64;
    for (uint32_t at = 0; at < m * m * blocks; at++) {
        uint32_t lane = at % 64, pair = at / 64, i = 4 * pair + lane / 16, block = lane % 16 / m;
        const uint8_t *c = w->vgprs + op->c + (size_t)2 * EMU_VGPR_STRIDE * pair;
        double sum;
        if (is_constant)
            memcpy(&sum, &w->s[op->c], 8);
        else
            sum = double_at(c, lane, op, 2);
        for (uint32_t k = 0; k < 4; k++)
            sum = __builtin_fma(double_at(a, i + m * block + 16 * k, op, 0),
                                double_at(b, lane % 16 + 16 * k, op, 1), sum);
        load_lane(E_D2, result + (size_t)2 * EMU_VGPR_STRIDE * pair, lane, (const uint8_t *)&sum);
    }
    for (uint32_t r = 0; r < n_registers; r++)
        memcpy(w->vgprs + op->d + (size_t)EMU_VGPR_STRIDE * r, result + (size_t)EMU_VGPR_STRIDE * r,
               256);
    EMU_RETURN_NEXT;
}

static const emu_op *f64_16x16x4_f64(emu_wave *w, const emu_op *op)
{
    return product_f64(w, op, 16, 1);
}

static const emu_op *f64_4x4x4_4b_f64(emu_wave *w, const emu_op *op)
{
    return product_f64(w, op, 4, 4);
}

#define HANDLERS(name, fast, silicon, in_place)                                                    \
    static const emu_exec name##_exec[EMU_N_MFMA] = {fast, silicon, in_place};
HANDLERS(f64_16x16x4_f64, f64_16x16x4_f64, f64_16x16x4_f64, f64_16x16x4_f64)
HANDLERS(f64_4x4x4_4b_f64, f64_4x4x4_4b_f64, f64_4x4x4_4b_f64, f64_4x4x4_4b_f64)

/* --- tables --- */

#define NUMERICS(name, ta, tb, m, k, blocks)                                                       \
    static const emu_op *name##_fast(emu_wave *w, const emu_op *op)                                \
    {                                                                                              \
        return fast(w, op, ta, tb, (mfma_shape){m, k, blocks});                                    \
    }                                                                                              \
    static const emu_op *name##_silicon(emu_wave *w, const emu_op *op)                             \
    {                                                                                              \
        if (ta == F32 || ta == I8) /* both numerics are the same */                                \
            return name##_fast(w, op);                                                             \
        return silicon(w, op, ta, tb, (mfma_shape){m, k, blocks});                                 \
    }
#define MFMA(name, ta, tb, m, k, blocks, passes)                                                   \
    NUMERICS(name, ta, tb, m, k, blocks)                                                           \
    HANDLERS(name, name##_fast, name##_silicon, name##_fast)
#if JOINS_BF16_RUNS
#define MFMA_RUN(name, ta, tb, m, k, blocks, passes)                                               \
    NUMERICS(name, ta, tb, m, k, blocks)                                                           \
    HANDLERS(name, name##_fast, name##_silicon, EMU_LEVEL(emu_run_##name))
#endif
#include "emu/isa/mfma.def"
#undef MFMA

#define ROW(name, m, blocks, passes, element_bytes)                                                \
    {                                                                                              \
        "v_mfma_" #name, emu_encode_mfma, name##_exec, EMU_UNIT_MFMA, 4 * (passes),                \
            (m) * (m) * (blocks) / 64, element_bytes, 0, 0, NULL                                   \
    }
static const emu_row rows[] = {
#define MFMA(name, ta, tb, m, k, blocks, passes) ROW(name, m, blocks, passes, 4),
#include "emu/isa/mfma.def"
    ROW(f64_16x16x4_f64, 16, 1, 8, 8),
    ROW(f64_4x4x4_4b_f64, 4, 4, 4, 8),
};

const emu_table EMU_LEVEL(emu_table_mfma) = {rows, sizeof rows / sizeof *rows};
