/* emu/isa/exec_smfmac.c: sparse matrix instructions, D = A * B + D, where A keeps two of four neighbouring k.
 *
 * A lane holds V = K / (64 / M) consecutive k of a column of B, as in dense instructions, and of a row of A the V / 2
 * values that are kept.  Value p of a lane belongs to k = 4 * (p / 2) + s of the lane's V, where s is field p, two
 * bits wide, of the lane's index.  The index register has a set of fields per 8 (16-bit types) or 16 bits; abid names
 * the set unless cbsz does away with it.
 * Numerics are those of dense instructions (exec_mfma.c) on the products that are kept: what silicon makes of
 * groups of k here is not published, so it is taken to group the kept products as if they were all.
 * Source: layout, index sets: github ROCm/amd_matrix_instruction_calculator; V_SMFMAC_* in the CDNA4 ISA
 * guide, whose text for these instructions was taken to hold for CDNA3.
 * Tested by tests/emu/test_isa_smfmac.c.                        SPDX-License-Identifier: MIT
 */
#include "emu/isa/decode_memory.h"
#include "emu/isa/mfma_fast.h"
#include "emu/isa/mfma_planes.h"
#include "emu/isa/mfma_silicon.h"

enum { MAX_KEPT = 32, /* products of one element */ MAX_HALVES = 2 /* of a lane's values of B */ };

typedef struct sparse_operands {
    mfma_planes a, b[MAX_HALVES]; /* b: planes one after the other */
    uint32_t index[64];           /* of each lane, from field 0 on */
    uint32_t per_lane;            /* values of A */
    uint8_t *d;
} sparse_operands;
_Static_assert(sizeof(mfma_planes) == MFMA_MAX_VALUES * EMU_VGPR_STRIDE, "no gap between halves");

/* First bit of the index set: cbsz's two low bits select set 0. */
LANE_INLINE uint32_t first_index_bit(const emu_op *op, mfma_type t)
{
    uint32_t cbsz = (uint32_t)op->imm2 & 3, abid = (uint32_t)op->imm2 >> 4;
    if (cbsz)
        return 0;
    return values_per_register(t) == 2 ? 8 * (abid & 3) : 16 * (abid & 1);
}

/* Everything is copied, because D may overlap. */
LANE_INLINE void sparse_operands_of(emu_wave *w, const emu_op *op, mfma_type ta, mfma_type tb,
                                    mfma_shape s, sparse_operands *o)
{
    uint32_t of_b = values_per_lane(s), per_half = MFMA_MAX_VALUES / values_per_register(tb);
    o->per_lane = of_b / 2;
    o->d = w->vgprs + op->d;
    unpack_planes(ta, o->per_lane, w->vgprs + op->a, &o->a);
    for (uint32_t h = 0; h < of_b / MFMA_MAX_VALUES; h++)
        unpack_planes(tb, MFMA_MAX_VALUES,
                      w->vgprs + op->b + (size_t)EMU_VGPR_STRIDE * per_half * h, &o->b[h]);
    memcpy(o->index, w->vgprs + op->c, sizeof o->index);
    for (uint32_t l = 0; l < 64; l++)
        o->index[l] >>= first_index_bit(op, ta);
}

/* Bytes from the first plane to kept value x of row i, and to its counterpart in column 0 of B. */
typedef struct sparse_place {
    size_t a, b;
} sparse_place;

LANE_INLINE sparse_place place_of(const sparse_operands *o, mfma_shape s, uint32_t i, uint32_t x)
{
    uint32_t p = x % o->per_lane, first_lane = s.m * (x / o->per_lane);
    uint32_t selected = o->index[first_lane + i] >> 2 * p & 3;
    return (sparse_place){(size_t)EMU_VGPR_STRIDE * p + 4 * (first_lane + i),
                          (size_t)EMU_VGPR_STRIDE * (4 * (p / 2) + selected) + 4 * first_lane};
}

LANE_INLINE uint32_t n_kept(mfma_shape s)
{
    return s.k / 2;
}

/* --- fast --- */

LANE_INLINE void fast_row(const sparse_operands *o, mfma_type t, mfma_shape s, uint32_t i)
{
    const uint8_t *a = o->a.bytes, *b = o->b[0].bytes;
    for (uint32_t j = 0; j < s.m; j += CHUNK_LANES) {
        u32v *d = (u32v *)(o->d + row_offset(s, 0, i) + 4 * j), sum = *d;
        for (uint32_t x = 0; x < n_kept(s); x++) {
            sparse_place at = place_of(o, s, i, x);
            u32v left = splat32(*(const uint32_t *)(a + at.a));
            sum = multiply_add(t, false, sum, left, *chunk_of(b + at.b + 4 * j, 0));
        }
        *d = sum;
    }
}

static __attribute__((noinline)) void fast(emu_wave *w, const emu_op *op, mfma_type ta,
                                           mfma_type tb, mfma_shape s)
{
    sparse_operands o;
    sparse_operands_of(w, op, ta, tb, s, &o);
    for (uint32_t i = 0; i < s.m; i++)
        if (ta == I8)
            fast_row(&o, I8, s, i);
        else
            fast_row(&o, F16, s, i); /* any float whose products are exact */
}

/* --- silicon --- */

LANE_INLINE float silicon_sum_of(const sparse_operands *o, mfma_type ta, mfma_type tb, mfma_shape s,
                                 const sparse_place *at, uint32_t j, float sum)
{
    float a[MFMA_MAX_GROUP], b[MFMA_MAX_GROUP];
    uint32_t group = group_size(ta, (mfma_shape){s.m, n_kept(s), 1});
    for (uint32_t first = 0; first < n_kept(s); first += group) {
        for (uint32_t x = 0; x < group; x++) {
            a[x] = plane_value(o->a.bytes, at[first + x].a);
            b[x] = plane_value(o->b[0].bytes, at[first + x].b + 4 * j);
        }
        sum = add_group(ta, tb, a, b, group, sum);
    }
    return sum;
}

static __attribute__((noinline)) void silicon(emu_wave *w, const emu_op *op, mfma_type ta,
                                              mfma_type tb, mfma_shape s)
{
    sparse_operands o;
    sparse_place at[MAX_KEPT];
    sparse_operands_of(w, op, ta, tb, s, &o);
    for (uint32_t i = 0; i < s.m; i++) {
        for (uint32_t x = 0; x < n_kept(s); x++)
            at[x] = place_of(&o, s, i, x);
        for (uint32_t j = 0; j < s.m; j++) {
            size_t to = row_offset(s, 0, i) + 4 * j;
            float sum = silicon_sum_of(&o, ta, tb, s, at, j, plane_value(o.d, to));
            memcpy(o.d + to, &sum, sizeof sum);
        }
    }
}

/* --- tables --- */

#define SMFMAC(name, ta, tb, m, k, passes)                                                         \
    static const emu_op *name##_fast(emu_wave *w, const emu_op *op)                                \
    {                                                                                              \
        fast(w, op, ta, tb, (mfma_shape){m, k, 1});                                                \
        EMU_RETURN_NEXT;                                                                           \
    }                                                                                              \
    static const emu_op *name##_silicon(emu_wave *w, const emu_op *op)                             \
    {                                                                                              \
        if (ta == I8) /* both numerics are the same */                                             \
            return name##_fast(w, op);                                                             \
        silicon(w, op, ta, tb, (mfma_shape){m, k, 1});                                             \
        EMU_RETURN_NEXT;                                                                           \
    }                                                                                              \
    static const emu_exec name##_exec[EMU_N_MFMA] = {name##_fast, name##_silicon, name##_fast};
#include "emu/isa/smfmac.def"
#undef SMFMAC

static const emu_row rows[] = {
#define SMFMAC(name, ta, tb, m, k, passes)                                                         \
    {"v_smfmac_" #name,                                                                            \
     emu_encode_smfmac,                                                                            \
     name##_exec,                                                                                  \
     EMU_UNIT_MFMA,                                                                                \
     4 * (passes),                                                                                 \
     (m) * (m) / 64,                                                                               \
     4,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     NULL},
#include "emu/isa/smfmac.def"
};

extern const emu_table EMU_LEVEL(emu_table_smfmac);
const emu_table EMU_LEVEL(emu_table_smfmac) = {rows, sizeof rows / sizeof *rows};
