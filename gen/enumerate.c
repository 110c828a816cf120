/* gen/enumerate.c: the legal configurations among all.
 *
 * Constraints are applied in the order in which they are stated, each to a table `space` that has only the
 * parameters which were needed so far: what it removes stands for all values of the parameters that are still to
 * come.  So 10^6 configurations cost some 10^4 rows, and the counts are those of trying them one by one.
 * Columns that no constraint needs any more are left behind where a parameter joins.
 * Uses sql.c, column.c.  Tested by tests/gen/test_space.c.                         SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <stdlib.h>

typedef struct builder {
    gen_space *space;
    const cJSON *constraints;
    column_set *needs; /* of each constraint */
    int n_constraints, next;
    column_set have;
    int64_t n_rows,
        n_values_to_come; /* product over the parameters that are not in the table yet */
} builder;

static moesaic_status no_memory(const builder *b, moesaic_text *err)
{
    return moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for its space", b->space->eval.family);
}

static const char *text_of(const cJSON *constraint, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(constraint, key)->valuestring;
}

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

static moesaic_status read_needs(builder *b, moesaic_text *err)
{
    const cJSON *c;
    int i = 0;
    b->n_constraints = cJSON_GetArraySize(b->constraints);
    b->needs = calloc((size_t)b->n_constraints + 1, sizeof *b->needs);
    moesaic_status status = b->needs ? MOESAIC_OK : no_memory(b, err);
    cJSON_ArrayForEach(c, b->constraints)
    {
        if (status == MOESAIC_OK)
            status = columns_needed(&b->space->columns, &b->space->eval, text_of(c, "name"),
                                    text_of(c, "sql"), &b->needs[i++], err);
    }
    return status;
}

static bool still_needed(const builder *b, int column)
{
    if (b->space->columns.c[column].kind == COLUMN_PARAMETER)
        return true;
    for (int k = b->next; k < b->n_constraints; k++)
        if (b->needs[k].has[column])
            return true;
    return false;
}

/* The columns to keep as `"c1", "c2", `; the others are gone. */
static void list_kept(builder *b, str *out)
{
    for (int i = 0; i < b->space->columns.n; i++) {
        b->have.has[i] = b->have.has[i] && still_needed(b, i);
        if (b->have.has[i])
            str_printf(out, "\"%s\", ", b->space->columns.c[i].name);
    }
}

/* Every row once for each value of the parameter. */
static moesaic_status join_parameter(builder *b, int i, moesaic_text *err)
{
    const space_column *p = &b->space->columns.c[i];
    b->n_rows *= n_values(p);
    b->n_values_to_come /= n_values(p);
    if (b->n_rows > GEN_MAX_ROWS)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: more than %d configurations at once; state constraints that need "
                            "few parameters first",
                            b->space->eval.family, GEN_MAX_ROWS);
    str values = {0}, kept = {0};
    const cJSON *v;
    cJSON_ArrayForEach(v, p->json)
        str_printf(&values, "%s(%.0f)", values.n ? "," : "", v->valuedouble);
    list_kept(b, &kept);
    b->have.has[i] = true;
    moesaic_status status =
        values.failed || kept.failed
            ? no_memory(b, err)
            : evaluator_run(&b->space->eval, err,
                            "CREATE TABLE wider AS SELECT %s v.column1 AS \"%w\" FROM space,"
                            " (VALUES %s) AS v; DROP TABLE space;"
                            " ALTER TABLE wider RENAME TO space",
                            str_text(&kept), p->name, str_text(&values));
    str_free(&values);
    str_free(&kept);
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
    const char *name = text_of(constraint, "name");
    int64_t n_removed = 0;
    moesaic_status status = bring(b, &b->needs[b->next], err);
    if (status == MOESAIC_OK)
        status = evaluator_keep(&b->space->eval, name, "space", text_of(constraint, "sql"),
                                &n_removed, err);
    b->next++;
    b->n_rows -= n_removed;
    double n_excluded = (double)(n_removed * b->n_values_to_come);
    if (status == MOESAIC_OK && !cJSON_AddNumberToObject(b->space->excluded, name, n_excluded))
        status = no_memory(b, err);
    return status;
}

/* Parameters as `"p1", "p2"`; without any there is one configuration. */
static void list_parameters(const gen_space *space, str *out)
{
    for (int i = 0; i < space->columns.n; i++)
        if (space->columns.c[i].kind == COLUMN_PARAMETER)
            str_printf(out, "%s\"%s\"", out->n ? ", " : "", space->columns.c[i].name);
    if (!out->n)
        str_add(out, "NULL");
}

/* The table `legal`: parameters alone, in the order of their values; rowid is the index plus 1. */
static moesaic_status make_legal(builder *b, moesaic_text *err)
{
    str list = {0};
    list_parameters(b->space, &list);
    b->space->legal = b->n_rows;
    moesaic_status status =
        list.failed ? no_memory(b, err)
                    : evaluator_run(&b->space->eval, err,
                                    "CREATE TABLE legal AS SELECT %s FROM space ORDER BY %s;"
                                    " DROP TABLE space",
                                    list.s, list.s);
    str_free(&list);
    return status;
}

static moesaic_status apply_all(builder *b, moesaic_text *err)
{
    const cJSON *c;
    moesaic_status status =
        evaluator_run(&b->space->eval, err, "CREATE TABLE space AS SELECT * FROM facts");
    for (int i = 0; i < b->space->columns.n; i++)
        b->have.has[i] = b->space->columns.c[i].kind == COLUMN_FACT;
    cJSON_ArrayForEach(c, b->constraints)
    {
        if (status == MOESAIC_OK)
            status = apply(b, c, err);
    }
    column_set parameters = {0};
    for (int i = 0; i < b->space->columns.n; i++)
        parameters.has[i] = b->space->columns.c[i].kind == COLUMN_PARAMETER;
    return status == MOESAIC_OK ? bring(b, &parameters, err) : status;
}

moesaic_status enumerate_legal(gen_space *space, moesaic_text *err)
{
    moesaic_status status = count_total(space, err);
    if (status != MOESAIC_OK)
        return status;
    builder b = {.space = space,
                 .constraints =
                     cJSON_GetObjectItemCaseSensitive(space->family->json, "constraints"),
                 .n_rows = 1,
                 .n_values_to_come = space->total};
    status = read_needs(&b, err);
    if (status == MOESAIC_OK)
        status = apply_all(&b, err);
    if (status == MOESAIC_OK)
        status = make_legal(&b, err);
    free(b.needs);
    return status;
}
