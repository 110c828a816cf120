/* emu/isa/mfma_run.h: a run of bf16 matrix instructions: the host's matrix tiles, or vectors of pairs or of f32 planes.
 *
 * op->a2 is the number of operations behind the first that belong to the run; those with the same sums are neighbours.
 * C is a constant or in D's place.                                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MFMA_RUN_H
#define MOESAIC_EMU_ISA_MFMA_RUN_H

#include "emu/isa/mfma_fast.h"
#include "emu/isa/rows.h"

/* Without wide host registers the sums would not stay in them. */
#ifdef __AVX2__
#define JOINS_BF16_RUNS 1
#else
#define JOINS_BF16_RUNS 0
#endif

enum {
    MAX_RUN = 32,              /* instructions in one run */
    RUN_OPERAND_REGISTERS = 2, /* of A and of B: four bf16 per lane */
    PREPARED_BYTES = 4 * EMU_VGPR_STRIDE,
};

/* Operations of a run that follow the one at `op` with the same sums, itself counted. */
LANE_INLINE uint32_t same_sums(const emu_op *op, uint32_t n)
{
    uint32_t same = 1;
    while (same < n && op[same].d == op->d)
        same++;
    return same;
}

/* --- operands, prepared once for all operations of the run that share them --- */

typedef struct prepared {
    uint32_t n, at[MAX_RUN]; /* byte offset of the registers */
    uint8_t bytes[MAX_RUN][PREPARED_BYTES] __attribute__((aligned(64)));
} prepared;

typedef void prepare(const uint8_t *registers, uint8_t *out);

LANE_INLINE const uint8_t *prepared_at(prepared *p, const emu_wave *w, uint32_t at, prepare *f)
{
    uint32_t i = 0;
    while (i < p->n && p->at[i] != at)
        i++;
    if (i == p->n) {
        p->at[p->n++] = at;
        f(w->vgprs + at, p->bytes[i]);
    }
    return p->bytes[i];
}

#if MULTIPLIES_BF16_PAIRS

#include "emu/isa/mfma_amx.h"

/* --- pairs of bf16 as they lie in the registers --- */

/* n operations that add to the same registers. */
LANE_INLINE void add_pairs(emu_wave *w, const emu_op *op, uint32_t n, mfma_shape s)
{
    mfma_operands o = mfma_operands_of(w, op);
    for (uint32_t i = 0; i < s.m; i += FAST_ROWS) {
        fast_sums sum;
        fast_start(s, o.c, o.constant, 0, i, 0, sum);
        for (uint32_t x = 0; x < n; x++)
            fast_accumulate(BF16, s, RUN_OPERAND_REGISTERS, w->vgprs + op[x].a, w->vgprs + op[x].b,
                            0, i, 0, sum);
        fast_finish(s, o.d, 0, i, 0, sum);
    }
}

LANE_INLINE void run_by_pairs(emu_wave *w, const emu_op *op, mfma_shape pairs)
{
    uint32_t n = op->a2 + 1;
    for (uint32_t i = 0, same; i < n; i += same) {
        same = same_sums(op + i, n - i);
        add_pairs(w, op + i, same, pairs);
    }
}

/* --- tiles --- */

LANE_INLINE void add_products_by_tiles(emu_wave *w, const emu_op *op, uint32_t n, uint32_t m,
                                       prepared *a, prepared *b)
{
    mfma_operands o = mfma_operands_of(w, op);
    if (o.c)
        amx_load_sums(o.c, m);
    else
        amx_splat_sums(o.constant);
    for (uint32_t x = 0; x < n; x++) {
        const uint8_t *left =
            prepared_at(a, w, op[x].a, m == 32 ? amx_prepare_a_32 : amx_prepare_a_16);
        const uint8_t *right =
            prepared_at(b, w, op[x].b, m == 32 ? amx_prepare_b_32 : amx_prepare_b_16);
        if (m == 32)
            amx_multiply_32(left, right);
        else
            amx_multiply_16(left, right);
    }
    amx_store_sums(o.d, m);
}

LANE_INLINE void run_by_tiles(emu_wave *w, const emu_op *op, uint32_t m)
{
    prepared a, b;
    uint32_t n = op->a2 + 1;
    a.n = b.n = 0;
    amx_use(m == 32 ? &amx_32x32x8 : &amx_16x16x16);
    for (uint32_t i = 0, same; i < n; i += same) {
        same = same_sums(op + i, n - i);
        add_products_by_tiles(w, op + i, same, m, &a, &b);
    }
}

LANE_INLINE void run_bf16(emu_wave *w, const emu_op *op, uint32_t m)
{
    if (emu_rows_tiles())
        run_by_tiles(w, op, m);
    else
        run_by_pairs(w, op, (mfma_shape){m, m == 32 ? 4 : 8, 1});
}

#else

/* --- planes of f32 --- */

LANE_INLINE void prepare_planes(const uint8_t *registers, uint8_t *out)
{
    for (uint32_t r = 0; r < RUN_OPERAND_REGISTERS; r++)
        for (uint32_t c = 0; c < N_CHUNKS; c++) {
            u32v pair = *chunk_of(registers + CHUNK_BYTES * c, r);
            *chunk_of(out + CHUNK_BYTES * c, 2 * r) = pair << 16;
            *chunk_of(out + CHUNK_BYTES * c, 2 * r + 1) = pair & 0xffff0000;
        }
}

/* n operations that add to the same registers. */
LANE_INLINE void add_products(emu_wave *w, const emu_op *op, uint32_t n, mfma_shape s, prepared *a,
                              prepared *b)
{
    mfma_operands o = mfma_operands_of(w, op);
    const uint8_t *left[MAX_RUN], *right[MAX_RUN];
    for (uint32_t x = 0; x < n; x++) {
        left[x] = prepared_at(a, w, op[x].a, prepare_planes);
        right[x] = prepared_at(b, w, op[x].b, prepare_planes);
    }
    for (uint32_t i = 0; i < s.m; i += FAST_ROWS)
        for (uint32_t j = 0; j < s.m; j += fast_columns(s)) {
            fast_sums sum;
            fast_start(s, o.c, o.constant, 0, i, j, sum);
            for (uint32_t x = 0; x < n; x++)
                fast_accumulate(BF16, s, 2 * RUN_OPERAND_REGISTERS, left[x], right[x], 0, i, j,
                                sum);
            fast_finish(s, o.d, 0, i, j, sum);
        }
}

LANE_INLINE void run_bf16(emu_wave *w, const emu_op *op, uint32_t m)
{
    prepared a, b;
    uint32_t n = op->a2 + 1;
    a.n = b.n = 0;
    for (uint32_t i = 0, same; i < n; i += same) {
        same = same_sums(op + i, n - i);
        add_products(w, op + i, same, (mfma_shape){m, m == 32 ? 8 : 16, 1}, &a, &b);
    }
}

#endif
#endif
