/* emu/isa/dpp.c: data-parallel primitives: the lane that each lane reads.
 *
 * A source of its own, because what a SIMD level is compiled for may not run before the host was asked.
 * Source: CDNA3 ISA guide, "DPP".  Tested by tests/emu/test_isa_cross.c.    SPDX-License-Identifier: MIT
 */
#include "emu/isa/dpp.h"

enum { NO_LANE = 255 };

emu_dpp_pattern emu_dpp_patterns[EMU_N_DPP];

static int dpp_lane_in_row(int control, int k)
{
    int n = control & 15;
    if (control < EMU_DPP_ROW_SHL)
        return (k & ~3) | (control >> 2 * (k & 3) & 3);
    if (control < EMU_DPP_ROW_SHR)
        return k + n < 16 ? k + n : NO_LANE;
    if (control < EMU_DPP_ROW_ROR)
        return k >= n ? k - n : NO_LANE;
    if (control < EMU_DPP_WAVE_SHL)
        return (k - n) & 15;
    if (control == EMU_DPP_ROW_MIRROR)
        return 15 - k;
    if (control == EMU_DPP_ROW_HALF_MIRROR)
        return k ^ 7;
    return n;
}

static int dpp_lane_in_wave(int control, int lane)
{
    switch (control) {
    case EMU_DPP_WAVE_SHL:
        return lane < 63 ? lane + 1 : NO_LANE;
    case EMU_DPP_WAVE_ROL:
        return (lane + 1) & 63;
    case EMU_DPP_WAVE_SHR:
        return lane > 0 ? lane - 1 : NO_LANE;
    case EMU_DPP_WAVE_ROR:
        return (lane - 1) & 63;
    case EMU_DPP_ROW_BCAST15:
        return lane >= 16 ? (lane & ~15) - 1 : NO_LANE;
    default: /* EMU_DPP_ROW_BCAST31 */
        return lane >= 32 ? 31 : NO_LANE;
    }
}

__attribute__((constructor)) static void build(void)
{
    for (int control = 0; control < EMU_N_DPP; control++) {
        emu_dpp_pattern *p = &emu_dpp_patterns[control];
        p->in_rows = !(control >= EMU_DPP_WAVE_SHL && control < EMU_DPP_ROW_MIRROR) &&
                     control != EMU_DPP_ROW_BCAST15 && control != EMU_DPP_ROW_BCAST31;
        for (int lane = 0; lane < 64; lane++) {
            int from =
                p->in_rows ? dpp_lane_in_row(control, lane & 15) : dpp_lane_in_wave(control, lane);
            if (p->in_rows && from != NO_LANE)
                from += lane & 48;
            p->lane[lane] = (uint8_t)from;
            p->valid |= (uint64_t)(from != NO_LANE) << lane;
        }
    }
}
