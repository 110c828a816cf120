/* emu/hsa/queue.c: the life of queues, and their read and write indices.
 *
 * Owns the list of queues and the worker for those whose head packet waits for signals.  What
 * packets mean is in packet.c.
 * Tested by tests/hsa/test_queue.c.                                SPDX-License-Identifier: MIT
 */
#include "emu/hsa/queue.h"

#include "emu/hsa/handler.h"
#include "emu/hsa/memory.h"
#include "emu/hsa/system.h"

#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>

enum { MIN_PACKETS = 64, MAX_PACKETS = 131072 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static emu_queue *first_queue;
static uint64_t n_created;
static emu_worker worker = EMU_WORKER_INIT;

/* --- processing --- */

bool emu_queue_claim(emu_queue *q)
{
    return __atomic_fetch_add(&q->n_pumps, 1, __ATOMIC_SEQ_CST) == 0;
}

void emu_queue_serve(emu_queue *q)
{
    uint32_t served;
    do {
        served = __atomic_load_n(&q->n_pumps, __ATOMIC_SEQ_CST);
        while (emu_packet_process(q))
            ;
    } while (__atomic_sub_fetch(&q->n_pumps, served, __ATOMIC_SEQ_CST) != 0);
}

void emu_queue_pump(emu_queue *q)
{
    if (emu_queue_claim(q))
        emu_queue_serve(q);
}

void emu_queue_ring(amd_queue_v2_t *queue)
{
    if (emu_hsa_is_open())
        emu_queue_pump((emu_queue *)queue);
}

/* --- waiting for signals
 * ---------------------------------------------------------------------------- */

static emu_queue *queue_of_task(const emu_task *task)
{
    return (emu_queue *)((uintptr_t)task - offsetof(emu_queue, task));
}

static bool is_ready(const emu_task *task)
{
    const emu_queue *q = queue_of_task(task);
    return __atomic_load_n(&q->inactive, __ATOMIC_ACQUIRE) ||
           emu_dependencies_hold(&q->dependencies);
}

static void watch(const emu_dependencies *d, bool on)
{
    for (uint32_t i = 0; i < d->n; i++)
        emu_signal_watch(d->signals[i], on);
}

static void resume(emu_task *task)
{
    emu_queue *q = queue_of_task(task);
    watch(&q->dependencies, false);
    pthread_mutex_lock(&q->lock); /* is_idle must not look in between */
    __atomic_store_n(&q->waiting, false, __ATOMIC_SEQ_CST);
    bool mine = emu_queue_claim(q); /* after the store: who serves the queue now must see it */
    pthread_mutex_unlock(&q->lock);
    if (mine)
        emu_queue_serve(q);
}

static void drop(emu_task *task)
{
    watch(&queue_of_task(task)->dependencies, false);
}

void emu_queue_wait(emu_queue *q, const emu_dependencies *dependencies)
{
    q->dependencies = *dependencies;
    q->task = (emu_task){.is_ready = is_ready, .run = resume, .drop = drop};
    watch(&q->dependencies, true);
    __atomic_store_n(&q->waiting, true, __ATOMIC_RELEASE);
    emu_worker_add(&worker, &q->task);
}

/* --- errors
 * ------------------------------------------------------------------------------------------ */

static bool is_live(const emu_queue *q)
{
    pthread_mutex_lock(&lock);
    const emu_queue *at = first_queue;
    while (at && at != q)
        at = at->next;
    pthread_mutex_unlock(&lock);
    return at != NULL;
}

static void call_back(void *argument)
{
    emu_queue *q = argument;
    if (is_live(q))
        q->callback(q->error, &q->amd.hsa_queue, q->callback_data);
}

void emu_queue_fail(emu_queue *q, hsa_status_t status)
{
    const char *name = "unknown status";
    hsa_status_string(status, &name);
    emu_message("queue %llu stopped at packet %llu: %s", (unsigned long long)q->amd.hsa_queue.id,
                (unsigned long long)q->amd.read_dispatch_id, name);
    q->error = status;
    __atomic_store_n(&q->inactive, true, __ATOMIC_RELEASE);
    if (q->callback && emu_handlers_post(call_back, q) != HSA_STATUS_SUCCESS)
        emu_message("no memory to call the queue's error callback");
}

/* --- creation and destruction
 * ---------------------------------------------------------------------------- */

static hsa_status_t make(emu_queue *q, uint32_t n_packets, hsa_queue_type32_t type)
{
    emu_packet *ring = emu_memory_allocate(n_packets * sizeof *ring, NULL);
    q->amd.hsa_queue.base_address = ring;
    q->seen_ns = calloc(n_packets, sizeof *q->seen_ns);
    if (!ring || !q->seen_ns ||
        emu_signal_create(AMD_SIGNAL_KIND_DOORBELL, -1, &q->amd, &q->amd.hsa_queue.doorbell_signal))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (uint32_t i = 0; i < n_packets; i++)
        ring[i].header = HSA_PACKET_TYPE_INVALID;
    q->amd.hsa_queue.type = type;
    q->amd.hsa_queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
    q->amd.hsa_queue.size = n_packets;
    q->amd.hsa_queue.id = __atomic_fetch_add(&n_created, 1, __ATOMIC_RELAXED);
    q->amd.group_segment_aperture_base_hi = EMU_SHARED_APERTURE_HI;
    q->amd.private_segment_aperture_base_hi = EMU_PRIVATE_APERTURE_HI;
    q->amd.max_cu_id = emu_hsa_shape()->device.cu_count - 1;
    q->amd.max_wave_id =
        emu_hsa_shape()->device.waves_per_simd * emu_hsa_shape()->device.simds_per_cu - 1;
    q->amd.read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_v2_t, read_dispatch_id);
    q->amd.queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
    pthread_mutex_init(&q->lock, NULL);
    return HSA_STATUS_SUCCESS;
}

static void release(emu_queue *q)
{
    if (q->amd.hsa_queue.doorbell_signal.handle)
        emu_signal_destroy(q->amd.hsa_queue.doorbell_signal);
    if (q->amd.hsa_queue.base_address)
        emu_memory_free(q->amd.hsa_queue.base_address, false);
    free(q->seen_ns);
    emu_memory_free(q, false);
}

hsa_status_t hsa_queue_create(hsa_agent_t handle, uint32_t n_packets, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                              uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **out)
{
    EMU_REQUIRE_OPEN();
    (void)private_bytes; /* hints */
    (void)group_bytes;
    emu_agent *agent = emu_agent_of(handle);
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!agent->is_gpu)
        return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    if (!out || type > HSA_QUEUE_TYPE_COOPERATIVE || n_packets < MIN_PACKETS ||
        n_packets > MAX_PACKETS || (n_packets & (n_packets - 1)))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *out = NULL;
    emu_queue *q = emu_memory_allocate(sizeof *q, NULL); /* kernels read it */
    if (!q)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    q->agent = agent;
    q->callback = callback;
    q->callback_data = data;
    hsa_status_t status = make(q, n_packets, type);
    if (status != HSA_STATUS_SUCCESS) {
        release(q);
        return status;
    }
    pthread_mutex_lock(&lock);
    q->next = first_queue;
    first_queue = q;
    pthread_mutex_unlock(&lock);
    *out = &q->amd.hsa_queue;
    return HSA_STATUS_SUCCESS;
}

static bool is_idle(emu_queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool idle = q->n_running == 0 && !__atomic_load_n(&q->waiting, __ATOMIC_SEQ_CST) &&
                __atomic_load_n(&q->n_pumps, __ATOMIC_SEQ_CST) == 0;
    pthread_mutex_unlock(&q->lock);
    return idle;
}

/* Nothing touches an inactive queue any more once its kernels have ended and nobody pumps it. */
static void retire(emu_queue *q)
{
    __atomic_store_n(&q->inactive, true, __ATOMIC_SEQ_CST);
    emu_event_kick(&emu_changes);
    for (uint32_t seen = emu_event_sequence(&emu_changes); !is_idle(q);
         seen = emu_event_sequence(&emu_changes))
        emu_event_sleep(&emu_changes, seen, emu_poll_ns());
    pthread_mutex_destroy(&q->lock);
    release(q);
}

static bool unlink_queue(const emu_queue *q)
{
    pthread_mutex_lock(&lock);
    emu_queue **link = &first_queue;
    while (*link && *link != q)
        link = &(*link)->next;
    bool found = *link != NULL;
    if (found)
        *link = q->next;
    pthread_mutex_unlock(&lock);
    return found;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue)
{
    EMU_REQUIRE_OPEN();
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    emu_queue *q = (emu_queue *)queue;
    if (!unlink_queue(q))
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    retire(q);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t *queue)
{
    EMU_REQUIRE_OPEN();
    emu_queue *q = (emu_queue *)queue;
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!is_live(q))
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    __atomic_store_n(&q->inactive, true, __ATOMIC_RELEASE);
    emu_event_kick(&emu_changes);
    return HSA_STATUS_SUCCESS;
}

int emu_queues_start(void)
{
    return emu_worker_start(&worker);
}

void emu_queues_stop(void)
{
    while (first_queue) {
        emu_queue *q = first_queue;
        unlink_queue(q);
        retire(q);
    }
    emu_worker_stop(&worker);
}

/* --- priorities: accepted, all queues are served alike
 * ------------------------------------------------------- */

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t priority)
{
    EMU_REQUIRE_OPEN();
    if (!queue || !is_live((emu_queue *)queue))
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    return priority <= HSA_AMD_QUEUE_PRIORITY_HIGH ? HSA_STATUS_SUCCESS
                                                   : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
