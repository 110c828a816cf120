/* emu/hsa/dispatch.c: a kernel packet becomes a launch of the engine, its end a completion.
 *
 * Owns the checks of the packet and the start and end times of kernels.  A kernel that faults is
 * completed like any other, so that nobody hangs; that it faulted is told by a line on stderr, by
 * moesaic_sim.last_result, and by allocations that fail until somebody was told.  The queue's error
 * callback is for packets that are wrong: HIP ends the process there.
 * Tested by tests/hsa/test_queue.c.                                SPDX-License-Identifier: MIT
 */
#include "emu/engine.h"
#include "emu/hsa/executable.h"
#include "emu/hsa/queue.h"
#include "emu/hsa/summary.h"
#include "emu/hsa/system.h"
#include "emu/sim_int.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORKGROUP_LANES = 1024 };

typedef struct dispatch {
    hsa_kernel_dispatch_packet_t
        packet; /* a copy: the slot is free as soon as the kernel was started */
    emu_launch launch;
    emu_queue *queue;
    const emu_symbol *kernel;
    uint64_t start_ns;
    bool timed;
} dispatch;

/* Lanes of a workgroup, 0 when one of the sizes is out of range. */
static uint32_t workgroup_lanes(const hsa_kernel_dispatch_packet_t *p)
{
    uint32_t x = p->workgroup_size_x, y = p->workgroup_size_y, z = p->workgroup_size_z;
    bool ok = x <= MAX_WORKGROUP_LANES && y <= MAX_WORKGROUP_LANES && z <= MAX_WORKGROUP_LANES;
    return ok ? x * y * z : 0;
}

static hsa_status_t check(const emu_queue *queue, const hsa_kernel_dispatch_packet_t *p)
{
    uint32_t lanes = workgroup_lanes(p), dimensions = p->setup & 3;
    if (dimensions == 0 || lanes == 0 || lanes > MAX_WORKGROUP_LANES || !p->grid_size_x ||
        !p->grid_size_y || !p->grid_size_z)
        return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    if (p->group_segment_size > emu_agent_pool(queue->agent, 3)->bytes)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    return HSA_STATUS_SUCCESS;
}

/* Code may have been overwritten since it was loaded: the engine must not leave the image. */
static bool entry_is_inside(const emu_symbol *kernel)
{
    const emu_kernel_descriptor *d = (const emu_kernel_descriptor *)kernel->address;
    uint64_t offset = (uintptr_t)kernel->address - (uintptr_t)kernel->image->base +
                      (uint64_t)d->entry_offset_bytes;
    return offset < kernel->image->n_bytes && offset % 4 == 0;
}

static void fill_launch(dispatch *d, uint64_t dispatch_id)
{
    const hsa_kernel_dispatch_packet_t *p = &d->packet;
    const emu_kernel_descriptor *k = (const emu_kernel_descriptor *)d->kernel->address;
    d->launch = (emu_launch){
        .descriptor = k,
        .kernel_name = d->kernel->kernel_name,
        .packet = p,
        .queue = &d->queue->amd,
        .dispatch_id = dispatch_id,
        .grid_lanes = {p->grid_size_x, p->grid_size_y, p->grid_size_z},
        .workgroup_lanes = {p->workgroup_size_x, p->workgroup_size_y, p->workgroup_size_z},
        .group_segment_bytes = p->group_segment_size,
        .private_segment_bytes = p->private_segment_size,
        .kernarg_address = (uintptr_t)p->kernarg_address,
        .private_aperture = (uint64_t)EMU_PRIVATE_APERTURE_HI << 32,
        .shared_aperture = (uint64_t)EMU_SHARED_APERTURE_HI << 32,
    };
    if (k->group_segment_bytes > d->launch.group_segment_bytes)
        d->launch.group_segment_bytes = k->group_segment_bytes;
    if (k->private_segment_bytes > d->launch.private_segment_bytes)
        d->launch.private_segment_bytes = k->private_segment_bytes;
}

static void finish(emu_launch *launch, const moesaic_sim_result *result)
{
    dispatch *d = launch->user;
    emu_queue *q = d->queue;
    if (result->status != MOESAIC_SIM_OK)
        emu_message("%s", result->text);
    emu_sim_finished(result);
    emu_summary_add(result, d->timed);

    pthread_mutex_lock(&q->lock);
    uint64_t end_ns = emu_timeline_end(&q->timeline, d->timed, d->start_ns, result->time_ns);
    pthread_mutex_unlock(&q->lock);
    emu_kernel_release(d->kernel);
    emu_running_add(-1);
    emu_signal_complete(d->packet.completion_signal, d->start_ns, end_ns);
    free(d);

    /* A queue with running kernels, or claimed, can't be destroyed. */
    pthread_mutex_lock(&q->lock);
    q->n_running--;
    bool mine = emu_queue_claim(q);
    pthread_mutex_unlock(&q->lock);
    if (mine)
        emu_queue_serve(q);
    emu_event_kick(&emu_changes);
}

hsa_status_t emu_dispatch(emu_queue *queue, const hsa_kernel_dispatch_packet_t *packet,
                          uint64_t dispatch_id, bool in_order, uint64_t not_before_ns)
{
    hsa_status_t status = check(queue, packet);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    const emu_symbol *kernel = emu_kernel_hold(packet->kernel_object);
    if (!kernel)
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    bool inside = entry_is_inside(kernel);
    dispatch *d = inside ? aligned_alloc(64, (sizeof *d + 63) / 64 * 64) : NULL;
    if (!d) {
        emu_kernel_release(kernel);
        return inside ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    }
    memset(d, 0, sizeof *d);
    d->packet = *packet;
    d->queue = queue;
    d->kernel = kernel;
    d->timed = emu_sim_is_timed();
    fill_launch(d, dispatch_id);
    d->launch.done = finish;
    d->launch.user = d;

    pthread_mutex_lock(&queue->lock);
    d->start_ns = emu_timeline_start(&queue->timeline, d->timed, in_order, not_before_ns);
    queue->n_running++;
    pthread_mutex_unlock(&queue->lock);
    emu_running_add(1);
    emu_engine_submit(&d->launch);
    return HSA_STATUS_SUCCESS;
}
