/* cli/tune_report.c: the results of a tuning, as a table and as JSON.    SPDX-License-Identifier: MIT */
#include "cli/tune_view.h"

#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A configuration as "tile_m=128 tile_n=64 ...": what differs from the family's default. */
static void describe_config(const tuner_result *r, str *out)
{
    cJSON *config = cJSON_Parse(r->winner.config);
    const cJSON *p,
        *usual = cJSON_GetObjectItemCaseSensitive(gen_family_json(r->problem->family), "default");
    static const char *const always[] = {"tile_m", "tile_n", "tile_k"};
    str tile = {0}, rest = {0};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        p = cJSON_GetObjectItemCaseSensitive(config, always[i]);
        if (cJSON_IsNumber(p))
            str_printf(&tile, "%s%.0f", tile.n ? "x" : "", p->valuedouble);
    }
    cJSON_ArrayForEach(p, config)
    {
        bool in_tile = !strncmp(p->string, "tile_", 5);
        if (!in_tile && cJSON_IsNumber(p) &&
            !cJSON_Compare(p, cJSON_GetObjectItemCaseSensitive(usual, p->string), 1))
            str_printf(&rest, " %s=%.0f", p->string, p->valuedouble);
    }
    str_printf(out, "%s%s", str_text(&tile), str_text(&rest));
    str_free(&tile);
    str_free(&rest);
    cJSON_Delete(config);
}

static int64_t failed_trials(const tuner_result *r)
{
    return r->trials[DB_TRIAL_COMPILE_ERROR] + r->trials[DB_TRIAL_TIMEOUT] +
           r->trials[DB_TRIAL_FAULT] + r->trials[DB_TRIAL_SKIPPED];
}

static double gain_of(const tuner_result *r)
{
    return r->default_us > 0 ? r->default_us / r->winner.time_us : NAN;
}

static void add_row(cli_table *table, const tuner_result *r)
{
    str config = {0};
    describe_config(r, &config);
    cli_table_cell(table, "%s", r->problem->label);
    cli_table_cell(table, "%s", str_text(&config));
    cli_table_cell(table, "%.1f", r->winner.time_us);
    cli_table_cell(table, "%.1f", r->tflops);
    cli_table_cell(table, "%.0f%%", 100 * r->roofline_share);
    cli_table_cell(table, "%.2fx", gain_of(r));
    cli_table_cell(table, "%.1e/%.1e", r->winner.max_error, r->winner.error_bound);
    cli_table_cell(table, "%" PRId64 "/%" PRId64 "/%" PRId64, r->trials[DB_TRIAL_OK],
                   r->trials[DB_TRIAL_WRONG] + r->trials[DB_TRIAL_RACE], failed_trials(r));
    cli_table_cell(table, "%s", r->winner.reason);
    str_free(&config);
}

int tune_print_table(const tuner_report *report)
{
    const device_info *d = &report->device;
    const char *kind = device_time_kind_name(d->kind);
    char time[32];
    snprintf(time, sizeof time, ">%s us", kind);
    cli_table *table = cli_table_new();
    const char *headings[] = {"<problem", "<winner",          time,
                              ">TFLOP/s", ">roofline",        ">over default",
                              ">error",   ">ok/wrong/failed", "<why"};
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        cli_table_column(table, headings[i]);
    for (int i = 0; i < report->n_results; i++)
        add_row(table, &report->results[i]);
    int rc = cli_table_print(table);
    if (d->kind == DEVICE_SOFTWARE)
        printf("\nTimes are modelled by the software MI300X, model version %s%s; they are no "
               "measurements.\n",
               d->model_version, d->model_calibrated ? "" : ", uncalibrated");
    else
        printf("\nTimes are %s on %s.\n", kind, d->name);
    printf("Errors are relative to the sum of magnitudes, and below the bound behind the slash. "
           "%.1f s in all.\n",
           report->wall_s);
    return fflush(stdout) == 0 ? rc : CLI_FAILED;
}

/* --- JSON --- */

/* JSON has no infinity and no NaN. */
static void add_number(cJSON *object, const char *key, double value)
{
    if (isnan(value))
        cJSON_AddNullToObject(object, key);
    else if (isinf(value))
        cJSON_AddStringToObject(object, key, "inf");
    else
        cJSON_AddNumberToObject(object, key, value);
}

static cJSON *result_json(const tuner_result *r)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToObject(o, "problem", cJSON_Duplicate(r->problem->key_fields, 1));
    cJSON_AddStringToObject(o, "pass", r->problem->pass);
    cJSON_AddItemToObject(o, "config", cJSON_Parse(r->winner.config));
    add_number(o, "time_us", r->winner.time_us);
    cJSON_AddStringToObject(o, "time_kind", r->winner.time_kind);
    cJSON_AddStringToObject(o, "model_version", r->winner.model_version);
    add_number(o, "tflops", r->tflops);
    add_number(o, "roofline_share", r->roofline_share);
    add_number(o, "speedup_over_default", gain_of(r));
    add_number(o, "max_error", r->winner.max_error);
    add_number(o, "error_bound", r->winner.error_bound);
    cJSON_AddNumberToObject(o, "trial", (double)r->winner.trial_id);
    cJSON_AddBoolToObject(o, "from_database", r->from_database);
    return o;
}

static cJSON *trials_json(const tuner_report *report)
{
    cJSON *o = cJSON_CreateObject();
    for (int s = DB_TRIAL_OK; s < TUNER_N_STATUSES; s++) {
        int64_t n = 0;
        for (int i = 0; i < report->n_results; i++)
            n += report->results[i].trials[s];
        cJSON_AddNumberToObject(o, db_trial_status_name((db_trial_status)s), (double)n);
    }
    return o;
}

cJSON *tune_json(const cli_call *call, const tuner_report *report)
{
    cJSON *o = cJSON_CreateObject(), *results = cJSON_CreateArray();
    cJSON_AddStringToObject(o, "db", call->db);
    add_number(o, "wall_s", report->wall_s);
    cJSON_AddItemToObject(o, "trials", trials_json(report));
    for (int i = 0; i < report->n_results; i++)
        cJSON_AddItemToArray(results, result_json(&report->results[i]));
    cJSON_AddItemToObject(o, "results", results);
    return o;
}
