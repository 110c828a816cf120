/* emu/hsa/memory.h: which addresses belong to whom.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_HSA_MEMORY_H
#define MOESAIC_EMU_HSA_MEMORY_H

#include "emu/hsa/agent.h"

#include <stddef.h>

/* Map zeroed memory with an inaccessible page behind it and enter it in the table.
 *
 * n_bytes   rounded up to pages; 2 MiB and more are aligned to 2 MiB and may use huge pages
 * pool      whose limit it counts against; NULL: the runtime's own (rings, code objects)
 *
 * Returns NULL when the pool or the machine has not that much. */
void *emu_memory_allocate(size_t n_bytes, const emu_pool *pool);

/* Unmap what emu_memory_allocate returned: later accesses fault.  False when base is no such
 * address, or is not of_pool (came from a pool; else: the runtime's own). */
bool emu_memory_free(void *base, bool of_pool);

/* Free everything that programs left behind; called by the last hsa_shut_down. */
void emu_memory_reset(void);

/* emu_memory_map.contains: one live allocation, locked range or signal holds the whole range. */
bool emu_memory_contains(uint64_t address, size_t n_bytes, char *nearest, size_t nearest_bytes);

/* The pool whose memory (or locked range) holds the address; NULL for the runtime's own and unknown
 * memory. */
const emu_pool *emu_memory_pool_at(const void *address);

#endif
