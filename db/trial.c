/* db/trial.c: runs and trials: stated before the launch, completed when they end.
 *
 * A trial is in flight while ended_at is NULL.  One that a killed process left in flight is given out again, with
 * the number of deaths it has seen.  Tested by tests/db/test_trial.c.              SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

#include "base/clock.h"

#include <string.h>

static const char *const status_names[] = {
    [DB_TRIAL_RUNNING] = "running", [DB_TRIAL_OK] = "ok",
    [DB_TRIAL_WRONG] = "wrong",     [DB_TRIAL_COMPILE_ERROR] = "compile_error",
    [DB_TRIAL_TIMEOUT] = "timeout", [DB_TRIAL_FAULT] = "fault",
    [DB_TRIAL_RACE] = "race",       [DB_TRIAL_SKIPPED] = "skipped",
};

const char *db_trial_status_name(db_trial_status status)
{
    return (unsigned)status < sizeof status_names / sizeof status_names[0] ? status_names[status]
                                                                           : "?";
}

moesaic_status db_run_begin(db *database, const char *command, const char *options, int64_t *run_id,
                            moesaic_text *err)
{
    process_identity self;
    char now[21];
    process_self(&self);
    clock_utc(now);
    moesaic_status status =
        db_run(database, NULL, err,
               "INSERT INTO run(command, options, host, boot_id, pid, process_start, started_at)"
               " VALUES (?, ?, ?, ?, ?, ?, ?)",
               "ttttiit", command, options, self.host, self.boot_id, self.pid, self.start, now);
    *run_id = status == MOESAIC_OK ? sqlite3_last_insert_rowid(database->sql) : 0;
    return status;
}

moesaic_status db_run_end(db *database, int64_t run_id, const char *outcome, moesaic_text *err)
{
    char now[21];
    clock_utc(now);
    return db_run(database, NULL, err, "UPDATE run SET outcome = ?, ended_at = ? WHERE id = ?",
                  "tti", outcome, now, run_id);
}

/* What the file knows of a candidate. */
typedef struct earlier {
    int64_t trial_id, run_id, deaths;
    bool in_flight;
    process_identity owner;
} earlier;

static void copy_column(sqlite3_stmt *row, int column, char *out, size_t n)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    size_t length = text ? strnlen(text, n - 1) : 0;
    if (length)
        memcpy(out, text, length);
    out[length] = 0;
}

static moesaic_status find_earlier(db *database, int64_t problem_id, int64_t config_id,
                                   int64_t device_id, earlier *out, moesaic_text *err)
{
    sqlite3_stmt *row;
    bool found = false;
    *out = (earlier){0};
    moesaic_status status =
        db_prepare(database, &row, err,
                   "SELECT t.id, t.run_id, t.deaths, t.ended_at IS NULL, r.host, r.boot_id, r.pid,"
                   " r.process_start FROM trial t JOIN run r ON r.id = t.run_id"
                   " WHERE t.problem_id = ? AND t.config_id = ? AND t.device_id = ?",
                   "iii", problem_id, config_id, device_id);
    if (status == MOESAIC_OK)
        status = db_step(database, row, &found, err);
    if (status == MOESAIC_OK && found) {
        *out = (earlier){
            .trial_id = sqlite3_column_int64(row, 0),
            .run_id = sqlite3_column_int64(row, 1),
            .deaths = sqlite3_column_int64(row, 2),
            .in_flight = sqlite3_column_int(row, 3) != 0,
            .owner = {.pid = sqlite3_column_int64(row, 6), .start = sqlite3_column_int64(row, 7)}};
        copy_column(row, 4, out->owner.host, sizeof out->owner.host);
        copy_column(row, 5, out->owner.boot_id, sizeof out->owner.boot_id);
    }
    sqlite3_finalize(row);
    return status;
}

static moesaic_status add_trial(db *database, int64_t run_id, int64_t problem_id, int64_t config_id,
                                int64_t device_id, const char *now, int64_t *trial_id,
                                moesaic_text *err)
{
    moesaic_status status =
        db_run(database, NULL, err,
               "INSERT INTO trial(run_id, problem_id, config_id, device_id, status, started_at)"
               " VALUES (?, ?, ?, ?, 'running', ?)",
               "iiiit", run_id, problem_id, config_id, device_id, now);
    *trial_id = status == MOESAIC_OK ? sqlite3_last_insert_rowid(database->sql) : 0;
    return status;
}

moesaic_status db_trial_begin(db *database, int64_t run_id, int64_t problem_id, int64_t config_id,
                              int64_t device_id, bool retune, int64_t *trial_id, bool *known,
                              int64_t *deaths, moesaic_text *err)
{
    char now[21];
    earlier was;
    clock_utc(now);
    *trial_id = *deaths = 0;
    *known = false;
    moesaic_status status = db_begin(database, err);
    if (status != MOESAIC_OK)
        return status;
    status = find_earlier(database, problem_id, config_id, device_id, &was, err);
    bool ours = was.run_id == run_id, lives = was.in_flight && !ours && process_lives(&was.owner);
    if (status == MOESAIC_OK && was.trial_id == 0) {
        status = add_trial(database, run_id, problem_id, config_id, device_id, now, trial_id, err);
    } else if (status == MOESAIC_OK) {
        *trial_id = was.trial_id;
        *known = was.in_flight ? lives : !retune;
        *deaths = was.deaths + (was.in_flight && !lives && !ours);
        if (!*known)
            status =
                db_run(database, NULL, err,
                       "UPDATE trial SET run_id = ?, deaths = ?, started_at = ?, ended_at = NULL"
                       " WHERE id = ?",
                       "iiti", run_id, *deaths, now, was.trial_id);
    }
    return db_finish(database, status, err);
}

static moesaic_status set_result(db *database, int64_t trial_id, const db_trial_result *r,
                                 moesaic_text *err)
{
    char now[21];
    int64_t n_changed;
    clock_utc(now);
    moesaic_status status = db_run(
        database, &n_changed, err,
        "UPDATE trial SET status = ?, code_object_id = nullif(?, 0), time_us = ?, spread_pct = ?,"
        " max_error = ?, error_bound = ?, time_kind = ?, model_version = ?, reason = ?, launch = ?,"
        " verified = ?, verified_full = ?, deaths = 0, ended_at = ? WHERE id = ?",
        "tiddddttttiiti", db_trial_status_name(r->status), r->code_object_id, r->time_us,
        r->spread_pct, r->max_error, r->error_bound, r->time_kind ? r->time_kind : "untrusted",
        r->model_version ? r->model_version : "", r->reason ? r->reason : "",
        r->launch ? r->launch : "", (int64_t)r->verified, (int64_t)r->verified_full, now, trial_id);
    if (status == MOESAIC_OK && n_changed != 1)
        status = moesaic_fail(err, MOESAIC_E_NOTFOUND, "database %s: no trial %lld", database->path,
                              (long long)trial_id);
    return status;
}

moesaic_status db_trial_end(db *database, int64_t trial_id, const db_trial_result *result,
                            moesaic_text *err)
{
    if (result->status == DB_TRIAL_OK && !(result->time_us > 0))
        return moesaic_fail(err, MOESAIC_E_INPUT, "trial %lld: a time of %g us cannot be",
                            (long long)trial_id, result->time_us);
    moesaic_status status = db_begin(database, err);
    if (status != MOESAIC_OK)
        return status;
    status = set_result(database, trial_id, result, err);
    if (status == MOESAIC_OK)
        status = db_run(database, NULL, err,
                        "DELETE FROM winner WHERE trial_id IN (SELECT id FROM trial t WHERE id = ?"
                        " AND NOT (" DB_ELIGIBLE "))",
                        "i", trial_id);
    return db_finish(database, status, err);
}
