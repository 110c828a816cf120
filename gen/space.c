/* gen/space.c: a problem's space: its legal configurations by number, their estimates, the default.
 *
 * Uses enumerate.c, column.c, one.c.  Tested by tests/gen/test_space.c.            SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

moesaic_status gen_space_open(const gen_family *family, const char *pass, const cJSON *problem,
                              const gen_device *device, gen_space **out, moesaic_text *err)
{
    *out = NULL;
    gen_space *space = calloc(1, sizeof *space);
    if (!space || !(space->excluded = cJSON_CreateObject())) {
        free(space);
        return moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for its space", family->name);
    }
    space->family = family;
    space->device = *device;
    moesaic_status status = evaluator_open(family->name, &space->eval, err);
    if (status == MOESAIC_OK)
        status = columns_read(family, pass, problem, device, &space->eval, &space->columns, err);
    if (status == MOESAIC_OK)
        status = enumerate_legal(space, err);
    if (status == MOESAIC_OK)
        status = evaluator_query(&space->eval, &space->config, err,
                                 "SELECT * FROM legal WHERE rowid = ?");
    if (status != MOESAIC_OK) {
        gen_space_free(space);
        return status;
    }
    *out = space;
    return MOESAIC_OK;
}

void gen_space_free(gen_space *space)
{
    if (!space)
        return;
    sqlite3_finalize(space->config);
    sqlite3_finalize(space->estimate);
    evaluator_close(&space->eval);
    cJSON_Delete(space->excluded);
    free(space);
}

int64_t gen_space_total(const gen_space *space)
{
    return space->total;
}

int64_t gen_space_legal(const gen_space *space)
{
    return space->legal;
}

moesaic_status gen_space_excluded(gen_space *space, cJSON **out, moesaic_text *err)
{
    *out = cJSON_Duplicate(space->excluded, 1);
    return *out ? MOESAIC_OK : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for the counts");
}

/* Step to row i of a statement with its rowid as ?1; the caller resets it. */
static moesaic_status step_to(gen_space *space, sqlite3_stmt *statement, int64_t i,
                              moesaic_text *err)
{
    if (i < 0 || i >= space->legal)
        return moesaic_fail(err, MOESAIC_E_NOTFOUND, "%s: no configuration %lld; %lld are legal",
                            space->eval.family, (long long)i, (long long)space->legal);
    bool row = false;
    sqlite3_bind_int64(statement, 1, i + 1);
    moesaic_status status = evaluator_step(&space->eval, statement, &row, err);
    if (status == MOESAIC_OK && !row)
        status = moesaic_fail(err, MOESAIC_E_DB, "%s: configuration %lld is gone",
                              space->eval.family, (long long)i);
    return status;
}

moesaic_status gen_space_config(gen_space *space, int64_t i, cJSON **out, moesaic_text *err)
{
    *out = NULL;
    moesaic_status status = step_to(space, space->config, i, err);
    cJSON *config = status == MOESAIC_OK ? cJSON_CreateObject() : NULL;
    bool complete = config != NULL;
    for (int c = 0, column = 0; complete && c < space->columns.n; c++) {
        if (space->columns.c[c].kind != COLUMN_PARAMETER)
            continue;
        double value = sqlite3_column_double(space->config, column++);
        complete = cJSON_AddNumberToObject(config, space->columns.c[c].name, value) != NULL;
    }
    sqlite3_reset(space->config);
    if (status == MOESAIC_OK && !complete) {
        cJSON_Delete(config);
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a configuration");
    }
    *out = config;
    return status;
}

/* The facts that needs holds, as `, "f1", "f2"`. */
static void list_facts(const gen_space *space, const column_set *needs, str *out)
{
    for (int i = 0; i < space->columns.n; i++)
        if (space->columns.c[i].kind == COLUMN_FACT && needs->has[i])
            str_printf(out, ", \"%s\"", space->columns.c[i].name);
}

/* The table `estimates`: as legal, with the columns that the estimate needs and its value. */
static moesaic_status make_estimates(gen_space *space, const char *expression, moesaic_text *err)
{
    evaluator *e = &space->eval;
    column_set needs, have = {0};
    str facts = {0};
    moesaic_status status =
        columns_needed(&space->columns, e, "estimate_us", expression, &needs, err);
    list_facts(space, &needs, &facts);
    if (status == MOESAIC_OK)
        status = evaluator_run(
            e, err,
            "DROP TABLE IF EXISTS estimates; CREATE TABLE estimates AS SELECT legal.*%s,"
            " NULL AS \"=\" FROM legal, facts ORDER BY legal.rowid",
            str_text(&facts));
    str_free(&facts);
    if (status == MOESAIC_OK)
        status = columns_derive(&space->columns, e, "estimates", &needs, &have, err);
    if (status == MOESAIC_OK)
        status = evaluator_set(e, "estimate_us", "estimates", "=", expression, err);
    if (status == MOESAIC_OK)
        status = evaluator_query(e, &space->estimate, err,
                                 "SELECT \"=\" FROM estimates WHERE rowid = ?");
    return status;
}

moesaic_status gen_space_estimate_us(gen_space *space, int64_t i, double *us, moesaic_text *err)
{
    const cJSON *expression = cJSON_GetObjectItemCaseSensitive(space->family->json, "estimate_us");
    *us = NAN;
    if (!cJSON_IsString(expression))
        return MOESAIC_OK;
    moesaic_status status =
        space->estimate ? MOESAIC_OK : make_estimates(space, expression->valuestring, err);
    if (status == MOESAIC_OK)
        status = step_to(space, space->estimate, i, err);
    if (status == MOESAIC_OK && sqlite3_column_type(space->estimate, 0) != SQLITE_NULL)
        *us = sqlite3_column_double(space->estimate, 0);
    if (space->estimate)
        sqlite3_reset(space->estimate);
    return status;
}

/* Index of the first row of the query that format makes of "(p1 op v1) joint (p2 op v2) ..."; -1: none. */
static moesaic_status first_index(gen_space *space, const cJSON *config, const char *operator,
                                  const char * joint, const char *format, int64_t *i,
                                  moesaic_text *err)
{
    str terms = {0};
    const cJSON *p;
    cJSON_ArrayForEach(p, config) str_printf(&terms, "%s(\"%s\" %s %.0f)", terms.n ? joint : "",
                                             p->string, operator, p->valuedouble);
    if (!terms.n)
        str_add(&terms, "1");
    sqlite3_stmt *query = NULL;
    bool row = false;
    moesaic_status status = terms.failed
                                ? moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a query")
                                : evaluator_query(&space->eval, &query, err, format, terms.s);
    str_free(&terms);
    *i = -1;
    if (status != MOESAIC_OK)
        return status;
    status = evaluator_step(&space->eval, query, &row, err);
    if (status == MOESAIC_OK && row)
        *i = sqlite3_column_int64(query, 0) - 1;
    sqlite3_finalize(query);
    return status;
}

moesaic_status gen_space_default(gen_space *space, int64_t *i, moesaic_text *err)
{
    const cJSON *usual = cJSON_GetObjectItemCaseSensitive(space->family->json, "default");
    moesaic_status status = first_index(
        space, usual, "<>", " + ", "SELECT rowid FROM legal ORDER BY %s, rowid LIMIT 1", i, err);
    if (status == MOESAIC_OK && *i < 0)
        status =
            moesaic_fail(err, MOESAIC_E_NOTFOUND,
                         "%s: no configuration is legal for this problem; `moesaic space --count` "
                         "says why",
                         space->eval.family);
    return status;
}

moesaic_status gen_space_find(gen_space *space, const cJSON *config, int64_t *i, moesaic_text *err)
{
    *i = -1;
    moesaic_status status = config_check(space->family, config, err);
    if (status == MOESAIC_OK)
        status = first_index(space, config, "=", " AND ",
                             "SELECT rowid FROM legal WHERE %s ORDER BY rowid LIMIT 1", i, err);
    if (status == MOESAIC_OK && *i < 0)
        status = moesaic_fail(err, MOESAIC_E_NOTFOUND,
                              "%s: the configuration is not legal for this problem; `moesaic space "
                              "--why` says why",
                              space->eval.family);
    return status;
}
