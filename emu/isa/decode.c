/* emu/isa/decode.c: from one printed instruction to operations: what all encoders share.
 *
 * Owns the pool of constants, the temporaries and the operations that are put around an instruction.
 * SPDX-License-Identifier: MIT
 */
#include "emu/isa/decode.h"

#include "emu/isa/rows.h"
#include "emu/isa/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool emu_decode_fail(emu_decoder *decoder, const emu_text *text, const char *format, ...)
{
    va_list arguments;
    if (decoder->failed)
        return false;
    decoder->failed = true;
    va_start(arguments, format);
    int n = vsnprintf(decoder->message, sizeof decoder->message, format, arguments);
    va_end(arguments);
    if (n >= 0 && (size_t)n < sizeof decoder->message && text && text->modifiers[0])
        snprintf(decoder->message + n, sizeof decoder->message - (size_t)n, " (%.60s)",
                 text->modifiers);
    return false;
}

const emu_row *emu_decode_row(const emu_text *text)
{
    char clamped[80];
    if (emu_modifier_flag(text, "clamp")) {
        snprintf(clamped, sizeof clamped, "%s_clamp", text->mnemonic);
        const emu_row *row = emu_rows_find(clamped);
        if (row)
            return row;
    }
    return emu_rows_find(text->mnemonic);
}

/* An operation of the row named, counted as none when the instruction's decoding fails anyway. */
static void set_row(emu_decoder *decoder, emu_op *op, const char *mnemonic)
{
    const emu_row *row = emu_rows_find(mnemonic);
    memset(op, 0, sizeof *op);
    if (!row) {
        emu_decode_fail(decoder, NULL, "%s is missing", mnemonic);
        return;
    }
    op->row = emu_rows_index(row);
    op->exec = row->exec[0];
}

emu_op *emu_decoder_before(emu_decoder *decoder, const char *mnemonic)
{
    if (decoder->n_before == EMU_MAX_BEFORE) {
        emu_decode_fail(decoder, NULL, "too many operations before one instruction");
        decoder->n_before = 0;
    }
    emu_op *op = &decoder->before[decoder->n_before++];
    set_row(decoder, op, mnemonic);
    return op;
}

emu_op *emu_decoder_after(emu_decoder *decoder, const char *mnemonic)
{
    if (decoder->n_after == EMU_MAX_AFTER) {
        emu_decode_fail(decoder, NULL, "too many operations after one instruction");
        decoder->n_after = 0;
    }
    emu_op *op = &decoder->after[decoder->n_after++];
    set_row(decoder, op, mnemonic);
    return op;
}

uint32_t emu_decoder_temporary(emu_decoder *decoder, int n_registers)
{
    if (decoder->n_temporaries + (uint32_t)n_registers > EMU_N_TEMPORARIES) {
        emu_decode_fail(decoder, NULL, "too many temporaries");
        decoder->n_temporaries = 0;
    }
    uint32_t first = decoder->n_vgprs + decoder->n_temporaries;
    decoder->n_temporaries += (uint32_t)n_registers;
    return first * EMU_VGPR_STRIDE;
}

moesaic_sim_mfma emu_decoder_mfma(const emu_decoder *decoder)
{
    return decoder->mfma;
}

uint32_t emu_encode_vgpr(const emu_operand *operand)
{
    return operand->index * EMU_VGPR_STRIDE;
}

uint32_t emu_encode_constant(emu_decoder *decoder, uint64_t value, int n_dwords)
{
    uint32_t lo = (uint32_t)value, hi = (uint32_t)(value >> 32), n = (uint32_t)n_dwords;
    uint32_t *pool = decoder->constants;
    for (uint32_t i = 0; i + n <= decoder->n_constants; i++)
        if (pool[i] == lo && (n == 1 || pool[i + 1] == hi))
            return EMU_S_CONSTANT + i;
    if (decoder->n_constants + n > EMU_MAX_CONSTANTS) {
        emu_decode_fail(decoder, NULL, "the kernel has more than %d constants", EMU_MAX_CONSTANTS);
        return EMU_S_ZERO;
    }
    uint32_t at = decoder->n_constants;
    pool[at] = lo;
    if (n == 2)
        pool[at + 1] = hi;
    decoder->n_constants += n;
    return EMU_S_CONSTANT + at;
}

uint32_t emu_encode_source(emu_decoder *decoder, emu_op *op, int bit, const emu_operand *operand,
                           int n_dwords)
{
    if (operand->kind == EMU_VGPR)
        return emu_encode_vgpr(operand);
    op->scalar_sources |= (uint8_t)(1 << bit);
    return emu_encode_scalar(decoder, operand, n_dwords == 2 ? 'q' : 'f');
}

static bool within_allocation(emu_decoder *decoder, const emu_text *text)
{
    for (int i = 0; i < text->n_operands; i++) {
        const emu_operand *o = &text->operand[i];
        if (o->kind == EMU_VGPR && o->index + o->n > decoder->n_vgprs)
            return emu_decode_fail(decoder, NULL, "v%u is beyond the kernel's %u registers",
                                   o->index + o->n - 1, decoder->n_vgprs);
    }
    return true;
}

/* Between s_set_gpr_idx_on and _off an operation in front makes the VGPR numbers of vector arithmetic relative to M0.
 * Only forms that are a single operation can be; bits of imm: sources, then the result. */
static bool index_registers(emu_decoder *decoder, const emu_text *text, const emu_row *row)
{
    static const char plain[] = "DQ=ifhwdql";
    if (!decoder->gpr_index)
        return true;
    if (row->effect & ~EMU_EFFECT_NO_VALUE || row->unit == EMU_UNIT_MFMA)
        return emu_decode_fail(decoder, NULL, "jump or MFMA while VGPR numbers are relative");
    if (row->unit != EMU_UNIT_VALU || row->effect)
        return true;
    if (row->encode != emu_encode_alu || row->operands[strspn(row->operands, plain)] ||
        decoder->n_before || decoder->n_after)
        return emu_decode_fail(decoder, text, "form not supported while VGPR numbers are relative");
    emu_op *op = emu_decoder_before(decoder, ".index_registers");
    for (int i = 0; i < text->n_operands; i++)
        if (text->operand[i].kind == EMU_VGPR)
            op->imm |= 1 << (i == 0 ? 3 : i - 1);
    op->imm2 = (int32_t)decoder->n_vgprs;
    return true;
}

bool emu_decode(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    decoder->n_before = decoder->n_after = decoder->n_temporaries = 0;
    decoder->failed = false;
    memset(op, 0, sizeof *op);
    if (!row) {
        emu_decode_fail(decoder, NULL, "not implemented");
    } else if (within_allocation(decoder, text)) {
        op->row = emu_rows_index(row);
        if (row->encode(decoder, text, row, op) && index_registers(decoder, text, row) &&
            !decoder->failed)
            return true;
        emu_decode_fail(decoder, text, "form not supported");
    }
    decoder->n_before = decoder->n_after = 0;
    set_row(decoder, op, ".missing");
    return false;
}
