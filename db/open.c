/* db/open.c: opening and closing the file, whatever state it and its folder are in.
 *
 * Writers use WAL, so that readers never wait, and hand the file back in journal mode DELETE: a file at rest is
 * one file, which can be copied, shipped and read from a read-only folder.
 * Uses schema.c.  Tested by tests/db/test_open.c.                                  SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "file:" URI: of a path, its special characters escaped. */
static void add_uri(const char *path, const char *options, str *out)
{
    str_add(out, "file:");
    for (const char *p = path; *p; p++)
        str_printf(out, strchr("?#%", *p) ? "%%%02X" : "%c", (unsigned)(unsigned char)*p);
    if (options)
        str_printf(out, "?%s", options);
}

/* Files come from elsewhere: let nothing that they hold run or reach other files. */
static void distrust(sqlite3 *sql)
{
    sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
}

moesaic_status db_connect(const char *path, int flags, const char *options, db *out,
                          moesaic_text *err)
{
    str uri = {0};
    *out = (db){.mode = flags & SQLITE_OPEN_READWRITE ? DB_WRITE : DB_READ};
    out->path = str_format("%s", path);
    add_uri(path, options, &uri);
    int code = SQLITE_NOMEM;
    if (out->path && !uri.failed)
        code = sqlite3_open_v2(
            str_text(&uri), &out->sql,
            flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    str_free(&uri);
    if (code != SQLITE_OK) {
        moesaic_status status = db_fail(out, code, "opening", err);
        db_disconnect(out);
        return status;
    }
    distrust(out->sql);
    sqlite3_busy_timeout(out->sql, DB_BUSY_TIMEOUT_MS);
    return MOESAIC_OK;
}

void db_disconnect(db *database)
{
    sqlite3_close(database->sql);
    free(database->path);
    *database = (db){0};
}

/* Does the file have content that only its journal holds? */
static bool has_journal(const char *path)
{
    static const char *const suffixes[] = {"-wal", "-journal"};
    bool found = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *name = str_format("%s%s", path, suffixes[i]);
        struct stat st;
        found |= !name || (stat(name, &st) == 0 && st.st_size > 0);
        free(name);
    }
    return found;
}

/* Where no lock or index file can be made beside the file, it is read as one that nobody writes. */
static moesaic_status open_immutable(const char *path, db *out, moesaic_text *err)
{
    if (has_journal(path))
        return moesaic_fail(
            err, MOESAIC_E_IO,
            "database %s was not closed (a journal lies beside it) and its folder is "
            "read-only; copy both to a writable folder",
            path);
    int version;
    moesaic_status status = db_connect(path, SQLITE_OPEN_READONLY, "immutable=1", out, err);
    return status == MOESAIC_OK ? schema_check(out, &version, err) : status;
}

static moesaic_status open_read(const char *path, db *out, moesaic_text *err)
{
    int version;
    moesaic_status status = db_connect(path, SQLITE_OPEN_READONLY, NULL, out, err);
    if (status != MOESAIC_OK)
        return status;
    status = schema_check(out, &version, err);
    int code = sqlite3_errcode(out->sql) & 0xff;
    if (status != MOESAIC_E_IO || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY))
        return status;
    db_disconnect(out);
    return open_immutable(path, out, err);
}

/* Where WAL is impossible (some network file systems, a reader in the way) the mode stays what it is: slower,
 * and just as safe.  FULL: a candidate may bring the whole machine down, and must be on disk by then. */
static moesaic_status prepare_writing(db *database, moesaic_text *err)
{
    sqlite3_exec(database->sql, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    return db_script(database, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", err);
}

static moesaic_status connect_write(const char *path, db *out, int *version, moesaic_text *err)
{
    moesaic_status status =
        db_connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, out, err);
    if (status != MOESAIC_OK)
        return status;
    if (sqlite3_db_readonly(out->sql, "main") == 1)
        return db_fail(out, SQLITE_READONLY, "opening for writing", err);
    return schema_check(out, version, err);
}

static moesaic_status open_write(const char *path, db *out, moesaic_text *err)
{
    int version = 0;
    moesaic_status status = connect_write(path, out, &version, err);
    if (status == MOESAIC_OK && version == 0)
        status = schema_create(out, err);
    if (status == MOESAIC_OK && version && version < schema_steps[schema_n_steps - 1].version) {
        db_disconnect(out);
        status = schema_migrate(path, schema_steps, schema_n_steps, err);
        if (status == MOESAIC_OK)
            status = connect_write(path, out, &version, err);
    }
    return status == MOESAIC_OK ? prepare_writing(out, err) : status;
}

moesaic_status db_open(const char *path, db_mode mode, db **out, moesaic_text *err)
{
    *out = NULL;
    if (mode == DB_READ && access(path, R_OK) != 0)
        return moesaic_fail(err, MOESAIC_E_IO,
                            "cannot read database %s: %s; `moesaic tune` makes one, --db names it",
                            path, strerror(errno));
    db *database = calloc(1, sizeof *database);
    if (!database)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to open %s", path);
    moesaic_status status =
        mode == DB_READ ? open_read(path, database, err) : open_write(path, database, err);
    if (status != MOESAIC_OK) {
        db_disconnect(database);
        free(database);
        return status;
    }
    *out = database;
    return MOESAIC_OK;
}

void db_close(db *database)
{
    if (!database)
        return;
    if (database->mode == DB_WRITE) {
        /* The last one to leave succeeds; with others still there the mode stays WAL. */
        sqlite3_busy_timeout(database->sql, 0);
        sqlite3_exec(database->sql, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    db_disconnect(database);
    free(database);
}

const char *db_path(const db *database)
{
    return database->path;
}
