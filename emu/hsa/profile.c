/* emu/hsa/profile.c: when operations started and ended.
 *
 * Every completion leaves its times in the signal (signal.c), so profiling is always on.  Ticks are
 * nanoseconds.
 * Tested by tests/hsa/test_queue.c.                                SPDX-License-Identifier: MIT
 */
#include "emu/hsa/agent.h"
#include "emu/hsa/signal.h"
#include "emu/hsa/system.h"

#include <hsa/hsa_ext_amd.h>

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    EMU_REQUIRE_OPEN();
    (void)enable;
    return queue ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
    EMU_REQUIRE_OPEN();
    (void)enable;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t *time)
{
    EMU_REQUIRE_OPEN();
    if (!time)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!emu_agent_of(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!emu_signal_is_valid(signal))
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    time->start = emu_signal_of(signal)->amd.start_ts;
    time->end = emu_signal_of(signal)->amd.end_ts;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal,
                                                   hsa_amd_profiling_async_copy_time_t *time)
{
    EMU_REQUIRE_OPEN();
    if (!time)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!emu_signal_is_valid(signal))
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    time->start = emu_signal_of(signal)->amd.start_ts;
    time->end = emu_signal_of(signal)->amd.end_ts;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick,
                                                             uint64_t *system_tick)
{
    EMU_REQUIRE_OPEN();
    if (!emu_agent_of(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!system_tick)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *system_tick = tick;
    return HSA_STATUS_SUCCESS;
}
