/* runtime/router.c: plans and executions of the family router.
 *
 * Tested by tests/runtime/test_router.c.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

/* templates/router: what a wave holds of one token. */
enum { MAX_EXPERTS = 1024, MAX_TOP_K = 16 };

static const char pass_name[] = "topk";

static moesaic_status check_shape(const moesaic_router *given, moesaic_router *out,
                                  moesaic_text *err)
{
    if (!given || given->size_bytes < sizeof *out)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "the shape is NULL or shape.size_bytes is not sizeof(moesaic_router)");
    *out = *given;
    moesaic_status status = check_range("experts", out->experts, 1, MAX_EXPERTS, err);
    if (status == MOESAIC_OK)
        status = check_range("top_k", out->top_k, 1,
                             out->experts < MAX_TOP_K ? out->experts : MAX_TOP_K, err);
    if (status == MOESAIC_OK)
        status = check_range("tokens", out->tokens, 1, INT32_MAX / MAX_TOP_K, err);
    if (status == MOESAIC_OK)
        status = check_range("normalise", out->normalise, 0, 1, err);
    if (!out->ld_logits)
        out->ld_logits = out->experts;
    return status == MOESAIC_OK
               ? check_range("ld_logits", out->ld_logits, out->experts, INT32_MAX, err)
               : status;
}

static cJSON *fields_of(const moesaic_router *s)
{
    cJSON *fields = cJSON_CreateObject();
    bool made = fields && cJSON_AddNumberToObject(fields, "normalise", s->normalise) &&
                cJSON_AddNumberToObject(fields, "experts", (double)s->experts) &&
                cJSON_AddNumberToObject(fields, "top_k", (double)s->top_k) &&
                cJSON_AddNumberToObject(fields, "tokens", (double)s->tokens);
    if (made)
        return fields;
    cJSON_Delete(fields);
    return NULL;
}

moesaic_status moesaic_plan_router(moesaic_context *context, const moesaic_router *shape,
                                   moesaic_plan **out, moesaic_text *err)
{
    problem p;
    moesaic_plan like = {.kind = PLAN_ROUTER, .pass = pass_name};
    if (!out)
        return moesaic_fail(err, MOESAIC_E_INPUT, "out is NULL");
    *out = NULL;
    moesaic_status status = context_check(context, err);
    if (status == MOESAIC_OK)
        status = check_shape(shape, &like.shape.router, err);
    if (status != MOESAIC_OK)
        return status;
    like.top_k = like.shape.router.top_k;
    status = problem_make("router", pass_name, fields_of(&like.shape.router), &p, err);
    if (status == MOESAIC_OK)
        return plan_make(context, &like, &p, out, err);
    problem_free(&p);
    return status;
}

static moesaic_status check_buffers(const moesaic_plan *plan, const moesaic_router_buffers *b,
                                    moesaic_text *err)
{
    const plan_pointer pointers[] = {
        {"offsets", b->offsets, true, 4},
        {"logits", b->logits, b->tokens > 0, 4},
        {"token_index", b->token_index, b->tokens > 0, 4},
        {"routing_weight", b->routing_weight, b->tokens > 0, 4},
        {"row_of_slot", b->row_of_slot, b->tokens > 0, 4},
    };
    moesaic_status status =
        plan_check_amount(plan, b->tokens, b->workspace, b->workspace_bytes, err);
    if (status != MOESAIC_OK)
        return status;
    return plan_check_pointers(plan, pointers, sizeof pointers / sizeof pointers[0], err);
}

/* No tokens is work too: the offsets become zero. */
moesaic_status moesaic_router_execute(const moesaic_plan *plan, const moesaic_router_buffers *b,
                                      hipStream_t stream, moesaic_text *err)
{
    moesaic_status status = plan_check_kind(plan, PLAN_ROUTER, err);
    if (status != MOESAIC_OK)
        return status;
    if (!b || b->size_bytes < sizeof *b)
        return moesaic_fail(
            err, MOESAIC_E_INPUT,
            "buffers is NULL or buffers.size_bytes is not sizeof(moesaic_router_buffers)");
    status = check_buffers(plan, b, err);
    if (status != MOESAIC_OK)
        return status;
    const moesaic_router *s = &plan->shape.router;
    const int64_t values[N_ARGUMENTS] = {
        [ARGUMENT_logits] = plan_address(b->logits),
        [ARGUMENT_offsets] = plan_address(b->offsets),
        [ARGUMENT_token_index] = plan_address(b->token_index),
        [ARGUMENT_routing_weight] = plan_address(b->routing_weight),
        [ARGUMENT_row_of_slot] = plan_address(b->row_of_slot),
        [ARGUMENT_workspace] = plan_address(b->workspace),
        [ARGUMENT_ld_logits] = s->ld_logits,
        [ARGUMENT_tokens] = b->tokens,
        [ARGUMENT_experts] = s->experts,
        [ARGUMENT_top_k] = s->top_k,
    };
    atomic_fetch_add_explicit(&plan->context->counters.executions, 1, memory_order_relaxed);
    return kernels_launch(&plan->kernels, plan->context->dev, values, stream, err);
}
