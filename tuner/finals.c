/* tuner/finals.c: verification of the fastest candidates at full size, with fresh data.
 *
 * Candidates are taken from the database, so that finals work alike for trials of this run and of an earlier one.
 * SPDX-License-Identifier: MIT
 */
#include "tuner/tuner_int.h"

/* One of the fastest. */
typedef struct finalist {
    int64_t trial_id;
    evaluation result;
    str elf;
    db_trial_row row;
} finalist;

/* --- who they are --- */

typedef struct ranking {
    int64_t ids[BUDGET_FINALISTS];
    int n, most;
    bool first_is_final; /* the fastest of all is verified already */
} ranking;

/* Rows come fastest first: those that are ok, up to the first that is verified at full size. */
static bool rank_row(const db_trial_row *row, void *user)
{
    ranking *r = user;
    if (row->status != DB_TRIAL_OK || !(row->time_us > 0))
        return true;
    if (row->verified_full) {
        r->first_is_final = r->n == 0;
        return false;
    }
    r->ids[r->n++] = row->trial_id;
    return r->n < r->most;
}

static moesaic_status rank(problem_run *p, ranking *out, moesaic_text *err)
{
    *out = (ranking){.most = p->flops > BUDGET_FINALS_FLOPS ? 1 : BUDGET_FINALISTS};
    return db_trials(p->t->database, p->problem_id, p->t->device_id, p->template_id, rank_row, out,
                     err);
}

/* --- one finalist --- */

static void finalist_free(finalist *f)
{
    str_free(&f->elf);
    db_row_free(&f->row);
}

static moesaic_status finalist_open(problem_run *p, int64_t trial_id, finalist *out,
                                    moesaic_text *err)
{
    *out = (finalist){.trial_id = trial_id};
    moesaic_status status = db_trial_get(p->t->database, trial_id, &out->row, err);
    if (status == MOESAIC_OK)
        status = db_code_object_get(p->t->database, out->row.code_object_id, &out->elf, err);
    out->result.verdict = (verdict){.status = DB_TRIAL_OK,
                                    .max_error = out->row.max_error,
                                    .error_bound = out->row.error_bound};
    return status;
}

static void keep_worst(const evaluation *e, evaluation *worst)
{
    double before = worst->verdict.max_error;
    worst->verdict = e->verdict;
    if (e->verdict.status == DB_TRIAL_OK && !(e->verdict.max_error > before))
        worst->verdict.max_error = before;
}

static moesaic_status verify_with_seed(problem_run *p, finalist *f, uint64_t seed,
                                       moesaic_text *err)
{
    evaluation e;
    evaluation_request q = {.problem = p->index, .parts = EVALUATE_FULL, .seed = seed};
    if (f->result.verdict.status != DB_TRIAL_OK)
        return MOESAIC_OK;
    moesaic_status status = evaluate(p->t->evaluator, &q, &f->elf, f->row.launch,
                                     request_limit_s(p->flops, q.parts), &e, err);
    if (status == MOESAIC_OK)
        keep_worst(&e, &f->result);
    return status;
}

/* The trial's row again, with what full size showed. */
static moesaic_status store(problem_run *p, const finalist *f, moesaic_text *err)
{
    int64_t trial_id, deaths;
    bool known;
    const verdict *v = &f->result.verdict;
    const db_trial_row *r = &f->row;
    db_trial_result result = {.status = v->status,
                              .code_object_id = r->code_object_id,
                              .time_us = r->time_us,
                              .spread_pct = r->spread_pct,
                              .max_error = v->max_error,
                              .error_bound = v->error_bound,
                              .time_kind = r->time_kind,
                              .model_version = r->model_version,
                              .reason = v->reason[0] ? v->reason : r->reason,
                              .launch = r->launch,
                              .verified = r->verified,
                              .verified_full = v->status == DB_TRIAL_OK};
    moesaic_status status =
        db_trial_begin(p->t->database, p->t->run_id, p->problem_id, r->config_id, p->t->device_id,
                       true, &trial_id, &known, &deaths, err);
    if (status == MOESAIC_OK && known)
        status = moesaic_fail(err, MOESAIC_E_BUSY,
                              "another process verifies trial %lld of the same problem",
                              (long long)f->trial_id);
    return status == MOESAIC_OK ? db_trial_end(p->t->database, f->trial_id, &result, err) : status;
}

/* --- a round --- */

static moesaic_status run_round(problem_run *p, finalist *finalists, int n, moesaic_text *err)
{
    int n_seeds = p->flops > BUDGET_FINALS_FLOPS ? 1 : BUDGET_SEEDS;
    moesaic_status status = MOESAIC_OK;
    for (int s = 0; s < n_seeds; s++)
        for (int i = 0; i < n && status == MOESAIC_OK; i++)
            status = verify_with_seed(p, &finalists[i], p->t->options->seed + (uint64_t)s, err);
    for (int i = 0; i < n && status == MOESAIC_OK; i++)
        status = store(p, &finalists[i], err);
    return status;
}

static moesaic_status verify_ranked(problem_run *p, const ranking *r, moesaic_text *err)
{
    finalist finalists[BUDGET_FINALISTS] = {0};
    moesaic_status status = MOESAIC_OK;
    problem_observe(p, (tuner_event){.kind = TUNER_VERIFIES});
    for (int i = 0; i < r->n && status == MOESAIC_OK; i++)
        status = finalist_open(p, r->ids[i], &finalists[i], err);
    if (status == MOESAIC_OK)
        status = run_round(p, finalists, r->n, err);
    for (int i = 0; i < r->n; i++)
        finalist_free(&finalists[i]);
    return status;
}

moesaic_status finals_run(problem_run *p, moesaic_text *err)
{
    ranking r;
    int64_t trial_id;
    moesaic_status status = rank(p, &r, err);
    while (status == MOESAIC_OK && r.n > 0 && !r.first_is_final) {
        status = verify_ranked(p, &r, err);
        if (status == MOESAIC_OK)
            status = rank(p, &r, err);
    }
    if (status != MOESAIC_OK)
        return status;
    return db_winner_choose(p->t->database, p->problem_id, p->t->device_id, p->template_id,
                            &trial_id, err);
}
