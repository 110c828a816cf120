/* emu/hsa/event.h: something that threads sleep on until it is kicked (a futex).
 * SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_HSA_EVENT_H
#define MOESAIC_EMU_HSA_EVENT_H

#include <stdint.h>

#define EMU_FOREVER UINT64_MAX

typedef struct emu_event {
    uint32_t sequence; /* changes with every kick */
    uint32_t sleepers;
} emu_event;

/* To sleep without missing a kick: read the sequence, look at what you wait for, then sleep on what
 * you read. */
uint32_t emu_event_sequence(const emu_event *event);
void emu_event_sleep(emu_event *event, uint32_t seen, uint64_t timeout_ns);
void emu_event_kick(emu_event *event);

/* Kicked by every change of a watched signal and by the end of every kernel. */
extern emu_event emu_changes;

/* Kernels in flight.  Device code changes signals without telling us: while a kernel runs, sleepers
 * look every millisecond, else rarely. */
void emu_running_add(int n);
uint32_t emu_running(void);
uint64_t emu_poll_ns(void);

#endif
