/* tests/emu/memory.h: what loads, stores and atomics of all memory formats have in common.
 *
 * References work lane by lane on plain bytes.  SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TESTS_EMU_MEMORY_H
#define MOESAIC_TESTS_EMU_MEMORY_H

#include "tests/emu/machine.h"

typedef enum part { WHOLE, LOW, HIGH } part;

/* A load or store: its ending in global_, flat_, buffer_ and scratch_ instructions, and in ds_ ones (or NULL). */
typedef struct access {
    const char *name, *ds;
    int bytes;
    bool is_signed;
    part part; /* which half of the register a d16 form fills or sends */
} access;

extern const access memory_loads[], memory_stores[];
extern const int memory_n_loads, memory_n_stores;

/* An atomic: `next` is the new value of old given the data and, for compare-and-swap, the comparison. */
typedef struct atomic {
    const char *name, *ds;
    int bits;
    uint64_t (*next)(uint64_t old, uint64_t data, uint64_t compared);
    bool compares;
} atomic;

extern const atomic memory_atomics[];
extern const int memory_n_atomics;

enum { MEMORY_BYTES = 16384, MEMORY_PATTERNS = 6 };

/* 64 offsets of `bytes` each below MEMORY_BYTES: in a row (aligned or not), strided, in short rows, random, equal. */
void memory_offsets(machine *m, int pattern, int bytes, uint32_t out[MACHINE_LANES]);

/* "v7" or "v[7:8]". */
const char *memory_registers(int first, int n, char text[24]);

int memory_dwords(int bytes);

/* Check registers from `first` on: lane l of exec got from[l] (NULL: zeros), the others kept before's. */
void memory_expect_loaded(const machine *before, const machine *after, const access *a, int first,
                          const uint8_t *const from[MACHINE_LANES], uint64_t exec,
                          const char *what);

/* Store as lane l would, ascending; to[l] NULL: dropped. */
void memory_store(const machine *m, const access *a, int first, uint8_t *const to[MACHINE_LANES],
                  uint64_t exec);

/* Apply an atomic to at[l] (NULL: nothing happens, 0 comes back) with data in `data`, the comparison in `compared`;
 * old[l] is what came back. */
void memory_apply(const machine *m, const atomic *a, int data, int compared,
                  uint8_t *const at[MACHINE_LANES], uint64_t exec, uint64_t old[MACHINE_LANES]);

/* The atomic's value of one lane of registers from `first` on. */
uint64_t memory_value(const machine *m, const atomic *a, int first, int lane);

void memory_fill(machine *m, uint8_t *memory, size_t bytes);
machine *memory_clone(const machine *m);

#endif
