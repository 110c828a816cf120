/* db/put.c: finding or adding the rows that trials refer to.
 *
 * Each is one row per distinct value; ids are stable.  A row that is there is found without a write lock, also
 * in a file that is open for reading.  Tested by tests/db/test_put.c.              SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

static moesaic_status first_id(db *database, int64_t *id, moesaic_text *err, const char *sql,
                               const char *types, va_list arguments)
{
    sqlite3_stmt *statement;
    bool row = false;
    moesaic_status status = db_prepare_list(database, &statement, err, sql, types, arguments);
    if (status == MOESAIC_OK)
        status = db_step(database, statement, &row, err);
    *id = row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status;
}

/* Both statements take the same arguments.  `add` yields the id also when another process was faster. */
static moesaic_status find_or_add(db *database, int64_t *id, moesaic_text *err, const char *find,
                                  const char *add, const char *types, ...)
{
    va_list arguments, again;
    va_start(arguments, types);
    va_copy(again, arguments);
    moesaic_status status = first_id(database, id, err, find, types, arguments);
    if (status == MOESAIC_OK && *id == 0)
        status = first_id(database, id, err, add, types, again);
    va_end(again);
    va_end(arguments);
    return status;
}

moesaic_status db_device_put(db *database, const db_device *device, int64_t *id, moesaic_text *err)
{
    return find_or_add(database, id, err,
                       "SELECT id FROM device WHERE kind = ? AND target = ? AND partition = ?"
                       " AND driver = ? AND hip_version = ? AND compiler = ? AND model_version = ?"
                       " AND pci_device_id = ? AND cu_count = ? AND memory_bytes = ?",
                       "INSERT INTO device(kind, target, partition, driver, hip_version, compiler,"
                       " model_version, pci_device_id, cu_count, memory_bytes)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT DO UPDATE SET kind = kind RETURNING id",
                       "tttttttiii", device->kind, device->target, device->partition,
                       device->driver, device->hip_version, device->compiler, device->model_version,
                       device->pci_device_id, device->cu_count, device->memory_bytes);
}

moesaic_status db_problem_put(db *database, const char *family, const char *pass, const char *key,
                              int64_t *id, moesaic_text *err)
{
    return find_or_add(database, id, err,
                       "SELECT id FROM problem WHERE family = ? AND pass = ? AND key = ?",
                       "INSERT INTO problem(family, pass, key) VALUES (?, ?, ?)"
                       " ON CONFLICT DO UPDATE SET family = family RETURNING id",
                       "ttt", family, pass, key);
}

moesaic_status db_template_put(db *database, const char *family, const char *hash, int64_t *id,
                               moesaic_text *err)
{
    return find_or_add(database, id, err, "SELECT id FROM template WHERE family = ? AND hash = ?",
                       "INSERT INTO template(family, hash) VALUES (?, ?)"
                       " ON CONFLICT DO UPDATE SET family = family RETURNING id",
                       "tt", family, hash);
}

moesaic_status db_config_put(db *database, int64_t template_id, const char *key, int64_t *id,
                             moesaic_text *err)
{
    return find_or_add(database, id, err, "SELECT id FROM config WHERE template_id = ? AND key = ?",
                       "INSERT INTO config(template_id, key) VALUES (?, ?)"
                       " ON CONFLICT DO UPDATE SET template_id = template_id RETURNING id",
                       "it", template_id, key);
}
