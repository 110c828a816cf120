/* tuner/evaluate.h: the two jobs of workers: compiling a variant, and running it.
 *
 * Compiling needs no device.  The evaluating worker owns the device; it keeps the operands and the reference of the
 * last problem, since most requests are for the same one.                     SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_EVALUATE_H
#define MOESAIC_TUNER_EVALUATE_H

#include "device/device.h"
#include "tuner/verify.h"
#include "tuner/worker.h"
#include "tuner/workload.h"

/* --- compiling --- */

typedef struct compiled {
    device_kernel_info kernel; /* of the first kernel */
    str elf;
} compiled;

/* Ask for a compilation; kernel: whose registers are looked at. */
moesaic_status compile_send(worker *w, const char *kernel, const char *source, moesaic_text *err);
moesaic_status compile_receive(worker *w, compiled *out, moesaic_text *err);
moesaic_status compile_serve(void *user, void **state, const void *request, size_t n_bytes,
                             str *answer, moesaic_text *err);

/* --- running --- */

typedef enum evaluation_part {
    EVALUATE_NOTHING = 0,
    EVALUATE_REDUCED = 1, /* verify on the reduced problem */
    EVALUATE_TIME = 2,    /* run and time at full size */
    EVALUATE_FULL =
        4, /* run and verify at full size; with TIME the timed run's output is verified */
} evaluation_part;

typedef struct evaluation_request {
    int problem; /* of the workload */
    unsigned parts;
    uint64_t seed;
    double verify_below_us; /* FULL with TIME: only when the time is shorter */
    verify_tile tile;
} evaluation_request;

typedef struct evaluation {
    verdict verdict; /* of the parts together: the first that is not OK, and the largest error */
    verdict reduced; /* of the reduced problem alone */
    bool verified, verified_full;
    double time_us, spread_pct; /* time_us 0: not timed */
    char limiter[32];           /* software device: what set the time; "" elsewhere */
    uint32_t waves_per_simd;    /* software device: occupancy */
} evaluation;

/* What the evaluating worker serves; user is the workload. */
moesaic_status evaluate_serve(void *user, void **state, const void *request, size_t n_bytes,
                              str *answer, moesaic_text *err);

/* Ask for the device's description. */
moesaic_status evaluate_device(worker *w, device_info *out, moesaic_text *err);

/* Run a variant.  A candidate's fault is in out->verdict; its worker is then stopped.  Errors: what isn't the
 * candidate's fault. */
moesaic_status evaluate(worker *w, const evaluation_request *request, const str *elf,
                        const char *launch, double limit_s, evaluation *out, moesaic_text *err);

/* The routing of a problem for a seed. */
moesaic_status evaluate_routing(const tuner_problem *p, const moe_shape *shape, uint64_t seed,
                                routing_table *out, moesaic_text *err);

#endif
