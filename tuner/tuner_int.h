/* tuner/tuner_int.h: what the files of tuner/ that run a tuning share.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TUNER_TUNER_INT_H
#define MOESAIC_TUNER_TUNER_INT_H

#include "tuner/budget.h"
#include "tuner/evaluate.h"
#include "tuner/moe.h"
#include "tuner/strategy.h"
#include "tuner/tuner.h"

/* --- code.c: variants that were compiled in this run --- */

/* Many problems ask for the same code: its source differs in the comment at its head only. */
typedef struct code {
    hash_hex hash; /* of the source behind its head, and of what the reduced problem depends on */
    moesaic_status status; /* of the compilation */
    char reason[512];      /* why it failed, or must not run */
    compiled object;
    int64_t code_object_id; /* in the database; 0: not stored yet */
    bool reduced_known;     /* reduced holds the verdict of the reduced problem */
    verdict reduced;
} code;

typedef struct code_table {
    code **all;
    int n;
} code_table;

moesaic_status code_hash(const char *source, const moe_shape *shape, hash_hex *out,
                         moesaic_text *err);
code *code_find(const code_table *table, const hash_hex *hash);
/* Take over a compilation's outcome.  NULL: out of memory. */
code *code_add(code_table *table, const hash_hex *hash, moesaic_status status,
               const moesaic_text *text, compiled *object);
void code_table_free(code_table *table);

/* --- search.c: a space as strategies see it --- */

typedef struct search {
    gen_space *space;
    strategy_space view;
    strategy *strategy;
    int64_t default_index;
} search;

/* near: results of similar problems, whose winners are tried right after the default. */
moesaic_status search_open(const tuner_problem *p, const gen_device *facts,
                           const tuner_options *options, const tuner_result *results, int n_results,
                           int64_t budget, search *out, moesaic_text *err);
void search_close(search *s);

/* --- tune.c: the whole run --- */

typedef struct tuning {
    const workload *work;
    db *database;
    const tuner_options *options;
    worker *compiler, *evaluator;
    gen_device facts;
    int64_t device_id, run_id;
    double deadline_s; /* 0: none */
    code_table codes;
    tuner_report *report;
} tuning;

/* --- problem.c: one problem --- */

/* A problem while it is tuned. */
typedef struct problem_run {
    tuning *t;
    const tuner_problem *problem;
    int index; /* in the workload */
    moe_shape shape;
    double flops;
    int64_t problem_id, template_id, n_planned, n_done;
    double deadline_s, best_us; /* best_us: of those that are ok; 0: none yet */
    int64_t n_ok, n_wrong;
} problem_run;

void problem_observe(const problem_run *p, tuner_event event);
bool tuning_stopped(const tuning *t);

/* Tune one problem and add its result to the report. */
moesaic_status problem_tune(tuning *t, int index, moesaic_text *err);

/* --- candidate.c: one candidate --- */

typedef struct candidate {
    int64_t index; /* in the space; -1: none */
    cJSON *config;
    char *key, *launch;
    str source;
    hash_hex hash;
    code *code; /* NULL: being compiled */
} candidate;

/* Build a candidate and, unless its code is known, ask for its compilation. */
moesaic_status candidate_begin(problem_run *p, gen_space *space, int64_t index, candidate *out,
                               moesaic_text *err);
/* Wait for its compilation. */
moesaic_status candidate_finish(problem_run *p, candidate *c, moesaic_text *err);
void candidate_free(candidate *c);

/* What became of a trial. */
typedef struct outcome {
    bool ran; /* false: it is in flight elsewhere */
    db_trial_status status;
    double time_us;
} outcome;
/* Store the candidate, run it and store the result; one whose result is known isn't run. */
moesaic_status candidate_try(problem_run *p, candidate *c, outcome *out, moesaic_text *err);

/* --- finals.c: verification at full size --- */

/* Verify the fastest trials until the fastest is verified at full size, and make it the winner.
 * E_NOTFOUND: no candidate is ok. */
moesaic_status finals_run(problem_run *p, moesaic_text *err);

/* --- report.c: what is told of a problem --- */

/* Fill in a result from the database.  default_key: the default configuration's.  E_NOTFOUND: there is no winner. */
moesaic_status report_result(const problem_run *p, const char *default_key, tuner_result *out,
                             moesaic_text *err);
void report_result_free(tuner_result *result);

/* Largest time that one request to the evaluating worker may take. */
double request_limit_s(double flops, unsigned parts);

#endif
