/* emu/hsa/queue.h: AQL queues.
 *
 * Packets are processed by whoever makes that possible: the thread that rings the doorbell, the one
 * on which a kernel ends, or the worker when a signal changes.  One of them at a time: it counts
 * itself in n_pumps, and when it was not the first, the first one goes on in its place.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_HSA_QUEUE_H
#define MOESAIC_EMU_HSA_QUEUE_H

#include "emu/hsa/agent.h"
#include "emu/hsa/signal.h"
#include "emu/hsa/time.h"
#include "emu/hsa/worker.h"

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>

/* Where LDS and scratch appear in the flat address space: outside what a host address can be. */
enum { EMU_SHARED_APERTURE_HI = 0x10000, EMU_PRIVATE_APERTURE_HI = 0x20000 };

enum { EMU_MAX_DEPENDENCIES = 5 }; /* of a barrier packet */

/* A slot of the ring. */
typedef union emu_packet {
    struct {
        uint16_t header;
        uint8_t amd_format;
    };
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier; /* OR has the same layout */
    hsa_amd_barrier_value_packet_t value;
} emu_packet;
_Static_assert(sizeof(emu_packet) == 64, "AQL packets have 64 bytes");

/* The signals that the head packet waits for. */
typedef struct emu_dependencies {
    hsa_signal_t signals[EMU_MAX_DEPENDENCIES];
    uint32_t n;
    bool any;                         /* one is enough */
    hsa_signal_condition_t condition; /* (value & mask) condition reference */
    hsa_signal_value_t mask, reference;
} emu_dependencies;

typedef struct emu_queue emu_queue;
struct emu_queue {
    amd_queue_v2_t amd; /* first: the handle of the program, and queue_ptr of kernels */
    emu_agent *agent;
    uint64_t *seen_ns; /* per slot: what the host had seen of the clock when it reserved the slot */
    void (*callback)(hsa_status_t, hsa_queue_t *, void *);
    void *callback_data;
    bool inactive; /* no packet is processed any more; atomic */
    hsa_status_t error;

    uint32_t n_pumps; /* calls of emu_queue_pump that are not yet served; atomic */
    bool waiting;     /* for `dependencies`, in the hands of the worker; atomic */
    emu_task task;
    emu_dependencies dependencies;

    pthread_mutex_t lock; /* of the fields below */
    emu_timeline timeline;
    uint32_t n_running;

    emu_queue *next;
};

/* Process what can be processed, now or by the thread that is at it. */
void emu_queue_pump(emu_queue *queue);

/* The two halves of that: true when the caller must serve.  A queue that is claimed lives until it
 * was served. */
bool emu_queue_claim(emu_queue *queue);
void emu_queue_serve(emu_queue *queue);

/* A store to the doorbell. */
void emu_queue_ring(amd_queue_v2_t *queue);

/* The packet is unusable: the queue stops, and its callback is called with the status, by the
 * thread of handlers. */
void emu_queue_fail(emu_queue *queue, hsa_status_t status);

/* Process the packet at the head (packet.c).  Returns false when it has to wait, or the queue was
 * stopped. */
bool emu_packet_process(emu_queue *queue);

/* Start a kernel (dispatch.c), at not_before_ns of the device's clock or later; its completion
 * signal is served when it ends.  Errors: the packet is wrong; nothing was started. */
hsa_status_t emu_dispatch(emu_queue *queue, const hsa_kernel_dispatch_packet_t *packet,
                          uint64_t dispatch_id, bool in_order, uint64_t not_before_ns);

/* Let the worker pump the queue when its dependencies hold. */
void emu_queue_wait(emu_queue *queue, const emu_dependencies *dependencies);

bool emu_dependencies_hold(const emu_dependencies *dependencies);

/* Start and stop the worker: 0 or an errno value. */
int emu_queues_start(void);
void emu_queues_stop(void); /* destroys what programs left behind */

#endif
