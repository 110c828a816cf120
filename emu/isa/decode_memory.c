/* emu/isa/decode_memory.c: encoders of the memory formats and of matrix instructions.
 *
 * Turns printed operands into the fields that decode_memory.h lists.  Printed orders, as LLVM gives them:
 *   global load  d, vaddr, off|saddr          store  vaddr, data, off|saddr     atomic  [d,] vaddr, data, off|saddr
 *   scratch load d, off|vaddr, off|saddr      store  off|vaddr, data, off|saddr
 *   buffer       data, off|vaddr, s[4], soffset          ds read  d, addr       ds write  addr, data[, data2]
 * SPDX-License-Identifier: MIT
 */
#include "emu/isa/decode_memory.h"

#include "emu/isa/text.h"

#include <string.h>

bool emu_encode_no_value(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    (void)decoder, (void)text, (void)row, (void)op;
    return true;
}

/* The modifier's value, or 0 when it is not printed. */
static int32_t offset_of(const emu_text *text, const char *name)
{
    int64_t value = 0;
    return emu_modifier_int(text, name, &value) ? (int32_t)value : 0;
}

static bool refuse(emu_decoder *decoder, const emu_text *text)
{
    return emu_decode_fail(decoder, text, "operands not understood");
}

static bool has_operands(const emu_text *text, int n)
{
    return text->n_operands >= n;
}

/* --- scalar memory --- */

/* data, base, immediate | register [offset:immediate] */
bool emu_encode_smem(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    const emu_operand *o = text->operand;
    if (!has_operands(text, 3) || o[0].kind != EMU_SCALAR || o[1].kind != EMU_SCALAR)
        return refuse(decoder, text);
    op->exec = row->exec[0];
    op->d = o[0].index;
    op->b = o[1].index;
    op->a2 = EMU_S_ZERO;
    op->imm = offset_of(text, "offset");
    if (o[2].kind == EMU_INTEGER)
        op->imm = (int32_t)o[2].integer;
    else if (o[2].kind == EMU_SCALAR)
        op->a2 = o[2].index;
    else
        return refuse(decoder, text);
    op->flags = emu_modifier_flag(text, "glc") ? EMU_OP_RETURN : 0;
    return true;
}

bool emu_encode_smem_time(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                          emu_op *op)
{
    if (!has_operands(text, 1) || text->operand[0].kind != EMU_SCALAR)
        return refuse(decoder, text);
    op->exec = row->exec[0];
    op->d = text->operand[0].index;
    return true;
}

/* --- global and flat --- */

/* Address operands: a VGPR pair with "off" (flat: nothing) behind, or a VGPR with an SGPR pair. */
static bool global_address(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                           const emu_operand *vaddr, const emu_operand *base, emu_op *op)
{
    if (vaddr->kind != EMU_VGPR)
        return refuse(decoder, text);
    op->a = emu_encode_vgpr(vaddr);
    op->imm = offset_of(text, "offset");
    op->exec = row->exec[EMU_GLOBAL_VADDR];
    if (base && base->kind == EMU_SCALAR) {
        op->b = base->index;
        op->flags |= EMU_OP_SADDR;
        op->exec = row->exec[EMU_GLOBAL_SADDR];
    }
    return true;
}

static const emu_operand *operand_or_null(const emu_text *text, int i)
{
    return i < text->n_operands ? &text->operand[i] : NULL;
}

bool emu_encode_global_load(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                            emu_op *op)
{
    const emu_operand *o = text->operand;
    if (!has_operands(text, 2) || o[0].kind != EMU_VGPR)
        return refuse(decoder, text);
    op->d = emu_encode_vgpr(&o[0]);
    return global_address(decoder, text, row, &o[1], operand_or_null(text, 2), op);
}

bool emu_encode_global_load_lds(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                                emu_op *op)
{
    op->flags |= EMU_OP_TO_LDS;
    return has_operands(text, 1)
               ? global_address(decoder, text, row, &text->operand[0], operand_or_null(text, 1), op)
               : refuse(decoder, text);
}

bool emu_encode_global_store(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                             emu_op *op)
{
    const emu_operand *o = text->operand;
    if (!has_operands(text, 2) || o[1].kind != EMU_VGPR)
        return refuse(decoder, text);
    op->c = emu_encode_vgpr(&o[1]);
    return global_address(decoder, text, row, &o[0], operand_or_null(text, 2), op);
}

bool emu_encode_global_atomic(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                              emu_op *op)
{
    const emu_operand *o = text->operand;
    int first = emu_modifier_flag(text, "sc0") ? 1 : 0;
    if (!has_operands(text, first + 2) || o[first + 1].kind != EMU_VGPR)
        return refuse(decoder, text);
    if (first) {
        op->flags |= EMU_OP_RETURN;
        op->d = emu_encode_vgpr(&o[0]);
    }
    op->c = emu_encode_vgpr(&o[first + 1]);
    return global_address(decoder, text, row, &o[first], operand_or_null(text, first + 2), op);
}

/* --- scratch --- */

static bool scratch_address(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                            const emu_operand *vaddr, const emu_operand *base, emu_op *op)
{
    op->exec = row->exec[0];
    op->imm = offset_of(text, "offset");
    op->a2 = base->kind == EMU_SCALAR ? base->index : EMU_S_ZERO;
    if (vaddr->kind == EMU_VGPR)
        op->a = emu_encode_vgpr(vaddr);
    else if (vaddr->kind == EMU_OFF)
        op->flags |= EMU_OP_NO_VADDR;
    else
        return refuse(decoder, text);
    return true;
}

bool emu_encode_scratch_load(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                             emu_op *op)
{
    const emu_operand *o = text->operand;
    if (!has_operands(text, 3) || o[0].kind != EMU_VGPR)
        return refuse(decoder, text);
    op->d = emu_encode_vgpr(&o[0]);
    return scratch_address(decoder, text, row, &o[1], &o[2], op);
}

bool emu_encode_scratch_load_lds(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                                 emu_op *op)
{
    if (!has_operands(text, 2))
        return refuse(decoder, text);
    op->flags |= EMU_OP_TO_LDS;
    return scratch_address(decoder, text, row, &text->operand[0], &text->operand[1], op);
}

bool emu_encode_scratch_store(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                              emu_op *op)
{
    const emu_operand *o = text->operand;
    if (!has_operands(text, 3) || o[1].kind != EMU_VGPR)
        return refuse(decoder, text);
    op->c = emu_encode_vgpr(&o[1]);
    return scratch_address(decoder, text, row, &o[0], &o[2], op);
}

/* --- buffers --- */

/* [data,] off|vaddr, descriptor, soffset; with "lds" no data register is printed. */
bool emu_encode_buffer(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    const emu_operand *o = text->operand;
    bool to_lds = emu_modifier_flag(text, "lds");
    int first = to_lds ? 0 : 1;
    if (!has_operands(text, first + 3) || o[first + 1].kind != EMU_SCALAR ||
        (first && o[0].kind != EMU_VGPR) || (to_lds && row->n_dwords != 1))
        return refuse(decoder, text);
    if (first)
        op->d = op->c = emu_encode_vgpr(&o[0]);
    if (o[first].kind == EMU_VGPR)
        op->a = emu_encode_vgpr(&o[first]);
    op->b = o[first + 1].index;
    op->a2 = emu_encode_source(decoder, op, 3, &o[first + 2], 1);
    op->imm = offset_of(text, "offset");
    op->flags = (uint8_t)((emu_modifier_flag(text, "offen") ? EMU_OP_OFFEN : 0) |
                          (emu_modifier_flag(text, "idxen") ? EMU_OP_IDXEN : 0) |
                          (emu_modifier_flag(text, "sc0") ? EMU_OP_RETURN : 0) |
                          (to_lds ? EMU_OP_TO_LDS : 0));
    op->exec = row->exec[0];
    return true;
}

/* --- LDS --- */

/* offset0 and offset1, of instructions that name two places, count elements, or 64 elements in the st64 forms. */
static void ds_offsets(const emu_text *text, const emu_row *row, emu_op *op)
{
    int32_t unit = row->element_bytes * (strstr(row->mnemonic, "2st64") ? 64 : 1);
    op->imm = offset_of(text, "offset") + offset_of(text, "offset0") * unit;
    op->imm2 = offset_of(text, "offset1") * unit;
}

static bool ds_operands(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                        int returned, emu_op *op)
{
    uint32_t *field[] = {&op->a, &op->c, &op->c2};
    for (int i = 0; i < text->n_operands; i++) {
        if (text->operand[i].kind != EMU_VGPR || i > returned + 2)
            return refuse(decoder, text);
        uint32_t at = emu_encode_vgpr(&text->operand[i]);
        if (i < returned)
            op->d = at;
        else
            *field[i - returned] = at;
    }
    ds_offsets(text, row, op);
    op->exec = row->exec[0];
    return true;
}

bool emu_encode_ds(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    return ds_operands(decoder, text, row, 0, op);
}

bool emu_encode_ds_return(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                          emu_op *op)
{
    op->flags |= EMU_OP_RETURN;
    return ds_operands(decoder, text, row, 1, op);
}

/* The offset is printed in several ways (swizzle(SWAP,16)); the encoding's low 16 bits are it. */
bool emu_encode_ds_swizzle(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                           emu_op *op)
{
    if (!ds_operands(decoder, text, row, 1, op))
        return false;
    op->imm = (int32_t)(text->words[0] & 0xffff);
    return true;
}

/* --- matrix instructions --- */

/* The constant of an f64 accumulator is a double, of the others the 32 bits as they are. */
static void mfma_constant(emu_decoder *decoder, const emu_operand *c, bool is_f64, emu_op *op)
{
    uint64_t bits = (uint64_t)c->integer;
    if (c->kind == EMU_FLOAT && is_f64) {
        memcpy(&bits, &c->real, 8);
    } else if (c->kind == EMU_FLOAT) {
        float value = (float)c->real;
        uint32_t word;
        memcpy(&word, &value, 4);
        bits = word;
    }
    op->c = emu_encode_constant(decoder, bits, is_f64 ? 2 : 1);
    op->scalar_sources |= 4;
}

static bool share_registers(const emu_operand *x, const emu_operand *y)
{
    return x->index < y->index + y->n && y->index < x->index + x->n;
}

static int mfma_handler(const emu_decoder *decoder, const emu_text *text, const emu_op *op)
{
    const emu_operand *o = text->operand;
    if (emu_decoder_mfma(decoder) == MOESAIC_SIM_MFMA_SILICON)
        return EMU_MFMA_SILICON;
    bool apart = !share_registers(&o[0], &o[1]) && !share_registers(&o[0], &o[2]);
    bool over_c = op->scalar_sources & 4 || op->c == op->d;
    return apart && over_c && !op->imm && !op->imm2 ? EMU_MFMA_IN_PLACE : EMU_MFMA_FAST;
}

/* imm: blgp; imm2: cbsz and, from bit 4, abid; neg is printed for f64 only, where it takes the bits of blgp. */
bool emu_encode_mfma(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    const emu_operand *o = text->operand;
    if (!has_operands(text, 4) || o[0].kind != EMU_VGPR || o[1].kind != EMU_VGPR ||
        o[2].kind != EMU_VGPR)
        return refuse(decoder, text);
    op->d = emu_encode_vgpr(&o[0]);
    op->a = emu_encode_vgpr(&o[1]);
    op->b = emu_encode_vgpr(&o[2]);
    if (o[3].kind == EMU_VGPR)
        op->c = emu_encode_vgpr(&o[3]);
    else if (o[3].kind == EMU_SCALAR)
        return refuse(decoder, text);
    else
        mfma_constant(decoder, &o[3], row->element_bytes == 8, op);
    op->imm = offset_of(text, "blgp");
    op->imm2 = offset_of(text, "cbsz") | offset_of(text, "abid") << 4;
    op->neg = (uint8_t)emu_modifier_bits(text, "neg", 0);
    op->exec = row->exec[mfma_handler(decoder, text, op)];
    return true;
}

/* The fourth operand holds indices. */
bool emu_encode_smfmac(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    if (!has_operands(text, 4) || text->operand[3].kind != EMU_VGPR)
        return refuse(decoder, text);
    return emu_encode_mfma(decoder, text, row, op);
}
