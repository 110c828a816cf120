/* emu/hsa/wait.c: host threads that wait for signals.
 *
 * A thread that waits for a completion executes workgroups itself as long as there are some: a
 * small kernel then needs no hand-over between threads.  Else it sleeps until the signal changes,
 * but never longer than emu_poll_ns, as device code changes signals without telling us.
 * Tested by tests/hsa/test_signal.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/engine.h"
#include "emu/hsa/signal.h"
#include "emu/hsa/system.h"
#include "emu/hsa/time.h"

#include "base/clock.h"

#include <hsa/hsa_ext_amd.h>

enum { SPINS = 64 }; /* a few microseconds: what a kernel on another thread may just need to end */

typedef struct deadline {
    uint64_t at_ns;
} deadline;

static deadline after(uint64_t timeout_ns)
{
    uint64_t now = clock_monotonic_ns();
    return (deadline){timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX};
}

/* Nanoseconds to sleep before looking again; 0 when the time is over. */
static uint64_t sleep_ns(deadline d)
{
    uint64_t now = clock_monotonic_ns(), poll = emu_poll_ns();
    if (now >= d.at_ns)
        return 0;
    return d.at_ns - now < poll ? d.at_ns - now : poll;
}

/* Listeners for device code that calls the host must stay free: they wait for "not equal". */
static bool helps(hsa_signal_condition_t condition)
{
    return (condition == HSA_SIGNAL_CONDITION_LT || condition == HSA_SIGNAL_CONDITION_EQ) &&
           emu_running() && emu_engine_help();
}

static bool holds_soon(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t reference)
{
    for (int i = 0; i < SPINS; i++) {
        if (emu_signal_holds(condition, emu_signal_value(signal), reference))
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

static int64_t see(hsa_signal_t signal, int64_t value)
{
    emu_time_see(emu_signal_of(signal)->amd.end_ts);
    return value;
}

static int64_t wait_one(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t reference,
                        uint64_t timeout_ns)
{
    emu_signal *s = emu_signal_of(signal);
    deadline d = after(timeout_ns);
    for (;;) {
        uint32_t seen = emu_event_sequence(&s->changed);
        int64_t value = emu_signal_value(signal);
        if (emu_signal_holds(condition, value, reference))
            return see(signal, value);
        if (!emu_hsa_is_open() || s->amd.kind == AMD_SIGNAL_KIND_INVALID)
            return value; /* nobody is left to change it */
        if (helps(condition) || holds_soon(signal, condition, reference))
            continue;
        uint64_t ns = sleep_ns(d);
        if (!ns)
            return value;
        emu_event_sleep(&s->changed, seen, ns);
    }
}

/* --- several signals --- */

typedef struct signal_set {
    uint32_t n;
    const hsa_signal_t *signals;
    const hsa_signal_condition_t *conditions;
    const hsa_signal_value_t *references;
} signal_set;

static bool member_holds(const signal_set *set, uint32_t i, int64_t *value)
{
    *value = emu_signal_value(set->signals[i]);
    if (!emu_signal_holds(set->conditions[i], *value, set->references[i]))
        return false;
    see(set->signals[i], *value);
    return true;
}

/* Index of the first member that holds from `first` on, or n. */
static uint32_t first_holding(const signal_set *set, hsa_signal_value_t *value)
{
    for (uint32_t i = 0; i < set->n; i++) {
        int64_t v;
        if (member_holds(set, i, &v)) {
            if (value)
                *value = v;
            return i;
        }
    }
    return set->n;
}

static bool all_hold(const signal_set *set, hsa_signal_value_t *values)
{
    for (uint32_t i = 0; i < set->n; i++) {
        int64_t v;
        if (!member_holds(set, i, &v))
            return false;
        if (values)
            values[i] = v;
    }
    return true;
}

static void watch(const signal_set *set, bool on)
{
    for (uint32_t i = 0; i < set->n; i++)
        emu_signal_watch(set->signals[i], on);
}

/* Returns the index that holds (all: 0 when all do), UINT32_MAX when the time is over. */
static uint32_t wait_set(const signal_set *set, bool all, uint64_t timeout_ns,
                         hsa_signal_value_t *values)
{
    deadline d = after(timeout_ns);
    uint32_t found = UINT32_MAX;
    watch(set, true);
    for (;;) {
        uint32_t seen = emu_event_sequence(&emu_changes);
        if (all && all_hold(set, values))
            found = 0;
        else if (!all && (found = first_holding(set, values)) == set->n)
            found = UINT32_MAX;
        if (found != UINT32_MAX || !emu_hsa_is_open())
            break;
        if (emu_running() && emu_engine_help())
            continue;
        uint64_t ns = sleep_ns(d);
        if (!ns)
            break;
        emu_event_sleep(&emu_changes, seen, ns);
    }
    watch(set, false);
    return found;
}

/* --- the interface --- */

hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                             hsa_signal_value_t reference, uint64_t timeout_ns,
                                             hsa_wait_state_t state)
{
    (void)state;
    return wait_one(signal, condition, reference, timeout_ns);
}

hsa_signal_value_t hsa_signal_wait_relaxed(hsa_signal_t signal, hsa_signal_condition_t condition,
                                           hsa_signal_value_t reference, uint64_t timeout_ns,
                                           hsa_wait_state_t state)
{
    return hsa_signal_wait_scacquire(signal, condition, reference, timeout_ns, state);
}

hsa_signal_value_t hsa_signal_wait_acquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                           hsa_signal_value_t reference, uint64_t timeout_ns,
                                           hsa_wait_state_t state)
{
    return hsa_signal_wait_scacquire(signal, condition, reference, timeout_ns, state);
}

uint32_t hsa_amd_signal_wait_any(uint32_t n, hsa_signal_t *signals,
                                 hsa_signal_condition_t *conditions, hsa_signal_value_t *references,
                                 uint64_t timeout_ns, hsa_wait_state_t state,
                                 hsa_signal_value_t *value)
{
    (void)state;
    return wait_set(&(signal_set){n, signals, conditions, references}, false, timeout_ns, value);
}

uint32_t hsa_amd_signal_wait_all(uint32_t n, hsa_signal_t *signals,
                                 hsa_signal_condition_t *conditions, hsa_signal_value_t *references,
                                 uint64_t timeout_ns, hsa_wait_state_t state,
                                 hsa_signal_value_t *values)
{
    (void)state;
    return wait_set(&(signal_set){n, signals, conditions, references}, true, timeout_ns, values);
}
