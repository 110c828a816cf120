/* emu/hsa/event.c: sleeping and waking by futex, one word per thing to wait for.
 *
 * A kick costs two atomic operations when nobody sleeps.
 * Tested by tests/hsa/test_signal.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/hsa/event.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define POLL_RUNNING_NS 1000000u
#define POLL_IDLE_NS    5000000u

emu_event emu_changes;
static uint32_t n_running;

uint32_t emu_event_sequence(const emu_event *event)
{
    return __atomic_load_n(&event->sequence, __ATOMIC_SEQ_CST);
}

void emu_event_sleep(emu_event *event, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                         .tv_nsec = (long)(timeout_ns % 1000000000u)};
    __atomic_fetch_add(&event->sleepers, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &event->sequence, FUTEX_WAIT_PRIVATE, seen,
            timeout_ns == EMU_FOREVER ? NULL : &t, NULL, 0);
    __atomic_fetch_sub(&event->sleepers, 1, __ATOMIC_SEQ_CST);
}

void emu_event_kick(emu_event *event)
{
    __atomic_fetch_add(&event->sequence, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&event->sleepers, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &event->sequence, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void emu_running_add(int n)
{
    __atomic_fetch_add(&n_running, (uint32_t)n, __ATOMIC_SEQ_CST);
}

uint32_t emu_running(void)
{
    return __atomic_load_n(&n_running, __ATOMIC_RELAXED);
}

uint64_t emu_poll_ns(void)
{
    return emu_running() ? POLL_RUNNING_NS : POLL_IDLE_NS;
}
