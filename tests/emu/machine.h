/* tests/emu/machine.h: one hand-made wave that executes single instructions given as text.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TESTS_EMU_MACHINE_H
#define MOESAIC_TESTS_EMU_MACHINE_H

#include "emu/isa/decode.h"
#include "emu/isa/wave.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MACHINE_VGPRS = 96, MACHINE_LANES = 64 };

typedef struct machine {
    emu_decoder decoder;
    emu_wave wave;
    uint64_t random;
    uint32_t words[2]; /* of the encoding, for machine_run_words */
    uint8_t registers[(MACHINE_VGPRS + EMU_N_TEMPORARIES + 1) * EMU_VGPR_STRIDE]
        __attribute__((aligned(64)));
} machine;

/* A machine with random registers, EXEC all ones, IEEE mode and denormals kept. */
machine *machine_new(uint64_t seed);
void machine_free(machine *m);

/* Decode and execute; fails the test when the text does not decode. */
void machine_run(machine *m, const char *text);

/* The same when the encoding matters: its words. */
void machine_run_words(machine *m, const char *text, uint32_t word0, uint32_t word1);

/* The same for several instructions in a row; `fused`: matrix instructions may be joined first, as in a kernel. */
void machine_run_all(machine *m, const char *const *texts, size_t n, bool fused);

/* Whether the text decodes; the message says why not. */
bool machine_decodes(machine *m, const char *text);

uint32_t machine_random(machine *m);
uint32_t machine_lane(const machine *m, int vgpr, int lane);
uint64_t machine_lane64(const machine *m, int vgpr, int lane);
void machine_set_lane(machine *m, int vgpr, int lane, uint32_t value);
void machine_set_lane64(machine *m, int vgpr, int lane, uint64_t value);
void machine_set_exec(machine *m, uint64_t exec);

float machine_float(uint32_t bits);
uint32_t machine_bits(float value);
double machine_double(uint64_t bits);
uint64_t machine_bits64(double value);

/* Masks of active lanes that every vector test goes through. */
extern const uint64_t machine_masks[];
extern const int machine_n_masks;

/* Random bits, one time in four from a list of numbers with a story (zeros, denormals, infinities, NaN, limits). */
uint32_t machine_interesting(machine *m);

/* Run the tests once per SIMD level that the host has. */
int machine_main(const char *name, const struct CMUnitTest *tests, size_t n);

#endif
