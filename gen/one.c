/* gen/one.c: a single configuration with all its columns, legal or not.
 *
 * Owns the one-row table `one`.  Tested by tests/gen/test_space.c.                 SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <math.h>
#include <string.h>

moesaic_status one_set(gen_space *space, const cJSON *config, moesaic_text *err)
{
    moesaic_status status = config_check(space->family, config, err);
    if (status != MOESAIC_OK)
        return status;
    str values = {0};
    const cJSON *c;
    cJSON_ArrayForEach(c, config)
        str_printf(&values, ", %.0f AS \"%s\"", c->valuedouble, c->string);
    status = evaluator_run(&space->eval, err,
                           "DROP TABLE IF EXISTS one;"
                           " CREATE TABLE one AS SELECT *, NULL AS \"=\"%s FROM facts",
                           str_text(&values));
    str_free(&values);
    column_set all, have = {0};
    memset(&all, 1, sizeof all);
    return status == MOESAIC_OK
               ? columns_derive(&space->columns, &space->eval, "one", &all, &have, err)
               : status;
}

static moesaic_status read_value(gen_space *space, const char *where, double *out,
                                 moesaic_text *err)
{
    sqlite3_stmt *query;
    bool row = false;
    moesaic_status status = evaluator_query(&space->eval, &query, err, "SELECT \"=\" FROM one");
    if (status == MOESAIC_OK)
        status = evaluator_step(&space->eval, query, &row, err);
    int type = row ? sqlite3_column_type(query, 0) : SQLITE_NULL;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        *out = sqlite3_column_double(query, 0);
    else if (status == MOESAIC_OK && type != SQLITE_NULL)
        status =
            moesaic_fail(err, MOESAIC_E_INPUT, "%s: %s is not a number", space->eval.family, where);
    sqlite3_finalize(query);
    return status;
}

moesaic_status one_eval(gen_space *space, const char *where, const char *expression, double *out,
                        moesaic_text *err)
{
    *out = NAN;
    moesaic_status status = evaluator_set(&space->eval, where, "one", "=", expression, err);
    return status == MOESAIC_OK ? read_value(space, where, out, err) : status;
}

moesaic_status one_integer(gen_space *space, const char *where, const char *expression, int64_t low,
                           int64_t high, int64_t *out, moesaic_text *err)
{
    double value;
    *out = 0;
    moesaic_status status = one_eval(space, where, expression, &value, err);
    if (status != MOESAIC_OK)
        return status;
    if (value != floor(value) || !(value >= (double)low && value <= (double)high))
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: %s = %.15g, must be an integer in [%lld, %lld]",
                            space->eval.family, where, value, (long long)low, (long long)high);
    *out = (int64_t)value;
    return MOESAIC_OK;
}

/* {name, reason, sql} of a constraint, appended to list. */
static moesaic_status add_reason(const cJSON *constraint, cJSON *list, moesaic_text *err)
{
    cJSON *copy = cJSON_Duplicate(constraint, 1);
    if (copy && cJSON_AddItemToArray(list, copy))
        return MOESAIC_OK;
    cJSON_Delete(copy);
    return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for the reasons");
}

static moesaic_status collect_reasons(gen_space *space, cJSON *list, moesaic_text *err)
{
    const cJSON *c;
    moesaic_status status = MOESAIC_OK;
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(space->family->json, "constraints"))
    {
        double holds = 0;
        if (status == MOESAIC_OK)
            status = one_eval(space, cJSON_GetObjectItemCaseSensitive(c, "name")->valuestring,
                              cJSON_GetObjectItemCaseSensitive(c, "sql")->valuestring, &holds, err);
        if (status == MOESAIC_OK && !(holds < 0 || holds > 0)) /* 0 or NULL: excluded */
            status = add_reason(c, list, err);
    }
    return status;
}

moesaic_status gen_space_why(gen_space *space, const cJSON *config, cJSON **out, moesaic_text *err)
{
    *out = NULL;
    moesaic_status status = one_set(space, config, err);
    if (status != MOESAIC_OK)
        return status;
    cJSON *list = cJSON_CreateArray();
    status = list ? collect_reasons(space, list, err)
                  : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for the reasons");
    if (status == MOESAIC_OK)
        *out = list;
    else
        cJSON_Delete(list);
    return status;
}
