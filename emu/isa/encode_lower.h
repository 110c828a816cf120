/* emu/isa/encode_lower.h: rare forms of vector instructions as operations of their own.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_ENCODE_LOWER_H
#define MOESAIC_EMU_ISA_ENCODE_LOWER_H

#include "emu/isa/op.h"

/* Bits [shift, shift + width) of a register. */
typedef struct emu_part {
    uint8_t shift, width;
} emu_part;

static const emu_part emu_part_whole = {0, 32}, emu_part_low = {0, 16}, emu_part_high = {16, 16};

/* What becomes of the other bits of a result register. */
typedef enum emu_unused { EMU_UNUSED_PAD, EMU_UNUSED_SEXT, EMU_UNUSED_PRESERVE } emu_unused;

emu_part emu_sdwa_part(const emu_text *text, const char *selector);
emu_unused emu_sdwa_unused(const emu_text *text);

/* Each returns the register (a temporary) that holds the changed source. */
uint32_t emu_lower_extract(emu_decoder *decoder, uint32_t source, emu_part part, bool sign);
uint32_t emu_lower_halves(emu_decoder *decoder, uint32_t source, bool low_is_high,
                          bool high_is_high);
uint32_t emu_lower_dpp(emu_decoder *decoder, const emu_text *text, uint32_t source, int n_dwords);
uint32_t emu_lower_call(emu_decoder *decoder, const char *mnemonic, uint32_t source);

/* Change a result in place, or put part of it into another register, after the instruction. */
void emu_lower_call_after(emu_decoder *decoder, const char *mnemonic, uint32_t in_place);
void emu_lower_insert(emu_decoder *decoder, uint32_t to, uint32_t from, emu_part part,
                      emu_unused unused);
bool emu_lower_clamp(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                     uint32_t result);
bool emu_lower_omod(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                    uint32_t result);

/* Kinds of result that ".clamp" and ".omod" know (op->imm). */
enum { EMU_RESULT_F32, EMU_RESULT_F16, EMU_RESULT_F64, EMU_RESULT_PK_F32, EMU_RESULT_PK_F16 };

/* DPP controls as the instruction word has them; ".dpp" keeps one in op->imm.
 * CDNA3 ISA guide, table "DPP_ctrl Enumerations". */
enum {
    EMU_DPP_ROW_SHL = 0x100,
    EMU_DPP_ROW_SHR = 0x110,
    EMU_DPP_ROW_ROR = 0x120,
    EMU_DPP_WAVE_SHL = 0x130,
    EMU_DPP_WAVE_ROL = 0x134,
    EMU_DPP_WAVE_SHR = 0x138,
    EMU_DPP_WAVE_ROR = 0x13c,
    EMU_DPP_ROW_MIRROR = 0x140,
    EMU_DPP_ROW_HALF_MIRROR = 0x141,
    EMU_DPP_ROW_BCAST15 = 0x142,
    EMU_DPP_ROW_BCAST31 = 0x143,
    EMU_DPP_ROW_NEWBCAST = 0x150,
    EMU_N_DPP = 0x160,
};

#endif
