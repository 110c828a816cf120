/* runtime/plan.c: what is the same for plans of every family.    SPDX-License-Identifier: MIT */
#include "runtime/runtime_int.h"

#include <stdlib.h>

moesaic_status plan_check(const moesaic_plan *plan, moesaic_text *err)
{
    if (!plan)
        return moesaic_fail(err, MOESAIC_E_INPUT, "the plan is NULL: moesaic_plan_* gives one");
    return context_check(plan->context, err);
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
    const int64_t slots = max_tokens * plan->shape.top_k;
    return (size_t)(k->workspace_fixed_bytes + k->workspace_per_row_bytes * slots);
}
