/* tuner/moe.c: shape, work and roofline of one pass.
 *
 * Peaks: docs/hardware.md, "Rates".  Tested by tests/tuner/test_moe.c.    SPDX-License-Identifier: MIT
 */
#include "tuner/moe.h"

#include <string.h>

/* A CU does 2,048 bf16 FLOPs a clock (CDNA3 white paper); a GEMM that keeps the matrix cores busy for 94 % of the
 * cycles sustains 1,207 MHz (AMD, "Measuring max-achievable FLOPs, part 2"). */
#define FLOPS_PER_CLK_PER_CU 2048.0
#define SUSTAINED_MHZ        1207.0
#define HBM_BYTES_PER_US     4.2e6

static moesaic_status take_size(const cJSON *fields, const char *key, int64_t most, int64_t *out,
                                moesaic_text *err)
{
    return json_int(fields, key, "problem", 1, most, NULL, out, err);
}

moesaic_status moe_shape_of(const char *pass, const cJSON *fields, moe_shape *out,
                            moesaic_text *err)
{
    enum { MAX_WIDTH = 1 << 24, MAX_EXPERTS = 1 << 16 };
    int64_t hidden = 0, ffn = 0, experts = 0, top_k = 0, aligned = 1, one = 1;
    *out = (moe_shape){.down = !strcmp(pass, "down")};
    moesaic_status status = take_size(fields, "hidden", MAX_WIDTH, &hidden, err);
    if (status == MOESAIC_OK)
        status = take_size(fields, "expert_ffn", MAX_WIDTH, &ffn, err);
    if (status == MOESAIC_OK)
        status = take_size(fields, "experts", MAX_EXPERTS, &experts, err);
    if (status == MOESAIC_OK)
        status = take_size(fields, "top_k", experts, &top_k, err);
    if (status == MOESAIC_OK)
        status = take_size(fields, "tokens", INT32_MAX / (top_k ? top_k : 1), &out->tokens, err);
    if (status == MOESAIC_OK)
        status = json_int(fields, "aligned", "problem", 0, 1, &one, &aligned, err);
    out->hidden = (int)hidden;
    out->ffn = (int)ffn;
    out->experts = (int)experts;
    out->top_k = (int)top_k;
    out->aligned = aligned == 1;
    return status;
}

double moe_flops(const moe_shape *s, int64_t rows)
{
    return 2.0 * (double)rows * moe_panels(s) * moe_out_cols(s) * moe_depth(s);
}

static double weight_bytes(const moe_shape *s, int experts)
{
    return 2.0 * experts * moe_panels(s) * moe_out_cols(s) * moe_depth(s);
}

double moe_compulsory_bytes(const moe_shape *s, const routing_table *r)
{
    double x = 2.0 * (double)(s->down ? r->rows : s->tokens) * moe_depth(s);
    double out = 2.0 * (double)(s->down ? s->tokens : r->rows) * moe_out_cols(s);
    return weight_bytes(s, routing_active(r)) + x + out;
}

double moe_operand_bytes(const moe_shape *s)
{
    return weight_bytes(s, s->experts) + 2.0 * (double)moe_x_rows(s) * moe_depth(s) +
           2.0 * (double)moe_out_rows(s) * moe_out_cols(s);
}

double moe_roofline_us(const moe_shape *s, const routing_table *r, int cu_count)
{
    double flops_us =
        moe_flops(s, r->rows) / (FLOPS_PER_CLK_PER_CU * SUSTAINED_MHZ * (double)cu_count);
    double bytes_us = moe_compulsory_bytes(s, r) / HBM_BYTES_PER_US;
    return flops_us > bytes_us ? flops_us : bytes_us;
}
