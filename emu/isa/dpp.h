/* emu/isa/dpp.h: the lane that each lane reads under a DPP control.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_ISA_DPP_H
#define MOESAIC_EMU_ISA_DPP_H

#include "emu/isa/encode_lower.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct emu_dpp_pattern {
    uint8_t lane[64];
    uint64_t valid; /* lanes that read one */
    bool in_rows;   /* each row of 16 lanes does the same within itself */
} emu_dpp_pattern;

/* By control; filled when the library is loaded, constant after that. */
extern emu_dpp_pattern emu_dpp_patterns[EMU_N_DPP];

#endif
