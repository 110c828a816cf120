/* emu/hsa/pool.c: memory pools as HIP asks for them and allocates from them.
 *
 * The CPU must never see the GPU's coarse pool as accessible: HIP would then put kernel arguments
 * into device memory.
 * Tested by tests/hsa/test_memory.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/hsa/memory.h"
#include "emu/hsa/system.h"

#include <string.h>

enum { GRANULE_BYTES = 4096, HUGE_BYTES = 2 << 20 };

hsa_status_t hsa_amd_agent_iterate_memory_pools(
    hsa_agent_t handle, hsa_status_t (*callback)(hsa_amd_memory_pool_t, void *), void *data)
{
    EMU_REQUIRE_OPEN();
    const emu_agent *agent = emu_agent_of(handle);
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    const emu_pool *pool;
    for (uint32_t i = 0; status == HSA_STATUS_SUCCESS && (pool = emu_agent_pool(agent, i)) != NULL;
         i++)
        status = callback((hsa_amd_memory_pool_t){(uintptr_t)pool}, data);
    return status;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle,
                                          hsa_amd_memory_pool_info_t attribute, void *value)
{
    EMU_REQUIRE_OPEN();
    const emu_pool *pool = emu_pool_of(handle);
    if (!pool)
        return EMU_INVALID_MEMORY_POOL;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    bool global = pool->segment == HSA_AMD_SEGMENT_GLOBAL, gpu = pool->agent->is_gpu;
    switch (attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
        *(hsa_amd_segment_t *)value = pool->segment;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
        *(uint32_t *)value = pool->flags;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
        *(size_t *)value = pool->bytes;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
        *(bool *)value = global;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
        *(size_t *)value = global ? GRANULE_BYTES : 0;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
        *(size_t *)value = !global ? 0 : gpu ? HUGE_BYTES : GRANULE_BYTES;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
        *(bool *)value = !gpu;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_LOCATION:
        *(hsa_amd_memory_pool_location_t *)value =
            gpu ? HSA_AMD_MEMORY_POOL_LOCATION_GPU : HSA_AMD_MEMORY_POOL_LOCATION_CPU;
        break;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_amd_memory_pool_access_t access_of(const emu_agent *agent, const emu_pool *pool)
{
    if (pool->agent == agent)
        return HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
    if (pool->agent->is_gpu && (!agent->is_gpu || pool->segment != HSA_AMD_SEGMENT_GLOBAL))
        return HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
    return HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
}

/* PCIe 5 x16 to the host, Infinity Fabric between GPUs; device printf needs 64-bit atomics over the
 * link. */
static hsa_amd_memory_pool_link_info_t link_between(const emu_agent *agent, const emu_pool *pool)
{
    bool peers = agent->is_gpu && pool->agent->is_gpu;
    return (hsa_amd_memory_pool_link_info_t){
        .max_bandwidth = 64000, /* MB/s */
        .atomic_support_32bit = true,
        .atomic_support_64bit = true,
        .coherent_support = true,
        .link_type = peers ? HSA_AMD_LINK_INFO_TYPE_XGMI : HSA_AMD_LINK_INFO_TYPE_PCIE,
        .numa_distance = peers ? 15 : 20,
    };
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent_handle,
                                                hsa_amd_memory_pool_t pool_handle,
                                                hsa_amd_agent_memory_pool_info_t attribute,
                                                void *value)
{
    EMU_REQUIRE_OPEN();
    const emu_agent *agent = emu_agent_of(agent_handle);
    const emu_pool *pool = emu_pool_of(pool_handle);
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!pool)
        return EMU_INVALID_MEMORY_POOL;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
        *(hsa_amd_memory_pool_access_t *)value = access_of(agent, pool);
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
        *(uint32_t *)value = pool->agent != agent;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO: /* one entry per hop */
        if (pool->agent != agent)
            *(hsa_amd_memory_pool_link_info_t *)value = link_between(agent, pool);
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t n_bytes,
                                          uint32_t flags, void **out)
{
    EMU_REQUIRE_OPEN();
    (void)flags;
    const emu_pool *pool = emu_pool_of(handle);
    if (!pool)
        return EMU_INVALID_MEMORY_POOL;
    if (!out || n_bytes == 0)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *out = NULL;
    if (pool->segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (pool->agent->is_gpu && emu_hsa_is_faulted())
        return HSA_STATUS_ERROR_EXCEPTION;
    *out = emu_memory_allocate(n_bytes, pool);
    return *out ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_memory_pool_free(void *base)
{
    EMU_REQUIRE_OPEN();
    return !base || emu_memory_free(base, true) ? HSA_STATUS_SUCCESS
                                                : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* Every agent reaches every allocation: there is one address space. */
hsa_status_t hsa_amd_agents_allow_access(uint32_t n_agents, const hsa_agent_t *agents,
                                         const uint32_t *flags, const void *address)
{
    EMU_REQUIRE_OPEN();
    if (n_agents == 0 || !agents || flags || !address)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < n_agents; i++)
        if (!emu_agent_of(agents[i]))
            return HSA_STATUS_ERROR_INVALID_AGENT;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t from, hsa_amd_memory_pool_t to,
                                             bool *can)
{
    EMU_REQUIRE_OPEN();
    if (!emu_pool_of(from) || !emu_pool_of(to))
        return EMU_INVALID_MEMORY_POOL;
    if (!can)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *can = false;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_register(void *host, size_t n_bytes)
{
    EMU_REQUIRE_OPEN();
    return host || n_bytes == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_memory_deregister(void *host, size_t n_bytes)
{
    EMU_REQUIRE_OPEN();
    (void)host;
    (void)n_bytes;
    return HSA_STATUS_SUCCESS;
}
