/* tuner/report.c: what the database knows of a problem's winner, and figures that follow.
 * SPDX-License-Identifier: MIT
 */
#include "tuner/tuner_int.h"

#include <math.h>
#include <string.h>

typedef struct census {
    tuner_result *to;
    const char *default_key;
} census;

static bool count_row(const db_trial_row *row, void *user)
{
    census *c = user;
    if (row->status == DB_TRIAL_RUNNING)
        return true;
    c->to->trials[row->status]++;
    if (c->default_key && !strcmp(row->config, c->default_key)) {
        c->to->default_tried = true;
        c->to->default_us = row->status == DB_TRIAL_OK ? row->time_us : 0;
    }
    return true;
}

static moesaic_status add_figures(const problem_run *p, tuner_result *out, moesaic_text *err)
{
    routing_table routing;
    moesaic_status status =
        evaluate_routing(p->problem, &p->shape, p->t->options->seed, &routing, err);
    if (status != MOESAIC_OK)
        return status;
    out->tflops = moe_flops(&p->shape, routing.rows) / out->winner.time_us / 1e6;
    out->roofline_us = moe_roofline_us(&p->shape, &routing, (int)p->t->facts.cu_count);
    out->roofline_share = out->roofline_us / out->winner.time_us;
    routing_free(&routing);
    return MOESAIC_OK;
}

moesaic_status report_result(const problem_run *p, const char *default_key, tuner_result *out,
                             moesaic_text *err)
{
    census c = {out, default_key};
    *out = (tuner_result){.problem = p->problem};
    moesaic_status status =
        db_winner_get(p->t->database, p->problem_id, p->t->device_id, &out->winner, err);
    if (status == MOESAIC_OK)
        status = db_trials(p->t->database, p->problem_id, p->t->device_id, out->winner.template_id,
                           count_row, &c, err);
    if (status == MOESAIC_OK)
        status = add_figures(p, out, err);
    if (status != MOESAIC_OK)
        report_result_free(out);
    return status;
}

void report_result_free(tuner_result *result)
{
    db_row_free(&result->winner);
    *result = (tuner_result){0};
}
