/* tuner/verify.h: is what a variant computes right, in whatever order its waves run?    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TUNER_VERIFY_H
#define MOESAIC_TUNER_VERIFY_H

#include "db/db.h"
#include "tuner/reference.h"
#include "tuner/variant.h"

typedef struct verdict {
    db_trial_status status; /* OK, WRONG, RACE, TIMEOUT or FAULT */
    double max_error, error_bound;
    char reason[256]; /* for all but OK */
} verdict;

/* A launch that failed or ran out of time is the candidate's fault: it becomes a verdict, and MOESAIC_OK is returned.
 * Other statuses are passed on. */
moesaic_status verify_blame(device *dev, moesaic_status status, verdict *out, moesaic_text *err);

/* How long the software device may take for so many operations: a hundred times what it needs on two idle cores,
 * since a candidate must not fail because the host is busy. */
#define VERIFY_LIMIT_S(flops) (60 + (flops) / 5e8)

/* Set the software device's mode, order of waves (seed: of switching) and time limit for a run on these operands;
 * nothing elsewhere. */
void verify_set_mode(device *dev, moesaic_sim_mode mode, moesaic_sim_order order, uint64_t seed,
                     const moe_operands *o);

/* The sizes of a variant's tile that decide what a small problem must look like. */
typedef struct verify_tile {
    int m, n, k, split_k;
} verify_tile;
moesaic_status verify_tile_of(const cJSON *config, verify_tile *out, moesaic_text *err);

/* The reduced problem of a tile: two tiles and a remainder in each dimension; an expert that has most of the rows, one
 * without, one with a single row, and tokens without an expert.  variation 0, 1, 2: other remainders, and 2, 5, 3
 * tiles along K. */
moesaic_status verify_reduced_shape(const moe_shape *full, const verify_tile *tile, int variation,
                                    moe_shape *shape, routing_table *routing, moesaic_text *err);

/* Run the reduced problem with three seeds, each under three orders of waves, switching with several seeds of its own;
 * outputs must agree bitwise between orders, and with an fp64 reference within the bound.  Errors: what isn't the
 * candidate's fault (memory, the reference). */
moesaic_status verify_reduced(const variant *code, const moe_shape *full, const verify_tile *tile,
                              uint64_t seed, verdict *out, moesaic_text *err);

/* Compare what lies in the operands' output with the reference, and look at guards and padding. */
moesaic_status verify_output(const moe_operands *o, const moe_reference *r, verdict *out,
                             moesaic_text *err);

/* Run once for its values and verify_output. */
moesaic_status verify_full(const variant *code, moe_operands *o, const moe_reference *r,
                           verdict *out, moesaic_text *err);

#endif
