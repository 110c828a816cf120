/* tuner/problem.c: tuning one problem: from the database where it is known, else candidate by candidate.
 *
 * While one candidate runs the next one is compiled.  Tested by tests/tuner/test_planted.c and tests/cli/test_tune.sh.
 * SPDX-License-Identifier: MIT
 */
#include "tuner/tuner_int.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* From so many verdicts on the reference is suspected when most of them are against it. */
enum { SUSPECT_FROM = 6 };

void problem_observe(const problem_run *p, tuner_event event)
{
    const tuner_options *o = p->t->options;
    event.problem = p->problem;
    event.i_problem = p->index;
    event.n_problems = p->t->work->n_problems;
    event.n_done = p->n_done;
    event.n_planned = p->n_planned;
    event.best_us = p->best_us;
    if (event.time_us > 0 && !(p->best_us > 0 && p->best_us < event.time_us))
        event.best_us = event.time_us;
    if (o->observe)
        o->observe(o->user, &event);
}

/* --- what is known already --- */

static char *key_of_default(const tuner_problem *p)
{
    str key = {0};
    json_canonical(cJSON_GetObjectItemCaseSensitive(gen_family_json(p->family), "default"), &key);
    if (key.failed)
        str_free(&key);
    return key.s;
}

static moesaic_status add_result(tuning *t, tuner_result *result, bool from_database)
{
    result->from_database = from_database;
    t->report->results[t->report->n_results++] = *result;
    return MOESAIC_OK;
}

static int64_t trials_done(const tuner_result *r)
{
    int64_t n = 0;
    for (int i = 0; i < TUNER_N_STATUSES; i++)
        n += r->trials[i];
    return n;
}

/* Answer from the database when it holds a winner of this template out of trials enough, the default among them. */
static moesaic_status answer(problem_run *p, const char *default_key, bool *answered,
                             moesaic_text *err)
{
    tuner_result result;
    *answered = false;
    moesaic_status status = report_result(p, default_key, &result, err);
    if (status != MOESAIC_OK)
        return status == MOESAIC_E_NOTFOUND ? MOESAIC_OK : status;
    *answered = result.winner.template_id == p->template_id && result.default_tried &&
                trials_done(&result) >= p->n_planned;
    if (*answered)
        return add_result(p->t, &result, true);
    report_result_free(&result);
    return MOESAIC_OK;
}

/* As most problems can be answered: the family's default is legal, so the space need not be known. */
static moesaic_status answer_at_once(problem_run *p, bool *answered, moesaic_text *err)
{
    char *key = key_of_default(p->problem);
    moesaic_status status = answer(p, key, answered, err);
    free(key);
    return status;
}

/* --- trying candidates --- */

static bool time_is_up(const problem_run *p)
{
    return tuning_stopped(p->t) || (p->deadline_s > 0 && clock_now_s() > p->deadline_s);
}

static moesaic_status note_outcome(problem_run *p, const search *s, const candidate *c,
                                   const outcome *o, moesaic_text *err)
{
    bool ok = o->ran && o->status == DB_TRIAL_OK && o->time_us > 0;
    strategy_tell(s->strategy, c->index, ok, o->time_us);
    p->n_ok += ok;
    p->n_wrong += o->status == DB_TRIAL_WRONG || o->status == DB_TRIAL_RACE;
    if (ok && !(p->best_us > 0 && p->best_us <= o->time_us))
        p->best_us = o->time_us;
    if (p->n_ok + p->n_wrong >= SUSPECT_FROM && p->n_wrong > p->n_ok)
        return moesaic_fail(err, MOESAIC_E_STATE,
                            "%s: %lld of %lld candidates compute wrong results: the reference or "
                            "the build is suspect, so nothing wins",
                            p->problem->label, (long long)p->n_wrong,
                            (long long)(p->n_ok + p->n_wrong));
    return MOESAIC_OK;
}

/* The next candidate, or none (index -1) when planned ones are used up. */
static moesaic_status begin_next(problem_run *p, search *s, int64_t n_begun, candidate *out,
                                 moesaic_text *err)
{
    bool more = n_begun < p->n_planned && !time_is_up(p);
    return candidate_begin(p, s->space, more ? strategy_next(s->strategy) : -1, out, err);
}

static moesaic_status try_candidates(problem_run *p, search *s, moesaic_text *err)
{
    candidate now, next = {.index = -1};
    outcome o;
    int64_t n_begun = 1;
    moesaic_status status = begin_next(p, s, 0, &now, err);
    while (status == MOESAIC_OK && now.index >= 0) {
        status = candidate_finish(p, &now, err);
        if (status == MOESAIC_OK)
            status = begin_next(p, s, n_begun++, &next, err);
        if (status == MOESAIC_OK)
            status = candidate_try(p, &now, &o, err);
        if (status == MOESAIC_OK)
            status = note_outcome(p, s, &now, &o, err);
        candidate_free(&now);
        now = next;
        next = (candidate){.index = -1};
    }
    candidate_free(&now);
    if (status != MOESAIC_OK || tuning_stopped(p->t))
        worker_stop(p->t->compiler); /* it may be at work for nobody */
    return status;
}

static char *default_key_in(search *s)
{
    cJSON *config;
    str key = {0};
    if (gen_space_config(s->space, s->default_index, &config, NULL) == MOESAIC_OK)
        json_canonical(config, &key);
    cJSON_Delete(config);
    return key.s;
}

static moesaic_status search_space(problem_run *p, search *s, const char *default_key,
                                   moesaic_text *err)
{
    tuner_result result;
    problem_observe(p, (tuner_event){.kind = TUNER_PROBLEM_BEGINS});
    moesaic_status status = try_candidates(p, s, err);
    if (status == MOESAIC_OK && tuning_stopped(p->t))
        status = moesaic_fail(err, MOESAIC_E_INTERRUPTED,
                              "interrupted; finished trials are kept, --resume goes on");
    if (status == MOESAIC_OK)
        status = finals_run(p, err);
    if (status == MOESAIC_OK)
        status = report_result(p, default_key, &result, err);
    return status == MOESAIC_OK ? add_result(p->t, &result, false) : status;
}

/* The space may be smaller than what is planned, and its default another one than the family's: with both known the
 * database may have the answer after all. */
static moesaic_status tune_space(problem_run *p, moesaic_text *err)
{
    search s;
    bool answered = false;
    tuning *t = p->t;
    moesaic_status status = search_open(p->problem, &t->facts, t->options, t->report->results,
                                        t->report->n_results, p->n_planned, &s, err);
    if (status != MOESAIC_OK)
        return status;
    if (s.view.n < p->n_planned)
        p->n_planned = s.view.n;
    char *key = default_key_in(&s);
    status = answer(p, key, &answered, err);
    if (status == MOESAIC_OK && !answered)
        status = search_space(p, &s, key, err);
    free(key);
    search_close(&s);
    return status;
}

/* --- the problem --- */

static moesaic_status prepare(problem_run *p, moesaic_text *err)
{
    tuning *t = p->t;
    routing_table routing;
    const tuner_problem *q = p->problem;
    moesaic_status status = moe_shape_of(q->pass, q->fields, &p->shape, err);
    if (status == MOESAIC_OK)
        status = evaluate_routing(q, &p->shape, t->options->seed, &routing, err);
    if (status != MOESAIC_OK)
        return status;
    p->flops = moe_flops(&p->shape, routing.rows);
    routing_free(&routing);
    p->n_planned = t->options->budget_trials > 0 ? t->options->budget_trials
                                                 : budget_trials(t->report->device.kind, p->flops);
    if (t->deadline_s > 0) {
        double left_s = t->deadline_s - clock_now_s();
        p->deadline_s = clock_now_s() + left_s / (t->work->n_problems - p->index);
    }
    status = db_problem_put(t->database, gen_family_name(q->family), q->pass, q->key,
                            &p->problem_id, err);
    if (status == MOESAIC_OK)
        status = db_template_put(t->database, gen_family_name(q->family),
                                 gen_family_hash(q->family)->s, &p->template_id, err);
    return status;
}

moesaic_status problem_tune(tuning *t, int index, moesaic_text *err)
{
    problem_run p = {.t = t, .problem = &t->work->problems[index], .index = index};
    bool answered = false;
    moesaic_status status = prepare(&p, err);
    if (status == MOESAIC_OK)
        status = answer_at_once(&p, &answered, err);
    if (status == MOESAIC_OK && !answered)
        status = tune_space(&p, err);
    if (status == MOESAIC_OK)
        problem_observe(&p, (tuner_event){.kind = TUNER_PROBLEM_ENDS});
    return status;
}
