/* emu/isa/run.c: from a launch and its kernel descriptor to what the engine executes.
 *
 * Sources: LLVM AMDGPUUsage, "Kernel Descriptor" and "Initial Kernel Execution State".
 * Tested by tests/hip.                                                        SPDX-License-Identifier: MIT
 */
#include "emu/isa/run.h"

#include "base/clock.h"
#include "emu/isa/decode.h"

#include <stdlib.h>
#include <string.h>

static uint32_t n_vgprs(const emu_kernel_descriptor *d)
{
    return ((d->compute_pgm_rsrc1 & 63) + 1) * 8;
}

static uint32_t accum_offset(const emu_kernel_descriptor *d)
{
    return ((d->compute_pgm_rsrc3 & 63) + 1) * 4;
}

/* FLOAT_MODE is MODE[7:0]; DX10_CLAMP and IEEE_MODE are bits 8 and 9 there. */
static uint32_t start_mode(const emu_kernel_descriptor *d)
{
    uint32_t rsrc1 = d->compute_pgm_rsrc1;
    return (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9;
}

static emu_variant variant(const moesaic_sim_options *o)
{
    if (o->order == MOESAIC_SIM_SWITCHING)
        return EMU_PREEMPT;
    return o->mode == MOESAIC_SIM_TIMED ? EMU_TIMED : EMU_PLAIN;
}

/* An odd number of host cache lines, so that the files of a workgroup's waves do not share sets of the L1. */
static uint32_t vgpr_file_bytes(uint32_t registers)
{
    uint32_t lines = ((registers + EMU_N_TEMPORARIES + 1) * EMU_VGPR_STRIDE + 63) / 64;
    return (lines | 1) * 64;
}

static void set_geometry(emu_run *run)
{
    const uint32_t *lanes = run->launch->workgroup_lanes;
    run->n_workgroups = 1;
    for (int i = 0; i < 3; i++) {
        run->groups[i] =
            (uint32_t)(((uint64_t)run->launch->grid_lanes[i] + lanes[i] - 1) / lanes[i]);
        run->n_workgroups *= run->groups[i];
    }
    run->n_lanes = lanes[0] * lanes[1] * lanes[2];
    run->n_waves = (run->n_lanes + 63) / 64;
    for (uint32_t l = 0; l < EMU_MAX_WORKGROUP_LANES; l++)
        run->ids[l] = l % lanes[0] | l / lanes[0] % lanes[1] << 10 | l / lanes[0] / lanes[1] << 20;
}

static bool decode(emu_run *run)
{
    const emu_kernel_descriptor *d = run->launch->descriptor;
    emu_program_key key = {
        .entry = (uint64_t)(uintptr_t)d + (uint64_t)d->entry_offset_bytes,
        .n_vgprs = n_vgprs(d),
        .accum_offset = accum_offset(d),
        .variant = variant(&run->options),
        .mfma = run->options.mfma,
    };
    run->program = emu_program_get(&key);
    run->mode = start_mode(d);
    run->vgpr_file_bytes = vgpr_file_bytes(key.n_vgprs);
    return run->program != NULL;
}

static bool begin_timing(emu_run *run)
{
    emu_occupancy occupancy =
        emu_timing_occupancy(run->shape, run->n_waves, n_vgprs(run->launch->descriptor),
                             run->launch->group_segment_bytes);
    run->resident_limit = occupancy.workgroups_per_cu * run->shape->cu_count;
    run->result.waves_per_simd = occupancy.waves_per_simd;
    if (run->program->key.variant != EMU_TIMED)
        return true;
    run->timing = emu_timing_begin(run->shape, occupancy, run->n_workgroups);
    return run->timing != NULL;
}

emu_run *emu_run_new(emu_launch *launch, const emu_device_shape *shape)
{
    emu_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->launch = launch;
    run->shape = shape;
    run->options.size_bytes = sizeof run->options;
    moesaic_sim.get_options(&run->options);
    set_geometry(run);
    if (!decode(run) || !begin_timing(run)) {
        free(run);
        return NULL;
    }
    if (run->options.wall_limit_s > 0)
        run->deadline_s = clock_now_s() + run->options.wall_limit_s;
    return run;
}

void emu_run_finish(emu_run *run)
{
    moesaic_sim_result *result = &run->result;
    moesaic_sim_status status = result->status;
    result->size_bytes = sizeof *result;
    result->workgroups = run->n_workgroups;
    result->waves = run->n_workgroups * run->n_waves;
    if (run->timing)
        emu_timing_end(run->timing, result);
    if (status != MOESAIC_SIM_OK)
        result->time_ns = 0; /* a part of a kernel has no time */
    run->launch->done(run->launch, result);
    free(run);
}
