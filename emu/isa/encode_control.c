/* emu/isa/encode_control.c: operands of program control instructions.
 *
 * Fields that LLVM prints as words (hwreg, sendmsg) are taken from the instruction word.
 * Source: CDNA3 ISA guide, formats SOPP, SOPK, SOP1.            SPDX-License-Identifier: MIT
 */
#include "emu/isa/decode.h"

#include <string.h>

bool emu_encode_none(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    (void)decoder;
    (void)text;
    op->exec = row->exec ? row->exec[0] : NULL;
    return true;
}

/* The 16-bit field of SOPP and SOPK, sign-extended. */
bool emu_encode_immediate(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                          emu_op *op)
{
    op->imm = (int16_t)text->words[0];
    return emu_encode_none(decoder, text, row, op);
}

/* s_getpc, s_setpc, s_swappc, s_call: registers, and the address of the next instruction in imm2:imm. */
bool emu_encode_saddress(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    uint64_t next = text->address + text->size_bytes;
    if (text->n_operands == 0 || text->operand[0].kind != EMU_SCALAR)
        return emu_decode_fail(decoder, text, "not a scalar register");
    op->d = text->operand[0].index;
    if (text->n_operands > 1)
        op->a = text->operand[1].index;
    op->imm = (int32_t)(uint32_t)next;
    op->imm2 = (int32_t)(uint32_t)(next >> 32);
    op->exec = row->exec[0];
    return true;
}

/* s_getreg_b32 D, hwreg; s_setreg_b32 hwreg, S; s_setreg_imm32_b32 hwreg, literal: register in bits 22:16 of the word,
 * hwreg in its low half, literal in the second word. */
bool emu_encode_hwreg(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    op->d = op->a = text->words[0] >> 16 & 0x7f;
    op->imm = (int32_t)(text->words[0] & 0xffff);
    op->imm2 = (int32_t)text->words[1];
    return emu_encode_none(decoder, text, row, op);
}

/* s_set_gpr_idx_on S, mask; s_set_gpr_idx_idx S: the mask is the raw field in bits 15:8. */
bool emu_encode_gpr_index(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                          emu_op *op)
{
    if (text->n_operands == 0)
        return emu_decode_fail(decoder, text, "no index");
    op->a = emu_encode_scalar(decoder, &text->operand[0], 'i');
    op->imm = (int32_t)(text->words[0] >> 8 & 15);
    if (!strcmp(row->mnemonic, "s_set_gpr_idx_on"))
        decoder->gpr_index = true;
    return emu_encode_none(decoder, text, row, op);
}

bool emu_encode_gpr_index_off(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                              emu_op *op)
{
    decoder->gpr_index = false;
    return emu_encode_none(decoder, text, row, op);
}
