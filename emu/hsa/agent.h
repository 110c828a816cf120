/* emu/hsa/agent.h: the host's CPU and the software GPUs, with their memory pools.
 * SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_HSA_AGENT_H
#define MOESAIC_EMU_HSA_AGENT_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>

/* A status of the AMD extension: the header has it in an enumeration of its own. */
#define EMU_INVALID_MEMORY_POOL ((hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL)

typedef struct emu_agent {
    bool is_gpu;
    uint32_t index;      /* of its kind */
    uint64_t used_bytes; /* allocated from its pools; atomic */
} emu_agent;

typedef struct emu_pool {
    emu_agent *agent;
    hsa_amd_segment_t segment;
    uint32_t flags;
    uint64_t bytes;
} emu_pool;

/* Make the agents of the shape; called by the first hsa_init. */
void emu_agents_make(void);

/* NULL when the handle is no agent (or pool). */
emu_agent *emu_agent_of(hsa_agent_t handle);
emu_pool *emu_pool_of(hsa_amd_memory_pool_t handle);

hsa_agent_t emu_agent_handle(const emu_agent *agent);
emu_agent *emu_agent_cpu(void);
emu_agent *emu_agent_gpu(uint32_t index);

/* The n-th pool of an agent, NULL behind the last one. */
emu_pool *emu_agent_pool(const emu_agent *agent, uint32_t n);

#endif
