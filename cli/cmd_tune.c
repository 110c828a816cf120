/* cli/cmd_tune.c: `moesaic tune`: options, the database's file, Ctrl-C.
 *
 * Input is checked before anything is written.  Tested by tests/cli/test_tune.sh.    SPDX-License-Identifier: MIT
 */
#include "cli/tune_view.h"

#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--only", "GLOB", "tune the problems whose label matches, such as \"down tokens=512 *\""},
    {"--strategy", "NAME", "guided (default), random or exhaustive"},
    {"--budget", "N|TIME", "trials for each problem, or time for all (90s, 10m, 2h)"},
    {"--seed", "N", "seed of data, routing and search (default 1)"},
    {"--resume", NULL, "go on with a database whose tuning was interrupted; it must exist"},
    {NULL, NULL, NULL},
};

static volatile sig_atomic_t stop_asked;

/* The trial in flight is finished; a second Ctrl-C ends at once, as a kill would. */
static void ask_stop(int signal_number)
{
    stop_asked = 1;
    signal(signal_number, SIG_DFL);
}

/* --- options --- */

static moesaic_status parse_budget(const char *text, tuner_options *out, moesaic_text *err)
{
    char *end;
    errno = 0;
    double value = text ? strtod(text, &end) : 0;
    if (!text)
        return MOESAIC_OK;
    double unit_s = !strcmp(end, "s") ? 1 : !strcmp(end, "m") ? 60 : !strcmp(end, "h") ? 3600 : 0;
    bool number = end != text && !errno && value > 0;
    if (number && unit_s > 0 && value * unit_s <= 3e7) {
        out->budget_s = value * unit_s;
    } else if (number && !*end && value <= 1e9 && value == (double)(int64_t)value) {
        out->budget_trials = (int64_t)value;
    } else {
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "--budget is \"%s\", must be a number of trials such as 200, or a time "
                            "such as 90s, 10m or 2h",
                            text);
    }
    return MOESAIC_OK;
}

static moesaic_status parse_options(const cli_call *call, tuner_options *out, moesaic_text *err)
{
    int64_t seed;
    const char *name = cli_value(call, "--strategy");
    *out = (tuner_options){.strategy = name ? name : "guided", .stop = &stop_asked};
    moesaic_status status = parse_budget(cli_value(call, "--budget"), out, err);
    if (status == MOESAIC_OK)
        status = cli_int(call, "--seed", 0, INT64_MAX, 1, &seed, err);
    if (status == MOESAIC_OK)
        status = strategy_check(out->strategy, err);
    if (status != MOESAIC_OK)
        return status;
    out->seed = (uint64_t)seed;
    if (cli_flag(call, "--resume") && !file_exists(call->db))
        return moesaic_fail(err, MOESAIC_E_IO,
                            "--resume: there is no database %s to go on with; leave --resume out "
                            "to begin one",
                            call->db);
    return MOESAIC_OK;
}

/* --- running --- */

static char *command_line(const cli_call *call)
{
    return str_format("moesaic tune %s", call->args[0]);
}

/* The folder of the user's own database is made; one that --db names must be there. */
static moesaic_status open_database(const cli_call *call, db **out, moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    if (!call->db_given) {
        char *folder = file_user_folder();
        status = folder ? file_make_folder(folder, err) : MOESAIC_OK;
        free(folder);
    }
    return status == MOESAIC_OK ? db_open(call->db, DB_WRITE, out, err) : status;
}

static int show(const cli_call *call, const tuner_report *report)
{
    if (call->json)
        return cli_print_json(call, tune_json(call, report));
    return report->n_results ? tune_print_table(report) : CLI_OK;
}

static int tune(const cli_call *call, const workload *work, db *database, tuner_options *o)
{
    moesaic_text err;
    tuner_report report;
    tune_progress progress;
    char *command = command_line(call);
    o->command = command;
    tune_progress_start(&progress);
    o->observe = tune_progress_observe;
    o->user = &progress;
    signal(SIGINT, ask_stop);
    signal(SIGTERM, ask_stop);
    moesaic_status status = tuner_run(work, database, o, &report, &err);
    tune_progress_end(&progress);
    int rc = status == MOESAIC_OK || report.n_results ? show(call, &report) : CLI_OK;
    if (status != MOESAIC_OK)
        rc = cli_fail(call, status, &err);
    tuner_report_free(&report);
    free(command);
    return rc;
}

static int run(cli_call *call)
{
    moesaic_text err;
    tuner_options o;
    workload *work = NULL;
    db *database = NULL;
    const char *only = cli_value(call, "--only");
    moesaic_status status = parse_options(call, &o, &err);
    if (status == MOESAIC_OK)
        status = workload_read(call->args[0], &work, &err);
    if (status == MOESAIC_OK && only)
        status = workload_select(work, only, &err);
    if (status == MOESAIC_OK)
        status = open_database(call, &database, &err);
    int rc = status == MOESAIC_OK ? tune(call, work, database, &o) : cli_fail(call, status, &err);
    db_close(database);
    workload_free(work);
    return rc;
}

const cli_command cli_tune = {
    .name = "tune",
    .usage = "WORKLOAD.json [options]",
    .summary = "Find, verify and store the fastest kernels of a workload",
    .help = "Trials that are in the database already are not run again, so a second call answers "
            "at once and\nan interrupted one goes on where it stopped.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
