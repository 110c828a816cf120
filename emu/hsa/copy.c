/* emu/hsa/copy.c: copies that wait for signals, as the copy engines (SDMA) of the device do them.
 *
 * Owns the engines' clocks.  One host thread serves all engines: a copy whose dependencies are
 * fulfilled overtakes one that still waits, so that no order of submission can lock up.  A linear
 * copy is a rectangle of one row.
 * Tested by tests/hsa/test_copy.c.                                 SPDX-License-Identifier: MIT
 */
#include "emu/hsa/copy.h"

#include "emu/hsa/memory.h"
#include "emu/hsa/signal.h"
#include "emu/hsa/system.h"
#include "emu/hsa/time.h"
#include "emu/hsa/worker.h"
#include "emu/sim_int.h"

#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>
#include <string.h>

#define N_ENGINES   2u
#define ENGINE_MASK ((1u << N_ENGINES) - 1)

typedef struct rectangle {
    uint8_t *to;
    const uint8_t *from;
    size_t row_bytes, n_rows, n_layers;
    size_t to_pitch, to_slice, from_pitch,
        from_slice; /* bytes from row to row, from layer to layer */
} rectangle;

typedef struct copy {
    emu_task task; /* first */
    rectangle what;
    uint32_t engine;
    uint64_t not_before_ns;
    hsa_signal_t completion;
    uint32_t n_dependencies;
    hsa_signal_t dependencies[];
} copy;

static emu_worker worker = EMU_WORKER_INIT;
static emu_timeline timelines[N_ENGINES]; /* only the worker's */

static void move(const rectangle *r)
{
    for (size_t z = 0; z < r->n_layers; z++)
        for (size_t y = 0; y < r->n_rows; y++)
            memmove(r->to + z * r->to_slice + y * r->to_pitch,
                    r->from + z * r->from_slice + y * r->from_pitch, r->row_bytes);
}

static bool lies_on_gpu(const void *address)
{
    const emu_pool *pool = emu_memory_pool_at(address);
    return pool && pool->agent->is_gpu;
}

static uint64_t modelled_ns(const rectangle *r)
{
    bool stays_on_gpu = lies_on_gpu(r->to) && lies_on_gpu(r->from);
    return emu_time_of_copy_ns(r->row_bytes * r->n_rows * r->n_layers, !stays_on_gpu);
}

static void execute(const copy *c)
{
    emu_timeline *timeline = &timelines[c->engine];
    bool timed = emu_sim_is_timed();
    uint64_t not_before_ns = c->not_before_ns;
    for (uint32_t i = 0; i < c->n_dependencies; i++) {
        uint64_t end_ns = emu_signal_of(c->dependencies[i])->amd.end_ts;
        if (end_ns > not_before_ns)
            not_before_ns = end_ns;
    }
    uint64_t start_ns = emu_timeline_start(timeline, timed, true, not_before_ns);
    move(&c->what);
    uint64_t end_ns = emu_timeline_end(timeline, timed, start_ns, modelled_ns(&c->what));
    emu_signal_complete(c->completion, start_ns, end_ns);
}

static bool is_ready(const emu_task *task)
{
    const copy *c = (const copy *)task;
    for (uint32_t i = 0; i < c->n_dependencies; i++)
        if (emu_signal_value(c->dependencies[i]) > 0)
            return false;
    return true;
}

static void drop(emu_task *task)
{
    copy *c = (copy *)task;
    for (uint32_t i = 0; i < c->n_dependencies; i++)
        emu_signal_watch(c->dependencies[i], false);
    free(c);
}

static void run(emu_task *task)
{
    execute((copy *)task);
    drop(task);
}

int emu_copies_start(void)
{
    return emu_worker_start(&worker);
}

void emu_copies_stop(void)
{
    emu_worker_stop(&worker);
}

/* --- the interface --- */

static hsa_status_t submit(const rectangle *what, uint32_t engine, uint32_t n_dependencies,
                           const hsa_signal_t *dependencies, hsa_signal_t completion)
{
    if (!what->to || !what->from || (n_dependencies && !dependencies))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!emu_signal_is_valid(completion))
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    for (uint32_t i = 0; i < n_dependencies; i++)
        if (!emu_signal_is_valid(dependencies[i]))
            return HSA_STATUS_ERROR_INVALID_SIGNAL;
    copy *c = malloc(sizeof *c + n_dependencies * sizeof c->dependencies[0]);
    if (!c)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *c = (copy){.task = {.is_ready = is_ready, .run = run, .drop = drop},
                .what = *what,
                .engine = engine,
                .not_before_ns = emu_time_seen_ns(),
                .completion = completion,
                .n_dependencies = n_dependencies};
    for (uint32_t i = 0; i < n_dependencies; i++) {
        c->dependencies[i] = dependencies[i];
        emu_signal_watch(dependencies[i], true);
    }
    emu_worker_add(&worker, &c->task);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_async_copy_on_engine(void *to, hsa_agent_t to_agent, const void *from,
                                                 hsa_agent_t from_agent, size_t n_bytes,
                                                 uint32_t n_dependencies,
                                                 const hsa_signal_t *dependencies,
                                                 hsa_signal_t completion,
                                                 hsa_amd_sdma_engine_id_t engine, bool force)
{
    EMU_REQUIRE_OPEN();
    (void)force;
    if (!emu_agent_of(to_agent) || !emu_agent_of(from_agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (engine != HSA_AMD_SDMA_ENGINE_0 && engine != HSA_AMD_SDMA_ENGINE_1)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    rectangle r = {.to = to, .from = from, .row_bytes = n_bytes, .n_rows = 1, .n_layers = 1};
    return submit(&r, engine >> 1, n_dependencies, dependencies, completion);
}

hsa_status_t hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from,
                                       hsa_agent_t from_agent, size_t n_bytes,
                                       uint32_t n_dependencies, const hsa_signal_t *dependencies,
                                       hsa_signal_t completion)
{
    return hsa_amd_memory_async_copy_on_engine(to, to_agent, from, from_agent, n_bytes,
                                               n_dependencies, dependencies, completion,
                                               HSA_AMD_SDMA_ENGINE_0, false);
}

/* All engines are always free: HIP asks in both directions and needs one. */
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t to_agent, hsa_agent_t from_agent,
                                               uint32_t *engine_mask)
{
    EMU_REQUIRE_OPEN();
    if (!emu_agent_of(to_agent) || !emu_agent_of(from_agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!engine_mask)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *engine_mask = ENGINE_MASK;
    return HSA_STATUS_SUCCESS;
}

static uint8_t *corner(const hsa_pitched_ptr_t *p, const hsa_dim3_t *offset)
{
    return p->base ? (uint8_t *)p->base + offset->z * p->slice + offset->y * p->pitch + offset->x
                   : NULL;
}

hsa_status_t
hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                               const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset,
                               const hsa_dim3_t *range, hsa_agent_t agent,
                               hsa_amd_copy_direction_t direction, uint32_t n_dependencies,
                               const hsa_signal_t *dependencies, hsa_signal_t completion)
{
    EMU_REQUIRE_OPEN();
    (void)direction;
    if (!to || !to_offset || !from || !from_offset || !range)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!emu_agent_of(agent) || !emu_agent_of(agent)->is_gpu)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    rectangle r = {.to = corner(to, to_offset),
                   .from = corner(from, from_offset),
                   .row_bytes = range->x,
                   .n_rows = range->y,
                   .n_layers = range->z,
                   .to_pitch = to->pitch,
                   .to_slice = to->slice,
                   .from_pitch = from->pitch,
                   .from_slice = from->slice};
    return submit(&r, 0, n_dependencies, dependencies, completion);
}

hsa_status_t hsa_memory_copy(void *to, const void *from, size_t n_bytes)
{
    EMU_REQUIRE_OPEN();
    if (n_bytes == 0)
        return HSA_STATUS_SUCCESS;
    if (!to || !from)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    memmove(to, from, n_bytes);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void *to, uint32_t word, size_t n_words)
{
    EMU_REQUIRE_OPEN();
    if (!to || (uintptr_t)to % sizeof word)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < n_words; i++)
        ((uint32_t *)to)[i] = word;
    return HSA_STATUS_SUCCESS;
}
