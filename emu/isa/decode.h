/* emu/isa/decode.h: from one printed instruction to operations.
 *
 * A decoder belongs to one program: it knows the register allocation and collects the constants.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_DECODE_H
#define MOESAIC_EMU_ISA_DECODE_H

#include "emu/isa/op.h"

enum {
    EMU_MAX_BEFORE = 24,
    EMU_MAX_AFTER = 8,
    EMU_N_TEMPORARIES = 16, /* registers behind the kernel's own */
    EMU_MAX_CONSTANTS = EMU_S_MAX - EMU_S_CONSTANT,
};

struct emu_decoder {
    uint32_t n_vgprs, accum_offset; /* of the kernel descriptor */
    moesaic_sim_mfma mfma;
    uint32_t constants[EMU_MAX_CONSTANTS];
    uint32_t n_constants;
    /* Of the instruction being decoded: */
    emu_op before[EMU_MAX_BEFORE], after[EMU_MAX_AFTER];
    uint32_t n_before, n_after, n_temporaries;
    bool failed;
    bool gpr_index; /* between s_set_gpr_idx_on and _off, in the order of decoding */
    char message[256];
};

/* The row for a parsed text: "<mnemonic>_clamp" when it clamps and there is one, else "<mnemonic>"; or NULL. */
const emu_row *emu_decode_row(const emu_text *text);

/* Decode one instruction.  On success the operations are before[], *op, after[].
 * On failure *op traps when it is reached, message says why, before[] and after[] are empty. */
bool emu_decode(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op);

/* Encoders that tables of several files name (encode_alu.c, encode_control.c). */
bool emu_encode_alu(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_salu(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_none(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_immediate(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_saddress(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_hwreg(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_gpr_index(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_gpr_index_off(emu_decoder *, const emu_text *, const emu_row *, emu_op *);

/* A scalar source's index: register, or constant in the pool.  `type` as in emu_row.operands. */
uint32_t emu_encode_scalar(emu_decoder *decoder, const emu_operand *operand, char type);

#endif
