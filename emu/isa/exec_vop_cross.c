/* emu/isa/exec_vop_cross.c: moves between lanes, between lanes and scalars, by masks; and the internal operations
 * that rare forms of instructions are lowered to (encode_lower.c, encode_alu.c).
 * Tested by tests/emu/test_isa_cross.c.                            SPDX-License-Identifier: MIT
 */
#include "emu/isa/dpp.h"
#include "emu/isa/mode.h"
#include "emu/isa/simd_f16.h"

static uint32_t *lanes_at(const emu_wave *w, uint32_t at)
{
    return (uint32_t *)(w->vgprs + at);
}

/* --- one lane --- */

HANDLER(v_readfirstlane_b32)
{
    uint64_t exec = emu_exec_mask(w);
    w->s[op->d] = lanes_at(w, op->a)[exec ? __builtin_ctzll(exec) : 0];
    EMU_NEXT;
}

HANDLER(v_readlane_b32)
{
    w->s[op->d] = lanes_at(w, op->a)[w->s[op->b] & 63];
    EMU_NEXT;
}

HANDLER(v_writelane_b32)
{
    lanes_at(w, op->d)[w->s[op->b] & 63] = w->s[op->a];
    EMU_NEXT;
}

/* --- by a mask of lanes --- */

LANE_INLINE void all_lanes_choose(uint8_t *d, lane_source a, lane_source b, uint64_t mask,
                                  uint64_t exec)
{
    EACH_CHUNK(i)
    {
        i32v chosen = lanes_of_bits(chunk_mask(mask, i));
        store32(d, i, exec, SELECT(chosen, load32(b, i), load32(a, i)));
    }
}

LANE_INLINE const emu_op *run_choose(emu_wave *w, const emu_op *op, uint32_t scalar)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    uint64_t mask = emu_s64(w, op->c);
    uint8_t *d = w->vgprs + op->d;
    WITH_EXEC(w, exec, all_lanes_choose(d, a, b, mask, exec));
    EMU_NEXT;
}

VARIANTS(2, v_cndmask_b32, run_choose)

/* Ones of the mask a below the own lane, in its low or high word, plus b. */
LANE_INLINE const emu_op *run_count_below(emu_wave *w, const emu_op *op, uint32_t scalar, bool high)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    uint64_t exec = emu_exec_mask(w);
    EACH_CHUNK(i)
    {
        u32v below = (splat32(1) << (EACH_LANE(LANE_NUMBER) + CHUNK_LANES * i % 32)) - 1;
        if ((i >= N_CHUNKS / 2) != high)
            below = splat32(high ? 0 : ~0u);
        store32(w->vgprs + op->d, i, exec, count_bits(load32(a, i) & below) + load32(b, i));
    }
    EMU_NEXT;
}

VARIANTS(2, v_mbcnt_lo_u32_b32, run_count_below, false)
VARIANTS(2, v_mbcnt_hi_u32_b32, run_count_below, true)

HANDLER(v_swap_b32)
{
    uint64_t exec = emu_exec_mask(w);
    EACH_CHUNK(i)
    {
        u32v x = load32(source_at(w, op->d, false), i), y = load32(source_at(w, op->a, false), i);
        store32(w->vgprs + op->d, i, exec, y);
        store32(w->vgprs + op->a, i, exec, x);
    }
    EMU_NEXT;
}

HANDLER(v_pk_mov_b32)
{
    uint64_t exec = emu_exec_mask(w);
    EACH_CHUNK(i)
    {
        u32v low = load32(source_at(w, op->a, false), i),
             high = load32(source_at(w, op->b, false), i);
        store32(w->vgprs + op->d, i, exec, low);
        store32(w->vgprs + op->d + EMU_VGPR_STRIDE, i, exec, high);
    }
    EMU_NEXT;
}

/* --- DPP: where each lane reads --- */

/* Lanes whose source exists and is active. */
static uint64_t dpp_valid(const emu_dpp_pattern *p, uint64_t exec)
{
    uint64_t valid = 0;
    if (exec == ~0ull)
        return p->valid;
    for (uint32_t lane = 0; lane < 64; lane++)
        valid |= (exec >> (p->lane[lane] & 63) & 1) << lane;
    return valid & p->valid;
}

/* Rows and banks (groups of 4 lanes in each row) that are written. */
static uint64_t dpp_write_mask(uint32_t row_mask, uint32_t bank_mask)
{
    uint64_t mask = 0;
    for (uint32_t group = 0; group < 16; group++)
        if (row_mask >> group / 4 & 1 && bank_mask >> group % 4 & 1)
            mask |= 15ull << 4 * group;
    return mask;
}

/* Lanes are looked up one by one where a vector is no row of 16. */
static void dpp_move(const emu_dpp_pattern *p, uint64_t valid, const uint32_t *from, uint32_t *to)
{
    u32v index;
    bool by_vector = CHUNK_LANES == 16 && p->in_rows;
    for (uint32_t l = 0; l < CHUNK_LANES; l++)
        index[l] = p->lane[l] & 15;
    for (uint32_t l = 0; l < 64 && !by_vector; l++)
        to[l] = from[p->lane[l] & 63];
    EACH_CHUNK(i)
    {
        u32v moved =
            by_vector ? __builtin_shuffle(((const u32v *)from)[i], index) : ((const u32v *)to)[i];
        ((u32v *)to)[i] = moved & (u32v)lanes_of_bits(chunk_mask(valid, i));
    }
}

/* A permuted copy of a source, and EXEC without the lanes that are not to be written until .exec_restore. */
HANDLER(dpp)
{
    const emu_dpp_pattern *p = &emu_dpp_patterns[op->imm];
    uint64_t exec = emu_exec_mask(w), valid = dpp_valid(p, exec);
    for (uint32_t i = 0; i < op->n_dwords; i++)
        dpp_move(p, valid, lanes_at(w, op->a + i * EMU_VGPR_STRIDE),
                 lanes_at(w, op->d + i * EMU_VGPR_STRIDE));
    w->saved_exec = exec;
    exec &= dpp_write_mask((uint32_t)op->imm2 & 15, (uint32_t)op->imm2 >> 4);
    bool zero_where_invalid = op->flags;
    emu_set_s64(w, EMU_S_EXEC, zero_where_invalid ? exec : exec & valid);
    EMU_NEXT;
}

/* --- parts of registers --- */

#define EACH_LANE_VECTOR(name, ...)                                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        uint64_t exec = emu_exec_mask(w);                                                          \
        EACH_CHUNK(i)                                                                              \
        {                                                                                          \
            u32v a = *(const u32v *)(w->vgprs + op->a + CHUNK_BYTES * i);                          \
            u32v d = *(const u32v *)(w->vgprs + op->d + CHUNK_BYTES * i);                          \
            (void)d;                                                                               \
            store32(w->vgprs + op->d, i, exec, (u32v)(__VA_ARGS__));                               \
        }                                                                                          \
        EMU_NEXT;                                                                                  \
    }
EACH_LANE_VECTOR(extract, a << op->imm >> op->imm2)
EACH_LANE_VECTOR(extract_signed, (i32v)(a << op->imm) >> op->imm2)
EACH_LANE_VECTOR(halves, (a >> op->imm & 0xffff) | (a << op->imm2 & 0xffff0000))

/* The low `imm2` bits of a, at bit `imm` of the result. */
LANE_INLINE u32v part_mask(const emu_op *op)
{
    return splat32((op->imm2 == 32 ? ~0u : (1u << op->imm2) - 1) << op->imm);
}

LANE_INLINE u32v extend_part(const emu_op *op, u32v a)
{
    int unused = 32 - op->imm2;
    return (u32v)((i32v)(a << unused) >> unused) << op->imm;
}

EACH_LANE_VECTOR(insert, (a << op->imm & part_mask(op)) | (d & ~part_mask(op)))
EACH_LANE_VECTOR(insert_pad, a << op->imm & part_mask(op))
EACH_LANE_VECTOR(insert_sext, extend_part(op, a))

HANDLER(broadcast)
{
    u32v all = splat32(w->s[op->a]);
    EACH_CHUNK(i)
    *(u32v *)(w->vgprs + op->d + CHUNK_BYTES * i) = all;
    EMU_NEXT;
}

/* A copy with changed signs in its last register. */
HANDLER(modify)
{
    uint32_t last = (op->n_dwords - 1u) * EMU_VGPR_STRIDE;
    EACH_CHUNK(i)
    {
        u32v low = *(const u32v *)(w->vgprs + op->a + CHUNK_BYTES * i);
        u32v high = *(const u32v *)(w->vgprs + op->a + last + CHUNK_BYTES * i);
        *(u32v *)(w->vgprs + op->d + CHUNK_BYTES * i) = low;
        *(u32v *)(w->vgprs + op->d + last + CHUNK_BYTES * i) =
            (high & (uint32_t)op->imm2) ^ (uint32_t)op->imm;
    }
    EMU_NEXT;
}

/* --- clamp and output scale of results --- */

LANE_INLINE f64v clamp64(f64v x)
{
    x = SELECT(x > 0, x, splat_f64(0));
    return SELECT(x < 1, x, splat_f64(1));
}

LANE_INLINE f64v same64(f64v x)
{
    return x;
}

LANE_INLINE f32v same32(f32v x)
{
    return x;
}

/* f (x * factor) on a result of the kind given. */
LANE_INLINE const emu_op *change_result(emu_wave *w, const emu_op *op, float factor, f32v f(f32v),
                                        f64v g(f64v))
{
    uint64_t exec = emu_exec_mask(w);
    lane_source s = source_at(w, op->d, false), high = source_at(w, op->d + EMU_VGPR_STRIDE, false);
    uint8_t *d = w->vgprs + op->d;
    for (uint32_t i = 0; i < N_CHUNKS; i++) {
        u32v x = load32(s, i);
        if (op->imm == EMU_RESULT_F16 || op->imm == EMU_RESULT_PK_F16) {
            u32v halves = f16_of_f32(f(f32_of_f16(x) * factor));
            if (op->imm == EMU_RESULT_PK_F16)
                halves |= f16_of_f32(f(f32_of_f16(x >> 16) * factor)) << 16;
            store32(d, i, exec, halves);
        } else if (op->imm != EMU_RESULT_F64) {
            store32(d, i, exec, (u32v)f((f32v)x * factor));
        }
        if (op->imm == EMU_RESULT_PK_F32)
            store32(d + EMU_VGPR_STRIDE, i, exec, (u32v)f((f32v)load32(high, i) * factor));
    }
    if (op->imm == EMU_RESULT_F64)
        for (uint32_t i = 0; i < 2 * N_CHUNKS; i++)
            store64(d, i, exec, (u64v)g((f64v)load64(s, i, true) * (double)factor));
    EMU_NEXT;
}

HANDLER(clamp)
{
    return change_result(w, op, 1, clamp32, clamp64);
}

/* IEEE mode and kept output denormals disable the scale. */
HANDLER(omod)
{
    bool is_f32 = op->imm == EMU_RESULT_F32 || op->imm == EMU_RESULT_PK_F32;
    if (w->mode & (EMU_MODE_IEEE | (is_f32 ? EMU_MODE_KEEP_F32_OUT : EMU_MODE_KEEP_F16_OUT)))
        EMU_NEXT;
    return change_result(w, op, op->imm2 == 1 ? 2 : op->imm2 == 2 ? 4 : 0.5f, same32, same64);
}

#define INTERNAL(name)                                                                             \
    {                                                                                              \
        .mnemonic = "." #name, .encode = emu_encode_none, .exec = (const emu_exec[]){name},        \
        .unit = EMU_UNIT_NONE                                                                      \
    }
static const emu_row rows[] = {
    PLAIN_ROW(v_readfirstlane_b32, "s=i", 4),
    PLAIN_ROW(v_readlane_b32, "s=ic", 4),
    PLAIN_ROW(v_writelane_b32, "D=cc", 4),
    PLAIN_ROW(v_swap_b32, "D=i", 4),
    PLAIN_ROW(v_pk_mov_b32, "P=yy", 4),
    VALU_ROW(v_cndmask_b32, "D=iim", 4, EMU_VARIANT_SCALAR),
    VALU_ROW(v_mbcnt_lo_u32_b32, "D=ii", 4, EMU_VARIANT_SCALAR),
    VALU_ROW(v_mbcnt_hi_u32_b32, "D=ii", 4, EMU_VARIANT_SCALAR),
    INTERNAL(dpp),
    INTERNAL(broadcast),
    INTERNAL(modify),
    INTERNAL(extract),
    INTERNAL(extract_signed),
    INTERNAL(halves),
    INTERNAL(insert),
    INTERNAL(insert_pad),
    INTERNAL(insert_sext),
    INTERNAL(clamp),
    INTERNAL(omod),
};

DEFINE_TABLE(emu_table_vop_cross);
