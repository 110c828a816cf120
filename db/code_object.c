/* db/code_object.c: machine code in the file: compressed one by one, known by the hash of the plain ELF.
 *
 * Tested by tests/db/test_code_object.c.                                           SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A kernel's ELF is some hundred KiB; a frame that claims more than this is damaged or hostile. */
enum { MAX_PLAIN_BYTES = 256 << 20, COMPRESSION_LEVEL = 9 };

static moesaic_status compress(const db_code_object *object, str *out, moesaic_text *err)
{
    size_t bound = ZSTD_compressBound(object->n_bytes);
    void *frame = malloc(bound);
    size_t n =
        frame ? ZSTD_compress(frame, bound, object->elf, object->n_bytes, COMPRESSION_LEVEL) : 0;
    if (frame && !ZSTD_isError(n))
        str_add_bytes(out, frame, n);
    free(frame);
    if (frame && !ZSTD_isError(n) && !out->failed)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to compress a code object of %zu bytes",
                        object->n_bytes);
}

static moesaic_status put_row(db *database, const db_code_object *object, const hash_hex *hash,
                              const str *frame, int64_t *id, moesaic_text *err)
{
    sqlite3_stmt *statement;
    bool row = false;
    moesaic_status status =
        db_prepare(database, &statement, err,
                   "INSERT INTO code_object(hash, blob, target, compiler, launch_abi, vgpr, agpr,"
                   " sgpr, lds_bytes, scratch_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT DO UPDATE SET blob = excluded.blob RETURNING id",
                   "tbtttiiiii", hash->s, frame->s, frame->n, object->target, object->compiler,
                   object->launch_abi, object->vgpr, object->agpr, object->sgpr, object->lds_bytes,
                   object->scratch_bytes);
    if (status == MOESAIC_OK)
        status = db_step(database, statement, &row, err);
    *id = row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status;
}

moesaic_status db_code_object_put(db *database, const db_code_object *object, int64_t *id,
                                  moesaic_text *err)
{
    *id = 0;
    if (object->n_bytes == 0 || object->n_bytes > MAX_PLAIN_BYTES)
        return moesaic_fail(err, MOESAIC_E_INPUT, "a code object of %zu bytes cannot be stored",
                            object->n_bytes);
    hash_hex hash;
    moesaic_status status = hash_sha256(object->elf, object->n_bytes, &hash, err);
    if (status != MOESAIC_OK)
        return status;
    status = db_get_int(database, id, err,
                        "SELECT id FROM code_object WHERE hash = ? AND target = ? AND compiler = ?"
                        " AND launch_abi = ? AND blob IS NOT NULL",
                        "tttt", hash.s, object->target, object->compiler, object->launch_abi);
    if (status != MOESAIC_E_NOTFOUND)
        return status;
    str frame = {0};
    status = compress(object, &frame, err);
    if (status == MOESAIC_OK)
        status = put_row(database, object, &hash, &frame, id, err);
    str_free(&frame);
    return status;
}

static moesaic_status damaged(const db *database, int64_t id, const char *why, moesaic_text *err)
{
    return moesaic_fail(
        err, MOESAIC_E_DB,
        "database %s: code object %lld is damaged (%s); `moesaic db gc --code-objects` "
        "removes them, and they are compiled again",
        database->path, (long long)id, why);
}

static moesaic_status decompress(const db *database, int64_t id, const void *frame, size_t n_bytes,
                                 str *elf, moesaic_text *err)
{
    unsigned long long n_plain = ZSTD_getFrameContentSize(frame, n_bytes);
    if (n_plain == 0 || n_plain > MAX_PLAIN_BYTES) /* the error values are the largest ones */
        return damaged(database, id, "its size is not stated", err);
    void *plain = malloc((size_t)n_plain);
    if (!plain)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a code object of %llu bytes",
                            n_plain);
    size_t n = ZSTD_decompress(plain, (size_t)n_plain, frame, n_bytes);
    moesaic_status status = MOESAIC_OK;
    if (n != n_plain)
        status = damaged(database, id, "it does not decompress", err);
    else
        str_add_bytes(elf, plain, n);
    free(plain);
    if (elf->failed)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a code object");
    return status;
}

static moesaic_status read_checked(db *database, int64_t id, sqlite3_stmt *row, str *elf,
                                   moesaic_text *err)
{
    if (sqlite3_column_type(row, 0) == SQLITE_NULL)
        return moesaic_fail(
            err, MOESAIC_E_NOTFOUND,
            "database %s: code object %lld was collected; it must be compiled again",
            database->path, (long long)id);
    const void *frame = sqlite3_column_blob(row, 0);
    size_t before = elf->n;
    moesaic_status status =
        decompress(database, id, frame, (size_t)sqlite3_column_bytes(row, 0), elf, err);
    hash_hex hash;
    if (status == MOESAIC_OK)
        status = hash_sha256(elf->s + before, elf->n - before, &hash, err);
    const char *stored = (const char *)sqlite3_column_text(row, 1);
    if (status == MOESAIC_OK && (!stored || strcmp(stored, hash.s) != 0))
        status = damaged(database, id, "its hash differs", err);
    return status;
}

moesaic_status db_code_object_get(db *database, int64_t id, str *elf, moesaic_text *err)
{
    sqlite3_stmt *statement;
    bool row = false;
    moesaic_status status = db_prepare(database, &statement, err,
                                       "SELECT blob, hash FROM code_object WHERE id = ?", "i", id);
    if (status == MOESAIC_OK)
        status = db_step(database, statement, &row, err);
    if (status == MOESAIC_OK && !row)
        status = moesaic_fail(err, MOESAIC_E_NOTFOUND, "database %s: no code object %lld",
                              database->path, (long long)id);
    if (status == MOESAIC_OK)
        status = read_checked(database, id, statement, elf, err);
    sqlite3_finalize(statement);
    return status;
}
