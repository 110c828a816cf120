/* gen/space.c: the legal configurations of a problem on a device.
 *
 * Constraints are applied in the order in which they are stated, each to a table that has only the parameters
 * which were needed so far: what it removes stands for all values of the parameters that are still to come.  So
 * 10^6 configurations cost some 10^4 rows, and the counts are those of trying them one by one.
 * Uses sql.c, column.c, one.c.  Tested by tests/gen/test_space.c.                  SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The table `space` while it grows and shrinks. */
typedef struct builder {
    gen_space *space;
    column_set have;
    int64_t n_rows,
        n_values_to_come; /* product over the parameters that are not in the table yet */
} builder;

static int64_t n_values(const space_column *parameter)
{
    return cJSON_GetArraySize(parameter->json);
}

static moesaic_status count_total(gen_space *space, moesaic_text *err)
{
    space->total = 1;
    for (int i = 0; i < space->columns.n; i++) {
        if (space->columns.c[i].kind != COLUMN_PARAMETER)
            continue;
        space->total *= n_values(&space->columns.c[i]);
        if (space->total > GEN_MAX_TOTAL)
            return moesaic_fail(err, MOESAIC_E_INPUT, "%s: more than 10^15 configurations",
                                space->eval.family);
    }
    return MOESAIC_OK;
}

/* Every row once for each value of the parameter. */
static moesaic_status join_parameter(builder *b, int i, moesaic_text *err)
{
    const space_column *p = &b->space->columns.c[i];
    str values = {0};
    const cJSON *v;
    cJSON_ArrayForEach(v, p->json)
        str_printf(&values, "%s(%.0f)", values.n ? "," : "", v->valuedouble);
    b->n_rows *= n_values(p);
    b->n_values_to_come /= n_values(p);
    b->have.has[i] = true;
    moesaic_status status = MOESAIC_OK;
    if (b->n_rows > GEN_MAX_ROWS)
        status =
            moesaic_fail(err, MOESAIC_E_INPUT,
                         "%s: more than %d configurations at once; state constraints that need "
                         "few parameters first",
                         b->space->eval.family, GEN_MAX_ROWS);
    else
        status =
            evaluator_run(&b->space->eval, err,
                          "CREATE TABLE wider AS SELECT space.*, v.column1 AS \"%w\" FROM space,"
                          " (VALUES %s) AS v; DROP TABLE space;"
                          " ALTER TABLE wider RENAME TO space",
                          p->name, str_text(&values));
    str_free(&values);
    return status;
}

static moesaic_status bring(builder *b, const column_set *wanted, moesaic_text *err)
{
    const column_list *columns = &b->space->columns;
    moesaic_status status = MOESAIC_OK;
    for (int i = 0; i < columns->n && status == MOESAIC_OK; i++)
        if (columns->c[i].kind == COLUMN_PARAMETER && wanted->has[i] && !b->have.has[i])
            status = join_parameter(b, i, err);
    return status == MOESAIC_OK
               ? columns_derive(columns, &b->space->eval, "space", wanted, &b->have, err)
               : status;
}

static moesaic_status apply(builder *b, const cJSON *constraint, moesaic_text *err)
{
    const char *name = cJSON_GetObjectItemCaseSensitive(constraint, "name")->valuestring;
    const char *sql = cJSON_GetObjectItemCaseSensitive(constraint, "sql")->valuestring;
    evaluator *e = &b->space->eval;
    column_set needs;
    int64_t n_removed = 0;
    moesaic_status status = columns_needed(&b->space->columns, e, name, sql, &needs, err);
    if (status == MOESAIC_OK)
        status = bring(b, &needs, err);
    if (status == MOESAIC_OK)
        status = evaluator_keep(e, name, "space", sql, &n_removed, err);
    b->n_rows -= n_removed;
    double n_excluded = (double)(n_removed * b->n_values_to_come);
    if (status == MOESAIC_OK && !cJSON_AddNumberToObject(b->space->excluded, name, n_excluded))
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for its space", e->family);
    return status;
}

/* Parameters as `"p1", "p2"`. */
static char *list_parameters(const gen_space *space)
{
    str list = {0};
    for (int i = 0; i < space->columns.n; i++)
        if (space->columns.c[i].kind == COLUMN_PARAMETER)
            str_printf(&list, "%s\"%s\"", list.n ? ", " : "", space->columns.c[i].name);
    if (!list.n)
        str_add(&list, "NULL"); /* no parameter: one configuration */
    if (list.failed)
        str_free(&list);
    return list.s;
}

/* The table `legal`: parameters alone, in the order of their values; rowid is the index plus 1. */
static moesaic_status make_legal(builder *b, moesaic_text *err)
{
    gen_space *space = b->space;
    evaluator *e = &space->eval;
    char *list = list_parameters(space);
    if (!list)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for its space", e->family);
    moesaic_status status = evaluator_run(
        e, err, "CREATE TABLE legal AS SELECT %s FROM space ORDER BY %s; DROP TABLE space", list,
        list);
    free(list);
    space->legal = b->n_rows;
    return status == MOESAIC_OK
               ? evaluator_query(e, &space->config, err, "SELECT * FROM legal WHERE rowid = ?")
               : status;
}

static moesaic_status enumerate(gen_space *space, moesaic_text *err)
{
    builder b = {.space = space, .n_rows = 1, .n_values_to_come = space->total};
    const cJSON *c;
    moesaic_status status =
        evaluator_run(&space->eval, err, "CREATE TABLE space AS SELECT * FROM facts");
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(space->family->json, "constraints"))
    {
        if (status == MOESAIC_OK)
            status = apply(&b, c, err);
    }
    column_set all = {0};
    for (int i = 0; i < space->columns.n; i++)
        all.has[i] = space->columns.c[i].kind == COLUMN_PARAMETER;
    if (status == MOESAIC_OK)
        status = bring(&b, &all, err);
    return status == MOESAIC_OK ? make_legal(&b, err) : status;
}

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
        status = count_total(space, err);
    if (status == MOESAIC_OK)
        status = enumerate(space, err);
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

/* The table `estimates`: as legal, with the columns that the estimate needs and its value. */
static moesaic_status make_estimates(gen_space *space, const char *expression, moesaic_text *err)
{
    evaluator *e = &space->eval;
    column_set needs, have = {0};
    moesaic_status status =
        columns_needed(&space->columns, e, "estimate_us", expression, &needs, err);
    if (status == MOESAIC_OK)
        status = evaluator_run(
            e, err,
            "DROP TABLE IF EXISTS estimates; CREATE TABLE estimates AS SELECT legal.*,"
            " facts.*, NULL AS \"=\" FROM legal, facts ORDER BY legal.rowid");
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
