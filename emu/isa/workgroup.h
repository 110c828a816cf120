/* emu/isa/workgroup.h: one workgroup in execution: its waves, registers, LDS and scratch.
 *
 * A workgroup is executed by one host thread at a time, and may move to another when it stalls.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_WORKGROUP_H
#define MOESAIC_EMU_ISA_WORKGROUP_H

#include "emu/isa/run.h"
#include "emu/isa/wave.h"

typedef enum emu_progress {
    EMU_ENDED,   /* every wave has */
    EMU_STALLED, /* every wave sleeps or spins: let other workgroups run, then go on */
    EMU_FAILED,  /* status and text say why */
} emu_progress;

struct emu_workgroup {
    emu_run *run;
    uint64_t index; /* within the grid, x fastest */
    uint32_t n_waves, n_live, n_at_barrier;
    uint32_t n_slept; /* waves that gave way since the last progress */
    uint32_t turn;    /* position in the order of waves */
    uint64_t random;
    moesaic_sim_status status;
    char text[512];

    emu_wave *waves; /* EMU_MAX_WAVES */
    uint8_t *vgprs, *lds, *scratch;
    size_t vgprs_bytes, scratch_bytes; /* allocated */
    emu_trace *trace;
    emu_workgroup *next; /* in the engine's lists */
};

/* Storage for any workgroup; NULL when out of memory. */
emu_workgroup *emu_workgroup_new(void);
void emu_workgroup_free(emu_workgroup *group);

/* Put the waves of workgroup `index` of the run at the kernel's entry.  False when out of memory. */
bool emu_workgroup_begin(emu_workgroup *group, emu_run *run, uint64_t index);

/* Execute until the workgroup ends, stalls or fails. */
emu_progress emu_workgroup_go(emu_workgroup *group, const emu_memory_map *map);

/* Hand an ended workgroup to the time model. */
void emu_workgroup_end(emu_workgroup *group);

#endif
