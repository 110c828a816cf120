/* tuner/operands.c: makes the data of one pass and puts it on the device.
 *
 * Tested by tests/tuner/test_operands.c.    SPDX-License-Identifier: MIT
 */
#include "tuner/operands.h"

#include "base/hash.h"
#include "tuner/bf16.h"

#include <math.h>
#include <stdlib.h>

enum { SHARED_TILES = 8 };

static int64_t weight_rows(const moe_shape *s)
{
    return (int64_t)moe_panels(s) * moe_out_cols(s);
}

const uint16_t *operands_weights(const moe_operands *o, int expert)
{
    int tile = o->n_tiles == o->shape.experts
                   ? expert
                   : (int)(hash_mix((uint64_t)expert) % (uint64_t)o->n_tiles);
    return o->w + tile * weight_rows(&o->shape) * o->ldw;
}

/* --- host --- */

/* n values, uniform in [-reach, reach), then padding. */
static void fill_row(uint16_t *row, int n, int64_t ld, float reach, uint64_t seed)
{
    uint64_t state = hash_mix(seed), word = 0;
    for (int i = 0; i < n; i++) {
        word = i % 4 ? word >> 16 : hash_next(&state);
        row[i] = bf16_from_float((float)(int16_t)(word & 0xffff) * (reach / 32768));
    }
    for (int64_t i = n; i < ld; i++)
        row[i] = 0xffff;
}

static void fill_rows(uint16_t *rows, int64_t n_rows, int n, int64_t ld, float reach, uint64_t seed)
{
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n_rows; r++)
        fill_row(rows + r * ld, n, ld, reach, hash_mix(seed + (uint64_t)r));
}

static int tiles_within(const moe_shape *s, int64_t ldw, double host_bytes)
{
    double tile_bytes = 2.0 * (double)weight_rows(s) * (double)ldw;
    bool fits = host_bytes <= 0 || tile_bytes * s->experts <= host_bytes;
    return fits || s->experts < SHARED_TILES ? s->experts : SHARED_TILES;
}

moesaic_status operands_make(const moe_shape *shape, routing_table *routing, int padding,
                             double host_bytes, uint64_t seed, moe_operands *out, moesaic_text *err)
{
    int depth = moe_depth(shape);
    float reach = sqrtf(3);
    *out = (moe_operands){.shape = *shape,
                          .routing = *routing,
                          .seed = seed,
                          .ldx = depth + padding,
                          .ldw = depth + padding,
                          .ldout = moe_out_cols(shape) + padding};
    *routing = (routing_table){0};
    out->n_tiles = tiles_within(shape, out->ldw, host_bytes);
    int64_t x_rows = moe_x_rows(shape), w_rows = out->n_tiles * weight_rows(shape);
    out->x = malloc((size_t)(x_rows * out->ldx) * sizeof *out->x);
    out->w = malloc((size_t)(w_rows * out->ldw) * sizeof *out->w);
    if (!out->x || !out->w) {
        operands_free(out);
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no host memory for operands of %.1f GB",
                            moe_operand_bytes(shape) / 1e9);
    }
    fill_rows(out->x, x_rows, depth, out->ldx, reach, hash_mix(seed) ^ 'x');
    fill_rows(out->w, w_rows, depth, out->ldw, reach / sqrtf((float)depth), hash_mix(seed) ^ 'w');
    return MOESAIC_OK;
}

void operands_free(moe_operands *o)
{
    guarded *const buffers[] = {&o->d_x,           &o->d_w,           &o->d_out,
                                &o->d_offsets,     &o->d_token_index, &o->d_weight,
                                &o->d_row_of_slot, &o->d_workspace};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        guard_free(buffers[i]);
    routing_free(&o->routing);
    free(o->x);
    free(o->w);
    *o = (moe_operands){0};
}

/* --- device --- */

static moesaic_status put(device *dev, const void *from, size_t n_bytes, size_t skew, guarded *to,
                          moesaic_text *err)
{
    moesaic_status status = guard_alloc(dev, n_bytes, skew, to, err);
    if (status == MOESAIC_OK && n_bytes)
        status = device_copy_in(dev, guard_data(to), from, n_bytes, err);
    return status;
}

static moesaic_status put_weights(moe_operands *o, device *dev, size_t skew, moesaic_text *err)
{
    size_t expert_bytes = (size_t)(weight_rows(&o->shape) * o->ldw) * sizeof *o->w;
    size_t n_experts = (size_t)o->shape.experts;
    moesaic_status status = guard_alloc(dev, n_experts * expert_bytes, skew, &o->d_w, err);
    for (size_t e = 0; status == MOESAIC_OK && e < n_experts; e++)
        status = device_copy_in(dev, (char *)guard_data(&o->d_w) + e * expert_bytes,
                                operands_weights(o, (int)e), expert_bytes, err);
    return status;
}

static moesaic_status put_lists(moe_operands *o, device *dev, moesaic_text *err)
{
    const routing_table *r = &o->routing;
    size_t n_slots = (size_t)moe_slots(&o->shape), n_experts = (size_t)r->experts;
    moesaic_status status =
        put(dev, r->offsets, (n_experts + 1) * sizeof *r->offsets, 0, &o->d_offsets, err);
    if (status == MOESAIC_OK)
        status =
            put(dev, r->token_index, n_slots * sizeof *r->token_index, 0, &o->d_token_index, err);
    if (status == MOESAIC_OK)
        status = put(dev, r->weight, n_slots * sizeof *r->weight, 0, &o->d_weight, err);
    if (status == MOESAIC_OK)
        status =
            put(dev, r->row_of_slot, n_slots * sizeof *r->row_of_slot, 0, &o->d_row_of_slot, err);
    return status;
}

moesaic_status operands_upload(moe_operands *o, device *dev, size_t n_workspace_bytes,
                               moesaic_text *err)
{
    size_t skew = o->shape.aligned ? 0 : sizeof(uint16_t);
    size_t x_bytes = (size_t)(moe_x_rows(&o->shape) * o->ldx) * sizeof *o->x;
    size_t out_bytes = (size_t)(moe_out_rows(&o->shape) * o->ldout) * sizeof(uint16_t);
    moesaic_status status = put(dev, o->x, x_bytes, skew, &o->d_x, err);
    if (status == MOESAIC_OK)
        status = put_weights(o, dev, skew, err);
    if (status == MOESAIC_OK)
        status = put_lists(o, dev, err);
    if (status == MOESAIC_OK)
        status = guard_alloc(dev, out_bytes, skew, &o->d_out, err);
    if (status == MOESAIC_OK)
        status = guard_alloc(dev, n_workspace_bytes, 0, &o->d_workspace, err);
    return status;
}

moesaic_status operands_reserve(moe_operands *o, size_t n_workspace_bytes, moesaic_text *err)
{
    device *dev = o->d_workspace.dev;
    if (n_workspace_bytes <= o->d_workspace.n_bytes)
        return MOESAIC_OK;
    guard_free(&o->d_workspace);
    return guard_alloc(dev, n_workspace_bytes, 0, &o->d_workspace, err);
}
