/* emu/timing/timing.h: the time model, version 0, as the engine feeds it.
 *
 * At decode the engine hands over each basic block's instructions once; the model prices the block.  At run time a
 * wave only counts how often each block ran.  When a workgroup ends the engine hands over its waves; when
 * the launch ends the model returns a time.  Everything is a sum or a maximum, so the result does not depend on the
 * number or the speed of host threads.  The model sees instructions, bytes and occupancy, never names or sources.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_TIMING_TIMING_H
#define MOESAIC_EMU_TIMING_TIMING_H

#include "emu/engine.h"
#include "emu/isa/op.h"

/* One instruction of a block, as the model needs it (dropped ones such as s_waitcnt included). */
typedef struct emu_timed_instruction {
    const emu_row *row;
    int32_t vmcnt,
        lgkmcnt; /* of an s_waitcnt: highest allowed count; -1: does not wait for this counter */
    uint16_t n_vgprs_read; /* unused by version 0 */
    bool is_scalar_load;   /* returns through lgkmcnt out of order */
} emu_timed_instruction;

/* What one execution of a block costs one wave. */
typedef struct emu_block_cost {
    uint32_t instructions[EMU_N_UNITS];
    uint32_t cycles[EMU_N_UNITS]; /* occupancy of each unit */
    uint32_t
        serial_cycles; /* from first issue to the end when the wave is alone, loads overlapped as coded */
    uint32_t mfma_flops_kilo; /* unused by version 0 */
} emu_block_cost;

/* Price a block: called at decode.  loops: the block may follow itself (its last branch goes to its start). */
void emu_timing_block(const emu_timed_instruction *instructions, size_t n, bool loops,
                      emu_block_cost *out);

/* A wave's totals: sum over blocks of runs * cost. */
typedef struct emu_wave_cost {
    uint64_t instructions[EMU_N_UNITS], cycles[EMU_N_UNITS];
    uint64_t serial_cycles;
} emu_wave_cost;

typedef struct emu_trace emu_trace;

/* One launch being timed; made before its first workgroup, NULL when out of memory. */
typedef struct emu_timing_launch emu_timing_launch;
typedef struct emu_occupancy {
    uint32_t workgroups_per_cu, waves_per_workgroup, waves_per_simd;
} emu_occupancy;

/* How many workgroups share a CU: limits of wave slots, registers (vgprs: AccVGPRs included) and LDS. */
emu_occupancy emu_timing_occupancy(const emu_device_shape *shape, uint32_t waves_per_workgroup,
                                   uint32_t vgprs, uint32_t lds_bytes);

emu_timing_launch *emu_timing_begin(const emu_device_shape *shape, emu_occupancy occupancy,
                                    uint64_t n_workgroups);

/* A host thread's trace for one workgroup at a time (see trace.h); begin before its first wave, end after the last. */
emu_trace *emu_timing_trace_new(void);
void emu_timing_trace_free(emu_trace *trace);
void emu_timing_workgroup_begin(emu_timing_launch *launch, emu_trace *trace, uint64_t workgroup);
void emu_timing_workgroup_end(emu_timing_launch *launch, emu_trace *trace, uint64_t workgroup,
                              const emu_wave_cost *waves, uint32_t n_waves);

/* The launch is over: fills time_ns, counters, limiter and occupancy of result, and frees launch. */
void emu_timing_end(emu_timing_launch *launch, moesaic_sim_result *result);

#endif
