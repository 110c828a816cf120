/* emu/isa/exec_mfma_run.h: handlers that execute one matrix instruction, or a run of them.
 *
 * An operation's a2 is the number of operations behind it that belong to its run.  C must be a constant or in
 * D's place, and D apart from A and B.                          SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_EXEC_MFMA_RUN_H
#define MOESAIC_EMU_ISA_EXEC_MFMA_RUN_H

#include "emu/isa/wave.h"

const emu_op *EMU_LEVEL(emu_run_f32_32x32x8_bf16)(emu_wave *w, const emu_op *op);
const emu_op *EMU_LEVEL(emu_run_f32_16x16x16_bf16)(emu_wave *w, const emu_op *op);

/* Join runs of matrix operations; is_target[i]: something jumps to ops[i]. */
void EMU_LEVEL(emu_fuse_mfma)(emu_op *ops, size_t n, const bool *is_target);

#endif
