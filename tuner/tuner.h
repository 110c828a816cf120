/* tuner/tuner.h: tuning a workload: candidates in, verified winners in the database out.
 *
 * Candidates are compiled and run in child processes; the caller's process never loads a device.  Nothing is printed:
 * progress goes to an observer, results to the caller.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_TUNER_H
#define MOESAIC_TUNER_TUNER_H

#include "db/db.h"
#include "device/device.h"
#include "tuner/strategy.h"
#include "tuner/workload.h"

#include <signal.h>

enum { TUNER_N_STATUSES = DB_TRIAL_SKIPPED + 1 };

typedef struct tuner_event {
    enum { TUNER_PROBLEM_BEGINS, TUNER_TRIAL_ENDS, TUNER_VERIFIES, TUNER_PROBLEM_ENDS } kind;
    const tuner_problem *problem;
    int i_problem, n_problems;
    int64_t n_done, n_planned; /* trials of the problem */
    const char *config;        /* TRIAL_ENDS: its key */
    db_trial_status status;    /* TRIAL_ENDS */
    const char *reason;        /* TRIAL_ENDS, of a failure */
    double time_us, best_us;   /* 0: none */
} tuner_event;

typedef struct tuner_options {
    const char *strategy;  /* "guided" */
    int64_t budget_trials; /* for each problem; 0: by the work that a run is */
    double budget_s;       /* for the whole call; 0: none */
    uint64_t seed;
    const char *command; /* for provenance */
    const volatile sig_atomic_t
        *stop; /* nonzero: finish the trial in flight and return E_INTERRUPTED */
    void (*observe)(void *user, const tuner_event *event); /* may be NULL */
    void *user;
} tuner_options;

/* What is known of one problem's winner. */
typedef struct tuner_result {
    const tuner_problem *problem;
    bool from_database; /* nothing had to run */
    db_trial_row winner;
    double tflops, roofline_us, roofline_share,
        default_us;     /* default_us 0: the default has no time */
    bool default_tried; /* whatever became of it */
    int64_t trials[TUNER_N_STATUSES];
} tuner_result;

typedef struct tuner_report {
    device_info device;
    tuner_result *results; /* problems that have a winner, in the workload's order */
    int n_results;
    double wall_s;
} tuner_report;

/* Tune every problem of the workload.  The report holds what was reached, also on failure.
 * Errors: E_INTERRUPTED; E_STATE when more than half of a problem's candidates compute wrong results; E_DEVICE; the
 * database's. */
moesaic_status tuner_run(const workload *work, db *database, const tuner_options *options,
                         tuner_report *out, moesaic_text *err);
void tuner_report_free(tuner_report *report);

/* The columns that a space's expressions see of a device. */
void tuner_device_facts(const device_info *info, gen_device *out);

/* Identity of an argument layout, as code objects carry it: a digest of a launch's "arguments". */
moesaic_status tuner_launch_abi(const cJSON *launch, hash_hex *out, moesaic_text *err);

#endif
