/* db/winner.c: listing trials, choosing the winner among them, and finding winners.
 *
 * Tested by tests/db/test_winner.c.                                                SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

/* Best time first; what has none comes last; ties in the order of configurations, so that a choice repeats. */
#define BEST_FIRST " ORDER BY t.time_us IS NULL, t.time_us, c.key"

/* Where a found row goes: trials have no device with them, winners have. */
typedef struct visitor {
    bool (*trial)(const db_trial_row *row, void *user);
    bool (*winner)(const db_trial_row *row, const db_device *device, void *user);
    void *user;
} visitor;

static const char *text_of(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

/* The device's columns as WINNER_SELECT has them; valid until the next step. */
static db_device read_device(sqlite3_stmt *statement)
{
    int c = ROW_N_COLUMNS;
    return (db_device){
        .kind = text_of(statement, c),
        .target = text_of(statement, c + 1),
        .partition = text_of(statement, c + 2),
        .driver = text_of(statement, c + 3),
        .hip_version = text_of(statement, c + 4),
        .compiler = text_of(statement, c + 5),
        .model_version = text_of(statement, c + 6),
        .pci_device_id = sqlite3_column_int64(statement, c + 7),
        .cu_count = sqlite3_column_int64(statement, c + 8),
        .memory_bytes = sqlite3_column_int64(statement, c + 9),
    };
}

#define WINNER_SELECT                                                                              \
    ROW_SELECT(", d.kind, d.target, d.partition, d.driver, d.hip_version, d.compiler,"             \
               " d.model_version, d.pci_device_id, d.cu_count, d.memory_bytes")                    \
    " JOIN winner w ON w.trial_id = t.id JOIN device d ON d.id = t.device_id"

static moesaic_status visit_row(sqlite3_stmt *statement, const visitor *to, bool *more,
                                moesaic_text *err)
{
    db_trial_row row;
    moesaic_status status = row_read(statement, &row, err);
    if (status != MOESAIC_OK)
        return status;
    if (to->winner) {
        db_device device = read_device(statement);
        *more = to->winner(&row, &device, to->user);
    } else if (to->trial) {
        *more = to->trial(&row, to->user);
    }
    db_row_free(&row);
    return MOESAIC_OK;
}

static moesaic_status visit_all(db *database, sqlite3_stmt *statement, const visitor *to,
                                moesaic_text *err)
{
    bool more = true;
    moesaic_status status = MOESAIC_OK;
    while (status == MOESAIC_OK && more) {
        status = db_step(database, statement, &more, err);
        if (status == MOESAIC_OK && more)
            status = visit_row(statement, to, &more, err);
    }
    sqlite3_finalize(statement);
    return status;
}

moesaic_status db_trials(db *database, int64_t problem_id, int64_t device_id, int64_t template_id,
                         bool (*visit)(const db_trial_row *row, void *user), void *user,
                         moesaic_text *err)
{
    sqlite3_stmt *statement;
    visitor to = {.trial = visit, .user = user};
    moesaic_status status =
        db_prepare(database, &statement, err,
                   ROW_SELECT("") " WHERE t.problem_id = ?1 AND (?2 = 0 OR t.device_id = ?2)"
                                  " AND (?3 = 0 OR c.template_id = ?3)" BEST_FIRST,
                   "iii", problem_id, device_id, template_id);
    return status == MOESAIC_OK ? visit_all(database, statement, &to, err) : status;
}

moesaic_status db_winners(db *database, const char *family, const char *pass,
                          bool (*visit)(const db_trial_row *row, const db_device *device,
                                        void *user),
                          void *user, moesaic_text *err)
{
    sqlite3_stmt *statement;
    visitor to = {.winner = visit, .user = user};
    moesaic_status status = db_prepare(
        database, &statement, err,
        WINNER_SELECT " WHERE (?1 IS NULL OR p.family = ?1) AND (?2 IS NULL OR p.pass = ?2)"
                      " ORDER BY p.family, p.pass, p.key, d.id",
        "tt", family, pass);
    return status == MOESAIC_OK ? visit_all(database, statement, &to, err) : status;
}

/* The first row of a query that takes up to two ids. */
static moesaic_status get_row(db *database, const char *sql, int64_t first, int64_t second,
                              db_trial_row *out, const char *what, moesaic_text *err)
{
    sqlite3_stmt *statement;
    bool row = false;
    *out = (db_trial_row){0};
    moesaic_status status = db_prepare(database, &statement, err, sql, "ii", first, second);
    if (status == MOESAIC_OK)
        status = db_step(database, statement, &row, err);
    if (status == MOESAIC_OK && !row)
        status = moesaic_fail(err, MOESAIC_E_NOTFOUND, "database %s: no %s %lld", database->path,
                              what, (long long)first);
    if (status == MOESAIC_OK)
        status = row_read(statement, out, err);
    sqlite3_finalize(statement);
    return status;
}

moesaic_status db_winner_get(db *database, int64_t problem_id, int64_t device_id, db_trial_row *out,
                             moesaic_text *err)
{
    return get_row(database, WINNER_SELECT " WHERE w.problem_id = ? AND w.device_id = ?",
                   problem_id, device_id, out, "winner of problem", err);
}

moesaic_status db_trial_get(db *database, int64_t trial_id, db_trial_row *out, moesaic_text *err)
{
    return get_row(database, ROW_SELECT("") " WHERE t.id = ?1 AND ?2 = 0", trial_id, 0, out,
                   "trial", err);
}

moesaic_status db_winner_choose(db *database, int64_t problem_id, int64_t device_id,
                                int64_t template_id, int64_t *trial_id, moesaic_text *err)
{
    *trial_id = 0;
    moesaic_status status = db_begin(database, err);
    if (status != MOESAIC_OK)
        return status;
    status = db_get_int(database, trial_id, err,
                        "SELECT t.id FROM trial t JOIN config c ON c.id = t.config_id"
                        " WHERE t.problem_id = ? AND t.device_id = ? AND c.template_id = ?"
                        " AND " DB_ELIGIBLE BEST_FIRST " LIMIT 1",
                        "iii", problem_id, device_id, template_id);
    if (status == MOESAIC_OK)
        status = db_run(database, NULL, err,
                        "INSERT INTO winner(problem_id, device_id, trial_id) VALUES (?, ?, ?)"
                        " ON CONFLICT DO UPDATE SET trial_id = excluded.trial_id",
                        "iii", problem_id, device_id, *trial_id);
    if (status == MOESAIC_E_NOTFOUND)
        moesaic_fail(err, status, "database %s: no verified trial of problem %lld yet",
                     database->path, (long long)problem_id);
    return db_finish(database, status, err);
}
