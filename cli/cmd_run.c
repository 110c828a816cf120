/* cli/cmd_run.c: `moesaic run`: launch a workload's winners, verify and time them.
 *
 * Tested by tests/cli/test_run.sh.    SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "tuner/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const cli_option options[] = {
    {"--only", "GLOB", "run the problems whose label matches, such as \"down tokens=512 *\""},
    {"--seed", "N", "seed of data and routing (default 1)"},
    {NULL, NULL, NULL},
};

/* A row of the table and the JSON while they grow. */
typedef struct run_view {
    const cli_call *call;
    const device_info *device;
    cli_table *table; /* NULL under --json */
    cJSON *results;   /* NULL otherwise */
    char time[32];    /* a heading; the table points at it */
    int n_failed;
} run_view;

/* JSON has no infinity. */
static void add_number(cJSON *object, const char *key, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, key, value);
    else
        cJSON_AddStringToObject(object, key, "inf");
}

static void add_json(run_view *v, const tuner_problem *p, const replay_result *r)
{
    const evaluation *e = &r->run;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToObject(o, "problem", cJSON_Duplicate(p->key_fields, 1));
    cJSON_AddStringToObject(o, "pass", p->pass);
    cJSON_AddBoolToObject(o, "verified", e->verified_full);
    add_number(o, "max_error", e->verdict.max_error);
    add_number(o, "error_bound", e->verdict.error_bound);
    if (e->time_us > 0)
        cJSON_AddNumberToObject(o, "time_us", e->time_us);
    else
        cJSON_AddNullToObject(o, "time_us");
    cJSON_AddStringToObject(o, "time_kind", device_time_kind_name(v->device->kind));
    cJSON_AddStringToObject(o, "model_version", v->device->model_version);
    cJSON_AddNumberToObject(o, "trial", (double)r->winner.trial_id);
    cJSON_AddBoolToObject(o, "compiled", r->compiled);
    cJSON_AddStringToObject(o, "reason", e->verdict.reason);
    cJSON_AddItemToArray(v->results, o);
}

static void add_row(run_view *v, const tuner_problem *p, const replay_result *r)
{
    const evaluation *e = &r->run;
    cli_table_cell(v->table, "%s", p->label);
    cli_table_cell(v->table, "%lld", (long long)r->winner.trial_id);
    cli_table_cell(v->table, "%.1f", e->time_us);
    cli_table_cell(v->table, "%.1f", r->winner.time_us);
    cli_table_cell(v->table, "%.1e/%.1e", e->verdict.max_error, e->verdict.error_bound);
    cli_table_cell(v->table, "%s", e->verified_full ? "yes" : "NO");
    cli_table_cell(v->table, "%s%s%s", e->verdict.reason,
                   r->compiled ? "compiled again; its code was not in the database" : "",
                   r->other_device ? "; tuned on another device" : "");
}

static void add_result(run_view *v, const tuner_problem *p, const replay_result *r)
{
    v->n_failed += !r->run.verified_full;
    if (v->results)
        add_json(v, p, r);
    else
        add_row(v, p, r);
}

static void note_failure(run_view *v, const moesaic_text *err)
{
    v->n_failed++;
    cli_note(v->call, "%s", err->s);
}

static void open_view(run_view *v, const cli_call *call, const device_info *info)
{
    *v = (run_view){.call = call, .device = info};
    if (call->json) {
        v->results = cJSON_CreateArray();
        return;
    }
    snprintf(v->time, sizeof v->time, ">%s us", device_time_kind_name(info->kind));
    const char *const headings[] = {"<problem", ">trial",    v->time, ">when tuned",
                                    ">error",   "<verified", "<note"};
    v->table = cli_table_new();
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        cli_table_column(v->table, headings[i]);
}

static int print_view(run_view *v)
{
    if (!v->results)
        return cli_table_print(v->table);
    cJSON *out = cJSON_CreateObject();
    cJSON_AddStringToObject(out, "db", v->call->db);
    cJSON_AddItemToObject(out, "results", v->results);
    return cli_print_json(v->call, out);
}

/* A problem without a winner is told and the others run; what is wrong with the database or device ends it all. */
static int run_all(const cli_call *call, replay *r, uint64_t seed)
{
    run_view view;
    open_view(&view, call, &r->device);
    for (int i = 0; i < r->work->n_problems; i++) {
        moesaic_text err;
        replay_result result;
        moesaic_status status = replay_winner(r, i, seed, &result, &err);
        if (status == MOESAIC_OK)
            add_result(&view, &r->work->problems[i], &result);
        else
            note_failure(&view, &err);
        replay_result_free(&result);
        if (status != MOESAIC_OK && status != MOESAIC_E_NOTFOUND && status != MOESAIC_E_COMPILE)
            break;
    }
    int rc = print_view(&view);
    if (!call->json && r->device.kind == DEVICE_SOFTWARE)
        printf("\nTimes are modelled by the software MI300X, model version %s%s.\n",
               r->device.model_version, r->device.model_calibrated ? "" : ", uncalibrated");
    return rc != CLI_OK ? rc : view.n_failed ? CLI_FAILED : CLI_OK;
}

static int run_workload(const cli_call *call, const workload *work, db *database, uint64_t seed)
{
    moesaic_text err;
    replay r;
    moesaic_status status = replay_open(work, database, &r, &err);
    int rc = status == MOESAIC_OK ? run_all(call, &r, seed) : cli_fail(call, status, &err);
    replay_close(&r);
    return rc;
}

static int run(cli_call *call)
{
    moesaic_text err;
    int64_t seed = 1;
    workload *work = NULL;
    db *database = NULL;
    const char *only = cli_value(call, "--only");
    moesaic_status status = cli_int(call, "--seed", 0, INT64_MAX, 1, &seed, &err);
    if (status == MOESAIC_OK)
        status = workload_read(call->args[0], &work, &err);
    if (status == MOESAIC_OK && only)
        status = workload_select(work, only, &err);
    if (status == MOESAIC_OK)
        status = db_open(call->db, DB_READ, &database, &err);
    int rc = status == MOESAIC_OK ? run_workload(call, work, database, (uint64_t)seed)
                                  : cli_fail(call, status, &err);
    db_close(database);
    workload_free(work);
    return rc;
}

const cli_command cli_run = {
    .name = "run",
    .usage = "WORKLOAD.json [options]",
    .summary = "Launch the winners of a workload, verify them and print their times",
    .help = "Winners run from the code objects in the database; where those were removed, they are "
            "compiled\nagain from the same template. Every output is compared with a host "
            "reference.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
