/* tests/templates/support.h: a device, variants of a family, and numbers.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TESTS_TEMPLATES_SUPPORT_H
#define MOESAIC_TESTS_TEMPLATES_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device/device.h"
#include "gen/gen.h"
#include "tuner/guard.h"

/* Fails the test with the text when status isn't OK. */
void must(moesaic_status status, const moesaic_text *err);

/* The device, opened at the first call. */
device *test_device(void);

/* A compiled and loaded variant. */
typedef struct kernels {
    const char *config; /* the pairs it was opened with, for messages */
    device_module *module;
    cJSON *launch; /* as gen_space_launch gives it */
    str code;
} kernels;

/* The family's default configuration with the pairs "K=V,K=V" in the place of its values; legal or not. */
cJSON *config_with(const gen_family *family, const char *pairs);

/* Emit, compile without a warning, load.  problem: complete. */
void kernels_open(const char *family, const char *pass, const char *problem,
                  const char *config_pairs, kernels *out);
void kernels_close(kernels *k);
/* Launch the variant's kernels in their order, and wait. */
void kernels_run(const kernels *k, const void *arguments, size_t n_bytes);

/* A seeded stream of numbers. */
uint64_t random_bits(uint64_t *state);
double random_normal(uint64_t *state); /* a sum of uniform numbers: mean 0, variance 1 */

/* bf16: the upper half of an fp32. */
static inline double bf16_value(uint16_t bits)
{
    union {
        uint32_t u;
        float f;
    } v = {(uint32_t)bits << 16};
    return (double)v.f;
}
uint16_t bf16_of(double value); /* truncates: inputs need not be the nearest */

/* guard_alloc with the contents of host; guard zones and padding are NaN. */
guarded to_device(const void *host, size_t n_bytes, size_t skew);
/* What the buffer holds, in new memory; its guards must be intact. */
void *to_host(const guarded *g, const char *what);

#endif
