/* tuner/replay.c: finds a problem's winner, gets its code, runs and verifies it.
 *
 * Tested by tests/cli/test_run.sh.    SPDX-License-Identifier: MIT
 */
#include "tuner/replay.h"

#include "tuner/tuner_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

moesaic_status replay_open(const workload *work, db *database, replay *out, moesaic_text *err)
{
    *out = (replay){.work = work, .database = database};
    moesaic_status status = worker_new(compile_serve, NULL, &out->compiler, err);
    if (status == MOESAIC_OK)
        /* Workers only read what they are given. */
        status = worker_new(evaluate_serve, (void *)(uintptr_t)work, &out->evaluator, err);
    if (status == MOESAIC_OK)
        status = evaluate_device(out->evaluator, &out->device, err);
    return status;
}

void replay_close(replay *r)
{
    worker_free(r->compiler);
    worker_free(r->evaluator);
    *r = (replay){0};
}

void replay_result_free(replay_result *result)
{
    db_row_free(&result->winner);
}

/* --- the winner --- */

typedef struct winner_search {
    const replay *r;
    const char *key;
    int64_t trial_id;
    bool other_device;
} winner_search;

static bool is_ours(const device_info *ours, const db_device *d)
{
    return !strcmp(device_kind_name(ours->kind), d->kind) &&
           !strcmp(ours->partition, d->partition) && ours->pci_device_id == d->pci_device_id &&
           ours->cu_count == d->cu_count;
}

/* Goes on until a winner of this very device is found. */
static bool look_at(const db_trial_row *row, const db_device *d, void *user)
{
    winner_search *s = user;
    const device_info *ours = &s->r->device;
    if (strcmp(row->problem, s->key) != 0 || strcmp(d->target, ours->target) != 0)
        return true;
    bool other = !is_ours(ours, d);
    if (!s->trial_id || !other) {
        s->trial_id = row->trial_id;
        s->other_device = other;
    }
    return other;
}

static moesaic_status find_winner(const replay *r, const tuner_problem *p, replay_result *out,
                                  moesaic_text *err)
{
    winner_search s = {.r = r, .key = p->key};
    moesaic_status status =
        db_winners(r->database, gen_family_name(p->family), p->pass, look_at, &s, err);
    if (status != MOESAIC_OK)
        return status;
    if (!s.trial_id)
        return moesaic_fail(err, MOESAIC_E_NOTFOUND, "%s has no winner in %s: tune it", p->label,
                            db_path(r->database));
    out->other_device = s.other_device;
    return db_trial_get(r->database, s.trial_id, &out->winner, err);
}

/* --- its code --- */

static moesaic_status emit_again(const tuner_problem *p, const db_trial_row *winner, str *source,
                                 moesaic_text *err)
{
    cJSON *config = NULL;
    if (strcmp(winner->template_hash, gen_family_hash(p->family)->s) != 0)
        return moesaic_fail(err, MOESAIC_E_NOTFOUND,
                            "%s: the winner's code is gone from the database, and its template is "
                            "another version (%.8s, here %.8s): tune it again",
                            p->label, winner->template_hash, gen_family_hash(p->family)->s);
    moesaic_status status = json_parse(winner->config, "configuration", &config, err);
    if (status == MOESAIC_OK)
        status = gen_emit(p->family, p->pass, p->fields, config, source, err);
    cJSON_Delete(config);
    return status;
}

static moesaic_status compile_again(replay *r, const tuner_problem *p, const db_trial_row *winner,
                                    str *elf, moesaic_text *err)
{
    str source = {0};
    compiled object = {0};
    moesaic_status status = emit_again(p, winner, &source, err);
    if (status == MOESAIC_OK)
        status = compile_send(r->compiler, gen_family_name(p->family), str_text(&source), err);
    if (status == MOESAIC_OK)
        status = compile_receive(r->compiler, &object, err);
    *elf = object.elf;
    str_free(&source);
    return status;
}

static moesaic_status get_code(replay *r, const tuner_problem *p, replay_result *out, str *elf,
                               moesaic_text *err)
{
    const db_trial_row *w = &out->winner;
    moesaic_status status = db_code_object_get(r->database, w->code_object_id, elf, err);
    if (status != MOESAIC_E_NOTFOUND)
        return status;
    out->compiled = true;
    return compile_again(r, p, w, elf, err);
}

/* --- running --- */

moesaic_status replay_winner(replay *r, int index, uint64_t seed, replay_result *out,
                             moesaic_text *err)
{
    str elf = {0};
    moe_shape shape;
    const tuner_problem *p = &r->work->problems[index];
    const evaluation_request request = {.problem = index,
                                        .parts = EVALUATE_TIME | EVALUATE_FULL,
                                        .seed = seed,
                                        .verify_below_us = INFINITY};
    *out = (replay_result){0};
    moesaic_status status = moe_shape_of(p->pass, p->fields, &shape, err);
    if (status == MOESAIC_OK)
        status = find_winner(r, p, out, err);
    if (status == MOESAIC_OK)
        status = get_code(r, p, out, &elf, err);
    if (status == MOESAIC_OK) {
        double limit_s = request_limit_s(moe_flops(&shape, moe_slots(&shape)), request.parts);
        status =
            evaluate(r->evaluator, &request, &elf, out->winner.launch, limit_s, &out->run, err);
    }
    str_free(&elf);
    return status;
}
