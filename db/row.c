/* db/row.c: one stored trial with all that it refers to.
 *
 * Tested by tests/db/test_winner.c.                                                SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_trial_status status_of(const char *name)
{
    for (int s = DB_TRIAL_RUNNING; s <= DB_TRIAL_SKIPPED; s++)
        if (name && strcmp(name, db_trial_status_name((db_trial_status)s)) == 0)
            return (db_trial_status)s;
    return DB_TRIAL_SKIPPED; /* a status of a newer schema: nothing that may win */
}

static double number_of(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(statement, column);
}

enum { N_TEXTS = 10 };

/* Texts in the order of ROW_SELECT's columns. */
static void list_texts(db_trial_row *row, char **out[N_TEXTS])
{
    char **const texts[N_TEXTS] = {
        &row->family,        &row->pass,   &row->problem, &row->config,        &row->time_kind,
        &row->model_version, &row->reason, &row->launch,  &row->template_hash, &row->launch_abi};
    memcpy(out, texts, sizeof texts);
}

static bool read_texts(sqlite3_stmt *statement, int column, db_trial_row *out)
{
    char **texts[N_TEXTS];
    list_texts(out, texts);
    for (int i = 0; i < N_TEXTS; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, column + i);
        if (!text || !(*texts[i] = strdup(text)))
            return false;
    }
    return true;
}

moesaic_status row_read(sqlite3_stmt *statement, db_trial_row *out, moesaic_text *err)
{
    int64_t *const ids[] = {&out->trial_id,  &out->problem_id,     &out->config_id,
                            &out->device_id, &out->code_object_id, &out->template_id};
    double *const numbers[] = {&out->time_us, &out->spread_pct, &out->max_error, &out->error_bound};
    bool *const flags[] = {&out->verified, &out->verified_full, &out->in_flight};
    int column = 0;
    *out = (db_trial_row){0};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        *ids[i] = sqlite3_column_int64(statement, column++);
    out->status = status_of((const char *)sqlite3_column_text(statement, column++));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = number_of(statement, column++);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        *flags[i] = sqlite3_column_int(statement, column++) != 0;
    if (read_texts(statement, column, out))
        return MOESAIC_OK;
    db_row_free(out);
    return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a stored trial");
}

void db_row_free(db_trial_row *row)
{
    if (!row)
        return;
    char **texts[N_TEXTS];
    list_texts(row, texts);
    for (int i = 0; i < N_TEXTS; i++)
        free(*texts[i]);
    *row = (db_trial_row){0};
}
