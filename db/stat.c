/* db/stat.c: what a file holds, and removing what nobody needs.
 *
 * Tested by tests/db/test_stat.c.                                                  SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

#include <stdio.h>

static moesaic_status add_count(db *database, cJSON *to, const char *key, const char *sql,
                                moesaic_text *err)
{
    int64_t n;
    moesaic_status status = db_get_int(database, &n, err, sql, "");
    if (status == MOESAIC_OK && !cJSON_AddNumberToObject(to, key, (double)n))
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for statistics");
    return status;
}

static moesaic_status add_trials(db *database, cJSON *to, moesaic_text *err)
{
    cJSON *trials = cJSON_AddObjectToObject(to, "trials");
    if (!trials)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for statistics");
    moesaic_status status = MOESAIC_OK;
    for (int s = DB_TRIAL_RUNNING; s <= DB_TRIAL_SKIPPED && status == MOESAIC_OK; s++) {
        const char *name = db_trial_status_name((db_trial_status)s);
        char sql[96];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM trial WHERE status = '%s'", name);
        status = add_count(database, trials, name, sql, err);
    }
    return status;
}

static moesaic_status add_schema(db *database, cJSON *to, moesaic_text *err)
{
    int64_t version;
    char text[32];
    moesaic_status status = db_get_int(database, &version, err, "PRAGMA user_version", "");
    if (status != MOESAIC_OK)
        return status;
    snprintf(text, sizeof text, "%d.%d", (int)(version / 1000), (int)(version % 1000));
    return cJSON_AddStringToObject(to, "schema", text)
               ? MOESAIC_OK
               : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for statistics");
}

moesaic_status db_stat(db *database, cJSON **out, moesaic_text *err)
{
    static const struct {
        const char *key, *sql;
    } counts[] = {
        {"problems", "SELECT count(*) FROM problem"},
        {"devices", "SELECT count(*) FROM device"},
        {"configs", "SELECT count(*) FROM config"},
        {"runs", "SELECT count(*) FROM run"},
        {"winners", "SELECT count(*) FROM winner"},
        {"code_objects", "SELECT count(*) FROM code_object WHERE blob IS NOT NULL"},
        {"code_object_bytes", "SELECT coalesce(sum(length(blob)), 0) FROM code_object"},
        {"bytes", "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"},
    };
    *out = cJSON_CreateObject();
    moesaic_status status = *out ? add_trials(database, *out, err)
                                 : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for statistics");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && status == MOESAIC_OK; i++)
        status = add_count(database, *out, counts[i].key, counts[i].sql, err);
    if (status == MOESAIC_OK)
        status = add_schema(database, *out, err);
    if (status != MOESAIC_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}

/* Give free pages back to the file system. */
static moesaic_status shrink(db *database, moesaic_text *err)
{
    return db_script(database, "PRAGMA incremental_vacuum", err);
}

moesaic_status db_code_objects_collect(db *database, int64_t *n_removed, moesaic_text *err)
{
    moesaic_status status = db_run(database, n_removed, err,
                                   "UPDATE code_object SET blob = NULL WHERE blob IS NOT NULL", "");
    return status == MOESAIC_OK ? shrink(database, err) : status;
}

moesaic_status db_collect(db *database, int64_t *n_removed, moesaic_text *err)
{
    static const char *const unused[] = {
        ("DELETE FROM code_object WHERE id NOT IN"
         " (SELECT code_object_id FROM trial WHERE code_object_id IS NOT NULL)"),
        "DELETE FROM config WHERE id NOT IN (SELECT config_id FROM trial)",
        "DELETE FROM template WHERE id NOT IN (SELECT template_id FROM config)",
        "DELETE FROM problem WHERE id NOT IN (SELECT problem_id FROM trial)",
        "DELETE FROM device WHERE id NOT IN (SELECT device_id FROM trial)",
        "DELETE FROM run WHERE ended_at IS NOT NULL AND id NOT IN (SELECT run_id FROM trial)",
    };
    *n_removed = 0;
    moesaic_status status = db_begin(database, err);
    if (status != MOESAIC_OK)
        return status;
    for (size_t i = 0; i < sizeof unused / sizeof unused[0] && status == MOESAIC_OK; i++) {
        int64_t n;
        status = db_run(database, &n, err, unused[i], "");
        *n_removed += n;
    }
    status = db_finish(database, status, err);
    return status == MOESAIC_OK ? shrink(database, err) : status;
}
