/* emu/hsa/time.c: the device's clock (see time.h for the rule) and the modelled time of copies.
 *
 * Tested by tests/hsa/test_queue.c.                                SPDX-License-Identifier: MIT
 */
#include "emu/hsa/time.h"

#include "base/clock.h"
#include "emu/timing/constants.h"

/* Not 0, so that 0 can mean "never"; small, so that HIP's arithmetic in double stays exact. */
#define FIRST_NS UINT64_C(1000000000)

static uint64_t host_begin_ns;
static uint64_t seen_ns = FIRST_NS;

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void emu_time_begin(void)
{
    if (!host_begin_ns)
        host_begin_ns = clock_monotonic_ns();
}

uint64_t emu_time_host_ns(void)
{
    return clock_monotonic_ns() - host_begin_ns + FIRST_NS;
}

uint64_t emu_time_seen_ns(void)
{
    return __atomic_load_n(&seen_ns, __ATOMIC_RELAXED);
}

void emu_time_see(uint64_t end_ns)
{
    uint64_t seen = emu_time_seen_ns();
    while (seen < end_ns && !__atomic_compare_exchange_n(&seen_ns, &seen, end_ns, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

uint64_t emu_timeline_start(emu_timeline *timeline, bool timed, bool in_order,
                            uint64_t not_before_ns)
{
    uint64_t start = later(timeline->ready_ns, not_before_ns);
    if (in_order)
        start = later(start, timeline->horizon_ns);
    if (!timed)
        start = later(start, emu_time_host_ns());
    if (in_order)
        timeline->ready_ns = start;
    timeline->horizon_ns = later(timeline->horizon_ns, start);
    return start;
}

uint64_t emu_timeline_end(emu_timeline *timeline, bool timed, uint64_t start_ns,
                          uint64_t modelled_ns)
{
    uint64_t end = timed ? start_ns + modelled_ns : later(start_ns, emu_time_host_ns());
    timeline->horizon_ns = later(timeline->horizon_ns, end);
    return end;
}

uint64_t emu_time_of_copy_ns(uint64_t n_bytes, bool crosses_host_link)
{
    uint64_t gbps = crosses_host_link ? emu_copy_host_gbps : emu_copy_device_gbps;
    return emu_copy_start_ns + (n_bytes + gbps - 1) / gbps;
}
