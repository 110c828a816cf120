/* emu/isa/tiles.h: whether this process may use the host's matrix tiles (Intel AMX, bf16).
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_TILES_H
#define MOESAIC_EMU_ISA_TILES_H

#include <stdbool.h>

/* Ask the CPU, then the kernel, which gives tile registers to processes that ask.  Costs a system call. */
bool emu_tiles_request(void);

#endif
