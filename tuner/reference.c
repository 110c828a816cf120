/* tuner/reference.c: reference results of a pass, in fp64 or through BLAS, and the comparison.
 *
 * Rows are taken expert by expert.  Products of |x| and |w| beside those of x and w give the sums of magnitudes.
 * Tested by tests/tuner/test_reference.c.    SPDX-License-Identifier: MIT
 */
#include "tuner/reference.h"

#include "base/hash.h"
#include "tuner/bf16.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

enum { BLOCK_ROWS = 512, SPOT_CHECKS = 64 };

/* Roundings behind the sum: parts of K, slots, weight or activation. */
enum { ROUNDINGS_BEHIND = 24 };

static double gamma_of(double n, double unit)
{
    return n * unit / (1 - n * unit);
}

static double roundings(const moe_shape *shape)
{
    return moe_depth(shape) + shape->top_k + ROUNDINGS_BEHIND;
}

double reference_bound(const moe_shape *shape, reference_kind kind)
{
    double n = roundings(shape);
    return gamma_of(n, 0x1p-23) + (kind == REFERENCE_FP32 ? gamma_of(n, 0x1p-24) : 0);
}

/* The sums behind one element of one row: gate and up, or the only one. */
typedef struct sums {
    double value[2], magnitude[2];
} sums;

/* What they contribute to the output and to its scale. */
typedef struct contribution {
    double value, scale;
} contribution;

static contribution contribution_of(const moe_operands *o, int64_t row, const sums *s)
{
    if (o->shape.down) {
        double weight = (double)o->routing.weight[row];
        return (contribution){weight * s->value[0], fabs(weight) * s->magnitude[0]};
    }
    double gate = s->value[0], up = s->value[1], silu = gate / (1 + exp(-gate));
    double bound = reference_bound(&o->shape, REFERENCE_FP64);
    double by_gate = 1.1 * s->magnitude[0] * (fabs(up) + bound * s->magnitude[1]);
    return (contribution){silu * up, by_gate + fabs(silu) * s->magnitude[1]};
}

/* Row of x that a row multiplies, and row of the output that it adds to. */
static int64_t x_row(const moe_operands *o, int64_t row)
{
    return o->shape.down ? row : o->routing.token_index[row];
}
static int64_t out_row(const moe_operands *o, int64_t row)
{
    return o->shape.down ? o->routing.token_index[row] : row;
}

static void add_element(const moe_operands *o, int64_t row, int col, const sums *s,
                        moe_reference *r)
{
    contribution c = contribution_of(o, row, s);
    int64_t at = out_row(o, row) * r->cols + col;
    r->value[at] += (float)c.value;
    r->scale[at] += (float)c.scale;
}

/* --- fp64 --- */

static void dot(const uint16_t *x, const uint16_t *w, int k, double *value, double *magnitude)
{
    double sum = 0, sum_abs = 0;
#pragma omp simd reduction(+ : sum, sum_abs)
    for (int i = 0; i < k; i++) {
        double product = (double)(bf16_to_float(x[i]) * bf16_to_float(w[i])); /* exact in fp32 */
        sum += product;
        sum_abs += fabs(product);
    }
    *value = sum;
    *magnitude = sum_abs;
}

static sums sums_fp64(const moe_operands *o, int expert, int64_t row, int col)
{
    sums s;
    const uint16_t *w = operands_weights(o, expert);
    const uint16_t *x = o->x + x_row(o, row) * o->ldx;
    int64_t cols = moe_out_cols(&o->shape);
    for (int p = 0; p < moe_panels(&o->shape); p++)
        dot(x, w + (p * cols + col) * o->ldw, moe_depth(&o->shape), &s.value[p], &s.magnitude[p]);
    return s;
}

static void expert_fp64(const moe_operands *o, int expert, moe_reference *r)
{
    int64_t first = o->routing.offsets[expert], end = o->routing.offsets[expert + 1];
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t row = first; row < end; row++)
        for (int col = 0; col < r->cols; col++) {
            sums s = sums_fp64(o, expert, row, col);
            add_element(o, row, col, &s, r);
        }
}

/* --- fp32 through BLAS --- */

/* Weights of one expert and a block of rows; each matrix once as it is and once without signs. */
typedef struct block {
    int n, k;
    float *x[2], *w[2], *sum[2];
} block;

static void block_free(block *b)
{
    for (int i = 0; i < 2; i++) {
        free(b->x[i]);
        free(b->w[i]);
        free(b->sum[i]);
    }
}

static moesaic_status block_make(const moe_shape *shape, block *b, moesaic_text *err)
{
    *b = (block){.n = moe_panels(shape) * moe_out_cols(shape), .k = moe_depth(shape)};
    size_t n = (size_t)b->n, k = (size_t)b->k;
    bool made = true;
    for (int i = 0; i < 2; i++) {
        b->x[i] = malloc(BLOCK_ROWS * k * sizeof(float));
        b->w[i] = malloc(n * k * sizeof(float));
        b->sum[i] = malloc(BLOCK_ROWS * n * sizeof(float));
        made = made && b->x[i] && b->w[i] && b->sum[i];
    }
    if (made)
        return MOESAIC_OK;
    block_free(b);
    return moesaic_fail(err, MOESAIC_E_NOMEM, "no host memory for a reference of %d x %d", b->n,
                        b->k);
}

static void widen(const uint16_t *from, int n, float *to, float *to_abs)
{
    for (int i = 0; i < n; i++) {
        to[i] = bf16_to_float(from[i]);
        to_abs[i] = fabsf(to[i]);
    }
}

static void load_weights(const moe_operands *o, int expert, block *b)
{
    const uint16_t *w = operands_weights(o, expert);
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < b->n; row++)
        widen(w + row * o->ldw, b->k, b->w[0] + row * b->k, b->w[1] + row * b->k);
}

static void multiply_rows(const moe_operands *o, int64_t first, int n_rows, block *b)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n_rows; i++)
        widen(o->x + x_row(o, first + i) * o->ldx, b->k, b->x[0] + i * b->k, b->x[1] + i * b->k);
    for (int i = 0; i < 2; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n_rows, b->n, b->k, 1, b->x[i], b->k,
                    b->w[i], b->k, 0, b->sum[i], b->n);
}

static void add_rows(const moe_operands *o, int64_t first, int n_rows, const block *b,
                     moe_reference *r)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n_rows; i++)
        for (int col = 0; col < r->cols; col++) {
            sums s;
            for (int p = 0; p < moe_panels(&o->shape); p++) {
                int64_t at = i * b->n + (int64_t)p * r->cols + col;
                s.value[p] = (double)b->sum[0][at];
                s.magnitude[p] = (double)b->sum[1][at];
            }
            add_element(o, first + i, col, &s, r);
        }
}

static void expert_fp32(const moe_operands *o, int expert, block *b, moe_reference *r)
{
    int64_t first = o->routing.offsets[expert], end = o->routing.offsets[expert + 1];
    if (first < end)
        load_weights(o, expert, b);
    for (int64_t row = first; row < end; row += BLOCK_ROWS) {
        int n_rows = (int)(end - row < BLOCK_ROWS ? end - row : BLOCK_ROWS);
        multiply_rows(o, row, n_rows, b);
        add_rows(o, row, n_rows, b, r);
    }
}

static int expert_of_row(const routing_table *t, int64_t row)
{
    int e = 0;
    while (t->offsets[e + 1] <= row)
        e++;
    return e;
}

/* One output element in fp64, from all the rows that reach it. */
static contribution element_fp64(const moe_operands *o, int64_t row, int col)
{
    contribution all = {0};
    int64_t first = o->shape.down ? row * o->shape.top_k : row;
    int64_t n = o->shape.down ? o->shape.top_k : 1;
    for (int64_t i = first; i < first + n; i++) {
        int64_t in = o->shape.down ? o->routing.row_of_slot[i] : i;
        if (in < 0 || in >= o->routing.rows)
            continue;
        sums s = sums_fp64(o, expert_of_row(&o->routing, in), in, col);
        contribution c = contribution_of(o, in, &s);
        all.value += c.value;
        all.scale += c.scale;
    }
    return all;
}

static moesaic_status check_spots(const moe_operands *o, const moe_reference *r, moesaic_text *err)
{
    uint64_t state = hash_mix(o->seed ^ 's');
    double bound = gamma_of(roundings(&o->shape), 0x1p-24);
    for (int i = 0; i < SPOT_CHECKS; i++) {
        int64_t row = (int64_t)(hash_next(&state) % (uint64_t)r->rows);
        int col = (int)(hash_next(&state) % (uint64_t)r->cols);
        contribution want = element_fp64(o, row, col);
        double got = (double)r->value[row * r->cols + col];
        if (!(fabs(got - want.value) <= bound * want.scale))
            return moesaic_fail(err, MOESAIC_E_STATE,
                                "the reference is wrong: OpenBLAS gives %.9g for row %lld, column "
                                "%d, fp64 %.9g; another kernel of it may be right: set "
                                "OPENBLAS_CORETYPE=Haswell",
                                got, (long long)row, col, want.value);
    }
    return MOESAIC_OK;
}

/* --- both --- */

static moesaic_status fill_fp32(const moe_operands *o, moe_reference *r, moesaic_text *err)
{
    block b;
    moesaic_status status = block_make(&o->shape, &b, err);
    if (status != MOESAIC_OK)
        return status;
    for (int e = 0; e < o->shape.experts; e++)
        expert_fp32(o, e, &b, r);
    block_free(&b);
    return check_spots(o, r, err);
}

moesaic_status reference_make(const moe_operands *o, reference_kind kind, moe_reference *out,
                              moesaic_text *err)
{
    *out = (moe_reference){.rows = moe_out_rows(&o->shape),
                           .cols = moe_out_cols(&o->shape),
                           .bound = reference_bound(&o->shape, kind)};
    size_t n = (size_t)out->rows * (size_t)out->cols;
    out->value = calloc(n, sizeof *out->value);
    out->scale = calloc(n, sizeof *out->scale);
    moesaic_status status = MOESAIC_OK;
    if (!out->value || !out->scale)
        status =
            moesaic_fail(err, MOESAIC_E_NOMEM, "no host memory for a reference of %zu elements", n);
    else if (kind == REFERENCE_FP32)
        status = fill_fp32(o, out, err);
    else
        for (int e = 0; e < o->shape.experts; e++)
            expert_fp64(o, e, out);
    if (status != MOESAIC_OK)
        reference_free(out);
    return status;
}

void reference_free(moe_reference *r)
{
    free(r->value);
    free(r->scale);
    *r = (moe_reference){0};
}

/* --- comparison --- */

/* How far `want` lies outside the numbers that round to `bits`. */
static double distance_from(uint16_t bits, double want)
{
    double got = (double)bf16_to_float(bits);
    double away = (double)bf16_to_float((uint16_t)(bits + 1)); /* the next one away from zero */
    double half = isfinite(away) ? fabs(away - got) / 2 : INFINITY;
    double beyond = fabs(got - want) - half;
    return beyond > 0 ? beyond : 0;
}

static double error_of(double want, double scale, uint16_t bits)
{
    if (!isfinite(bf16_to_float(bits)))
        return INFINITY;
    double distance =
        scale > 0 ? distance_from(bits, want) : fabs((double)bf16_to_float(bits) - want);
    return distance > 0 ? distance / scale : 0;
}

static void compare_row(const moe_reference *r, int64_t row, const uint16_t *out,
                        reference_error *worst)
{
    for (int col = 0; col < r->cols; col++) {
        double want = (double)r->value[row * r->cols + col];
        double error = error_of(want, (double)r->scale[row * r->cols + col], out[col]);
        if (error > worst->max_error || worst->row < 0)
            *worst = (reference_error){error, row, col, (float)want, bf16_to_float(out[col])};
    }
}

reference_error reference_compare(const moe_reference *r, const moe_operands *o,
                                  const uint16_t *out)
{
    reference_error worst = {.row = -1};
    int64_t rows = o->shape.down ? r->rows : o->routing.rows;
#pragma omp parallel
    {
        reference_error mine = {.row = -1};
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; row++)
            compare_row(r, row, out + row * o->ldout, &mine);
#pragma omp critical
        if (mine.row >= 0 && (worst.row < 0 || mine.max_error > worst.max_error))
            worst = mine;
    }
    return worst;
}
