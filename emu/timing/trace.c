/* emu/timing/trace.c: what one workgroup does to the LDS banks, its L1 and memory.
 *
 * LDS: 32 banks of 4 bytes serve 128 bytes a clock.  Consecutive groups of 32 / dwords lanes are served together; a
 * group takes as many clocks as the busiest bank has distinct dwords.  The number depends on the differences of
 * addresses only, so it is remembered per operation and computed again when the pattern changes.
 * L1: 32 KiB of 128-byte lines, 64 sets of 4, oldest out; writes go through.  Both are deterministic, since a workgroup's
 * waves run in a fixed order.
 * Tested by tests/emu/timing/test_trace.c.                                    SPDX-License-Identifier: MIT
 */
#include "emu/timing/trace_int.h"

#include <stdlib.h>
#include <string.h>

emu_trace *emu_timing_trace_new(void)
{
    return calloc(1, sizeof(emu_trace));
}

void emu_timing_trace_free(emu_trace *trace)
{
    free(trace);
}

/* true: was there */
static bool l1_access(emu_trace *t, uint64_t line)
{
    uint64_t *set = t->l1[line % TRACE_L1_SETS];
    for (int way = 0; way < TRACE_L1_WAYS; way++)
        if (set[way] == line + 1)
            return true;
    memmove(set + 1, set, (TRACE_L1_WAYS - 1) * sizeof *set);
    set[0] = line + 1;
    return false;
}

static void touch(emu_trace *t, uint64_t line, bool is_store)
{
    t->l1_lines++;
    if (!is_store && l1_access(t, line))
        return;
    t->l2_lines++;
    emu_lines_touch(t->lines, &t->lines_cache, line, t->xcd, is_store);
}

void emu_trace_vmem(emu_wave *w, const uint64_t address[64], uint64_t exec, uint32_t bytes_per_lane,
                    bool is_store)
{
    emu_trace *t = w->trace;
    uint64_t last = UINT64_MAX;
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        uint64_t first_byte = address[__builtin_ctzll(rest)];
        uint64_t first = first_byte >> EMU_LINE_BITS;
        uint64_t end = (first_byte + bytes_per_lane - 1) >> EMU_LINE_BITS;
        if (first != last)
            touch(t, first, is_store);
        if (end != first)
            touch(t, end, is_store);
        last = end;
    }
}

/* Clocks for lanes [from, to): the largest number of distinct dwords that one bank has to deliver. */
static uint32_t group_clocks(const uint32_t address[64], uint64_t exec, uint32_t from, uint32_t to,
                             uint32_t dwords)
{
    uint32_t seen[32][16];
    uint8_t n[32] = {0};
    uint32_t busiest = 0;
    for (uint32_t lane = from; lane < to; lane++) {
        if (!(exec >> lane & 1))
            continue;
        for (uint32_t d = 0; d < dwords; d++) {
            uint32_t dword = address[lane] / 4 + d, bank = dword % 32, k = 0;
            while (k < n[bank] && seen[bank][k] != dword)
                k++;
            if (k == n[bank] && k < 16) {
                seen[bank][k] = dword;
                n[bank]++;
            }
            busiest = n[bank] > busiest ? n[bank] : busiest;
        }
    }
    return busiest;
}

uint32_t emu_lds_clocks(const uint32_t address[64], uint64_t exec, uint32_t bytes_per_lane)
{
    uint32_t dwords = bytes_per_lane < 4 ? 1 : bytes_per_lane / 4;
    uint32_t group = dwords > 2 ? 8 : dwords == 2 ? 16 : 32, clocks = 0;
    for (uint32_t from = 0; from < 64; from += group)
        clocks += group_clocks(address, exec, from, from + group, dwords);
    return clocks;
}

/* The same lanes at the same distances as last time? */
static bool same_pattern(const lds_pattern *p, const uint32_t address[64], uint64_t exec,
                         uint32_t bytes_per_lane)
{
    if (p->exec != exec || p->bytes_per_lane != bytes_per_lane || (address[0] - p->address[0]) % 4)
        return false;
    uint32_t moved = address[0] - p->address[0], different = 0;
    for (int lane = 0; lane < 64; lane++)
        different |= address[lane] - p->address[lane] - moved;
    return !different;
}

/* Waves differ in their swizzles, so each remembers its own pattern. */
static lds_pattern *pattern_of(const emu_wave *w)
{
    uintptr_t op = (uintptr_t)w->ip / sizeof(emu_op);
    return &w->trace->patterns[(op + w->index * 61u) % TRACE_PATTERNS];
}

void emu_trace_lds(emu_wave *w, const uint32_t lds_address[64], uint64_t exec,
                   uint32_t bytes_per_lane, bool is_store)
{
    (void)is_store;
    emu_trace *t = w->trace;
    lds_pattern *p = pattern_of(w);
    if (!same_pattern(p, lds_address, exec, bytes_per_lane)) {
        memcpy(p->address, lds_address, sizeof p->address);
        p->exec = exec;
        p->bytes_per_lane = bytes_per_lane;
        p->clocks = emu_lds_clocks(lds_address, exec, bytes_per_lane);
    }
    uint32_t conflict_free = (64 * bytes_per_lane + 127) / 128;
    t->lds_clocks += p->clocks;
    t->lds_conflict_clocks += p->clocks > conflict_free ? p->clocks - conflict_free : 0;
}
