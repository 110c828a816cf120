/* gen/require.c: what a family requires of every problem: "requires" of space.json, in SQL over its fields.
 *
 * Uses sql.c, column.c.  Tested by tests/gen/test_problem.c.                       SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

/* The fields that a rule reads, with their values, for its message. */
typedef struct value_list {
    const cJSON *problem;
    str text;
} value_list;

static void add_value(void *reader, const char *name)
{
    value_list *l = reader;
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(l->problem, name);
    if (!value)
        return;
    str_printf(&l->text, "%s%s = ", l->text.n ? ", " : "", name);
    json_canonical(value, &l->text);
}

static moesaic_status refuse(evaluator *e, const char *sql, const char *reason,
                             const cJSON *problem, moesaic_text *err)
{
    value_list values = {.problem = problem};
    moesaic_status status = evaluator_reads(e, "requires", "facts", sql, add_value, &values, err);
    if (status == MOESAIC_OK)
        status = moesaic_fail(err, MOESAIC_E_INPUT, "problem with %s: %s (%s requires %s)",
                              str_text(&values.text), reason, e->family, sql);
    str_free(&values.text);
    return status;
}

static moesaic_status require(evaluator *e, const cJSON *rule, const cJSON *problem,
                              moesaic_text *err)
{
    const char *sql, *reason;
    int64_t n_removed = 0;
    moesaic_status status = json_text(rule, "sql", "requires", NULL, &sql, err);
    if (status == MOESAIC_OK)
        status = json_text(rule, "reason", "requires", NULL, &reason, err);
    if (status == MOESAIC_OK)
        status = evaluator_keep(e, "requires", "facts", sql, &n_removed, err);
    return status == MOESAIC_OK && n_removed ? refuse(e, sql, reason, problem, err) : status;
}

moesaic_status require_all(const gen_family *family, const char *pass, const cJSON *problem,
                           moesaic_text *err)
{
    const cJSON *rules = cJSON_GetObjectItemCaseSensitive(family->json, "requires"), *rule;
    if (!rules)
        return MOESAIC_OK;
    evaluator e;
    column_list columns;
    moesaic_status status = evaluator_open(family->name, &e, err);
    if (status == MOESAIC_OK)
        status = columns_facts(pass, problem, &e, &columns, err);
    cJSON_ArrayForEach(rule, rules)
    {
        if (status == MOESAIC_OK)
            status = require(&e, rule, problem, err);
    }
    evaluator_close(&e);
    return status;
}
