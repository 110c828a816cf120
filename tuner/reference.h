/* tuner/reference.h: what a pass must compute, how wrong a result is, and how wrong it may be.
 *
 * The error of an element is the distance between its exact value and the nearest number that rounds to
 * the output, divided by the element's sum of magnitudes:
 *
 *   down     sum over slots of |weight| * sum |x||w|
 *   gate_up  1.1 |up| G + |silu(gate)| U + 1.1 bound G U,   G = sum |x||w_gate|, U = sum |x||w_up|
 *            (what errors of the two sums become: |silu'| <= 1.1)
 *
 * Rounding the output is so taken out, and errors of summation remain; those are bounded by gamma(k).
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_REFERENCE_H
#define MOESAIC_TUNER_REFERENCE_H

#include "tuner/operands.h"

typedef enum reference_kind {
    REFERENCE_FP64, /* BLAS in fp64: exact for our purpose */
    REFERENCE_FP32, /* BLAS in fp32, elements checked against fp64: its own error is part of the bound */
} reference_kind;

typedef struct moe_reference {
    int64_t rows;
    int cols;
    float *value,
        *scale;   /* [rows][cols]; scale 0: no sum reaches the element, the output must be value */
    double bound; /* largest error that rounding explains */
} moe_reference;

/* gamma(n) = n u / (1 - n u) for the sums of a pass: n is the depth and what follows it, u = 2^-23 because matrix
 * instructions may truncate. */
double reference_bound(const moe_shape *shape, reference_kind kind);

/* Compute it.  Errors: E_NOMEM; E_STATE when fp32 results differ from fp64 ones beyond their bound. */
moesaic_status reference_make(const moe_operands *o, reference_kind kind, moe_reference *out,
                              moesaic_text *err);
void reference_free(moe_reference *r);

/* What a comparison found. */
typedef struct reference_error {
    double
        max_error; /* INFINITY: an output is no number, or untouched, or one that must be exact is not */
    int64_t row; /* of the largest error */
    int col;
    float want, got;
} reference_error;

/* Compare outputs [rows][ldout] with the reference.  Rows of gate_up that no expert serves are left out. */
reference_error reference_compare(const moe_reference *r, const moe_operands *o,
                                  const uint16_t *out);

#endif
