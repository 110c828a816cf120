/* db/show.c: one trial with everything that it refers to, as JSON for people and scripts.
 *
 * Columns are shown as they are stored, so that a newer minor schema's are seen too; keys and launches, which are
 * JSON themselves, as objects; code as its number of bytes.
 * Tested by tests/db/test_stat.c.                                                  SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

static cJSON *text_value(const char *text)
{
    cJSON *parsed = text[0] == '{' ? cJSON_Parse(text) : NULL;
    return parsed ? parsed : cJSON_CreateString(text);
}

/* An infinite error is shown as text: JSON has no such number. */
static cJSON *value_of(sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        return cJSON_CreateNull();
    case SQLITE_TEXT:
        return text_value((const char *)sqlite3_column_text(row, column));
    case SQLITE_BLOB:
        return cJSON_CreateNumber(sqlite3_column_bytes(row, column));
    default: {
        double value = sqlite3_column_double(row, column);
        return value - value == 0 ? cJSON_CreateNumber(value) : cJSON_CreateString("inf");
    }
    }
}

static bool add_columns(sqlite3_stmt *row, cJSON *to)
{
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        cJSON *value = value_of(row, i);
        if (!value || !cJSON_AddItemToObject(to, sqlite3_column_name(row, i), value)) {
            cJSON_Delete(value);
            return false;
        }
    }
    return true;
}

/* The row of a table that a query finds by the trial's id; null when there is none. */
static moesaic_status add_row(db *database, cJSON *to, const char *table, const char *sql,
                              int64_t id, moesaic_text *err)
{
    sqlite3_stmt *row;
    bool found = false;
    moesaic_status status = db_prepare(database, &row, err, sql, "i", id);
    if (status == MOESAIC_OK)
        status = db_step(database, row, &found, err);
    cJSON *object = found ? cJSON_AddObjectToObject(to, table) : cJSON_AddNullToObject(to, table);
    if (status == MOESAIC_OK && (!object || (found && !add_columns(row, object))))
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to show a trial");
    sqlite3_finalize(row);
    return status;
}

moesaic_status db_trial_show(db *database, int64_t trial_id, cJSON **out, moesaic_text *err)
{
    static const struct {
        const char *table, *sql;
    } parts[] = {
        {"trial", "SELECT * FROM trial WHERE id = ?"},
        {"problem", "SELECT p.* FROM problem p JOIN trial t ON t.problem_id = p.id WHERE t.id = ?"},
        {"config", "SELECT c.* FROM config c JOIN trial t ON t.config_id = c.id WHERE t.id = ?"},
        {"template", "SELECT m.* FROM template m JOIN config c ON c.template_id = m.id"
                     " JOIN trial t ON t.config_id = c.id WHERE t.id = ?"},
        {"device", "SELECT d.* FROM device d JOIN trial t ON t.device_id = d.id WHERE t.id = ?"},
        {"code_object",
         "SELECT o.* FROM code_object o JOIN trial t ON t.code_object_id = o.id WHERE t.id = ?"},
        {"run", "SELECT r.* FROM run r JOIN trial t ON t.run_id = r.id WHERE t.id = ?"},
        {"winner", "SELECT * FROM winner WHERE trial_id = ?"},
    };
    int64_t id;
    *out = NULL;
    moesaic_status status =
        db_get_int(database, &id, err, "SELECT id FROM trial WHERE id = ?", "i", trial_id);
    if (status == MOESAIC_E_NOTFOUND)
        moesaic_fail(err, status, "database %s: no trial %lld; `moesaic db ls` lists the winners",
                     database->path, (long long)trial_id);
    if (status != MOESAIC_OK)
        return status;
    cJSON *shown = cJSON_CreateObject();
    if (!shown)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to show a trial");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == MOESAIC_OK; i++)
        status = add_row(database, shown, parts[i].table, parts[i].sql, trial_id, err);
    if (status == MOESAIC_OK)
        *out = shown;
    else
        cJSON_Delete(shown);
    return status;
}
