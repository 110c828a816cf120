/* emu/timing/trace.h: what memory and LDS handlers report in a timed run.
 *
 * One trace per host thread, merged when a workgroup ends; handlers call these only when wave->trace is set.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_TIMING_TRACE_H
#define MOESAIC_EMU_TIMING_TRACE_H

#include "emu/isa/wave.h"

/* A vector memory instruction touched, per active lane, bytes_per_lane bytes at address[lane]. */
void emu_trace_vmem(emu_wave *w, const uint64_t address[64], uint64_t exec, uint32_t bytes_per_lane,
                    bool is_store);

/* An LDS instruction touched bytes_per_lane bytes at lds_address[lane] per active lane. */
void emu_trace_lds(emu_wave *w, const uint32_t lds_address[64], uint64_t exec,
                   uint32_t bytes_per_lane, bool is_store);

#endif
