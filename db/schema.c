/* db/schema.c: is a file ours, which schema has it, and how an older one is brought up to date.
 *
 * The SQL of every released step is compiled in.  A migration works on a copy that takes the file's name when
 * all is well, so that a kill at any instant leaves the old file or the new one.
 * Uses schema.def, schema/NNN-*.sql.  Tested by tests/db/test_schema.c.            SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file's bytes, in .rodata: schema_NAME up to schema_NAME_end. */
#define SCHEMA_STEP(symbol, version, path)                                                         \
    __asm__(".pushsection .rodata\n"                                                               \
            "schema_" #symbol ": .incbin \"" path "\"\n"                                           \
            "schema_" #symbol "_end: .byte 0\n"                                                    \
            ".popsection\n");                                                                      \
    extern const char schema_##symbol[], schema_##symbol##_end[];
#include "db/schema.def"
#undef SCHEMA_STEP

const schema_step schema_steps[] = {
#define SCHEMA_STEP(symbol, version, path) {version, schema_##symbol},
#include "db/schema.def"
#undef SCHEMA_STEP
};
const size_t schema_n_steps = sizeof schema_steps / sizeof schema_steps[0];

static moesaic_status not_ours(const db *database, moesaic_text *err, const char *why)
{
    return moesaic_fail(err, MOESAIC_E_SCHEMA,
                        "%s is not a Moesaic database (%s); name another file with --db",
                        database->path, why);
}

static moesaic_status check_version(const db *database, int version, moesaic_text *err)
{
    int major = version / 1000, minor = version % 1000;
    if (major < 1)
        return moesaic_fail(err, MOESAIC_E_DB, "database %s: schema version %d is none that exists",
                            database->path, version);
    bool too_new =
        major > DB_SCHEMA_MAJOR || (minor > DB_SCHEMA_MINOR && database->mode == DB_WRITE);
    if (!too_new)
        return MOESAIC_OK;
    return moesaic_fail(
        err, MOESAIC_E_SCHEMA,
        "database %s has schema %d.%d, this program %s %d.%d; use a newer Moesaic or "
        "name another file with --db",
        database->path, major, minor, major > DB_SCHEMA_MAJOR ? "knows up to" : "writes",
        DB_SCHEMA_MAJOR, DB_SCHEMA_MINOR);
}

moesaic_status schema_check(db *database, int *version, moesaic_text *err)
{
    int64_t application, user_version, n_tables;
    *version = 0;
    moesaic_status status =
        db_get_int(database, &n_tables, err, "SELECT count(*) FROM sqlite_schema", "");
    if (status == MOESAIC_OK)
        status = db_get_int(database, &application, err, "PRAGMA application_id", "");
    if (status == MOESAIC_OK)
        status = db_get_int(database, &user_version, err, "PRAGMA user_version", "");
    if (status != MOESAIC_OK)
        return status;
    if (n_tables == 0 && application == 0)
        return database->mode == DB_WRITE ? MOESAIC_OK : not_ours(database, err, "it is empty");
    if (application != DB_APPLICATION_ID)
        return not_ours(database, err, "its application_id is another program's");
    *version = (int)user_version;
    return check_version(database, *version, err);
}

static moesaic_status set_version(db *database, int version, moesaic_text *err)
{
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             DB_APPLICATION_ID, version);
    return db_script(database, pragmas, err);
}

/* All steps beyond `version`, in the transaction that is open. */
static moesaic_status apply_steps(db *database, const schema_step *steps, size_t n_steps,
                                  int version, moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    for (size_t i = 0; i < n_steps && status == MOESAIC_OK; i++) {
        if (steps[i].version <= version)
            continue;
        status = db_script(database, steps[i].sql, err);
        if (status == MOESAIC_OK)
            status = set_version(database, steps[i].version, err);
    }
    return status;
}

moesaic_status schema_create(db *database, moesaic_text *err)
{
    /* Space of collected code objects is given back without a rewrite of the file. */
    moesaic_status status = db_script(database, "PRAGMA auto_vacuum = INCREMENTAL", err);
    if (status == MOESAIC_OK)
        status = db_begin(database, err);
    if (status != MOESAIC_OK)
        return status;
    int version;
    status = schema_check(database, &version, err);
    if (status == MOESAIC_OK && version == 0)
        status = apply_steps(database, schema_steps, schema_n_steps, 0, err);
    return db_finish(database, status, err);
}

/* Keep everybody else out until the connection is closed, in a journal mode that leaves no file behind. */
static moesaic_status take_alone(db *database, moesaic_text *err)
{
    moesaic_status status = db_script(database, "PRAGMA journal_mode = DELETE", err);
    if (status == MOESAIC_OK)
        status =
            db_script(database, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT", err);
    return status;
}

static moesaic_status copy_to(db *from, db *to, moesaic_text *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to->sql, "main", from->sql, "main");
    if (!backup)
        return db_fail(to, sqlite3_errcode(to->sql), "copying", err);
    sqlite3_backup_step(backup, -1);
    int code = sqlite3_backup_finish(backup);
    return code == SQLITE_OK ? MOESAIC_OK : db_fail(to, code, "copying", err);
}

static moesaic_status check_copy(db *copy, moesaic_text *err)
{
    int64_t n_broken;
    moesaic_status status =
        db_get_int(copy, &n_broken, err,
                   "SELECT (SELECT count(*) FROM pragma_foreign_key_check)"
                   " + (SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok')",
                   "");
    if (status == MOESAIC_OK && n_broken)
        status = moesaic_fail(err, MOESAIC_E_DB,
                              "database %s: %lld broken references or pages after migration",
                              copy->path, (long long)n_broken);
    return status;
}

static moesaic_status migrate_copy(db *source, const char *copy_path, int version,
                                   const schema_step *steps, size_t n_steps, moesaic_text *err)
{
    db copy;
    moesaic_status status =
        db_connect(copy_path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, &copy, err);
    if (status == MOESAIC_OK)
        status = copy_to(source, &copy, err);
    /* Steps may rebuild tables that others refer to; check_copy looks at the outcome. */
    if (status == MOESAIC_OK)
        status = db_script(&copy, "PRAGMA foreign_keys = OFF", err);
    if (status == MOESAIC_OK)
        status = db_begin(&copy, err);
    if (status == MOESAIC_OK) {
        status = apply_steps(&copy, steps, n_steps, version, err);
        if (status == MOESAIC_OK)
            status = check_copy(&copy, err);
        status = db_finish(&copy, status, err);
    }
    db_disconnect(&copy);
    return status;
}

static moesaic_status take_name(const char *copy_path, const char *path, moesaic_text *err)
{
    struct stat old;
    if (stat(path, &old) == 0 && chmod(copy_path, old.st_mode & 07777) == 0 &&
        rename(copy_path, path) == 0)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_IO, "cannot replace %s: %s", path, strerror(errno));
}

static moesaic_status migrate_alone(db *source, const char *path, const schema_step *steps,
                                    size_t n_steps, moesaic_text *err)
{
    int moved = 0;
    int64_t version;
    sqlite3_file_control(source->sql, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    moesaic_status status = db_get_int(source, &version, err, "PRAGMA user_version", "");
    if (status != MOESAIC_OK || moved || version >= steps[n_steps - 1].version)
        return status; /* another process has migrated the file meanwhile */
    char *copy_path = str_format("%s.migrating", path);
    if (!copy_path)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to migrate %s", path);
    unlink(copy_path); /* of a migration that was killed */
    status = migrate_copy(source, copy_path, (int)version, steps, n_steps, err);
    if (status == MOESAIC_OK)
        status = take_name(copy_path, path, err);
    if (status != MOESAIC_OK)
        unlink(copy_path);
    free(copy_path);
    return status;
}

moesaic_status schema_migrate(const char *path, const schema_step *steps, size_t n_steps,
                              moesaic_text *err)
{
    db source;
    moesaic_status status = db_connect(path, SQLITE_OPEN_READWRITE, NULL, &source, err);
    if (status == MOESAIC_OK)
        status = take_alone(&source, err);
    if (status == MOESAIC_OK)
        status = migrate_alone(&source, path, steps, n_steps, err);
    db_disconnect(&source);
    return status;
}
