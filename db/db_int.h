/* db/db_int.h: what the files of db/ share: the connection, statements, schema steps, process identity.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_DB_DB_INT_H
#define MOESAIC_DB_DB_INT_H

#include "db/db.h"

#include <sqlite3.h>
#include <stdarg.h>

struct db {
    sqlite3 *sql;
    char *path;
    db_mode mode;
};

enum { DB_BUSY_TIMEOUT_MS = 10000 };

/* --- open.c --- */

/* Open a connection and nothing more; flags are SQLite's.  options is the URI's query, like "immutable=1". */
moesaic_status db_connect(const char *path, int flags, const char *options, db *out,
                          moesaic_text *err);
void db_disconnect(db *database);

/* --- statement.c: every call to SQLite that may fail reports through db_fail --- */

/* State what SQLite's result code means for this file, with the remedy. */
moesaic_status db_fail(const db *database, int code, const char *doing, moesaic_text *err);

/* Prepare sql and bind ?1, ?2 ... by `types`, one letter an argument:
 *   i int64_t     t const char *, NULL is NULL     d double, NAN is NULL     b const void *, size_t  */
moesaic_status db_prepare(db *database, sqlite3_stmt **out, moesaic_text *err, const char *sql,
                          const char *types, ...);
moesaic_status db_prepare_list(db *database, sqlite3_stmt **out, moesaic_text *err, const char *sql,
                               const char *types, va_list arguments);
/* One step: *row says whether there is a row. */
moesaic_status db_step(db *database, sqlite3_stmt *statement, bool *row, moesaic_text *err);
/* Prepare, run to the end, finalize; *changed (may be NULL): rows changed. */
moesaic_status db_run(db *database, int64_t *changed, moesaic_text *err, const char *sql,
                      const char *types, ...);
/* First column of the first row; E_NOTFOUND when there is none. */
moesaic_status db_get_int(db *database, int64_t *out, moesaic_text *err, const char *sql,
                          const char *types, ...);
/* Several statements without arguments. */
moesaic_status db_script(db *database, const char *sql, moesaic_text *err);

/* A write transaction; db_finish commits when status is OK, else rolls back, and returns what went wrong. */
moesaic_status db_begin(db *database, moesaic_text *err);
moesaic_status db_finish(db *database, moesaic_status status, moesaic_text *err);

/* --- schema.c --- */

typedef struct schema_step {
    int version; /* user_version that sql leads to */
    const char *sql;
} schema_step;

extern const schema_step schema_steps[];
extern const size_t schema_n_steps;

/* Is the file ours, and of a schema that `mode` may use?  *version: user_version, 0 for an empty file. */
moesaic_status schema_check(db *database, int *version, moesaic_text *err);
/* Make the tables in an empty file; fine when another process was faster. */
moesaic_status schema_create(db *database, moesaic_text *err);
/* Bring the file at path to the last step's version, on a copy that then takes its name. */
moesaic_status schema_migrate(const char *path, const schema_step *steps, size_t n_steps,
                              moesaic_text *err);

/* --- process.c: does the process that began a run still live? --- */

typedef struct process_identity {
    char host[65], boot_id[40];
    int64_t pid, start; /* start: clock ticks after boot, so that a reused pid is another process */
} process_identity;

void process_self(process_identity *out);
/* False also when that cannot be seen from here (another host, another container). */
bool process_lives(const process_identity *identity);

/* --- winner.c --- */

/* What a trial t must be to win. */
#define DB_ELIGIBLE                                                                                \
    "t.status = 'ok' AND t.verified_full = 1 AND t.time_us > 0"                                    \
    " AND t.time_kind IN ('measured', 'modelled')"

/* --- row.c --- */

/* Columns and tables of every query that yields a db_trial_row; append WHERE and ORDER BY. */
#define ROW_SELECT(more_columns)                                                                   \
    "SELECT t.id, t.problem_id, t.config_id, t.device_id, t.code_object_id, c.template_id,"        \
    " t.status, t.time_us, t.spread_pct, t.max_error, t.error_bound, t.verified, t.verified_full," \
    " t.ended_at IS NULL, p.family, p.pass, p.key, c.key, t.time_kind, t.model_version, t.reason," \
    " t.launch, m.hash, coalesce(o.launch_abi, '')" more_columns                                   \
    " FROM trial t JOIN problem p ON p.id = t.problem_id JOIN config c ON c.id = t.config_id"      \
    " JOIN template m ON m.id = c.template_id LEFT JOIN code_object o ON o.id = t.code_object_id"
enum { ROW_N_COLUMNS = 24 };

moesaic_status row_read(sqlite3_stmt *statement, db_trial_row *out, moesaic_text *err);

#endif
