/* emu/hsa/agent.c: one CPU agent, N GPU agents, their pools, and what they answer when asked.
 *
 * Owns the identity of the devices; the simple answers are rows of agent_info.def.  HIP takes the
 * first fine pool of an agent as its fine-grained one, a pool without the fine flag as coarse, and
 * the size of the GROUP pool as the size of LDS.
 * Tested by tests/hsa/test_agent.c.                                SPDX-License-Identifier: MIT
 */
#include "emu/hsa/agent.h"

#include "emu/hsa/system.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB                (UINT64_C(1) << 20)
#define GPU_RESERVED_BYTES (16 * MIB) /* what a driver keeps for itself */

enum { POOLS_PER_AGENT = 4, MAX_AGENTS = 1 + EMU_MAX_DEVICES };

static emu_agent agents[MAX_AGENTS];
static emu_pool pools[MAX_AGENTS][POOLS_PER_AGENT];
static uint32_t n_agents;
static const char isa_name[] = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";

enum {
    FINE = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
    COARSE = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    KERNARG = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT,
    EXTENDED = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED,
};

static uint32_t n_host_cpus(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

static uint64_t host_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 64 * 1024 * MIB;
}

void emu_agents_make(void)
{
    const emu_device_shape *shape = &emu_hsa_shape()->device;
    const uint32_t cpu_flags[] = {FINE, EXTENDED, FINE | KERNARG, COARSE};
    const uint32_t gpu_flags[] = {COARSE, EXTENDED, FINE};

    n_agents = 1 + emu_hsa_shape()->n_devices;
    agents[0] = (emu_agent){.is_gpu = false};
    for (uint32_t p = 0; p < POOLS_PER_AGENT; p++)
        pools[0][p] =
            (emu_pool){&agents[0], HSA_AMD_SEGMENT_GLOBAL, cpu_flags[p], host_memory_bytes()};
    for (uint32_t i = 1; i < n_agents; i++) {
        agents[i] = (emu_agent){.is_gpu = true, .index = i - 1};
        for (uint32_t p = 0; p < 3; p++)
            pools[i][p] = (emu_pool){&agents[i], HSA_AMD_SEGMENT_GLOBAL, gpu_flags[p],
                                     shape->memory_bytes - GPU_RESERVED_BYTES};
        pools[i][3] = (emu_pool){&agents[i], HSA_AMD_SEGMENT_GROUP, 0, shape->lds_bytes_per_cu};
    }
}

emu_agent *emu_agent_of(hsa_agent_t handle)
{
    uint64_t offset = handle.handle - (uintptr_t)agents;
    bool is_agent = offset % sizeof agents[0] == 0 && offset / sizeof agents[0] < n_agents;
    return is_agent ? &agents[offset / sizeof agents[0]] : NULL;
}

emu_pool *emu_pool_of(hsa_amd_memory_pool_t handle)
{
    uint64_t offset = handle.handle - (uintptr_t)pools;
    bool is_pool = offset % sizeof pools[0][0] == 0 && offset / sizeof pools[0] < n_agents;
    return is_pool ? &pools[0][0] + offset / sizeof pools[0][0] : NULL;
}

hsa_agent_t emu_agent_handle(const emu_agent *agent)
{
    return (hsa_agent_t){(uintptr_t)agent};
}

emu_agent *emu_agent_cpu(void)
{
    return &agents[0];
}

emu_agent *emu_agent_gpu(uint32_t index)
{
    return &agents[1 + index];
}

emu_pool *emu_agent_pool(const emu_agent *agent, uint32_t n)
{
    return n < POOLS_PER_AGENT ? &pools[agent - agents][n] : NULL;
}

/* --- agents --- */

static uint64_t available_bytes(const emu_agent *agent)
{
    uint64_t total = emu_agent_pool(agent, 0)->bytes,
             used = __atomic_load_n(&agent->used_bytes, __ATOMIC_RELAXED);
    return used < total ? total - used : 0;
}

static hsa_status_t put_text(void *to, size_t n_bytes, const char *text)
{
    memset(to, 0, n_bytes);
    memcpy(to, text, strnlen(text, n_bytes - 1));
    return HSA_STATUS_SUCCESS;
}

/* Answers that are arrays or made of parts. */
static hsa_status_t agent_special_info(const emu_agent *agent, uint32_t attribute, void *value)
{
    bool gpu = agent->is_gpu;
    switch (attribute) {
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
        uint16_t most = gpu ? 1024 : 0, dim[3] = {most, most, most};
        memcpy(value, dim, sizeof dim);
        return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_GRID_MAX_DIM: {
        uint32_t most = gpu ? UINT32_MAX : 0;
        *(hsa_dim3_t *)value = (hsa_dim3_t){most, most, most};
        return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_CACHE_SIZE: { /* vector L1, L2 of an XCD, Infinity Cache */
        uint32_t cache[4] = {32 << 10, gpu ? emu_hsa_shape()->device.l2_bytes_per_xcd : 1 << 20,
                             gpu ? 256 << 20 : 0, 0};
        memcpy(value, cache, sizeof cache);
        return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_EXTENSIONS: /* one bit each; none */
        memset(value, 0, 128);
        return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_ISA:
        ((hsa_isa_t *)value)->handle = gpu ? (uintptr_t)isa_name : 0;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_UUID: {
        char uuid[24] = "CPU-XX";
        if (gpu)
            snprintf(uuid, sizeof uuid, "GPU-6d6f657361696%03x", agent->index);
        return put_text(value, 21, uuid);
    }
    case HSA_AMD_AGENT_INFO_NEAREST_CPU:
        *(hsa_agent_t *)value = emu_agent_handle(&agents[0]);
        return HSA_STATUS_SUCCESS;
    default:
        emu_log("hsa_agent_get_info: attribute 0x%x is not known", attribute);
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

/* A table.  NOLINTNEXTLINE(readability-function-size) */
static hsa_status_t agent_info(const emu_agent *agent, uint32_t attribute, void *value)
{
    const emu_device_shape *shape = &emu_hsa_shape()->device;
    uint32_t index = agent->index;
    switch (attribute) {
#define EMU_INFO_TEXT(code, n_bytes, cpu, gpu)                                                     \
    case code:                                                                                     \
        return put_text(value, n_bytes, agent->is_gpu ? (gpu) : (cpu));
#define EMU_INFO(code, type, cpu, gpu)                                                             \
    case code: {                                                                                   \
        type answers[2] = {cpu, gpu};                                                              \
        memcpy(value, &answers[agent->is_gpu], sizeof answers[0]);                                 \
        return HSA_STATUS_SUCCESS;                                                                 \
    }
#include "emu/hsa/agent_info.def"
#undef EMU_INFO
#undef EMU_INFO_TEXT
    default:
        return agent_special_info(agent, attribute, value);
    }
}

hsa_status_t hsa_agent_get_info(hsa_agent_t handle, hsa_agent_info_t attribute, void *value)
{
    EMU_REQUIRE_OPEN();
    const emu_agent *agent = emu_agent_of(handle);
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return agent_info(agent, (uint32_t)attribute, value);
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void *), void *data)
{
    EMU_REQUIRE_OPEN();
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (uint32_t i = 0; i < n_agents && status == HSA_STATUS_SUCCESS; i++)
        status = callback(emu_agent_handle(&agents[i]), data);
    return status;
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t handle, uint16_t major,
                                           uint16_t minor, bool *supported)
{
    (void)major;
    (void)minor;
    return hsa_agent_major_extension_supported(extension, handle, 1, &minor, supported);
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t handle,
                                                 uint16_t major, uint16_t *minor, bool *supported)
{
    EMU_REQUIRE_OPEN();
    (void)extension;
    (void)major;
    if (!emu_agent_of(handle))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!supported || !minor)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *minor = 0;
    *supported = false;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t handle,
                                      hsa_status_t (*callback)(hsa_cache_t, void *), void *data)
{
    EMU_REQUIRE_OPEN();
    (void)callback;
    (void)data;
    return emu_agent_of(handle) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

/* --- the instruction set
 * ----------------------------------------------------------------------------- */

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t handle, hsa_status_t (*callback)(hsa_isa_t, void *),
                                    void *data)
{
    EMU_REQUIRE_OPEN();
    const emu_agent *agent = emu_agent_of(handle);
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return agent->is_gpu ? callback((hsa_isa_t){(uintptr_t)isa_name}, data) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *isa)
{
    EMU_REQUIRE_OPEN();
    if (!name || !isa)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (strcmp(name, isa_name) != 0 && strcmp(name, "amdgcn-amd-amdhsa--gfx942") != 0)
        return HSA_STATUS_ERROR_INVALID_ISA_NAME;
    isa->handle = (uintptr_t)isa_name;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value)
{
    EMU_REQUIRE_OPEN();
    if (isa.handle != (uintptr_t)isa_name)
        return HSA_STATUS_ERROR_INVALID_ISA;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    bool yes_no[3] = {false, false, false};
    switch (attribute) {
    case HSA_ISA_INFO_NAME_LENGTH:
        *(uint32_t *)value = sizeof isa_name - 1;
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_NAME: /* without a NUL: the caller has room for NAME_LENGTH bytes */
        memcpy(value, isa_name, sizeof isa_name - 1);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_MACHINE_MODELS:
        yes_no[HSA_MACHINE_MODEL_LARGE] = true;
        memcpy(value, yes_no, 2);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_PROFILES:
        yes_no[HSA_PROFILE_BASE] = true;
        memcpy(value, yes_no, 2);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
    case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
        yes_no[HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR] = true;
        memcpy(value, yes_no, 3);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_FAST_F16_OPERATION:
        *(bool *)value = true;
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_GRID_MAX_SIZE: /* 64 bits here, 32 in the agent's answer */
        *(uint64_t *)value = UINT64_MAX;
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
        return agent_special_info(emu_agent_gpu(0), HSA_AGENT_INFO_WORKGROUP_MAX_DIM, value);
    case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
        return agent_info(emu_agent_gpu(0), HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, value);
    case HSA_ISA_INFO_GRID_MAX_DIM:
        return agent_special_info(emu_agent_gpu(0), HSA_AGENT_INFO_GRID_MAX_DIM, value);
    case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
        return agent_info(emu_agent_gpu(0), HSA_AGENT_INFO_FBARRIER_MAX_SIZE, value);
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa,
                                        hsa_status_t (*callback)(hsa_wavefront_t, void *),
                                        void *data)
{
    EMU_REQUIRE_OPEN();
    if (isa.handle != (uintptr_t)isa_name)
        return HSA_STATUS_ERROR_INVALID_ISA;
    return callback ? callback((hsa_wavefront_t){64}, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute,
                                    void *value)
{
    EMU_REQUIRE_OPEN();
    if (wavefront.handle != 64)
        return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
    if (attribute != HSA_WAVEFRONT_INFO_SIZE || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint32_t *)value = 64;
    return HSA_STATUS_SUCCESS;
}
