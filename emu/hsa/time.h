/* emu/hsa/time.h: the device's clock, in nanoseconds.
 *
 * Timed mode: a clock of its own that only modelled durations move.  A packet starts at the
 * latest of
 *   - the end of what its queue makes it wait for,
 *   - the ends of the operations whose signals it waits for,
 *   - the latest end that the host had seen (waited for, or read as complete) when it reserved the
 *     packet's slot,
 * and ends one modelled duration later; a packet that does no work takes no time.  So two events
 * around one kernel are apart by exactly its modelled time, two events with nothing between by
 * nothing, and a pause of the host does not count.  Exact mode: start and end are the host's clock.
 * Decision: docs/decisions/0005-device-clock.md.                  SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_HSA_TIME_H
#define MOESAIC_EMU_HSA_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* The host's clock on the device's scale: both begin at the same second. */
uint64_t emu_time_host_ns(void);

/* Start the clocks; called by the first hsa_init. */
void emu_time_begin(void);

/* The latest end that the host has seen. */
uint64_t emu_time_seen_ns(void);
void emu_time_see(uint64_t end_ns);

/* When work of one queue (or copy engine) may start, and when all of it has ended. */
typedef struct emu_timeline {
    uint64_t ready_ns;   /* no later packet starts before */
    uint64_t horizon_ns; /* latest end so far */
} emu_timeline;

/* When a packet starts that must not start before `not_before_ns`; in_order: nor before all others
 * have ended. */
uint64_t emu_timeline_start(emu_timeline *timeline, bool timed, bool in_order,
                            uint64_t not_before_ns);

/* Work that started at start_ns is done; modelled_ns is ignored in exact mode.  Returns its end. */
uint64_t emu_timeline_end(emu_timeline *timeline, bool timed, uint64_t start_ns,
                          uint64_t modelled_ns);

/* What a copy costs on the device clock. */
uint64_t emu_time_of_copy_ns(uint64_t n_bytes, bool crosses_host_link);

#endif
