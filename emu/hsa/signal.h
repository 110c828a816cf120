/* emu/hsa/signal.h: signals as the other files of the HSA layer use them.
 *
 * A handle is the address of the amd_signal_t that device code knows.  Signals live in slabs that
 * are never unmapped, so that a late look at a destroyed one is harmless.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_HSA_SIGNAL_H
#define MOESAIC_EMU_HSA_SIGNAL_H

#include "emu/hsa/event.h"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdbool.h>

typedef struct emu_signal emu_signal;
struct emu_signal {
    amd_signal_t amd;
    emu_event changed; /* threads that wait for this signal alone */
    uint32_t watchers; /* others that want emu_changes kicked */
    emu_signal *next_free;
};

static inline emu_signal *emu_signal_of(hsa_signal_t handle)
{
    return (emu_signal *)(uintptr_t)handle.handle;
}

/* kind   AMD_SIGNAL_KIND_USER, or _DOORBELL: storing to that one rings `queue`
 * out    new signal, handle 0 on failure */
hsa_status_t emu_signal_create(amd_signal_kind64_t kind, int64_t initial, amd_queue_v2_t *queue,
                               hsa_signal_t *out);
void emu_signal_destroy(hsa_signal_t signal);

/* A live signal: what the handle points to is only looked at when it lies in a slab. */
bool emu_signal_is_valid(hsa_signal_t signal);

/* The range lies in a slab: device code may touch it. */
bool emu_signal_owns(uint64_t address, size_t n_bytes);

static inline int64_t emu_signal_value(hsa_signal_t signal)
{
    return __atomic_load_n(&emu_signal_of(signal)->amd.value, __ATOMIC_ACQUIRE);
}

bool emu_signal_holds(hsa_signal_condition_t condition, int64_t value, int64_t reference);

/* Wake who waits: after every change of the value but a silent one. */
void emu_signal_changed(emu_signal *signal);

/* While a signal is watched, its changes kick emu_changes. */
void emu_signal_watch(hsa_signal_t signal, bool on);

/* An operation is over: time stamps first, then the decrement, then the waiters.  Nothing happens
 * for handle 0. */
void emu_signal_complete(hsa_signal_t signal, uint64_t start_ns, uint64_t end_ns);

#endif
