/* emu/timing/trace_int.h: the state of a trace; only emu/timing includes it.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_TIMING_TRACE_INT_H
#define MOESAIC_EMU_TIMING_TRACE_INT_H

#include "emu/timing/lines.h"
#include "emu/timing/timing.h"
#include "emu/timing/trace.h"

enum {
    TRACE_L1_SETS = 64,
    TRACE_L1_WAYS = 4,
    TRACE_PATTERNS = 512,
};

/* Last lane addresses of an LDS operation, and what they cost. */
typedef struct lds_pattern {
    uint32_t address[64];
    uint64_t exec;
    uint32_t bytes_per_lane, clocks;
} lds_pattern;

struct emu_trace {
    emu_lines *lines; /* the launch's */
    emu_lines_cache lines_cache;
    uint32_t xcd;
    uint64_t l1_lines; /* lines asked of the L1, once per instruction */
    uint64_t l2_lines; /* lines asked of the L2 */
    uint64_t lds_clocks, lds_conflict_clocks;
    uint64_t l1[TRACE_L1_SETS][TRACE_L1_WAYS]; /* line + 1, newest first */
    lds_pattern patterns[TRACE_PATTERNS];
};

/* Clocks that the LDS needs for one instruction of 64 lanes (exec: which take part). */
uint32_t emu_lds_clocks(const uint32_t address[64], uint64_t exec, uint32_t bytes_per_lane);

#endif
