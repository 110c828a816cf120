/* emu/hsa/signal_ops.c: loads, stores and updates of signals in every memory order of the API.
 *
 * All use the order that x86 gives for nothing (acquire and release), or the full one where waiters
 * are looked up; the names only promise less.
 * Tested by tests/hsa/test_signal.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/hsa/queue.h"
#include "emu/hsa/signal.h"
#include "emu/hsa/time.h"

/* A completed operation that the host has looked at is in the host's past: later packets start
 * after it. */
static hsa_signal_value_t load(hsa_signal_t signal)
{
    int64_t value = emu_signal_value(signal);
    if (value <= 0)
        emu_time_see(emu_signal_of(signal)->amd.end_ts);
    return value;
}

static void changed(hsa_signal_t signal)
{
    emu_signal *s = emu_signal_of(signal);
    if (s->amd.kind == AMD_SIGNAL_KIND_DOORBELL)
        emu_queue_ring(s->amd.queue_ptr);
    else
        emu_signal_changed(s);
}

static void silent_store(hsa_signal_t signal, hsa_signal_value_t value)
{
    __atomic_store_n(&emu_signal_of(signal)->amd.value, value, __ATOMIC_RELEASE);
}

static void store(hsa_signal_t signal, hsa_signal_value_t value)
{
    silent_store(signal, value);
    changed(signal);
}

static hsa_signal_value_t exchange(hsa_signal_t signal, hsa_signal_value_t value)
{
    int64_t old = __atomic_exchange_n(&emu_signal_of(signal)->amd.value, value, __ATOMIC_SEQ_CST);
    changed(signal);
    return old;
}

static hsa_signal_value_t compare_exchange(hsa_signal_t signal, hsa_signal_value_t expected,
                                           hsa_signal_value_t value)
{
    if (__atomic_compare_exchange_n(&emu_signal_of(signal)->amd.value, &expected, value, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        changed(signal);
    return expected;
}

#define EACH_LOAD_ORDER(X)  X(relaxed) X(scacquire) X(acquire)
#define EACH_STORE_ORDER(X) X(relaxed) X(screlease) X(release)
#define EACH_ORDER(X, ...)                                                                         \
    X(relaxed, __VA_ARGS__)                                                                        \
    X(scacquire, __VA_ARGS__)                                                                      \
    X(screlease, __VA_ARGS__)                                                                      \
    X(scacq_screl, __VA_ARGS__)                                                                    \
    X(acquire, __VA_ARGS__) X(release, __VA_ARGS__) X(acq_rel, __VA_ARGS__)

#define LOAD(order)                                                                                \
    hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t s)                                     \
    {                                                                                              \
        return load(s);                                                                            \
    }
#define STORE(order)                                                                               \
    void hsa_signal_store_##order(hsa_signal_t s, hsa_signal_value_t v)                            \
    {                                                                                              \
        store(s, v);                                                                               \
    }
#define UPDATE(order, name, builtin)                                                               \
    void hsa_signal_##name##_##order(hsa_signal_t s, hsa_signal_value_t v)                         \
    {                                                                                              \
        builtin(&emu_signal_of(s)->amd.value, v, __ATOMIC_SEQ_CST);                                \
        changed(s);                                                                                \
    }
#define EXCHANGE(order, unused)                                                                    \
    hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t s, hsa_signal_value_t v)           \
    {                                                                                              \
        return exchange(s, v);                                                                     \
    }
#define CAS(order, unused)                                                                         \
    hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t s, hsa_signal_value_t expected,         \
                                              hsa_signal_value_t v)                                \
    {                                                                                              \
        return compare_exchange(s, expected, v);                                                   \
    }

EACH_LOAD_ORDER(LOAD)
EACH_STORE_ORDER(STORE)
EACH_ORDER(UPDATE, add, __atomic_fetch_add)
EACH_ORDER(UPDATE, subtract, __atomic_fetch_sub)
EACH_ORDER(UPDATE, and, __atomic_fetch_and)
EACH_ORDER(UPDATE, or, __atomic_fetch_or)
EACH_ORDER(UPDATE, xor, __atomic_fetch_xor)
EACH_ORDER(EXCHANGE, )
EACH_ORDER(CAS, )

/* A silent store wakes nobody; who comes to wait later sees it. */
void hsa_signal_silent_store_relaxed(hsa_signal_t s, hsa_signal_value_t v)
{
    silent_store(s, v);
}

void hsa_signal_silent_store_screlease(hsa_signal_t s, hsa_signal_value_t v)
{
    silent_store(s, v);
}
