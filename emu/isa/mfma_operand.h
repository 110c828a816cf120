/* emu/isa/mfma_operand.h: shapes of matrix instructions, and where their operands lie.
 *
 * A lane holds V = K / (64 / (M * blocks)) consecutive k of one row of A (of one column of B), low bits first.  Plane
 * p has value p of every lane, so that element [i][k] of block b is found in
 *
 *   plane k % V, lane i + M * b + M * blocks * (k / V)
 *
 * Row i of C and D are N neighbouring lanes of one register; with G = 64 / N,
 *
 *   register b * M * N / 64 + 4 * (i / (4 * G)) + i % 4, first lane N * (i / 4 % G)
 *
 * Source: docs/hardware.md, "MFMA layouts".
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MFMA_OPERAND_H
#define MOESAIC_EMU_ISA_MFMA_OPERAND_H

#include "emu/isa/simd_memory.h"

typedef enum mfma_type { F32, XF32, F16, BF16, FP8, BF8, I8 } mfma_type;

typedef struct mfma_shape {
    uint32_t m, k, blocks; /* n = m */
} mfma_shape;

enum {
    MFMA_MAX_VALUES = 8,   /* of one operand per lane */
    MFMA_MAX_RESULTS = 32, /* registers of C and D */
};

LANE_INLINE uint32_t values_per_lane(mfma_shape s)
{
    return s.k * s.m * s.blocks / 64;
}

LANE_INLINE uint32_t values_per_register(mfma_type t)
{
    return t == F32 || t == XF32 ? 1 : t == F16 || t == BF16 ? 2 : 4;
}

LANE_INLINE uint32_t result_registers(mfma_shape s)
{
    return s.m * s.m * s.blocks / 64;
}

/* Bytes from the start of plane 0 to element [i][k] of block b. */
LANE_INLINE size_t element_offset(mfma_shape s, uint32_t per_lane, uint32_t b, uint32_t i,
                                  uint32_t k)
{
    return (size_t)EMU_VGPR_STRIDE * (k % per_lane) +
           4 * (i + s.m * b + s.m * s.blocks * (k / per_lane));
}

/* Bytes from the first result register to row i of block b.  Not for M = 4. */
LANE_INLINE size_t row_offset(mfma_shape s, uint32_t b, uint32_t i)
{
    uint32_t groups = 64 / s.m;
    return (size_t)EMU_VGPR_STRIDE * (b * s.m * s.m / 64 + i / (4 * groups) * 4 + i % 4) +
           4 * s.m * (i / 4 % groups);
}

/* --- copies of registers --- */

/* Registers put aside, because the result overwrites them or because lanes are exchanged. */
typedef struct mfma_copy {
    uint8_t a[MFMA_MAX_VALUES * EMU_VGPR_STRIDE] __attribute__((aligned(64)));
    uint8_t b[MFMA_MAX_VALUES * EMU_VGPR_STRIDE] __attribute__((aligned(64)));
    uint8_t c[MFMA_MAX_RESULTS * EMU_VGPR_STRIDE] __attribute__((aligned(64)));
} mfma_copy;

/* Operands of one instruction; c NULL: the constant. */
typedef struct mfma_operands {
    const uint8_t *a, *b, *c;
    uint8_t *d;
    uint32_t constant;
} mfma_operands;

LANE_INLINE mfma_operands mfma_operands_of(const emu_wave *w, const emu_op *op)
{
    bool is_constant = op->scalar_sources & 4;
    return (mfma_operands){w->vgprs + op->a, w->vgprs + op->b,
                           is_constant ? NULL : w->vgprs + op->c, w->vgprs + op->d,
                           is_constant ? w->s[op->c] : 0};
}

LANE_INLINE bool registers_overlap(const uint8_t *p, uint32_t n, const uint8_t *q, uint32_t m)
{
    return p < q + (size_t)EMU_VGPR_STRIDE * m && q < p + (size_t)EMU_VGPR_STRIDE * n;
}

/* The lane whose value of A serves lane l: with cbsz, blocks share the one that abid names. */
LANE_INLINE uint32_t broadcast_lane(mfma_shape s, int32_t cbsz_abid, uint32_t l)
{
    uint32_t shared = (1u << (cbsz_abid & 7)) - 1, abid = (uint32_t)cbsz_abid >> 4;
    uint32_t block = l / s.m % s.blocks, within = l % s.m, group = l / (s.m * s.blocks);
    return within + s.m * ((block & ~shared) | (abid & shared)) + s.m * s.blocks * group;
}

/* The lane whose value of B serves lane l: blgp 1 and 2 broadcast a half, 3 rotates by 16, 4 to 7 broadcast a quarter. */
LANE_INLINE uint32_t exchanged_lane(int32_t blgp, uint32_t l)
{
    if (blgp >= 4)
        return l % 16 + 16 * ((uint32_t)blgp - 4);
    if (blgp == 3)
        return (l + 16) % 64;
    return l % 32 + (blgp == 2 ? 32 : 0);
}

static __attribute__((noinline)) void mfma_put_aside(const emu_op *op, mfma_shape s,
                                                     uint32_t n_registers, mfma_operands *o,
                                                     mfma_copy *copy)
{
    for (uint32_t r = 0; r < n_registers; r++)
        for (uint32_t l = 0; l < 64; l++) {
            size_t at = (size_t)EMU_VGPR_STRIDE * r;
            uint32_t from_a = op->imm2 ? broadcast_lane(s, op->imm2, l) : l;
            uint32_t from_b = op->imm ? exchanged_lane(op->imm, l) : l;
            memcpy(copy->a + at + 4 * l, o->a + at + 4 * from_a, 4);
            memcpy(copy->b + at + 4 * l, o->b + at + 4 * from_b, 4);
        }
    o->a = copy->a;
    o->b = copy->b;
    if (o->c)
        o->c = memcpy(copy->c, o->c, (size_t)EMU_VGPR_STRIDE * result_registers(s));
}

/* All sources are read before the result is written, whatever overlaps. */
LANE_INLINE void mfma_protect(const emu_op *op, mfma_shape s, uint32_t n_registers,
                              mfma_operands *o, mfma_copy *copy)
{
    uint32_t n = result_registers(s);
    bool moves = o->c && o->c != o->d && registers_overlap(o->c, n, o->d, n);
    bool clobbers = registers_overlap(o->a, n_registers, o->d, n) ||
                    registers_overlap(o->b, n_registers, o->d, n);
    if (__builtin_expect(moves || clobbers || op->imm || op->imm2, 0))
        mfma_put_aside(op, s, n_registers, o, copy);
}

#endif
