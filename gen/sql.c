/* gen/sql.c: the in-memory connection in which a family's expressions are evaluated.
 *
 * A space.json may come from anybody.  Its expressions stand in parentheses that they cannot close, in an UPDATE
 * or DELETE of ours; an authorizer lets them read columns of that table and call arithmetic functions, nothing
 * else (no subquery, so no recursion); a step limit ends what runs too long all the same.
 * Tested by tests/gen/test_hostile.c.                                              SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <string.h>

enum { STEPS_PER_CALL = 100000, MAX_VALUE_BYTES = 100000, MAX_PAGES = 262144 /* of 4 KiB */ };
#define STEPS_ALLOWED INT64_C(5000000000) /* SQLite's virtual machine does about 10^8 a second */

/* No LIKE and GLOB: a pattern of many stars takes for ever, uncounted. */
static const char *const safe_functions[] = {
    "abs",    "ceil", "ceiling", "coalesce", "exp",  "floor", "ifnull", "iif",   "instr",
    "length", "ln",   "log",     "log10",    "log2", "max",   "min",    "mod",   "nullif",
    "pi",     "pow",  "power",   "round",    "sign", "sqrt",  "substr", "trunc", "typeof",
};

static int allow_function(const char *name)
{
    for (size_t i = 0; i < sizeof safe_functions / sizeof safe_functions[0]; i++)
        if (name && sqlite3_stricmp(name, safe_functions[i]) == 0)
            return SQLITE_OK;
    return SQLITE_DENY;
}

static int authorize(void *user, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    evaluator *e = user;
    (void)c, (void)d;
    if (!e->table)
        return SQLITE_OK;
    bool ours = a && sqlite3_stricmp(a, e->table) == 0;
    switch (action) {
    case SQLITE_READ:
        if (ours && e->on_read)
            e->on_read(e->reader, b);
        return ours ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return ours ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        return allow_function(b);
    default:
        return SQLITE_DENY;
    }
}

static int count_steps(void *user)
{
    evaluator *e = user;
    e->steps_left -= STEPS_PER_CALL;
    return e->steps_left < 0;
}

static moesaic_status failed(evaluator *e, const char *where, moesaic_text *err)
{
    int code = sqlite3_errcode(e->sql) & 0xff;
    if (code == SQLITE_NOMEM)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for %s", e->family, where);
    if (code == SQLITE_FULL)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: %s takes more than 1 GiB", e->family, where);
    if (code == SQLITE_INTERRUPT)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: %s takes too many steps", e->family, where);
    return moesaic_fail(err, MOESAIC_E_INPUT, "%s: %s: %s", e->family, where,
                        sqlite3_errmsg(e->sql));
}

moesaic_status evaluator_open(const char *family, evaluator *out, moesaic_text *err)
{
    *out = (evaluator){.family = family, .steps_left = STEPS_ALLOWED};
    if (sqlite3_open_v2(":memory:", &out->sql,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for its space", family);
    sqlite3_limit(out->sql, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    sqlite3_limit(out->sql, SQLITE_LIMIT_SQL_LENGTH, MAX_VALUE_BYTES);
    sqlite3_limit(out->sql, SQLITE_LIMIT_EXPR_DEPTH, 200);
    sqlite3_limit(out->sql, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(out->sql, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_set_authorizer(out->sql, authorize, out);
    sqlite3_progress_handler(out->sql, STEPS_PER_CALL, count_steps, out);
    return evaluator_run(out, err, "PRAGMA journal_mode = OFF; PRAGMA max_page_count = %d",
                         MAX_PAGES);
}

void evaluator_close(evaluator *e)
{
    sqlite3_close(e->sql);
    e->sql = NULL;
}

moesaic_status evaluator_run(evaluator *e, moesaic_text *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (!sql)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for its space", e->family);
    int code = sqlite3_exec(e->sql, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code == SQLITE_OK ? MOESAIC_OK : failed(e, "its space", err);
}

/* Behind a quoted text or name, or at its end when it is not closed. */
static const char *skip_quoted(const char *p)
{
    const char *end = strchr(p + 1, *p == '[' ? ']' : *p);
    return end ? end : p + strlen(p) - 1;
}

/* An expression may not close the parenthesis that we put around it, nor hide it in a comment. */
static bool stays_inside(const char *expression)
{
    int depth = 0;
    for (const char *p = expression; *p && depth >= 0; p++) {
        if (strchr("'\"`[", *p))
            p = skip_quoted(p);
        else if (*p == ';' || strncmp(p, "--", 2) == 0 || strncmp(p, "/*", 2) == 0)
            return false;
        else
            depth += (*p == '(') - (*p == ')');
    }
    return depth == 0;
}

static moesaic_status check(const evaluator *e, const char *where, const char *expression,
                            moesaic_text *err)
{
    if (strlen(expression) > GEN_MAX_EXPRESSION_BYTES)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: %s is longer than %d characters", e->family,
                            where, GEN_MAX_EXPRESSION_BYTES);
    if (!stays_inside(expression))
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: %s is not one SQL expression: %.200s",
                            e->family, where, expression);
    return MOESAIC_OK;
}

/* Prepare sql, which works on table, under guard; sql is from sqlite3_mprintf, and freed. */
static moesaic_status prepare(evaluator *e, const char *where, const char *table, char *sql,
                              sqlite3_stmt **out, moesaic_text *err)
{
    *out = NULL;
    if (!sql)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for %s", e->family, where);
    e->table = table;
    int code = sqlite3_prepare_v2(e->sql, sql, -1, out, NULL);
    e->table = NULL;
    sqlite3_free(sql);
    return code == SQLITE_OK ? MOESAIC_OK : failed(e, where, err);
}

static moesaic_status run_guarded(evaluator *e, const char *where, const char *table, char *sql,
                                  moesaic_text *err)
{
    sqlite3_stmt *statement;
    moesaic_status status = prepare(e, where, table, sql, &statement, err);
    if (status == MOESAIC_OK && sqlite3_step(statement) != SQLITE_DONE)
        status = failed(e, where, err);
    sqlite3_finalize(statement);
    return status;
}

moesaic_status evaluator_update(evaluator *e, const char *where, const char *table,
                                const char *assignments, moesaic_text *err)
{
    char *sql = sqlite3_mprintf("UPDATE %s SET %s", table, assignments);
    return run_guarded(e, where, table, sql, err);
}

moesaic_status evaluator_set(evaluator *e, const char *where, const char *table, const char *column,
                             const char *expression, moesaic_text *err)
{
    moesaic_status status = check(e, where, expression, err);
    if (status != MOESAIC_OK)
        return status;
    char *sql = sqlite3_mprintf("UPDATE %s SET \"%w\" = (%s\n)", table, column, expression);
    return run_guarded(e, where, table, sql, err);
}

static char *delete_statement(const char *table, const char *expression)
{
    return sqlite3_mprintf("DELETE FROM %s WHERE (%s\n) IS NOT TRUE", table, expression);
}

moesaic_status evaluator_keep(evaluator *e, const char *where, const char *table,
                              const char *expression, int64_t *n_removed, moesaic_text *err)
{
    moesaic_status status = check(e, where, expression, err);
    if (status == MOESAIC_OK)
        status = run_guarded(e, where, table, delete_statement(table, expression), err);
    *n_removed = status == MOESAIC_OK ? sqlite3_changes64(e->sql) : 0;
    return status;
}

moesaic_status evaluator_reads(evaluator *e, const char *where, const char *table,
                               const char *expression,
                               void (*on_read)(void *reader, const char *column), void *reader,
                               moesaic_text *err)
{
    moesaic_status status = check(e, where, expression, err);
    if (status != MOESAIC_OK)
        return status;
    sqlite3_stmt *statement;
    e->on_read = on_read;
    e->reader = reader;
    status = prepare(e, where, table, delete_statement(table, expression), &statement, err);
    e->on_read = NULL;
    sqlite3_finalize(statement);
    return status;
}

moesaic_status evaluator_query(evaluator *e, sqlite3_stmt **out, moesaic_text *err,
                               const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    *out = NULL;
    int code = sql ? sqlite3_prepare_v2(e->sql, sql, -1, out, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code == SQLITE_OK ? MOESAIC_OK : failed(e, "its space", err);
}

moesaic_status evaluator_step(evaluator *e, sqlite3_stmt *statement, bool *row, moesaic_text *err)
{
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? MOESAIC_OK : failed(e, "its space", err);
}
