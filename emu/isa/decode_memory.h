/* emu/isa/decode_memory.h: encoders of the memory formats and of matrix instructions, for the tables' rows.
 *
 * How an operation's fields are used by these formats (vector operands as byte offsets, scalars as indices):
 *   d   destination of loads and of atomics that return     a   address register(s)
 *   b   scalar base: address pair or buffer descriptor      c   data that goes out
 *   c2  second data operand (LDS)                           a2  scalar offset
 *   imm, imm2  offsets in bytes                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_DECODE_MEMORY_H
#define MOESAIC_EMU_ISA_DECODE_MEMORY_H

#include "emu/isa/op.h"

/* Which of a row's handlers an encoder picks. */
enum { EMU_GLOBAL_VADDR, EMU_GLOBAL_SADDR, EMU_N_GLOBAL };
enum {
    EMU_MFMA_FAST,
    EMU_MFMA_SILICON,
    EMU_MFMA_IN_PLACE, /* fast; C is a constant or in D's place, D apart from A and B, no lanes exchanged */
    EMU_N_MFMA,
};

/* Rows of vector memory: handlers, element of simd_memory.h or width of the atomic in bits.  Clocks are those of the
 * address unit (16 lanes a clock) or of the first-level cache (128 bytes a clock), whichever is more. */
#define VMEM_CLOCKS(dwords) ((dwords) > 2 ? 8 : 4)
#define VMEM_ROW(name, encode, handlers, unit, dwords, bytes)                                      \
    {                                                                                              \
        name, encode, handlers, unit, VMEM_CLOCKS(dwords), dwords, bytes, 0, 0, NULL               \
    }
#define VMEM_LOAD_ROW(name, encode, handlers, e)                                                   \
    VMEM_ROW(name, encode, handlers, EMU_UNIT_VMEM_LOAD, ELEMENT_DWORDS(e), ELEMENT_BYTES(e))
#define VMEM_STORE_ROW(name, encode, handlers, e)                                                  \
    VMEM_ROW(name, encode, handlers, EMU_UNIT_VMEM_STORE, ELEMENT_DWORDS(e), ELEMENT_BYTES(e))
#define VMEM_ATOMIC_ROW(name, encode, handlers, bits)                                              \
    VMEM_ROW(name, encode, handlers, EMU_UNIT_VMEM_ATOMIC, (bits) / 32, (bits) / 8)

bool emu_encode_no_value(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_smem(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_smem_time(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_global_load(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_global_store(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_global_atomic(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_global_load_lds(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_scratch_load(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_scratch_load_lds(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_scratch_store(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_buffer(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_ds(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_ds_return(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_ds_swizzle(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_mfma(emu_decoder *, const emu_text *, const emu_row *, emu_op *);
bool emu_encode_smfmac(emu_decoder *, const emu_text *, const emu_row *, emu_op *);

#endif
