/* emu/isa/memory.h: the rare paths of memory instructions: reports to a timed run's trace, flat addresses outside
 * global memory, loads that go to LDS.                          SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MEMORY_H
#define MOESAIC_EMU_ISA_MEMORY_H

#include "emu/isa/wave.h"

/* 64 addresses base + hi:lo in register layout (hi may be NULL), reported for a timed run. */
void emu_memory_report(emu_wave *w, const uint32_t *lo, const uint32_t *hi, uint64_t base,
                       uint64_t exec, uint32_t bytes_per_lane, bool is_store);

/* The same for LDS offsets address + offset. */
void emu_lds_report(emu_wave *w, const uint32_t *address, uint32_t offset, uint64_t exec,
                    uint32_t bytes_per_lane, bool is_store);

/* The same for scratch: `own` is each lane's offset in its own piece, which the hardware interleaves by lanes. */
void emu_scratch_report(emu_wave *w, const uint32_t own[64], uint32_t bytes_per_lane,
                        bool is_store);

/* Host addresses of a flat instruction's lanes, in register layout. */
typedef struct emu_flat_address {
    uint32_t lo[64] __attribute__((aligned(64)));
    uint32_t hi[64] __attribute__((aligned(64)));
} emu_flat_address;

/* Translate the addresses of a flat instruction: LDS and scratch offsets become host addresses.  False after a trap:
 * a lane is out of range of either. */
bool emu_flat_translate(emu_wave *w, const emu_op *op, uint32_t bytes_per_lane,
                        emu_flat_address *out);

/* Put one dword of every lane in exec at LDS address m0[15:0] + offset + 4 * lane; out of range is dropped. */
void emu_lds_fill(emu_wave *w, const uint32_t data[64], uint32_t offset, uint64_t exec);

#endif
