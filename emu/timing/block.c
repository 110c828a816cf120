/* emu/timing/block.c: the price of a basic block, from its instructions alone.
 *
 * A lone wave issues in order.  Loads return after a fixed latency; s_waitcnt stalls as its counts say, so a
 * prefetch that is issued early enough hides its latency and one that is not shows.  A block that loops is run
 * until its prefetches of the previous pass count, and the last pass is its price.
 * Tested by tests/emu/timing/test_block.c.                                    SPDX-License-Identifier: MIT
 */
#include "emu/timing/timing.h"

#include "emu/timing/constants.h"

#include <string.h>

enum {
    LOOP_PASSES = 4,
    MAX_OUTSTANDING = 64, /* vmcnt has 6 bits */
};

/* Completion times of loads in flight, oldest first. */
typedef struct in_flight {
    uint64_t done[MAX_OUTSTANDING];
    uint32_t n;
} in_flight;

typedef struct lone_wave {
    uint64_t now, mfma_free, lds_free;
    in_flight vmem, lgkm;
} lone_wave;

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Until at most `left` are in flight. */
static void wait_for(lone_wave *w, in_flight *f, uint32_t left)
{
    uint32_t n_done = f->n > left ? f->n - left : 0;
    for (uint32_t i = 0; i < n_done; i++)
        w->now = later(w->now, f->done[i]);
    memmove(f->done, f->done + n_done, (f->n - n_done) * sizeof f->done[0]);
    f->n -= n_done;
}

static void send(lone_wave *w, in_flight *f, uint64_t done)
{
    if (f->n == MAX_OUTSTANDING)
        wait_for(w, f, MAX_OUTSTANDING - 1);
    f->done[f->n++] = done;
}

static void issue(lone_wave *w, const emu_timed_instruction *i)
{
    uint32_t cycles = i->row->cycles > emu_issue_cycles ? i->row->cycles : emu_issue_cycles;
    switch (i->row->unit) {
    case EMU_UNIT_MFMA:
        w->now = later(w->now, w->mfma_free);
        w->mfma_free = w->now + cycles;
        w->now += emu_issue_cycles;
        return;
    case EMU_UNIT_LDS:
        w->lds_free = later(w->now, w->lds_free) + cycles;
        send(w, &w->lgkm, w->lds_free + emu_lds_latency_cycles);
        w->now += emu_issue_cycles;
        return;
    case EMU_UNIT_SMEM:
        send(w, &w->lgkm, w->now + emu_scalar_latency_cycles);
        w->now += emu_issue_cycles;
        return;
    case EMU_UNIT_VMEM_LOAD:
    case EMU_UNIT_VMEM_STORE:
    case EMU_UNIT_VMEM_ATOMIC:
        send(w, &w->vmem, w->now + emu_vmem_latency_cycles);
        w->now += cycles;
        return;
    case EMU_UNIT_WAIT:
        if (i->vmcnt >= 0)
            wait_for(w, &w->vmem, (uint32_t)i->vmcnt);
        if (i->lgkmcnt >= 0)
            wait_for(w, &w->lgkm, (uint32_t)i->lgkmcnt);
        w->now += emu_issue_cycles;
        return;
    case EMU_UNIT_BARRIER:
        w->now += emu_barrier_cycles;
        return;
    default:
        w->now += cycles;
    }
}

void emu_timing_block(const emu_timed_instruction *instructions, size_t n, bool loops,
                      emu_block_cost *out)
{
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < n; k++) {
        const emu_row *row = instructions[k].row;
        out->instructions[row->unit]++;
        out->cycles[row->unit] +=
            (uint32_t)later(row->cycles, row->unit == EMU_UNIT_VALU ? emu_issue_cycles : 1);
    }
    lone_wave w = {0};
    uint64_t start = 0;
    for (int pass = 0; pass < (loops ? LOOP_PASSES : 1); pass++) {
        start = w.now;
        for (size_t k = 0; k < n; k++)
            issue(&w, &instructions[k]);
    }
    out->serial_cycles = (uint32_t)(w.now - start);
}
