/* runtime/moe_gemm.c: plans and executions of the family moe_gemm.
 *
 * Tested by tests/runtime/test_moe_gemm.c and tests/api.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WIDTH = 1 << 24, MAX_EXPERTS = 1 << 16, FAST_ALIGNMENT_BYTES = 16, FAST_ELEMS = 8 };

static const char *const pass_names[] = {[MOESAIC_GATE_UP] = "gate_up", [MOESAIC_DOWN] = "down"};

void problem_free(problem *p)
{
    cJSON_Delete(p->fields);
    str_free(&p->key);
}

/* --- checking --- */

static moesaic_status check_range(const char *name, int64_t value, int64_t low, int64_t high,
                                  moesaic_text *err)
{
    if (value >= low && value <= high)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_SHAPE, "%s is %lld, must be %lld to %lld", name,
                        (long long)value, (long long)low, (long long)high);
}

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

/* The fields as the tuner states them, reduced to those of the key. */
static moesaic_status make_problem(const moesaic_moe_gemm *s, problem *out, moesaic_text *err)
{
    *out = (problem){.family = "moe_gemm", .pass = pass_names[s->pass]};
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
    moesaic_status status = made ? db_problem_key(fields, &out->key, err)
                                 : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
    cJSON_Delete(fields);
    if (status == MOESAIC_OK)
        status = json_parse(str_text(&out->key), "problem", &out->fields, err);
    return status;
}

static moesaic_status fill_plan(moesaic_plan *plan, moesaic_text *err)
{
    problem p;
    moesaic_status status = make_problem(&plan->shape, &p, err);
    if (status == MOESAIC_OK)
        status = serve(plan->context, &p, &plan->kernels, &plan->info, err);
    problem_free(&p);
    plan->shape.routing = NULL;
    return status;
}

moesaic_status moesaic_plan_moe_gemm(moesaic_context *context, const moesaic_moe_gemm *shape,
                                     moesaic_plan **out, moesaic_text *err)
{
    moesaic_moe_gemm checked;
    if (!out)
        return moesaic_fail(err, MOESAIC_E_INPUT, "out is NULL");
    *out = NULL;
    moesaic_status status = context_check(context, err);
    if (status == MOESAIC_OK)
        status = check_shape(shape, &checked, err);
    if (status != MOESAIC_OK)
        return status;
    moesaic_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a plan");
    plan->context = context;
    plan->shape = checked;
    context_retain(context);
    status = fill_plan(plan, err);
    if (status == MOESAIC_OK)
        *out = plan;
    else
        moesaic_plan_free(plan);
    return status;
}

/* --- executing --- */

static moesaic_status check_pointer(const moesaic_plan *plan, const char *name, const void *pointer,
                                    bool needed, size_t alignment, moesaic_text *err)
{
    if (!pointer && needed)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: buffers.%s is NULL",
                            pass_names[plan->shape.pass], name);
    if ((uintptr_t)pointer % alignment == 0)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_INPUT,
                        "%s: buffers.%s is %p, the plan wants multiples of %zu bytes (see "
                        "pointer_alignment_bytes)",
                        pass_names[plan->shape.pass], name, pointer, alignment);
}

static moesaic_status check_pointers(const moesaic_plan *plan, const moesaic_moe_gemm_buffers *b,
                                     bool workspace, moesaic_text *err)
{
    const bool down = plan->shape.pass == MOESAIC_DOWN;
    const size_t data = plan->shape.pointer_alignment_bytes;
    const struct {
        const char *name;
        const void *pointer;
        bool needed;
        size_t alignment;
    } all[] = {
        {"x", b->x, true, data},
        {"w", b->w, true, data},
        {"out", b->out, true, data},
        {"offsets", b->offsets, true, 4},
        {"token_index", b->token_index, true, 4},
        {"routing_weight", b->routing_weight, down, 4},
        {"row_of_slot", b->row_of_slot, down, 4},
        {"workspace", b->workspace, workspace, FAST_ALIGNMENT_BYTES},
    };
    moesaic_status status = MOESAIC_OK;
    for (size_t i = 0; status == MOESAIC_OK && i < sizeof all / sizeof all[0]; i++)
        status =
            check_pointer(plan, all[i].name, all[i].pointer, all[i].needed, all[i].alignment, err);
    return status;
}

static moesaic_status check_buffers(const moesaic_plan *plan, const moesaic_moe_gemm_buffers *b,
                                    moesaic_text *err)
{
    if (!b || b->size_bytes < sizeof *b)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "buffers is NULL or buffers.size_bytes is not "
                            "sizeof(moesaic_moe_gemm_buffers)");
    moesaic_status status =
        check_range("buffers.tokens", b->tokens, 0, INT32_MAX / plan->shape.top_k, err);
    if (status != MOESAIC_OK || !b->tokens)
        return status;
    size_t needed = moesaic_plan_workspace_bytes(plan, b->tokens);
    if (needed > b->workspace_bytes)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "the workspace has %zu bytes, %lld tokens need %zu "
                            "(moesaic_plan_workspace_bytes)",
                            b->workspace_bytes, (long long)b->tokens, needed);
    return check_pointers(plan, b, needed > 0, err);
}

static int64_t address(const void *pointer)
{
    return (int64_t)(intptr_t)pointer;
}

moesaic_status moesaic_moe_gemm_execute(const moesaic_plan *plan, const moesaic_moe_gemm_buffers *b,
                                        hipStream_t stream, moesaic_text *err)
{
    moesaic_status status = plan_check(plan, err);
    if (status == MOESAIC_OK)
        status = check_buffers(plan, b, err);
    if (status != MOESAIC_OK || !b->tokens)
        return status;
    const moesaic_moe_gemm *s = &plan->shape;
    const int64_t values[N_ARGUMENTS] = {
        [ARGUMENT_x] = address(b->x),
        [ARGUMENT_w] = address(b->w),
        [ARGUMENT_out] = address(b->out),
        [ARGUMENT_offsets] = address(b->offsets),
        [ARGUMENT_token_index] = address(b->token_index),
        [ARGUMENT_routing_weight] = address(b->routing_weight),
        [ARGUMENT_row_of_slot] = address(b->row_of_slot),
        [ARGUMENT_workspace] = address(b->workspace),
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
