/* emu/hsa/queue_index.c: read and write indices of queues, in every memory order of the API.
 *
 * All use the full order, the names only promise less.  Who reserves slots notes for each what the
 * host has seen of the device's clock: a packet starts after that (time.h).
 * Tested by tests/hsa/test_queue.c.                                SPDX-License-Identifier: MIT
 */
#include "emu/hsa/queue.h"

static uint64_t load_read(const hsa_queue_t *queue)
{
    return __atomic_load_n(&((const emu_queue *)queue)->amd.read_dispatch_id, __ATOMIC_ACQUIRE);
}

static uint64_t load_write(const hsa_queue_t *queue)
{
    return __atomic_load_n(&((const emu_queue *)queue)->amd.write_dispatch_id, __ATOMIC_ACQUIRE);
}

static void store_read(const hsa_queue_t *queue, uint64_t index)
{
    __atomic_store_n(&((emu_queue *)queue)->amd.read_dispatch_id, index, __ATOMIC_RELEASE);
}

static void reserve(emu_queue *q, uint64_t from, uint64_t to)
{
    uint64_t now_ns = emu_time_seen_ns(), n_slots = q->amd.hsa_queue.size;
    if (to - from > n_slots)
        from = to - n_slots;
    for (uint64_t i = from; i < to; i++)
        __atomic_store_n(&q->seen_ns[i & (n_slots - 1)], now_ns, __ATOMIC_RELAXED);
}

static void store_write(const hsa_queue_t *queue, uint64_t index)
{
    emu_queue *q = (emu_queue *)queue;
    uint64_t old = load_write(queue);
    if (index > old)
        reserve(q, old, index);
    __atomic_store_n(&q->amd.write_dispatch_id, index, __ATOMIC_RELEASE);
}

static uint64_t add_write(const hsa_queue_t *queue, uint64_t n)
{
    emu_queue *q = (emu_queue *)queue;
    uint64_t old = __atomic_fetch_add(&q->amd.write_dispatch_id, n, __ATOMIC_SEQ_CST);
    reserve(q, old, old + n);
    return old;
}

static uint64_t compare_exchange_write(const hsa_queue_t *queue, uint64_t expected, uint64_t index)
{
    emu_queue *q = (emu_queue *)queue;
    if (__atomic_compare_exchange_n(&q->amd.write_dispatch_id, &expected, index, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
        index > expected)
        reserve(q, expected, index);
    return expected;
}

/* clang-format off */
#define EACH_LOAD_ORDER(X)  X(relaxed) X(scacquire) X(acquire)
#define EACH_STORE_ORDER(X) X(relaxed) X(screlease) X(release)
#define EACH_ORDER(X)                                                                              \
    X(relaxed) X(scacquire) X(screlease) X(scacq_screl) X(acquire) X(release) X(acq_rel)
/* clang-format on */

#define LOAD(order)                                                                                \
    uint64_t hsa_queue_load_read_index_##order(const hsa_queue_t *q)                               \
    {                                                                                              \
        return load_read(q);                                                                       \
    }                                                                                              \
    uint64_t hsa_queue_load_write_index_##order(const hsa_queue_t *q)                              \
    {                                                                                              \
        return load_write(q);                                                                      \
    }
#define STORE(order)                                                                               \
    void hsa_queue_store_read_index_##order(const hsa_queue_t *q, uint64_t index)                  \
    {                                                                                              \
        store_read(q, index);                                                                      \
    }                                                                                              \
    void hsa_queue_store_write_index_##order(const hsa_queue_t *q, uint64_t index)                 \
    {                                                                                              \
        store_write(q, index);                                                                     \
    }
#define UPDATE(order)                                                                              \
    uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *q, uint64_t n)                   \
    {                                                                                              \
        return add_write(q, n);                                                                    \
    }                                                                                              \
    uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t *q, uint64_t expected,            \
                                               uint64_t index)                                     \
    {                                                                                              \
        return compare_exchange_write(q, expected, index);                                         \
    }

EACH_LOAD_ORDER(LOAD)
EACH_STORE_ORDER(STORE)
EACH_ORDER(UPDATE)
