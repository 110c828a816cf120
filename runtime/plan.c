/* runtime/plan.c: what is the same for plans of every family.    SPDX-License-Identifier: MIT */
#include "runtime/runtime_int.h"

#include <stdlib.h>

moesaic_status plan_check(const moesaic_plan *plan, moesaic_text *err)
{
    if (!plan)
        return moesaic_fail(err, MOESAIC_E_INPUT, "the plan is NULL: moesaic_plan_* gives one");
    return context_check(plan->context, err);
}

moesaic_status plan_make(moesaic_context *context, const moesaic_plan *like, problem *p,
                         moesaic_plan **out, moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    moesaic_plan *plan = malloc(sizeof *plan);
    if (!plan)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a plan");
    if (status == MOESAIC_OK) {
        *plan = *like;
        plan->context = context;
        context_retain(context);
        status = serve(context, p, &plan->kernels, &plan->info, err);
    }
    problem_free(p);
    if (status == MOESAIC_OK)
        *out = plan;
    else
        moesaic_plan_free(plan);
    return status;
}

void moesaic_plan_free(moesaic_plan *plan)
{
    if (plan_check(plan, NULL) != MOESAIC_OK)
        return;
    kernels_unload(&plan->kernels);
    context_release(plan->context);
    free(plan);
}

moesaic_status moesaic_plan_lookup(const moesaic_plan *plan, moesaic_lookup *out)
{
    moesaic_status status = plan_check(plan, NULL);
    if (status != MOESAIC_OK || !out)
        return status == MOESAIC_OK ? MOESAIC_E_INPUT : status;
    return copy_sized(&plan->info, sizeof plan->info, out, out->size_bytes);
}

size_t moesaic_plan_workspace_bytes(const moesaic_plan *plan, int64_t max_tokens)
{
    if (plan_check(plan, NULL) != MOESAIC_OK || max_tokens <= 0)
        return 0;
    const kernels *k = &plan->kernels;
    const int64_t slots = max_tokens * plan->top_k;
    return (size_t)(k->workspace_fixed_bytes + k->workspace_per_row_bytes * slots);
}

/* --- what an execution brings --- */

moesaic_status plan_check_kind(const moesaic_plan *plan, plan_kind kind, moesaic_text *err)
{
    moesaic_status status = plan_check(plan, err);
    if (status != MOESAIC_OK || plan->kind == kind)
        return status;
    return moesaic_fail(err, MOESAIC_E_INPUT, "this plan is of pass %s: execute it by its own call",
                        plan->pass);
}

static moesaic_status check_pointer(const moesaic_plan *plan, const plan_pointer *p,
                                    moesaic_text *err)
{
    if (!p->pointer && p->needed)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: buffers.%s is NULL", plan->pass, p->name);
    if ((uintptr_t)p->pointer % p->alignment == 0)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_INPUT,
                        "%s: buffers.%s is %p, the plan wants a multiple of %zu bytes", plan->pass,
                        p->name, p->pointer, p->alignment);
}

moesaic_status plan_check_pointers(const moesaic_plan *plan, const plan_pointer *pointers, size_t n,
                                   moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    for (size_t i = 0; status == MOESAIC_OK && i < n; i++)
        status = check_pointer(plan, &pointers[i], err);
    return status;
}

moesaic_status plan_check_amount(const moesaic_plan *plan, int64_t tokens, const void *workspace,
                                 size_t workspace_bytes, moesaic_text *err)
{
    moesaic_status status = check_range("buffers.tokens", tokens, 0, INT32_MAX / plan->top_k, err);
    if (status != MOESAIC_OK)
        return status;
    size_t needed = moesaic_plan_workspace_bytes(plan, tokens);
    if (needed > workspace_bytes)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: the workspace has %zu bytes, %lld tokens need %zu "
                            "(moesaic_plan_workspace_bytes)",
                            plan->pass, workspace_bytes, (long long)tokens, needed);
    const plan_pointer pointer = {"workspace", workspace, needed > 0, 16};
    return check_pointer(plan, &pointer, err);
}
