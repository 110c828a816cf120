/* emu/hsa/signal.c: where signals live, and how a change of one reaches who waits.
 *
 * A slab holds signals and is never unmapped: a waiter may look at a signal that the program has
 * just destroyed, and libraries that end after hsa_shut_down still read theirs.  A destroyed signal
 * is used again as late as possible.
 * Tested by tests/hsa/test_signal.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/hsa/signal.h"

#include "emu/hsa/system.h"
#include "emu/hsa/time.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert(sizeof(amd_signal_t) == 64, "device code knows the layout");
enum { SIGNAL_STRIDE = 128, SLAB_BYTES = 64 << 10, SIGNALS_PER_SLAB = SLAB_BYTES / SIGNAL_STRIDE };
_Static_assert(sizeof(emu_signal) <= SIGNAL_STRIDE,
               "a signal and its waiters take two cache lines");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static emu_signal *free_first, *free_last;
static uint8_t **slabs; /* sorted by address */
static size_t n_slabs;

static void give_back(emu_signal *s)
{
    s->next_free = NULL;
    if (free_last)
        free_last->next_free = s;
    else
        free_first = s;
    free_last = s;
}

static bool add_slab(void)
{
    uint8_t **grown = realloc(slabs, (n_slabs + 1) * sizeof *slabs);
    if (!grown)
        return false;
    slabs = grown;
    uint8_t *slab =
        mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab == MAP_FAILED)
        return false;
    size_t at = n_slabs;
    for (; at > 0 && slabs[at - 1] > slab; at--)
        slabs[at] = slabs[at - 1];
    slabs[at] = slab;
    n_slabs++;
    for (size_t i = 0; i < SIGNALS_PER_SLAB; i++)
        give_back((emu_signal *)(slab + i * SIGNAL_STRIDE));
    return true;
}

static bool lies_in_slab(uint64_t address, size_t n_bytes)
{
    size_t low = 0, high = n_slabs; /* slabs[low - 1] <= address < slabs[high] */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)slabs[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    uint64_t offset = address - (uintptr_t)slabs[low - 1];
    return n_bytes <= SLAB_BYTES && offset <= SLAB_BYTES - n_bytes;
}

bool emu_signal_owns(uint64_t address, size_t n_bytes)
{
    pthread_mutex_lock(&lock);
    bool owns = lies_in_slab(address, n_bytes);
    pthread_mutex_unlock(&lock);
    return owns;
}

bool emu_signal_is_valid(hsa_signal_t signal)
{
    return signal.handle % SIGNAL_STRIDE == 0 && emu_signal_owns(signal.handle, SIGNAL_STRIDE) &&
           emu_signal_of(signal)->amd.kind != AMD_SIGNAL_KIND_INVALID;
}

hsa_status_t emu_signal_create(amd_signal_kind64_t kind, int64_t initial, amd_queue_v2_t *queue,
                               hsa_signal_t *out)
{
    out->handle = 0;
    pthread_mutex_lock(&lock);
    if (!free_first && !add_slab()) {
        pthread_mutex_unlock(&lock);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    emu_signal *s = free_first;
    free_first = s->next_free;
    if (!free_first)
        free_last = NULL;
    pthread_mutex_unlock(&lock);

    s->amd = (amd_signal_t){.kind = kind, .queue_ptr = queue};
    __atomic_store_n(&s->amd.value, initial, __ATOMIC_RELEASE);
    out->handle = (uintptr_t)s;
    return HSA_STATUS_SUCCESS;
}

void emu_signal_destroy(hsa_signal_t signal)
{
    emu_signal *s = emu_signal_of(signal);
    s->amd.kind = AMD_SIGNAL_KIND_INVALID;
    emu_signal_changed(s);
    pthread_mutex_lock(&lock);
    give_back(s);
    pthread_mutex_unlock(&lock);
}

bool emu_signal_holds(hsa_signal_condition_t condition, int64_t value, int64_t reference)
{
    switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
        return value == reference;
    case HSA_SIGNAL_CONDITION_NE:
        return value != reference;
    case HSA_SIGNAL_CONDITION_LT:
        return value < reference;
    case HSA_SIGNAL_CONDITION_GTE:
        return value >= reference;
    }
    return false;
}

void emu_signal_changed(emu_signal *s)
{
    emu_event_kick(&s->changed);
    if (__atomic_load_n(&s->watchers, __ATOMIC_SEQ_CST))
        emu_event_kick(&emu_changes);
}

void emu_signal_watch(hsa_signal_t signal, bool on)
{
    __atomic_fetch_add(&emu_signal_of(signal)->watchers, on ? 1u : UINT32_MAX, __ATOMIC_SEQ_CST);
}

void emu_signal_complete(hsa_signal_t signal, uint64_t start_ns, uint64_t end_ns)
{
    if (!signal.handle)
        return;
    emu_signal *s = emu_signal_of(signal);
    s->amd.start_ts = start_ns;
    s->amd.end_ts = end_ns;
    __atomic_fetch_sub(&s->amd.value, 1, __ATOMIC_RELEASE);
    emu_signal_changed(s);
}

/* --- the interface --- */

hsa_status_t hsa_signal_create(hsa_signal_value_t initial, uint32_t n_consumers,
                               const hsa_agent_t *consumers, hsa_signal_t *out)
{
    EMU_REQUIRE_OPEN();
    if (!out || (n_consumers && !consumers))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return emu_signal_create(AMD_SIGNAL_KIND_USER, initial, NULL, out);
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial, uint32_t n_consumers,
                                   const hsa_agent_t *consumers, uint64_t attributes,
                                   hsa_signal_t *out)
{
    EMU_REQUIRE_OPEN();
    if (attributes & HSA_AMD_SIGNAL_IPC) /* nothing here is shared between processes */
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return hsa_signal_create(initial, n_consumers, consumers, out);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal)
{
    EMU_REQUIRE_OPEN();
    if (!emu_signal_is_valid(signal) || emu_signal_of(signal)->amd.kind != AMD_SIGNAL_KIND_USER)
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    emu_signal_destroy(signal);
    return HSA_STATUS_SUCCESS;
}

__attribute__((visibility("default"))) hsa_status_t
hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t **out)
{
    EMU_REQUIRE_OPEN();
    if (!out)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!emu_signal_is_valid(signal))
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    *out = &emu_signal_of(signal)->amd.value;
    return HSA_STATUS_SUCCESS;
}
