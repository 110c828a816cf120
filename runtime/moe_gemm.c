/* runtime/moe_gemm.c: plans and executions of the family moe_gemm.
 *
 * Tested by tests/runtime/test_moe_gemm.c and tests/api.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

enum { MAX_WIDTH = 1 << 24, MAX_EXPERTS = 1 << 16, FAST_ALIGNMENT_BYTES = 16, FAST_ELEMS = 8 };

static const char *const pass_names[] = {[MOESAIC_GATE_UP] = "gate_up", [MOESAIC_DOWN] = "down"};

/* --- checking --- */

static moesaic_status check_sizes(const moesaic_moe_gemm *s, moesaic_text *err)
{
    const struct {
        const char *name;
        int64_t value, low, high;
    } sizes[] = {
        {"hidden", s->hidden, 1, MAX_WIDTH},
        {"ffn", s->ffn, 1, MAX_WIDTH},
        {"experts", s->experts, 1, MAX_EXPERTS},
        {"top_k", s->top_k, 1, s->experts},
        {"tokens", s->tokens, 1, INT32_MAX / (s->top_k > 0 ? s->top_k : 1)},
    };
    moesaic_status status = MOESAIC_OK;
    for (size_t i = 0; status == MOESAIC_OK && i < sizeof sizes / sizeof sizes[0]; i++)
        status = check_range(sizes[i].name, sizes[i].value, sizes[i].low, sizes[i].high, err);
    return status;
}

/* A stride that isn't given is the row's length. */
static moesaic_status fill_stride(const char *name, int64_t row, int64_t *stride, moesaic_text *err)
{
    if (!*stride)
        *stride = row;
    return check_range(name, *stride, row, INT64_MAX / MAX_EXPERTS / MAX_WIDTH, err);
}

static moesaic_status fill_strides(moesaic_moe_gemm *s, moesaic_text *err)
{
    const int64_t depth = s->pass == MOESAIC_DOWN ? s->ffn : s->hidden;
    const int64_t cols = s->pass == MOESAIC_DOWN ? s->hidden : s->ffn;
    moesaic_status status = fill_stride("ldx", depth, &s->ldx, err);
    if (status == MOESAIC_OK)
        status = fill_stride("ldw", depth, &s->ldw, err);
    return status == MOESAIC_OK ? fill_stride("ldout", cols, &s->ldout, err) : status;
}

static moesaic_status check_shape(const moesaic_moe_gemm *given, moesaic_moe_gemm *out,
                                  moesaic_text *err)
{
    if (!given || given->size_bytes < sizeof *out)
        return moesaic_fail(
            err, MOESAIC_E_INPUT,
            "the shape is NULL or shape.size_bytes is not sizeof(moesaic_moe_gemm)");
    *out = *given;
    if (out->pass != MOESAIC_GATE_UP && out->pass != MOESAIC_DOWN)
        return moesaic_fail(err, MOESAIC_E_SHAPE,
                            "pass %d is unknown: use MOESAIC_GATE_UP or _DOWN", (int)out->pass);
    if (out->dtype != MOESAIC_BF16)
        return moesaic_fail(err, MOESAIC_E_SHAPE, "dtype %d is unknown: use MOESAIC_BF16",
                            (int)out->dtype);
    uint32_t *alignment = &out->pointer_alignment_bytes;
    if (!*alignment)
        *alignment = FAST_ALIGNMENT_BYTES;
    if (*alignment & (*alignment - 1) || *alignment < 2)
        return moesaic_fail(err, MOESAIC_E_SHAPE,
                            "pointer_alignment_bytes is %u, must be a power of two from 2",
                            *alignment);
    moesaic_status status = check_sizes(out, err);
    return status == MOESAIC_OK ? fill_strides(out, err) : status;
}

/* --- planning --- */

static bool is_aligned(const moesaic_moe_gemm *s)
{
    const int64_t all = s->hidden | s->ffn | s->ldx | s->ldw | s->ldout;
    return s->pointer_alignment_bytes >= FAST_ALIGNMENT_BYTES && all % FAST_ELEMS == 0;
}

/* The fields as the tuner states them. */
static cJSON *fields_of(const moesaic_moe_gemm *s)
{
    cJSON *fields = cJSON_CreateObject();
    bool made = fields && cJSON_AddStringToObject(fields, "dtype", "bf16") &&
                cJSON_AddStringToObject(fields, "activation", "swiglu") &&
                cJSON_AddStringToObject(fields, "routing", s->routing ? s->routing : "uniform") &&
                cJSON_AddNumberToObject(fields, "aligned", is_aligned(s)) &&
                cJSON_AddNumberToObject(fields, "hidden", (double)s->hidden) &&
                cJSON_AddNumberToObject(fields, "expert_ffn", (double)s->ffn) &&
                cJSON_AddNumberToObject(fields, "experts", (double)s->experts) &&
                cJSON_AddNumberToObject(fields, "top_k", (double)s->top_k) &&
                cJSON_AddNumberToObject(fields, "tokens", (double)s->tokens);
    if (made)
        return fields;
    cJSON_Delete(fields);
    return NULL;
}

moesaic_status moesaic_plan_moe_gemm(moesaic_context *context, const moesaic_moe_gemm *shape,
                                     moesaic_plan **out, moesaic_text *err)
{
    problem p;
    moesaic_moe_gemm s;
    if (!out)
        return moesaic_fail(err, MOESAIC_E_INPUT, "out is NULL");
    *out = NULL;
    moesaic_status status = context_check(context, err);
    if (status == MOESAIC_OK)
        status = check_shape(shape, &s, err);
    if (status != MOESAIC_OK)
        return status;
    moesaic_plan like = {.kind = PLAN_MOE_GEMM, .pass = pass_names[s.pass], .top_k = s.top_k};
    status = problem_make("moe_gemm", like.pass, fields_of(&s), &p, err);
    s.routing = NULL;
    like.shape.moe_gemm = s;
    if (status == MOESAIC_OK)
        return plan_make(context, &like, &p, out, err);
    problem_free(&p);
    return status;
}

/* --- executing --- */

static moesaic_status check_buffers(const moesaic_plan *plan, const moesaic_moe_gemm_buffers *b,
                                    moesaic_text *err)
{
    const bool down = plan->shape.moe_gemm.pass == MOESAIC_DOWN;
    const size_t data = plan->shape.moe_gemm.pointer_alignment_bytes;
    const plan_pointer pointers[] = {
        {"x", b->x, true, data},
        {"w", b->w, true, data},
        {"out", b->out, true, data},
        {"offsets", b->offsets, true, 4},
        {"token_index", b->token_index, true, 4},
        {"routing_weight", b->routing_weight, down, 4},
        {"row_of_slot", b->row_of_slot, down, 4},
    };
    moesaic_status status =
        plan_check_amount(plan, b->tokens, b->workspace, b->workspace_bytes, err);
    if (status != MOESAIC_OK || !b->tokens)
        return status;
    return plan_check_pointers(plan, pointers, sizeof pointers / sizeof pointers[0], err);
}

moesaic_status moesaic_moe_gemm_execute(const moesaic_plan *plan, const moesaic_moe_gemm_buffers *b,
                                        hipStream_t stream, moesaic_text *err)
{
    moesaic_status status = plan_check_kind(plan, PLAN_MOE_GEMM, err);
    if (status != MOESAIC_OK)
        return status;
    if (!b || b->size_bytes < sizeof *b)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "buffers is NULL or buffers.size_bytes is not "
                            "sizeof(moesaic_moe_gemm_buffers)");
    status = check_buffers(plan, b, err);
    if (status != MOESAIC_OK || !b->tokens)
        return status;
    const moesaic_moe_gemm *s = &plan->shape.moe_gemm;
    const int64_t values[N_ARGUMENTS] = {
        [ARGUMENT_x] = plan_address(b->x),
        [ARGUMENT_w] = plan_address(b->w),
        [ARGUMENT_out] = plan_address(b->out),
        [ARGUMENT_offsets] = plan_address(b->offsets),
        [ARGUMENT_token_index] = plan_address(b->token_index),
        [ARGUMENT_routing_weight] = plan_address(b->routing_weight),
        [ARGUMENT_row_of_slot] = plan_address(b->row_of_slot),
        [ARGUMENT_workspace] = plan_address(b->workspace),
        [ARGUMENT_ldx] = s->ldx,
        [ARGUMENT_ldw] = s->ldw,
        [ARGUMENT_ldout] = s->ldout,
        [ARGUMENT_tokens] = b->tokens,
        [ARGUMENT_hidden] = s->hidden,
        [ARGUMENT_ffn] = s->ffn,
        [ARGUMENT_experts] = s->experts,
        [ARGUMENT_top_k] = s->top_k,
    };
    atomic_fetch_add_explicit(&plan->context->counters.executions, 1, memory_order_relaxed);
    return kernels_launch(&plan->kernels, plan->context->dev, values, stream, err);
}
