/* emu/hsa/packet.c: the packet processor: what the packets of a queue mean and when they may go.
 *
 * Kernel dispatches go to dispatch.c.  Barrier packets, and AMD's barrier-value packet, wait for
 * signals and are complete when these hold; they take no time.  HIP marks its events with them.
 * Packets leave the ring in order: a packet with the barrier bit waits until all before it are
 * complete, one without may start beside them. Source: HSA Platform System Architecture
 * Specification 1.2, 2.8 and 2.9.
 * Tested by tests/hsa/test_queue.c.                                SPDX-License-Identifier: MIT
 */
#include "emu/hsa/queue.h"
#include "emu/hsa/system.h"
#include "emu/sim_int.h"

typedef struct head {
    emu_packet *packet;
    uint64_t index;
    uint32_t type;
    bool in_order;
} head;

static bool read_head(emu_queue *q, head *h)
{
    uint64_t index = q->amd.read_dispatch_id;
    emu_packet *ring = q->amd.hsa_queue.base_address;
    emu_packet *packet = &ring[index & (q->amd.hsa_queue.size - 1)];
    uint16_t header = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE);
    *h = (head){packet, index, header & 0xff, header >> HSA_PACKET_HEADER_BARRIER & 1};
    return h->type != HSA_PACKET_TYPE_INVALID;
}

/* The slot is free for the host again. */
static void leave(emu_queue *q, const head *h)
{
    __atomic_store_n(&h->packet->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
    __atomic_store_n(&q->amd.read_dispatch_id, h->index + 1, __ATOMIC_RELEASE);
}

static uint64_t seen_at_reservation_ns(const emu_queue *q, const head *h)
{
    return __atomic_load_n(&q->seen_ns[h->index & (q->amd.hsa_queue.size - 1)], __ATOMIC_RELAXED);
}

/* --- dependencies
 * --------------------------------------------------------------------------------- */

static bool one_holds(const emu_dependencies *d, uint32_t i)
{
    return emu_signal_holds(d->condition, emu_signal_value(d->signals[i]) & d->mask, d->reference);
}

bool emu_dependencies_hold(const emu_dependencies *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (one_holds(d, i) == d->any)
            return d->any;
    return !d->any || d->n == 0;
}

/* The end of the operation that was waited for last; of an OR, that which came first. */
static uint64_t end_of_dependencies_ns(const emu_dependencies *d)
{
    uint64_t end_ns = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        uint64_t t = emu_signal_of(d->signals[i])->amd.end_ts;
        if (!one_holds(d, i))
            continue;
        if (end_ns == 0 || (d->any ? t < end_ns : t > end_ns))
            end_ns = t;
    }
    return end_ns;
}

static bool add_dependency(emu_dependencies *d, hsa_signal_t signal)
{
    if (!signal.handle)
        return true;
    d->signals[d->n++] = signal;
    return emu_signal_owns(signal.handle, sizeof(amd_signal_t));
}

static bool read_barrier(const hsa_barrier_and_packet_t *p, bool any, emu_dependencies *d)
{
    *d = (emu_dependencies){.any = any, .condition = HSA_SIGNAL_CONDITION_EQ, .mask = -1};
    bool ok = true;
    for (int i = 0; i < EMU_MAX_DEPENDENCIES && ok; i++)
        ok = add_dependency(d, p->dep_signal[i]);
    return ok;
}

static bool read_barrier_value(const hsa_amd_barrier_value_packet_t *p, emu_dependencies *d)
{
    *d = (emu_dependencies){.condition = p->cond, .mask = p->mask, .reference = p->value};
    return add_dependency(d, p->signal);
}

/* --- packets
 * --------------------------------------------------------------------------------------- */

/* Complete a packet that does nothing but wait, or leave it to the worker. */
static bool process_barrier(emu_queue *q, const head *h, const emu_dependencies *d,
                            hsa_signal_t completion)
{
    if (!emu_dependencies_hold(d)) {
        emu_queue_wait(q, d);
        return false;
    }
    uint64_t not_before_ns = seen_at_reservation_ns(q, h),
             dependencies_ns = end_of_dependencies_ns(d);
    if (dependencies_ns > not_before_ns)
        not_before_ns = dependencies_ns;
    bool timed = emu_sim_is_timed();
    pthread_mutex_lock(&q->lock);
    uint64_t start_ns = emu_timeline_start(&q->timeline, timed, h->in_order, not_before_ns);
    uint64_t end_ns = emu_timeline_end(&q->timeline, timed, start_ns, 0);
    if (end_ns > q->timeline.ready_ns)
        q->timeline.ready_ns =
            end_ns; /* packets behind a barrier start after it, in order or not */
    pthread_mutex_unlock(&q->lock);
    leave(q, h);
    emu_signal_complete(completion, start_ns, end_ns);
    return true;
}

static bool process_kernel(emu_queue *q, const head *h)
{
    hsa_status_t status =
        emu_dispatch(q, &h->packet->kernel, h->index, h->in_order, seen_at_reservation_ns(q, h));
    if (status != HSA_STATUS_SUCCESS) {
        emu_queue_fail(q, status);
        return false;
    }
    leave(q, h);
    return true;
}

static bool fail(emu_queue *q, hsa_status_t status)
{
    emu_queue_fail(q, status);
    return false;
}

static bool process(emu_queue *q, const head *h)
{
    emu_dependencies d;
    const emu_packet *p = h->packet;
    switch (h->type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        return process_kernel(q, h);
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
        if (!read_barrier(&p->barrier, h->type == HSA_PACKET_TYPE_BARRIER_OR, &d))
            return fail(q, HSA_STATUS_ERROR_INVALID_SIGNAL);
        return process_barrier(q, h, &d, p->barrier.completion_signal);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        if (p->amd_format != HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
            break;
        if (!read_barrier_value(&p->value, &d))
            return fail(q, HSA_STATUS_ERROR_INVALID_SIGNAL);
        return process_barrier(q, h, &d, p->value.completion_signal);
    default:
        break;
    }
    emu_message("a packet of type %u, AMD format %u is not supported", h->type, p->amd_format);
    return fail(q, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

static bool is_running(emu_queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool running = q->n_running != 0;
    pthread_mutex_unlock(&q->lock);
    return running;
}

bool emu_packet_process(emu_queue *q)
{
    head h;
    if (__atomic_load_n(&q->inactive, __ATOMIC_ACQUIRE) ||
        __atomic_load_n(&q->waiting, __ATOMIC_ACQUIRE))
        return false;
    if (!read_head(q, &h) || (h.in_order && is_running(q)))
        return false;
    return process(q, &h);
}
