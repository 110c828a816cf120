/* emu/isa/disassemble.h: comgr's disassembler, one instruction at a time.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_ISA_DISASSEMBLE_H
#define MOESAIC_EMU_ISA_DISASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct emu_line {
    char text[256];
    uint32_t size_bytes;    /* 0: not an instruction */
    uint64_t branch_target; /* 0: none */
} emu_line;

/* Print the instruction at a host address.  False when there is none or comgr is missing; text then says why.
 * Threads: one at a time (program.c holds its lock). */
bool emu_disassemble(uint64_t address, emu_line *out);

#endif
