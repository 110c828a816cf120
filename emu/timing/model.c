/* emu/timing/model.c: time model version 0: from workgroups' costs to a launch's time.
 *
 * Workgroup i runs on XCD i mod 8, there on CU (i / 8) mod 38, there in slot after slot: the dispatcher's round robin.
 * A CU is busy for
 *     soft(longest slot's serial time, MFMA, VALU, SALU and issue of its busiest SIMD, LDS clocks, L1 clocks)
 * where soft(a, b, ...) = (a^4 + b^4 + ...)^(1/4), a rounded maximum: units overlap, but not perfectly.  The device takes
 *     launch + soft(slowest CU, L2 of the busiest XCD, Infinity Cache, HBM) + throttle
 * with HBM traffic = distinct lines (caches cold at the start), Infinity Cache traffic = distinct lines of each XCD
 * (ideal L2s), and throttle = k * MFMA cycles per SIMD: the sustained clock under matrix load is
 * 2.1 GHz / (1 + k * duty), so a kernel's time grows by k times its matrix time.
 *
 * Uncalibrated.  Known to be missing: capacity misses of the L2, channel conflicts, TLB misses, contention of atomics,
 * exposed latency between blocks.  All constants: constants.def.
 * Tested by tests/emu/timing/test_model.c.                                    SPDX-License-Identifier: MIT
 */
#include "emu/timing/constants.h"
#include "emu/timing/model_version.h"
#include "emu/timing/trace_int.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SLOTS = 32, N_SIMDS = 4 };

typedef _Atomic uint64_t counter;

typedef struct cu_load {
    counter slot_serial[MAX_SLOTS];
    counter simd_mfma[N_SIMDS], simd_valu[N_SIMDS], simd_issue[N_SIMDS];
    counter lds, l1_lines;
} cu_load;

struct emu_timing_launch {
    emu_device_shape shape;
    emu_occupancy occupancy;
    uint64_t n_workgroups;
    emu_lines *lines;
    cu_load *cus;
    counter xcd_l2_lines[8];
    counter instructions[EMU_N_UNITS], mfma_cycles, lds_conflicts, waves;
};

static void add(counter *to, uint64_t n)
{
    atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static double value(const counter *from)
{
    return (double)atomic_load_explicit(from, memory_order_relaxed);
}

/* The CDNA3 occupancy table: 512 registers per lane and SIMD, granule 8, at most waves_per_simd waves. */
static uint32_t waves_by_registers(const emu_device_shape *shape, uint32_t vgprs)
{
    uint32_t granules = (vgprs + 7) / 8 * 8,
             waves = granules ? 512 / granules : shape->waves_per_simd;
    return waves < shape->waves_per_simd ? (waves ? waves : 1) : shape->waves_per_simd;
}

emu_occupancy emu_timing_occupancy(const emu_device_shape *shape, uint32_t waves_per_workgroup,
                                   uint32_t vgprs, uint32_t lds_bytes)
{
    assert(shape->simds_per_cu > 0);
    uint32_t waves = waves_per_workgroup ? waves_per_workgroup : 1;
    uint32_t per_simd = waves_by_registers(shape, vgprs);
    uint32_t workgroups = per_simd * shape->simds_per_cu / waves;
    uint32_t lds_granules = (lds_bytes + 511) / 512 * 512;
    if (lds_granules && shape->lds_bytes_per_cu / lds_granules < workgroups)
        workgroups = shape->lds_bytes_per_cu / lds_granules;
    workgroups = workgroups < 1 ? 1 : workgroups;
    if (workgroups > MAX_SLOTS)
        workgroups = MAX_SLOTS;
    uint32_t resident = (workgroups * waves + shape->simds_per_cu - 1) / shape->simds_per_cu;
    return (emu_occupancy){workgroups, waves, resident < per_simd ? resident : per_simd};
}

emu_timing_launch *emu_timing_begin(const emu_device_shape *shape, emu_occupancy occupancy,
                                    uint64_t n_workgroups)
{
    emu_timing_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return NULL;
    launch->shape = *shape;
    launch->occupancy = occupancy;
    launch->n_workgroups = n_workgroups;
    launch->lines = emu_lines_new();
    launch->cus = calloc(shape->cu_count, sizeof *launch->cus);
    if (launch->lines && launch->cus)
        return launch;
    emu_lines_free(launch->lines);
    free(launch->cus);
    free(launch);
    return NULL;
}

void emu_timing_workgroup_begin(emu_timing_launch *launch, emu_trace *trace, uint64_t workgroup)
{
    memset(&trace->lines_cache, 0, sizeof trace->lines_cache);
    memset(trace->l1, 0, sizeof trace->l1);
    trace->lines = launch->lines;
    trace->xcd = (uint32_t)(workgroup % launch->shape.xcd_count);
    trace->l1_lines = trace->l2_lines = trace->lds_clocks = trace->lds_conflict_clocks = 0;
}

static uint64_t issue_slots(const emu_wave_cost *wave)
{
    uint64_t n = 0;
    for (int unit = 0; unit < EMU_N_UNITS; unit++)
        n += wave->instructions[unit];
    return n;
}

static void add_wave(emu_timing_launch *launch, cu_load *cu, uint32_t simd,
                     const emu_wave_cost *wave)
{
    for (int unit = 0; unit < EMU_N_UNITS; unit++)
        add(&launch->instructions[unit], wave->instructions[unit]);
    add(&launch->mfma_cycles, wave->cycles[EMU_UNIT_MFMA]);
    add(&cu->simd_mfma[simd], wave->cycles[EMU_UNIT_MFMA]);
    add(&cu->simd_valu[simd], wave->cycles[EMU_UNIT_VALU]);
    add(&cu->simd_issue[simd], issue_slots(wave));
}

void emu_timing_workgroup_end(emu_timing_launch *launch, emu_trace *trace, uint64_t workgroup,
                              const emu_wave_cost *waves, uint32_t n_waves)
{
    uint32_t xcds = launch->shape.xcd_count, cus_per_xcd = launch->shape.cu_count / xcds;
    uint64_t on_xcd = workgroup / xcds, on_cu = on_xcd / cus_per_xcd;
    cu_load *cu = &launch->cus[trace->xcd * cus_per_xcd + on_xcd % cus_per_xcd];
    uint64_t longest = 0;
    for (uint32_t i = 0; i < n_waves; i++) {
        add_wave(launch, cu, (uint32_t)((on_cu * n_waves + i) % N_SIMDS), &waves[i]);
        longest = waves[i].serial_cycles > longest ? waves[i].serial_cycles : longest;
    }
    add(&cu->slot_serial[on_cu % launch->occupancy.workgroups_per_cu],
        longest + emu_workgroup_start_cycles);
    add(&cu->lds, trace->lds_clocks);
    add(&cu->l1_lines, trace->l1_lines);
    add(&launch->xcd_l2_lines[trace->xcd % 8], trace->l2_lines);
    add(&launch->lds_conflicts, trace->lds_conflict_clocks);
    add(&launch->waves, n_waves);
}

/* One term of a sum, with the name that the report shows. */
typedef struct term {
    const char *name;
    double cycles;
} term;

/* (sum of fourth powers)^(1/4), and which term is the largest. */
static double soft_maximum(const term *terms, size_t n, const char **largest)
{
    double top = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        if (terms[i].cycles > top) {
            top = terms[i].cycles;
            *largest = terms[i].name;
        }
    if (top <= 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        sum += pow(terms[i].cycles / top, 4);
    return top * pow(sum, 0.25);
}

static double maximum(const counter *from, uint32_t n)
{
    double top = 0;
    for (uint32_t i = 0; i < n; i++)
        top = fmax(top, value(&from[i]));
    return top;
}

static double cu_cycles(const emu_timing_launch *launch, const cu_load *cu, const char **limiter)
{
    const term terms[] = {
        {"latency", maximum(cu->slot_serial, launch->occupancy.workgroups_per_cu)},
        {"mfma", maximum(cu->simd_mfma, N_SIMDS)},
        {"valu", maximum(cu->simd_valu, N_SIMDS)},
        {"issue", maximum(cu->simd_issue, N_SIMDS)},
        {"lds", value(&cu->lds)},
        {"l1", value(&cu->l1_lines) * EMU_LINE_BYTES / emu_l1_bytes_per_clk},
    };
    return soft_maximum(terms, sizeof terms / sizeof terms[0], limiter);
}

static double slowest_cu(const emu_timing_launch *launch, const char **limiter)
{
    double top = 0;
    for (uint32_t i = 0; i < launch->shape.cu_count; i++) {
        const char *name = "launch";
        double cycles = cu_cycles(launch, &launch->cus[i], &name);
        if (cycles > top) {
            top = cycles;
            *limiter = name;
        }
    }
    return top;
}

/* Bytes over GB/s, in cycles of the engine clock. */
static double transfer_cycles(const emu_timing_launch *launch, double bytes, double gbps)
{
    return bytes / gbps * (double)launch->shape.clock_mhz * 1e-3;
}

static double total_cycles(const emu_timing_launch *launch, const emu_lines_count *touched,
                           const char **limiter)
{
    const char *cu_limiter = "launch";
    double l2_lines = maximum(launch->xcd_l2_lines, 8),
           l2_rate = emu_l2_bytes_per_clk * emu_l2_efficiency_pct / 100.0;
    const term terms[] = {
        {"cu", slowest_cu(launch, &cu_limiter)},
        {"l2", l2_lines * EMU_LINE_BYTES / l2_rate},
        {"mall",
         transfer_cycles(launch, (double)(touched->fills + touched->written) * EMU_LINE_BYTES,
                         emu_mall_gbps)},
        {"hbm", transfer_cycles(launch, (double)(touched->read + touched->written) * EMU_LINE_BYTES,
                                emu_hbm_gbps)},
    };
    double core = soft_maximum(terms, sizeof terms / sizeof terms[0], limiter);
    if (!strcmp(*limiter, "cu"))
        *limiter = cu_limiter;
    double simds = (double)launch->shape.cu_count * launch->shape.simds_per_cu;
    return core + value(&launch->mfma_cycles) / simds * emu_throttle_permille / 1000.0;
}

static void count(const emu_timing_launch *launch, const emu_lines_count *touched,
                  moesaic_sim_result *result)
{
    uint64_t n[EMU_N_UNITS], all = 0;
    for (int unit = 0; unit < EMU_N_UNITS; unit++)
        all += n[unit] = atomic_load(&launch->instructions[unit]);
    result->workgroups = launch->n_workgroups;
    result->waves = atomic_load(&launch->waves);
    result->wave_instructions = all;
    result->mfma_instructions = n[EMU_UNIT_MFMA];
    result->valu_instructions = n[EMU_UNIT_VALU];
    result->lds_instructions = n[EMU_UNIT_LDS];
    result->vmem_instructions =
        n[EMU_UNIT_VMEM_LOAD] + n[EMU_UNIT_VMEM_STORE] + n[EMU_UNIT_VMEM_ATOMIC];
    result->hbm_read_bytes = touched->read * EMU_LINE_BYTES;
    result->hbm_write_bytes = touched->written * EMU_LINE_BYTES;
    result->l2_fill_bytes = touched->fills * EMU_LINE_BYTES;
    result->lds_conflict_cycles = atomic_load(&launch->lds_conflicts);
    result->waves_per_simd = launch->occupancy.waves_per_simd;
}

void emu_timing_end(emu_timing_launch *launch, moesaic_sim_result *result)
{
    emu_lines_count touched = emu_lines_sum(launch->lines);
    const char *limiter = "launch";
    double cycles = total_cycles(launch, &touched, &limiter);
    result->time_ns = emu_launch_ns + (uint64_t)llround(cycles * 1e3 / launch->shape.clock_mhz);
    snprintf(result->limiter, sizeof result->limiter, "%s", limiter);
    count(launch, &touched, result);
    emu_lines_free(launch->lines);
    free(launch->cus);
    free(launch);
}
