/* db/statement.c: SQLite statements with bound arguments, and what SQLite's failures mean for people.
 *
 * Owns the mapping from SQLite's result codes to ours.  Uses sqlite3.  Tested by tests/db/test_open.c.
 * SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

#include <math.h>

static const struct failure {
    int code;
    moesaic_status status;
    const char *remedy;
} failures[] = {
    {SQLITE_BUSY, MOESAIC_E_BUSY, "another process holds it; try again when that one has ended"},
    {SQLITE_LOCKED, MOESAIC_E_BUSY, "it is locked; try again"},
    {SQLITE_FULL, MOESAIC_E_IO, "the disk is full; free some space or name another file with --db"},
    {SQLITE_READONLY, MOESAIC_E_IO,
     "it is read-only; make file and folder writable or name another file with --db"},
    {SQLITE_PERM, MOESAIC_E_IO, "permission is missing"},
    {SQLITE_AUTH, MOESAIC_E_IO, "permission is missing"},
    {SQLITE_CANTOPEN, MOESAIC_E_IO,
     "it cannot be opened; check path and permissions of file and folder"},
    {SQLITE_IOERR, MOESAIC_E_IO,
     "reading or writing failed; check the disk, its quota and the file size limit"},
    {SQLITE_TOOBIG, MOESAIC_E_INPUT, "a value is too large"},
    {SQLITE_NOMEM, MOESAIC_E_NOMEM, "out of memory"},
    {SQLITE_NOTADB, MOESAIC_E_SCHEMA, "it is not a SQLite database; name another file with --db"},
    {SQLITE_CORRUPT, MOESAIC_E_DB, "the file is damaged; restore a copy or start a new one"},
};

static const struct failure *failure_of(int code)
{
    static const struct failure other = {0, MOESAIC_E_DB, "the file is not as it should be"};
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (failures[i].code == (code & 0xff))
            return &failures[i];
    return &other;
}

moesaic_status db_fail(const db *database, int code, const char *doing, moesaic_text *err)
{
    const struct failure *failure = failure_of(code);
    const char *said = database->sql ? sqlite3_errmsg(database->sql) : sqlite3_errstr(code);
    return moesaic_fail(err, failure->status, "database %s: %s: %s (%s)", database->path, doing,
                        failure->remedy, said);
}

static int bind_next(sqlite3_stmt *statement, int i, char type, va_list *arguments)
{
    switch (type) {
    case 'i':
        return sqlite3_bind_int64(statement, i, va_arg(*arguments, int64_t));
    case 't':
        return sqlite3_bind_text(statement, i, va_arg(*arguments, const char *), -1,
                                 SQLITE_TRANSIENT);
    case 'd':
        return sqlite3_bind_double(statement, i, va_arg(*arguments, double));
    default: {
        const void *bytes = va_arg(*arguments, const void *);
        size_t n_bytes = va_arg(*arguments, size_t);
        return sqlite3_bind_blob64(statement, i, bytes, n_bytes, SQLITE_TRANSIENT);
    }
    }
}

moesaic_status db_prepare_list(db *database, sqlite3_stmt **out, moesaic_text *err, const char *sql,
                               const char *types, va_list arguments)
{
    va_list rest;
    va_copy(rest, arguments);
    int code = sqlite3_prepare_v2(database->sql, sql, -1, out, NULL);
    for (int i = 0; code == SQLITE_OK && types[i]; i++)
        code = bind_next(*out, i + 1, types[i], &rest);
    va_end(rest);
    if (code == SQLITE_OK)
        return MOESAIC_OK;
    moesaic_status status = db_fail(database, code, "preparing a query", err);
    sqlite3_finalize(*out);
    *out = NULL;
    return status;
}

moesaic_status db_prepare(db *database, sqlite3_stmt **out, moesaic_text *err, const char *sql,
                          const char *types, ...)
{
    va_list arguments;
    va_start(arguments, types);
    moesaic_status status = db_prepare_list(database, out, err, sql, types, arguments);
    va_end(arguments);
    return status;
}

moesaic_status db_step(db *database, sqlite3_stmt *statement, bool *row, moesaic_text *err)
{
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return MOESAIC_OK;
    return db_fail(database, code, database->mode == DB_WRITE ? "writing" : "reading", err);
}

moesaic_status db_run(db *database, int64_t *changed, moesaic_text *err, const char *sql,
                      const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list arguments;
    va_start(arguments, types);
    moesaic_status status = db_prepare_list(database, &statement, err, sql, types, arguments);
    va_end(arguments);
    bool row = true;
    while (status == MOESAIC_OK && row)
        status = db_step(database, statement, &row, err);
    sqlite3_finalize(statement);
    if (changed)
        *changed = status == MOESAIC_OK ? sqlite3_changes64(database->sql) : 0;
    return status;
}

moesaic_status db_get_int(db *database, int64_t *out, moesaic_text *err, const char *sql,
                          const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list arguments;
    *out = 0;
    va_start(arguments, types);
    moesaic_status status = db_prepare_list(database, &statement, err, sql, types, arguments);
    va_end(arguments);
    bool row = false;
    if (status == MOESAIC_OK)
        status = db_step(database, statement, &row, err);
    if (status == MOESAIC_OK && !row)
        status =
            moesaic_fail(err, MOESAIC_E_NOTFOUND, "database %s: no such record", database->path);
    if (status == MOESAIC_OK)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

moesaic_status db_script(db *database, const char *sql, moesaic_text *err)
{
    int code = sqlite3_exec(database->sql, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? MOESAIC_OK : db_fail(database, code, "writing", err);
}

moesaic_status db_begin(db *database, moesaic_text *err)
{
    return db_script(database, "BEGIN IMMEDIATE", err);
}

moesaic_status db_finish(db *database, moesaic_status status, moesaic_text *err)
{
    if (status == MOESAIC_OK)
        status = db_script(database, "COMMIT", err);
    if (status != MOESAIC_OK && !sqlite3_get_autocommit(database->sql))
        sqlite3_exec(database->sql, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
