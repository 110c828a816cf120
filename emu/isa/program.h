/* emu/isa/program.h: a decoded kernel: operations, constants, basic blocks.
 *
 * One program per entry address, variant and numerics; kept until its code object is unloaded.
 * Decision 0011 says why there are variants.                                   SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_PROGRAM_H
#define MOESAIC_EMU_ISA_PROGRAM_H

#include "emu/isa/wave.h"
#include "emu/timing/timing.h"

typedef enum emu_variant {
    EMU_PLAIN,
    EMU_TIMED,   /* a counting operation in front of each basic block */
    EMU_PREEMPT, /* a countdown in front of each instruction */
} emu_variant;

typedef struct emu_program_key {
    uint64_t entry;
    uint32_t n_vgprs, accum_offset;
    emu_variant variant;
    moesaic_sim_mfma mfma;
} emu_program_key;

/* Decoded code: the kernel, or a function that was first reached by a computed jump. */
typedef struct emu_section emu_section;
struct emu_section {
    emu_op *ops;
    uint64_t *address; /* of the instruction that an operation belongs to */
    uint32_t n_ops;
    emu_section *next;
};

struct emu_program {
    emu_program_key key;
    emu_section *sections; /* the kernel first */
    uint32_t *constants;
    uint32_t n_constants;
    emu_block_cost *blocks; /* timed variant only */
    uint32_t n_blocks;
    emu_decoder *decoder;
    emu_program *next;
};

/* Find or decode.  NULL only when out of memory. */
emu_program *emu_program_get(const emu_program_key *key);

/* The operation at an address, decoding a function there when it is new; brings the wave's constants and block
 * counters up to date.  NULL only when out of memory. */
const emu_op *emu_program_at(emu_wave *w, uint64_t address);

/* What a wave of a timed variant has cost so far. */
void emu_program_cost(const emu_wave *w, emu_wave_cost *out);

/* "v_add_f32 v0, v1, v2 at +0x1c (0x7f..)" for the instruction that op belongs to. */
void emu_program_describe(const emu_program *program, const emu_op *op, char *out,
                          size_t out_bytes);

/* Drop the programs whose entry lies in [base, base + n_bytes).  No wave may be running them. */
void emu_program_forget(uint64_t base, size_t n_bytes);

#endif
