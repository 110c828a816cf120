/* emu/isa/text.h: splits a printed instruction into mnemonic, operands and modifiers.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_TEXT_H
#define MOESAIC_EMU_ISA_TEXT_H

#include "emu/isa/op.h"

/* Parse a line as LLVM prints it ("\tv_add_f32_e32 v0, 1.0, v1").
 *
 * accum_offset  first register of the AccVGPRs: a[n] becomes v[accum_offset + n]
 * out           line, address and words are the caller's to set; the rest is filled
 *
 * Returns false when an operand is not understood; out->mnemonic is set even then.
 */
bool emu_text_parse(const char *line, uint32_t accum_offset, emu_text *out);

/* Copy the mnemonic without its encoding suffix (_e32, _e64, _dpp, _sdwa) to the first, the suffix to the second. */
void emu_text_mnemonic(const char *line, char mnemonic[64], char encoding[8]);

/* op_sel:[0,1,1] as a bit per element; absent: `otherwise`. */
uint32_t emu_modifier_bits(const emu_text *text, const char *name, uint32_t otherwise);

/* The word behind "name:", as in dst_sel:BYTE_1; false when absent. */
bool emu_modifier_word(const emu_text *text, const char *name, char word[32]);

#endif
