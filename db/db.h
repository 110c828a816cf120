/* db/db.h: the tuning database: one SQLite file of problems, candidates, trials, winners and code objects.
 *
 * A candidate's identity is on disk before it is launched, its result when it ends.  Several processes may write one
 * file (WAL, busy timeout); a reader never waits.  Exported files use journal mode DELETE.
 *
 * Threads: a handle belongs to one thread at a time.                           SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_DB_DB_H
#define MOESAIC_DB_DB_H

#include "base/hash.h"
#include "base/json.h"
#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

enum { DB_APPLICATION_ID = 0x4d4f4553 /* "MOES" */, DB_SCHEMA_MAJOR = 1, DB_SCHEMA_MINOR = 0 };
/* user_version is major * 1000 + minor. */

typedef struct db db;

typedef enum db_mode {
    DB_READ, /* must exist; nothing is written, not even a journal file where the folder is read-only */
    DB_WRITE, /* created when missing; an older schema is migrated on a copy, then renamed */
} db_mode;

/* Errors: E_IO (missing, read-only: with path and remedy), E_SCHEMA (newer major; not ours), E_DB (damaged). */
moesaic_status db_open(const char *path, db_mode mode, db **out, moesaic_text *err);
void db_close(db *database);
const char *db_path(const db *database);

/* The one key builder.  Canonical JSON of the problem's fields; fields at the default that db/problem.def states
 * are left out, so that a new field does not change old keys.  `pass` is not part of it. */
moesaic_status db_problem_key(const cJSON *fields, str *out, moesaic_text *err);

typedef struct db_device {
    const char *kind, *target, *partition, *driver, *hip_version, *compiler, *model_version;
    int64_t pci_device_id, cu_count, memory_bytes;
} db_device;

/* Find or add; the id is stable. */
moesaic_status db_device_put(db *, const db_device *, int64_t *id, moesaic_text *err);
moesaic_status db_problem_put(db *, const char *family, const char *pass, const char *key,
                              int64_t *id, moesaic_text *);
moesaic_status db_template_put(db *, const char *family, const char *hash, int64_t *id,
                               moesaic_text *err);
moesaic_status db_config_put(db *, int64_t template_id, const char *key, int64_t *id,
                             moesaic_text *err);

typedef struct db_code_object {
    const void *elf; /* plain ELF; stored compressed (zstd), `hash` is of the plain bytes */
    size_t n_bytes;
    const char *target, *compiler, *launch_abi;
    int64_t vgpr, agpr, sgpr, lds_bytes, scratch_bytes;
} db_code_object;
moesaic_status db_code_object_put(db *, const db_code_object *, int64_t *id, moesaic_text *err);
/* The ELF, checked against its hash.  E_NOTFOUND when it was collected (db gc --code-objects). */
moesaic_status db_code_object_get(db *, int64_t id, str *elf, moesaic_text *err);
/* Remove all blobs (rows stay: hash and registers are kept). */
moesaic_status db_code_objects_collect(db *, int64_t *n_removed, moesaic_text *err);
/* Remove rows that no trial refers to. */
moesaic_status db_collect(db *, int64_t *n_removed, moesaic_text *err);

/* A run: one call of tune.  options is JSON for provenance. */
moesaic_status db_run_begin(db *, const char *command, const char *options, int64_t *run_id,
                            moesaic_text *err);
moesaic_status db_run_end(db *, int64_t run_id, const char *outcome, moesaic_text *err);

typedef enum db_trial_status {
    DB_TRIAL_RUNNING, /* identity on disk, result not yet: after a kill it is this */
    DB_TRIAL_OK,
    DB_TRIAL_WRONG,
    DB_TRIAL_COMPILE_ERROR,
    DB_TRIAL_TIMEOUT,
    DB_TRIAL_FAULT,
    DB_TRIAL_RACE,
    DB_TRIAL_SKIPPED,
} db_trial_status;
const char *db_trial_status_name(db_trial_status status); /* "ok" "wrong" ... "running" */

typedef struct db_trial_result {
    db_trial_status status;
    int64_t code_object_id; /* 0: none */
    double time_us, spread_pct, max_error,
        error_bound; /* NAN: unknown (NULL); INFINITY allowed for max_error */
    const char *time_kind,
        *model_version; /* "measured" "modelled" "untrusted"; model_version NULL or "" */
    const char *reason; /* for everything but ok; "" */
    const char *launch; /* gen_space_launch's JSON */
    bool verified;      /* reduced problem passed */
    bool verified_full; /* full size passed too: needed to win */
} db_trial_result;

/* State the candidate before it is launched.  deaths: how often it was found in flight of a dead process before (the
 * tuner tries it once more, alone, and makes it a fault at its second death).  A row that has a result already and
 * is not to be retuned gives *known = true and is left alone, and so does one that a living process has in flight.
 * A row that is retuned keeps its last result, and may stay the winner, until db_trial_end. */
moesaic_status db_trial_begin(db *, int64_t run_id, int64_t problem_id, int64_t config_id,
                              int64_t device_id, bool retune, int64_t *trial_id, bool *known,
                              int64_t *deaths, moesaic_text *err);
moesaic_status db_trial_end(db *, int64_t trial_id, const db_trial_result *, moesaic_text *err);

/* One stored trial, texts owned by the row: valid until db_row_free. */
typedef struct db_trial_row {
    int64_t trial_id, problem_id, config_id, device_id, code_object_id, template_id;
    db_trial_status status;
    double time_us, spread_pct, max_error, error_bound;
    bool verified, verified_full, in_flight;
    char *family, *pass, *problem, *config, *time_kind, *model_version, *reason, *launch,
        *template_hash, *launch_abi;
} db_trial_row;
void db_row_free(db_trial_row *row);

moesaic_status db_trial_get(db *, int64_t trial_id, db_trial_row *out, moesaic_text *err);

/* The trial and all that it refers to: {"trial":{column: value, ...},"problem":{...},"config":{...},"template":{...},
 * "device":{...},"code_object":{...} or null,"run":{...},"winner":{...} or null}; a new object. */
moesaic_status db_trial_show(db *, int64_t trial_id, cJSON **out, moesaic_text *err);

/* Trials of a problem, on one device and for one template (0: any), best time first; visit returns false to stop. */
moesaic_status db_trials(db *, int64_t problem_id, int64_t device_id, int64_t template_id,
                         bool (*visit)(const db_trial_row *row, void *user), void *user,
                         moesaic_text *err);

/* Make the best eligible trial (ok, verified_full, time_kind not untrusted) the winner; NOTFOUND when there is none. */
moesaic_status db_winner_choose(db *, int64_t problem_id, int64_t device_id, int64_t template_id,
                                int64_t *trial_id, moesaic_text *err);
moesaic_status db_winner_get(db *, int64_t problem_id, int64_t device_id, db_trial_row *out,
                             moesaic_text *err);

/* All winners (family and pass may be NULL for any), for the runtime's index and for `db ls`. */
moesaic_status db_winners(db *, const char *family, const char *pass,
                          bool (*visit)(const db_trial_row *row, const db_device *device,
                                        void *user),
                          void *user, moesaic_text *err);

/* {"problems":..,"trials":{status:count},"winners":..,"code_objects":..,"bytes":..,"schema":..}; a new object. */
moesaic_status db_stat(db *, cJSON **out, moesaic_text *err);

#endif
