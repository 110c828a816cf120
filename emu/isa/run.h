/* emu/isa/run.h: a launch while the engine executes it: geometry, program, limits, and the result that grows.
 *
 * Fields up to `deadline_s` are fixed by emu_run_new and read by all threads; the rest belongs to the engine's
 * lock.                                                                        SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_RUN_H
#define MOESAIC_EMU_ISA_RUN_H

#include "emu/engine.h"
#include "emu/isa/program.h"

enum { EMU_MAX_WORKGROUP_LANES = 1024, EMU_MAX_WAVES = EMU_MAX_WORKGROUP_LANES / 64 };

typedef struct emu_run emu_run;
struct emu_run {
    emu_launch *launch;
    emu_program *program;
    moesaic_sim_options options;
    const emu_device_shape *shape;
    uint32_t groups[3];
    uint64_t n_workgroups;
    uint32_t n_lanes, n_waves;             /* of a full workgroup */
    uint32_t vgpr_file_bytes;              /* of one wave */
    uint32_t mode;                         /* MODE register at the start */
    uint32_t resident_limit;               /* workgroups that the device holds at once */
    emu_timing_launch *timing;             /* NULL: values only */
    double deadline_s;                     /* on clock_now_s; 0: none */
    uint32_t ids[EMU_MAX_WORKGROUP_LANES]; /* v0 of each lane: x, y << 10, z << 20 */

    uint64_t next, n_ended, n_resident;
    moesaic_sim_result result;
    emu_run *next_run;
};

/* Decode the kernel and work out the geometry.  NULL when out of memory. */
emu_run *emu_run_new(emu_launch *launch, const emu_device_shape *shape);

/* Complete the result, call launch->done, free the run.  No workgroup of it may be alive. */
void emu_run_finish(emu_run *run);

#endif
