/* tuner/candidate.c: one candidate from its configuration to its row in the database.
 *
 * Its identity is on disk before it is launched, its result when it ends.    SPDX-License-Identifier: MIT
 */
#include "tuner/tuner_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A candidate that two processes died of is not tried a third time. */
enum { MOST_DEATHS = 2 };

double request_limit_s(double flops, unsigned parts)
{
    double one = VERIFY_LIMIT_S(flops);
    return 60 + (parts & EVALUATE_REDUCED ? 9 * VERIFY_LIMIT_S(1e9) : 0) +
           (parts & EVALUATE_TIME ? one : 0) + (parts & EVALUATE_FULL ? one : 0);
}

/* --- compiling --- */

static const char *first_kernel(const cJSON *launch)
{
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(launch, "kernels");
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(kernels, 0), "kernel");
    return cJSON_IsString(name) ? name->valuestring : "";
}

static char *canonical(const cJSON *value)
{
    str text = {0};
    json_canonical(value, &text);
    if (text.failed)
        str_free(&text);
    return text.s;
}

static moesaic_status describe(problem_run *p, gen_space *space, candidate *c, char kernel[64],
                               moesaic_text *err)
{
    cJSON *launch = NULL;
    moesaic_status status = gen_space_config(space, c->index, &c->config, err);
    if (status == MOESAIC_OK)
        status = gen_space_launch(space, c->config, &launch, err);
    if (status == MOESAIC_OK)
        status = gen_emit(p->problem->family, p->problem->pass, p->problem->fields, c->config,
                          &c->source, err);
    if (status == MOESAIC_OK) {
        c->key = canonical(c->config);
        c->launch = canonical(launch);
        snprintf(kernel, 64, "%s", first_kernel(launch));
        if (!c->key || !c->launch)
            status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a candidate");
    }
    cJSON_Delete(launch);
    return status;
}

moesaic_status candidate_begin(problem_run *p, gen_space *space, int64_t index, candidate *out,
                               moesaic_text *err)
{
    char kernel[64];
    *out = (candidate){.index = index};
    if (index < 0)
        return MOESAIC_OK;
    moesaic_status status = describe(p, space, out, kernel, err);
    if (status == MOESAIC_OK)
        status = code_hash(str_text(&out->source), &p->shape, &out->hash, err);
    if (status != MOESAIC_OK)
        return status;
    out->code = code_find(&p->t->codes, &out->hash);
    if (out->code)
        return MOESAIC_OK;
    return compile_send(p->t->compiler, kernel, str_text(&out->source), err);
}

/* Whose fault is a failed compilation? */
static bool is_candidates_fault(moesaic_status status)
{
    return status == MOESAIC_E_COMPILE || status == MOESAIC_E_LAUNCH || status == MOESAIC_E_TIMEOUT;
}

moesaic_status candidate_finish(problem_run *p, candidate *c, moesaic_text *err)
{
    compiled object;
    if (c->index < 0 || c->code)
        return MOESAIC_OK;
    moesaic_status status = compile_receive(p->t->compiler, &object, err);
    if (status != MOESAIC_OK && !is_candidates_fault(status))
        return status;
    c->code = code_add(&p->t->codes, &c->hash, status, err, &object);
    return c->code ? MOESAIC_OK : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a code object");
}

void candidate_free(candidate *c)
{
    cJSON_Delete(c->config);
    free(c->key);
    free(c->launch);
    str_free(&c->source);
    *c = (candidate){.index = -1};
}

/* --- running --- */

static moesaic_status store_code(problem_run *p, candidate *c, moesaic_text *err)
{
    code *k = c->code;
    hash_hex abi;
    cJSON *launch = NULL;
    const device_kernel_info *info = &k->object.kernel;
    if (k->code_object_id)
        return MOESAIC_OK;
    moesaic_status status = json_parse(c->launch, "launch", &launch, err);
    if (status == MOESAIC_OK)
        status = tuner_launch_abi(launch, &abi, err);
    cJSON_Delete(launch);
    if (status != MOESAIC_OK)
        return status;
    db_code_object row = {.elf = k->object.elf.s,
                          .n_bytes = k->object.elf.n,
                          .target = p->t->report->device.target,
                          .compiler = p->t->report->device.compiler,
                          .launch_abi = abi.s,
                          .vgpr = info->vgprs,
                          .agpr = info->agprs,
                          .sgpr = info->sgprs,
                          .lds_bytes = info->lds_bytes,
                          .scratch_bytes = info->scratch_bytes};
    return db_code_object_put(p->t->database, &row, &k->code_object_id, err);
}

/* The verdict of the reduced problem is kept with the code; a process that died there has none but its death. */
static void remember_reduced(code *k, unsigned parts, evaluation *e)
{
    bool died = e->reduced.status == DB_TRIAL_RUNNING;
    if (parts & EVALUATE_REDUCED) {
        k->reduced_known = true;
        k->reduced = died ? e->verdict : e->reduced;
    }
    e->verified = k->reduced.status == DB_TRIAL_OK;
    if (e->verdict.status == DB_TRIAL_OK && e->verdict.error_bound <= 0) {
        e->verdict.max_error = k->reduced.max_error;
        e->verdict.error_bound = k->reduced.error_bound;
    }
}

/* Run what has not been run: the reduced problem once for each code, and the timed run; large problems verify it at
 * once when it is the best so far. */
static moesaic_status run(problem_run *p, candidate *c, evaluation *out, moesaic_text *err)
{
    code *k = c->code;
    evaluation_request q = {.problem = p->index,
                            .parts = EVALUATE_TIME,
                            .seed = p->t->options->seed,
                            .verify_below_us = p->best_us > 0 ? p->best_us : INFINITY};
    if (!k->reduced_known)
        q.parts |= EVALUATE_REDUCED;
    if (p->flops > BUDGET_FINALS_FLOPS)
        q.parts |= EVALUATE_FULL;
    *out = (evaluation){.verdict = k->reduced};
    if (k->reduced_known && k->reduced.status != DB_TRIAL_OK)
        return MOESAIC_OK;
    moesaic_status status = verify_tile_of(c->config, &q.tile, err);
    if (status == MOESAIC_OK)
        status = evaluate(p->t->evaluator, &q, &k->object.elf, c->launch,
                          request_limit_s(p->flops, q.parts), out, err);
    if (status == MOESAIC_OK)
        remember_reduced(k, q.parts, out);
    return status;
}

static void explain(const evaluation *e, char reason[128])
{
    reason[0] = 0;
    if (e->limiter[0])
        snprintf(reason, 128, "limited by %.32s, %u waves a SIMD", e->limiter, e->waves_per_simd);
}

static db_trial_result result_of(const problem_run *p, const candidate *c, const evaluation *e,
                                 const char *reason)
{
    const device_info *info = &p->t->report->device;
    bool timed = e->time_us > 0;
    return (db_trial_result){
        .status = e->verdict.status,
        .code_object_id = c->code->code_object_id,
        .time_us = timed ? e->time_us : NAN,
        .spread_pct = timed ? e->spread_pct : NAN,
        .max_error = e->verdict.error_bound > 0 ? e->verdict.max_error : NAN,
        .error_bound = e->verdict.error_bound > 0 ? e->verdict.error_bound : NAN,
        .time_kind = device_time_kind_name(info->kind),
        .model_version = info->model_version,
        .reason = reason,
        .launch = c->launch,
        .verified = e->verified,
        .verified_full = e->verified_full,
    };
}

/* The outcome of a candidate, without running it where that is already known. */
static moesaic_status evaluate_candidate(problem_run *p, candidate *c, int64_t deaths,
                                         evaluation *e, moesaic_text *err)
{
    const code *k = c->code;
    *e = (evaluation){0};
    if (deaths >= MOST_DEATHS) {
        e->verdict.status = DB_TRIAL_FAULT;
        snprintf(e->verdict.reason, sizeof e->verdict.reason, "%lld processes died while it ran",
                 (long long)deaths);
    } else if (k->status != MOESAIC_OK || k->reason[0]) {
        e->verdict.status = k->status == MOESAIC_OK ? DB_TRIAL_SKIPPED : DB_TRIAL_COMPILE_ERROR;
        snprintf(e->verdict.reason, sizeof e->verdict.reason, "%.250s", k->reason);
    } else {
        return run(p, c, e, err);
    }
    return MOESAIC_OK;
}

static moesaic_status try_new(problem_run *p, candidate *c, int64_t trial_id, int64_t deaths,
                              outcome *out, moesaic_text *err)
{
    evaluation e;
    char why[128];
    moesaic_status status = evaluate_candidate(p, c, deaths, &e, err);
    if (status == MOESAIC_OK && e.verdict.status == DB_TRIAL_OK)
        status = store_code(p, c, err);
    if (status != MOESAIC_OK)
        return status;
    explain(&e, why);
    db_trial_result row = result_of(p, c, &e, e.verdict.reason[0] ? e.verdict.reason : why);
    out->status = row.status;
    out->time_us = row.status == DB_TRIAL_OK ? e.time_us : 0;
    tuner_event event = {.kind = TUNER_TRIAL_ENDS,
                         .config = c->key,
                         .status = row.status,
                         .reason = row.reason,
                         .time_us = out->time_us};
    status = db_trial_end(p->t->database, trial_id, &row, err);
    p->n_done++;
    problem_observe(p, event);
    return status;
}

static moesaic_status take_known(problem_run *p, int64_t trial_id, outcome *out, moesaic_text *err)
{
    db_trial_row row;
    moesaic_status status = db_trial_get(p->t->database, trial_id, &row, err);
    if (status != MOESAIC_OK)
        return status;
    out->ran = !row.in_flight;
    out->status = row.status;
    out->time_us = row.status == DB_TRIAL_OK ? row.time_us : 0;
    p->n_done++;
    db_row_free(&row);
    return MOESAIC_OK;
}

moesaic_status candidate_try(problem_run *p, candidate *c, outcome *out, moesaic_text *err)
{
    int64_t config_id, trial_id, deaths;
    bool known;
    db *database = p->t->database;
    *out = (outcome){.ran = true};
    moesaic_status status = db_config_put(database, p->template_id, c->key, &config_id, err);
    if (status == MOESAIC_OK)
        status = db_trial_begin(database, p->t->run_id, p->problem_id, config_id, p->t->device_id,
                                false, &trial_id, &known, &deaths, err);
    if (status != MOESAIC_OK)
        return status;
    return known ? take_known(p, trial_id, out, err) : try_new(p, c, trial_id, deaths, out, err);
}
