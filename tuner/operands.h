/* tuner/operands.h: the data of one pass, on the host and on the device.
 *
 * Everything follows from shape, routing and seed.  Values are uniform with variance 1 (weights: 1 / depth), so that
 * sums have variance 1.  Where all experts' weights would fill too much memory, experts share: the weights of expert
 * e are one of eight random tiles, chosen by a hash of e, here and in the reference alike.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_OPERANDS_H
#define MOESAIC_TUNER_OPERANDS_H

#include "tuner/guard.h"
#include "tuner/moe.h"

typedef struct moe_operands {
    moe_shape shape;
    routing_table routing;
    uint64_t seed;
    int64_t ldx, ldw, ldout;
    int n_tiles; /* different experts' weights */
    uint16_t *x,
        *w; /* host: [moe_x_rows][ldx], [n_tiles][panels * out_cols][ldw]; padding is NaN */
    guarded d_x, d_w, d_out, d_offsets, d_token_index, d_weight, d_row_of_slot, d_workspace;
} moe_operands;

/* Make host data for a routing, which then belongs to the operands (also on failure).  padding: elements added to
 * each row.  host_bytes: memory that experts' weights may take before they share (0: as much as they need). */
moesaic_status operands_make(const moe_shape *shape, routing_table *routing, int padding,
                             double host_bytes, uint64_t seed, moe_operands *out,
                             moesaic_text *err);
/* Put it on the device, with an output and a workspace of n_workspace_bytes. */
moesaic_status operands_upload(moe_operands *o, device *dev, size_t n_workspace_bytes,
                               moesaic_text *err);
/* A larger workspace, if it is not large enough. */
moesaic_status operands_reserve(moe_operands *o, size_t n_workspace_bytes, moesaic_text *err);
void operands_free(moe_operands *o);

/* The tile that holds the weights of an expert. */
const uint16_t *operands_weights(const moe_operands *o, int expert);

#endif
