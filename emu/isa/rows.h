/* emu/isa/rows.h: all instruction rows of the SIMD level that this host runs, by mnemonic.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_ROWS_H
#define MOESAIC_EMU_ISA_ROWS_H

#include "emu/isa/op.h"

/* The row of a mnemonic (without encoding suffix), or NULL.  Threads: any. */
const emu_row *emu_rows_find(const char *mnemonic);

/* Position of a row, as emu_op.row keeps it, and back. */
uint16_t emu_rows_index(const emu_row *row);
const emu_row *emu_rows_at(uint16_t index);
size_t emu_rows_count(void);

/* "amx" (avx512 with matrix tiles), "avx512", "avx2" or "base". */
const char *emu_rows_level(void);

/* Whether 256-bit and wider host registers are in use (their upper halves must be cleared before SSE code). */
bool emu_rows_wide(void);

/* Whether bf16 matrix instructions in fast numerics go through the host's matrix tiles.  Known once a row was found. */
bool emu_rows_tiles(void);

/* Join runs of matrix operations, at the level in use; is_target[i]: something jumps to ops[i]. */
void emu_rows_fuse(emu_op *ops, size_t n, const bool *is_target);

#endif
