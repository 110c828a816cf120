/* runtime/serve.c: a problem becomes loaded kernels: a record's, else the default's, else a refusal.
 *
 * A record that can't be loaded is marked and the next best one is taken: its file may have lost the code, or it
 * may come from another version of the family.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

#include <stdio.h>

static moesaic_status load_record(moesaic_context *context, const record *r, kernels *out,
                                  moesaic_text *err)
{
    str code = {0};
    db *database = context->layers[r->layer].database;
    moesaic_status status = db_code_object_get(database, r->code_object, &code, err);
    if (status == MOESAIC_OK)
        status = kernels_load(context->dev, code.s, code.n, r->launch, out, err);
    str_free(&code);
    return status;
}

static void describe(const moesaic_context *context, const record *r, double distance,
                     const problem *p, moesaic_lookup *info)
{
    info->served = distance == 0 ? MOESAIC_SERVED_HIT : MOESAIC_SERVED_NEAR;
    info->candidate = r->candidate;
    info->other_stack = r->other_stack;
    info->trial = r->trial;
    info->distance = distance;
    info->time_us = r->time_us;
    snprintf(info->time_kind, sizeof info->time_kind, "%.15s", r->time_kind);
    snprintf(info->model_version, sizeof info->model_version, "%.31s", r->model_version);
    snprintf(info->config, sizeof info->config, "%.1023s", r->config);
    snprintf(info->database, sizeof info->database, "%s", context->layers[r->layer].info.path);
    lookup_differs(r, p, info->differs, sizeof info->differs);
}

/* The best record that loads.  *reason: why the best one of all didn't. */
static bool serve_record(moesaic_context *context, const problem *p, kernels *out,
                         moesaic_lookup *info, moesaic_text *reason)
{
    record *r;
    double distance;
    while ((r = lookup_best(context, p, &distance)) != NULL) {
        moesaic_text err = {""};
        if (load_record(context, r, out, &err) == MOESAIC_OK) {
            describe(context, r, distance, p, info);
            return true;
        }
        r->unusable = true;
        atomic_fetch_add(&context->counters.unusable, 1);
        if (!reason->s[0])
            *reason = err;
    }
    return false;
}

static moesaic_status serve_default(moesaic_context *context, const problem *p, kernels *out,
                                    moesaic_lookup *info, moesaic_text *err)
{
    if (context->flags & MOESAIC_OPEN_REPRODUCIBLE)
        return moesaic_fail(err, MOESAIC_E_NOTFOUND,
                            "defaults are not compiled under MOESAIC_OPEN_REPRODUCIBLE");
    moesaic_status status = fallback_load(context, p, out, info->config, sizeof info->config, err);
    if (status == MOESAIC_OK)
        info->served = MOESAIC_SERVED_DEFAULT;
    return status;
}

/* What the family can't do is said as it is; a miss, with everything that was tried and the way out. */
static moesaic_status refuse(const problem *p, moesaic_status status, const moesaic_text *reason,
                             const moesaic_lookup *info, moesaic_text *err)
{
    if (status == MOESAIC_E_INPUT || status == MOESAIC_E_SHAPE)
        return MOESAIC_E_SHAPE;
    if (status == MOESAIC_E_NOMEM || !err)
        return status;
    const moesaic_text why = *err;
    return moesaic_fail(err, status,
                        "%s %s %s: nothing tuned is near%s%.200s%s, and there is no default: "
                        "%.250s%s%s",
                        p->family, p->pass, str_text(&p->key), reason->s[0] ? " (" : "", reason->s,
                        reason->s[0] ? ")" : "", why.s,
                        info->tune_command[0] ? ". To tune it: " : "", info->tune_command);
}

moesaic_status serve(moesaic_context *context, const problem *p, kernels *out, moesaic_lookup *info,
                     moesaic_text *err)
{
    moesaic_text reason = {""};
    counters *c = &context->counters;
    moesaic_status status = MOESAIC_OK;
    *info = (moesaic_lookup){.size_bytes = sizeof *info};
    lookup_tune_command(p, info->tune_command, sizeof info->tune_command);
    pthread_mutex_lock(&context->lock);
    if (!serve_record(context, p, out, info, &reason))
        status = serve_default(context, p, out, info, err);
    pthread_mutex_unlock(&context->lock);
    atomic_fetch_add(&c->served[info->served], 1);
    atomic_fetch_add(&c->candidates, info->candidate);
    atomic_fetch_add(&c->other_stack, info->other_stack);
    return status == MOESAIC_OK ? status : refuse(p, status, &reason, info, err);
}
