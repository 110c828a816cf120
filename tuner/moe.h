/* tuner/moe.h: one pass of a mixture-of-experts layer as numbers: its shape, work and roofline.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_MOE_H
#define MOESAIC_TUNER_MOE_H

#include "base/json.h"
#include "tuner/routing.h"

typedef struct moe_shape {
    bool down;    /* else gate_up */
    bool aligned; /* bases on 16 bytes, sizes and strides multiples of 8 */
    int64_t tokens;
    int hidden, ffn, experts, top_k;
} moe_shape;

/* Shape of a complete problem.  Errors: E_INPUT for sizes beyond what 32-bit indices reach. */
moesaic_status moe_shape_of(const char *pass, const cJSON *fields, moe_shape *out,
                            moesaic_text *err);

static inline int64_t moe_slots(const moe_shape *s)
{
    return s->tokens * s->top_k;
}
static inline int moe_panels(const moe_shape *s)
{
    return s->down ? 1 : 2;
}
static inline int moe_depth(const moe_shape *s)
{
    return s->down ? s->ffn : s->hidden;
}
static inline int moe_out_cols(const moe_shape *s)
{
    return s->down ? s->hidden : s->ffn;
}
static inline int64_t moe_x_rows(const moe_shape *s)
{
    return s->down ? moe_slots(s) : s->tokens;
}
static inline int64_t moe_out_rows(const moe_shape *s)
{
    return s->down ? s->tokens : moe_slots(s);
}

/* Useful floating point operations with `rows` served slots. */
double moe_flops(const moe_shape *s, int64_t rows);

/* Bytes that must cross the memory interface at least once: weights of active experts, activations, outputs. */
double moe_compulsory_bytes(const moe_shape *s, const routing_table *r);

/* Bytes of all operands, as the device must hold them. */
double moe_operand_bytes(const moe_shape *s);

/* Shortest possible time: the larger of FLOPs at the sustained bf16 peak and compulsory bytes at 4.2 TB/s. */
double moe_roofline_us(const moe_shape *s, const routing_table *r, int cu_count);

#endif
