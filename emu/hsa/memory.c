/* emu/hsa/memory.c: the table of allocations and of locked host ranges.
 *
 * Device addresses are host addresses.  Memory is mapped without reservation, so that 150 GiB cost
 * nothing until they are touched; each allocation has an inaccessible page behind it, and a freed
 * one is unmapped: what runs over or comes late faults.  Allocations never overlap and are kept
 * sorted; locked ranges of the host may nest, and the latest that holds an address counts.
 * Tested by tests/hsa/test_memory.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/hsa/memory.h"

#include "emu/hsa/signal.h"
#include "emu/hsa/system.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, HUGE_BYTES = 2 << 20 };

/* Each guard costs the kernel a mapping, of which a process has 65,530 by default
 * (vm.max_map_count): beyond this many allocations the rest goes without. */
enum { MAX_GUARDED = 16384 };

typedef struct range {
    uint8_t *base;
    size_t n_bytes;
    size_t n_mapped_bytes; /* with guard; 0: locked host memory, not ours to unmap */
    const emu_pool *pool;
    void *user_data;
} range;

typedef struct range_list {
    range *items;
    size_t n, capacity;
} range_list;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static range_list allocations; /* sorted by base */
static range_list locked;      /* in the order of locking */

static bool insert(range_list *list, size_t at, range item)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        range *items = realloc(list->items, capacity * sizeof *items);
        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    memmove(&list->items[at + 1], &list->items[at], (list->n - at) * sizeof item);
    list->items[at] = item;
    list->n++;
    return true;
}

static void erase(range_list *list, size_t at)
{
    list->n--;
    memmove(&list->items[at], &list->items[at + 1], (list->n - at) * sizeof list->items[0]);
}

static bool holds(const range *r, uint64_t address, size_t n_bytes)
{
    uint64_t offset = address - (uintptr_t)r->base;
    return offset < r->n_bytes && n_bytes <= r->n_bytes - offset;
}

/* Index of the first allocation that begins after the address. */
static size_t upper_bound(uint64_t address)
{
    size_t low = 0, high = allocations.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)allocations.items[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static range *find(uint64_t address, size_t n_bytes)
{
    size_t after = upper_bound(address);
    if (after > 0 && holds(&allocations.items[after - 1], address, n_bytes))
        return &allocations.items[after - 1];
    for (size_t i = locked.n; i-- > 0;)
        if (holds(&locked.items[i], address, n_bytes))
            return &locked.items[i];
    return NULL;
}

/* --- mapping --- */

/* Map n_bytes at a multiple of `alignment` with `guard` inaccessible bytes behind. */
static uint8_t *map_aligned(size_t n_bytes, size_t alignment, size_t guard)
{
    size_t n_total = n_bytes + guard + alignment - PAGE_BYTES;
    uint8_t *start = mmap(NULL, n_total, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    uint8_t *base = (uint8_t *)(((uintptr_t)start + alignment - 1) & ~(uintptr_t)(alignment - 1));
    uint8_t *end = base + n_bytes + guard;
    if (base > start)
        munmap(start, (size_t)(base - start));
    if (end < start + n_total)
        munmap(end, (size_t)(start + n_total - end));
    if (guard && mprotect(base + n_bytes, guard, PROT_NONE) != 0) {
        munmap(base, n_bytes + guard);
        return NULL;
    }
    if (alignment == HUGE_BYTES)
        madvise(base, n_bytes, MADV_HUGEPAGE); /* only speed: first touch costs a fault per page */
    return base;
}

/* Count n_bytes against the pool's agent. */
static bool charge(const emu_pool *pool, size_t n_bytes)
{
    if (!pool)
        return true;
    uint64_t used = __atomic_load_n(&pool->agent->used_bytes, __ATOMIC_RELAXED);
    do {
        if (used > pool->bytes || n_bytes > pool->bytes - used)
            return false;
    } while (!__atomic_compare_exchange_n(&pool->agent->used_bytes, &used, used + n_bytes, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

static void refund(const emu_pool *pool, size_t n_bytes)
{
    if (pool)
        __atomic_fetch_sub(&pool->agent->used_bytes, n_bytes, __ATOMIC_RELAXED);
}

void *emu_memory_allocate(size_t n_bytes, const emu_pool *pool)
{
    if (n_bytes == 0 || n_bytes > SIZE_MAX / 2)
        return NULL;
    n_bytes = (n_bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    if (!charge(pool, n_bytes))
        return NULL;

    pthread_mutex_lock(&lock);
    size_t guard = allocations.n < MAX_GUARDED ? PAGE_BYTES : 0;
    uint8_t *base = map_aligned(n_bytes, n_bytes >= HUGE_BYTES ? HUGE_BYTES : PAGE_BYTES, guard);
    if (base && !insert(&allocations, upper_bound((uintptr_t)base),
                        (range){.base = base,
                                .n_bytes = n_bytes,
                                .n_mapped_bytes = n_bytes + guard,
                                .pool = pool})) {
        munmap(base, n_bytes + guard);
        base = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (!base)
        refund(pool, n_bytes);
    return base;
}

static void unmap(const range *r)
{
    munmap(r->base, r->n_mapped_bytes);
    refund(r->pool, r->n_bytes);
}

bool emu_memory_free(void *base, bool of_pool)
{
    pthread_mutex_lock(&lock);
    size_t after = upper_bound((uintptr_t)base);
    const range *r = after > 0 ? &allocations.items[after - 1] : NULL;
    bool found = r && r->base == base && (r->pool != NULL) == of_pool;
    if (found) {
        unmap(r);
        erase(&allocations, after - 1);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void emu_memory_reset(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < allocations.n; i++)
        unmap(&allocations.items[i]);
    free(allocations.items);
    free(locked.items);
    allocations = locked = (range_list){0};
    pthread_mutex_unlock(&lock);
}

/* --- asking
 * --------------------------------------------------------------------------------------- */

static void describe(const range *r, uint64_t address, char *text, size_t n)
{
    uint64_t base = (uintptr_t)r->base, end = base + r->n_bytes;
    if (address < base)
        snprintf(text, n, "%" PRIu64 " bytes before", base - address);
    else if (address < end)
        snprintf(text, n, "%" PRIu64 " bytes into", address - base);
    else
        snprintf(text, n, "%" PRIu64 " bytes behind the end of", address - end);
    size_t used = strlen(text);
    snprintf(text + used, n - used, " an allocation of %zu bytes at 0x%" PRIx64, r->n_bytes, base);
}

static void describe_nearest(uint64_t address, char *text, size_t n)
{
    size_t after = upper_bound(address);
    const range *below = after > 0 ? &allocations.items[after - 1] : NULL;
    const range *above = after < allocations.n ? &allocations.items[after] : NULL;
    if (!below && !above) {
        snprintf(text, n, "nothing is allocated");
        return;
    }
    bool above_is_near =
        above && (!below || (uintptr_t)above->base - address <
                                address - (uintptr_t)below->base - (uint64_t)below->n_bytes);
    if (below && holds(below, address, 1))
        above_is_near = false;
    describe(above_is_near ? above : below, address, text, n);
}

bool emu_memory_contains(uint64_t address, size_t n_bytes, char *nearest, size_t nearest_bytes)
{
    pthread_mutex_lock(&lock);
    bool inside = find(address, n_bytes) != NULL;
    if (nearest && nearest_bytes)
        describe_nearest(address, nearest, nearest_bytes);
    pthread_mutex_unlock(&lock);
    return inside || emu_signal_owns(address, n_bytes);
}

const emu_pool *emu_memory_pool_at(const void *address)
{
    pthread_mutex_lock(&lock);
    const range *r = find((uintptr_t)address, 1);
    const emu_pool *pool = r ? r->pool : NULL;
    pthread_mutex_unlock(&lock);
    return pool;
}

hsa_status_t hsa_amd_pointer_info(const void *address, hsa_amd_pointer_info_t *info,
                                  void *(*allocate)(size_t), uint32_t *n_accessible,
                                  hsa_agent_t **accessible)
{
    EMU_REQUIRE_OPEN();
    if (!info || info->size < sizeof info->size || (!n_accessible != !accessible) ||
        (accessible && !allocate))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_amd_pointer_info_t answer = {.size = info->size < sizeof answer ? info->size
                                                                        : (uint32_t)sizeof answer,
                                     .type = HSA_EXT_POINTER_TYPE_UNKNOWN};
    pthread_mutex_lock(&lock);
    const range *r = find((uintptr_t)address, 1);
    if (r && r->pool) {
        answer.type = r->n_mapped_bytes ? HSA_EXT_POINTER_TYPE_HSA : HSA_EXT_POINTER_TYPE_LOCKED;
        answer.agentBaseAddress = answer.hostBaseAddress = r->base;
        answer.sizeInBytes = r->n_bytes;
        answer.userData = r->user_data;
        answer.agentOwner = emu_agent_handle(r->pool->agent);
        answer.global_flags = r->pool->flags;
    }
    pthread_mutex_unlock(&lock);
    memcpy(info, &answer, answer.size);
    if (!accessible)
        return HSA_STATUS_SUCCESS;

    uint32_t n_gpus = emu_hsa_shape()->n_devices;
    *n_accessible = answer.type == HSA_EXT_POINTER_TYPE_UNKNOWN ? 0 : n_gpus;
    *accessible = *n_accessible ? allocate(n_gpus * sizeof **accessible) : NULL;
    if (*n_accessible && !*accessible)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (uint32_t i = 0; i < *n_accessible; i++)
        (*accessible)[i] = emu_agent_handle(emu_agent_gpu(i));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void *address, void *user_data)
{
    EMU_REQUIRE_OPEN();
    pthread_mutex_lock(&lock);
    range *r = find((uintptr_t)address, 1);
    if (r)
        r->user_data = user_data;
    pthread_mutex_unlock(&lock);
    return r ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* --- locked host memory
 * ---------------------------------------------------------------------------------- */

static hsa_status_t lock_range(void *host, size_t n_bytes, const emu_pool *pool, void **device)
{
    if (!host || n_bytes == 0 || !device || (uintptr_t)host > UINTPTR_MAX - n_bytes)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    bool ok = insert(&locked, locked.n, (range){.base = host, .n_bytes = n_bytes, .pool = pool});
    pthread_mutex_unlock(&lock);
    *device = ok ? host : NULL;
    return ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_memory_lock(void *host, size_t n_bytes, hsa_agent_t *agents, int n_agents,
                                 void **device)
{
    EMU_REQUIRE_OPEN();
    (void)agents;
    (void)n_agents;
    return lock_range(host, n_bytes, emu_agent_pool(emu_agent_cpu(), 0), device);
}

hsa_status_t hsa_amd_memory_lock_to_pool(void *host, size_t n_bytes, hsa_agent_t *agents,
                                         int n_agents, hsa_amd_memory_pool_t handle, uint32_t flags,
                                         void **device)
{
    EMU_REQUIRE_OPEN();
    (void)agents;
    (void)n_agents;
    const emu_pool *pool = emu_pool_of(handle);
    if (!pool || pool->agent->is_gpu)
        return EMU_INVALID_MEMORY_POOL;
    if (flags)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return lock_range(host, n_bytes, pool, device);
}

hsa_status_t hsa_amd_memory_unlock(void *host)
{
    EMU_REQUIRE_OPEN();
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    for (size_t i = locked.n; i-- > 0 && status != HSA_STATUS_SUCCESS;)
        if (locked.items[i].base == host) {
            erase(&locked, i);
            status = HSA_STATUS_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return status;
}
