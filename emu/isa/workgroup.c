/* emu/isa/workgroup.c: executes the waves of one workgroup.
 *
 * A wave runs until it ends, meets a barrier, sleeps or has spent its loop budget; then the next one runs, in
 * the order that the options ask for.  Barriers open when all waves alive are at them.
 * Tested by tests/hip.                                                        SPDX-License-Identifier: MIT
 */
#include "emu/isa/workgroup.h"
#include "emu/isa/mode.h"

#include "emu/isa/fault.h"
#include "emu/isa/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LDS_BYTES = 64 << 10,
    LDS_SLACK_BYTES = 256, /* vector handlers may read behind the end */
    LONG_LOOP = 1 << 16,   /* backward branches before a wave gives way for the first time */
    SPIN_LOOP = 1 << 10,   /* and from then on */
    TURN_SCALES = 5,       /* turns in switching order last up to 1, 2, 4, 8 or 16 instructions */
};

/* An LDS that was never written reads as NaN in every float format. */
static const uint8_t LDS_POISON = 0xff;

/* --- storage --- */

emu_workgroup *emu_workgroup_new(void)
{
    emu_workgroup *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->waves = aligned_alloc(64, EMU_MAX_WAVES * sizeof *g->waves);
    g->lds = aligned_alloc(4096, LDS_BYTES + 4096);
    if (!g->waves || !g->lds) {
        emu_workgroup_free(g);
        return NULL;
    }
    memset(g->waves, 0, EMU_MAX_WAVES * sizeof *g->waves);
    memset(g->lds, 0, LDS_BYTES + LDS_SLACK_BYTES);
    return g;
}

void emu_workgroup_free(emu_workgroup *g)
{
    for (int i = 0; g->waves && i < EMU_MAX_WAVES; i++)
        free(g->waves[i].block_runs);
    free(g->waves);
    free(g->vgprs);
    free(g->lds);
    free(g->scratch);
    emu_timing_trace_free(g->trace);
    free(g);
}

/* At least n_bytes, zeroed when new: registers that a kernel never wrote are the same in every run of a process. */
static bool reserve(uint8_t **memory, size_t *have_bytes, size_t n_bytes)
{
    if (n_bytes <= *have_bytes)
        return true;
    size_t rounded = (n_bytes + 4095) / 4096 * 4096;
    uint8_t *grown = aligned_alloc(4096, rounded);
    if (!grown)
        return false;
    memset(grown, 0, rounded);
    free(*memory);
    *memory = grown;
    *have_bytes = rounded;
    return true;
}

static bool reserve_block_runs(emu_wave *w, uint32_t n_blocks)
{
    if (n_blocks > w->n_block_runs) {
        free(w->block_runs);
        w->n_block_runs = 0;
        w->block_runs = malloc(n_blocks * sizeof *w->block_runs);
        if (!w->block_runs)
            return false;
        w->n_block_runs = n_blocks;
    }
    if (w->block_runs)
        memset(w->block_runs, 0, w->n_block_runs * sizeof *w->block_runs);
    return true;
}

static bool reserve_all(emu_workgroup *g, const emu_run *run)
{
    size_t scratch_bytes = (size_t)run->launch->private_segment_bytes * 64 * run->n_waves;
    if (!reserve(&g->vgprs, &g->vgprs_bytes, (size_t)run->vgpr_file_bytes * run->n_waves) ||
        !reserve(&g->scratch, &g->scratch_bytes, scratch_bytes + 64))
        return false;
    if (run->timing && !g->trace && !(g->trace = emu_timing_trace_new()))
        return false;
    for (uint32_t i = 0; run->timing && i < run->n_waves; i++)
        if (!reserve_block_runs(&g->waves[i], run->program->n_blocks))
            return false;
    return true;
}

/* --- start --- */

static uint32_t put_64(emu_wave *w, uint32_t at, uint64_t value)
{
    emu_set_s64(w, at, value);
    return at + 2;
}

enum { /* kernel descriptor, properties */
       PRIVATE_SEGMENT_BUFFER = 1,
       DISPATCH_PTR = 2,
       QUEUE_PTR = 4,
       KERNARG_PTR = 8,
       DISPATCH_ID = 16,
       FLAT_SCRATCH_INIT = 32,
       PRIVATE_SEGMENT_SIZE = 64,
};

static void set_user_sgprs(emu_wave *w, const emu_launch *l)
{
    uint16_t properties = l->descriptor->properties;
    uint32_t at = properties & PRIVATE_SEGMENT_BUFFER ? 4 : 0;
    if (properties & DISPATCH_PTR)
        at = put_64(w, at, (uintptr_t)l->packet);
    if (properties & QUEUE_PTR)
        at = put_64(w, at, (uintptr_t)l->queue);
    if (properties & KERNARG_PTR)
        at = put_64(w, at, l->kernarg_address);
    if (properties & DISPATCH_ID)
        at = put_64(w, at, l->dispatch_id);
    if (properties & FLAT_SCRATCH_INIT)
        at = put_64(w, at, (uintptr_t)w->scratch);
    if (properties & PRIVATE_SEGMENT_SIZE)
        w->s[at] = l->private_segment_bytes;
}

static void set_workgroup_sgprs(emu_wave *w, const emu_kernel_descriptor *d, const uint32_t id[3])
{
    uint32_t at = d->compute_pgm_rsrc2 >> 1 & 31;
    for (uint32_t i = 0; i < 3; i++)
        if (d->compute_pgm_rsrc2 >> (7 + i) & 1)
            w->s[at++] = id[i];
    if (d->compute_pgm_rsrc2 >> 10 & 1)
        w->s[at] = 0;
}

/* Lanes of the wave that lie in the workgroup and in the grid (whose last workgroups may be cut off). */
static uint64_t start_exec(const emu_run *run, const uint32_t id[3], uint32_t wave)
{
    const uint32_t *size = run->launch->workgroup_lanes;
    uint32_t left[3], first = wave * 64;
    bool full = true;
    for (int i = 0; i < 3; i++) {
        left[i] = run->launch->grid_lanes[i] - id[i] * size[i];
        full &= left[i] >= size[i];
    }
    uint64_t exec = run->n_lanes - first >= 64 ? ~0ull : (1ull << (run->n_lanes - first)) - 1;
    for (uint32_t l = 0; !full && l < 64; l++) {
        uint32_t v0 = run->ids[(first + l) % EMU_MAX_WORKGROUP_LANES];
        if ((v0 & 1023) >= left[0] || (v0 >> 10 & 1023) >= left[1] || v0 >> 20 >= left[2])
            exec &= ~(1ull << l);
    }
    return exec;
}

/* HW_ID: wave 3:0, SIMD 5:4, CU 11:8, SE 15:13.  Workgroups go round the XCDs, then round their CUs. */
static void set_place(emu_wave *w, const emu_workgroup *g)
{
    const emu_device_shape *shape = g->run->shape;
    uint32_t cus = shape->cu_count / shape->xcd_count;
    uint32_t cu = (uint32_t)(g->index / shape->xcd_count % cus);
    uint32_t cus_per_engine = (cus + 3) / 4;
    w->xcc_id = (uint32_t)(g->index % shape->xcd_count);
    w->hw_id =
        w->index / 4 | w->index % 4 << 4 | cu % cus_per_engine << 8 | cu / cus_per_engine << 13;
}

static void begin_wave(emu_workgroup *g, uint32_t i, const uint32_t id[3])
{
    const emu_run *run = g->run;
    const emu_launch *l = run->launch;
    emu_wave *w = &g->waves[i];
    w->vgprs = g->vgprs + (size_t)run->vgpr_file_bytes * i;
    w->lds = g->lds;
    w->lds_bytes = l->group_segment_bytes;
    w->scratch_bytes = l->private_segment_bytes;
    w->scratch = g->scratch + (size_t)w->scratch_bytes * 64 * i;
    w->shared_aperture = l->shared_aperture;
    w->private_aperture = l->private_aperture;
    w->workgroup = g;
    w->program = run->program;
    w->trace = run->timing ? g->trace : NULL;
    w->ip = run->program->sections->ops;
    w->index = i;
    w->scc = w->gpr_index = w->vskip = 0;
    w->mode = run->mode;
    w->state = EMU_WAVE_READY;
    w->loop_budget = LONG_LOOP;
    w->turn_budget = 0;
    memset(w->prefetch, 0, sizeof w->prefetch);
    memset(w->s, 0, EMU_S_CONSTANT * sizeof w->s[0]);
    w->n_constants = run->program->n_constants;
    memcpy(&w->s[EMU_S_CONSTANT], run->program->constants, w->n_constants * sizeof w->s[0]);
    emu_set_s64(w, EMU_S_SHARED_BASE, l->shared_aperture);
    emu_set_s64(w, EMU_S_PRIVATE_BASE, l->private_aperture);
    set_user_sgprs(w, l);
    set_workgroup_sgprs(w, l->descriptor, id);
    set_place(w, g);
    memcpy(w->vgprs, &run->ids[i * 64], 64 * sizeof run->ids[0]);
    emu_set_s64(w, EMU_S_EXEC, start_exec(run, id, i));
}

bool emu_workgroup_begin(emu_workgroup *g, emu_run *run, uint64_t index)
{
    g->run = run;
    g->index = index;
    if (!reserve_all(g, run))
        return false;
    uint32_t id[3] = {
        (uint32_t)(index % run->groups[0]),
        (uint32_t)(index / run->groups[0] % run->groups[1]),
        (uint32_t)(index / run->groups[0] / run->groups[1]),
    };
    g->n_waves = g->n_live = run->n_waves;
    g->n_at_barrier = g->n_slept = g->turn = 0;
    g->random = run->options.seed * 0x9e3779b97f4a7c15u ^ (index + 1) * 0xd1342543de82ef95u;
    g->status = MOESAIC_SIM_OK;
    memset(g->lds, LDS_POISON, run->launch->group_segment_bytes);
    for (uint32_t i = 0; i < g->n_waves; i++)
        begin_wave(g, i, id);
    if (run->timing)
        emu_timing_workgroup_begin(run->timing, g->trace, index);
    return true;
}

/* --- execution --- */

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014) */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool can_run(const emu_wave *w)
{
    return w->state == EMU_WAVE_READY || w->state == EMU_WAVE_SLEEPING;
}

/* The wave whose turn it is; NULL when all that live are at the barrier. */
static emu_wave *choose(emu_workgroup *g)
{
    moesaic_sim_order order = g->run->options.order;
    if (order == MOESAIC_SIM_SWITCHING)
        g->turn = (uint32_t)(next_random(&g->random) % g->n_waves);
    for (uint32_t n = 0; n < g->n_waves; n++) {
        uint32_t position = (g->turn + n) % g->n_waves;
        emu_wave *w =
            &g->waves[order == MOESAIC_SIM_DESCENDING ? g->n_waves - 1 - position : position];
        if (can_run(w)) {
            g->turn = position;
            return w;
        }
    }
    return NULL;
}

static void open_barrier(emu_workgroup *g)
{
    for (uint32_t i = 0; i < g->n_waves; i++)
        if (g->waves[i].state == EMU_WAVE_BARRIER)
            g->waves[i].state = EMU_WAVE_READY;
    g->n_at_barrier = g->n_slept = g->turn = 0;
}

/* Short turns keep waves close together, where a race over a few instructions shows; long ones take them apart. */
static int32_t draw_turn(emu_workgroup *g)
{
    uint64_t random = next_random(&g->random);
    uint32_t scale = (uint32_t)(random % TURN_SCALES);
    return (int32_t)(random >> 32 & ((1u << scale) - 1));
}

static void run_wave(emu_workgroup *g, emu_wave *w)
{
    w->state = EMU_WAVE_READY;
    w->turn_budget = draw_turn(g);
    emu_mode_enter(w->mode);
    for (const emu_op *op = w->ip; op;)
        op = op->exec(w, op);
    emu_mode_leave();
}

/* Count what the wave's turn came to; false when the workgroup has failed. */
static bool settle(emu_workgroup *g, emu_wave *w)
{
    switch (w->state) {
    case EMU_WAVE_ENDED:
        g->n_live--;
        g->n_slept = 0;
        g->turn++;
        break;
    case EMU_WAVE_BARRIER:
        g->n_at_barrier++;
        g->n_slept = 0;
        g->turn++;
        break;
    case EMU_WAVE_SLEEPING:
        w->loop_budget = SPIN_LOOP;
        g->n_slept++;
        g->turn++;
        break;
    default:
        break;
    }
    return w->state != EMU_WAVE_TRAPPED;
}

static emu_progress execute(emu_workgroup *g, emu_wave *volatile *running)
{
    g->n_slept = 0;
    while (g->n_live) {
        emu_wave *w = *running = choose(g);
        if (!w) {
            open_barrier(g);
            continue;
        }
        run_wave(g, w);
        if (!settle(g, w))
            return EMU_FAILED;
        if (g->n_slept && g->n_slept >= g->n_live - g->n_at_barrier)
            return EMU_STALLED;
    }
    return EMU_ENDED;
}

static void fail_by_fault(emu_wave *w, uint64_t address, const emu_memory_map *map)
{
    char nearest[160] = "";
    if (map && map->contains)
        map->contains(address, 1, nearest, sizeof nearest);
    if (w)
        emu_trap(w, w->ip, MOESAIC_SIM_ILLEGAL_ADDRESS, "illegal address 0x%llx%s%s",
                 (unsigned long long)address, nearest[0] ? "; " : "", nearest);
}

/* SSE code after 512-bit code is slow until the upper halves are cleared. */
__attribute__((target("avx"))) static void clear_upper_halves(void)
{
    __builtin_ia32_vzeroupper();
}

emu_progress emu_workgroup_go(emu_workgroup *g, const emu_memory_map *map)
{
    emu_fault fault;
    emu_wave *volatile running = NULL;
    emu_progress progress;
    if (!sigsetjmp(fault.jump, 0)) {
        emu_fault_arm(&fault);
        progress = execute(g, &running);
        emu_fault_arm(NULL);
    } else {
        fail_by_fault(running, fault.address, map);
        progress = EMU_FAILED;
    }
    if (emu_rows_wide())
        clear_upper_halves();
    return progress;
}

void emu_workgroup_end(emu_workgroup *g)
{
    emu_wave_cost costs[EMU_MAX_WAVES];
    if (!g->run->timing)
        return;
    for (uint32_t i = 0; i < g->n_waves; i++)
        emu_program_cost(&g->waves[i], &costs[i]);
    emu_timing_workgroup_end(g->run->timing, g->trace, g->index, costs, g->n_waves);
}

const emu_op *emu_trap(emu_wave *w, const emu_op *op, moesaic_sim_status status, const char *format,
                       ...)
{
    emu_workgroup *g = w->workgroup;
    char message[256], where[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    emu_program_describe(w->program, op, where, sizeof where);
    snprintf(g->text, sizeof g->text, "kernel %.120s: %.200s: %.120s (workgroup %llu, wave %u)",
             g->run->launch->kernel_name ? g->run->launch->kernel_name : "?", message, where,
             (unsigned long long)g->index, w->index);
    g->status = status;
    w->state = EMU_WAVE_TRAPPED;
    return NULL;
}
