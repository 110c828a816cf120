/* gen/column.c: the columns that a family's expressions may use, and which need which.
 *
 * Facts of problem and device, parameters, derived columns.  What an expression needs is not parsed: an empty
 * table `shape` has all columns, and SQLite says which of them it reads.  A derived column may use those that
 * are stated above it, so there are no cycles.
 * Tested by tests/gen/test_space.c.                                                SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <string.h>

const gen_device gen_mi300x = {.cu_count = 304,
                               .xcd_count = 8,
                               .lds_per_cu = 65536,
                               .clock_mhz = 2100,
                               .hbm_gbps = 5300,
                               .mfma_flops_per_clk_per_cu = 2048};

static int find_column(const column_list *columns, const char *name)
{
    for (int i = 0; i < columns->n; i++)
        if (strcmp(columns->c[i].name, name) == 0)
            return i;
    return -1;
}

static moesaic_status add_column(column_list *columns, evaluator *e, const char *name,
                                 column_kind kind, const cJSON *json, moesaic_text *err)
{
    if (find_column(columns, name) >= 0)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: the name \"%s\" is used twice; fields of problem and device, "
                            "parameters and derived columns share their names",
                            e->family, name);
    if (columns->n == GEN_MAX_COLUMNS)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: more than %d columns", e->family,
                            GEN_MAX_COLUMNS);
    columns->c[columns->n++] = (space_column){.name = name, .kind = kind, .json = json};
    return evaluator_run(e, err, "ALTER TABLE shape ADD COLUMN \"%w\"", name);
}

static moesaic_status add_fact(column_list *columns, evaluator *e, const char *name,
                               const char *text, double number, moesaic_text *err)
{
    moesaic_status status = add_column(columns, e, name, COLUMN_FACT, NULL, err);
    if (status == MOESAIC_OK)
        status = evaluator_run(e, err, "ALTER TABLE facts ADD COLUMN \"%w\"", name);
    if (status != MOESAIC_OK)
        return status;
    if (text)
        return evaluator_run(e, err, "UPDATE facts SET \"%w\" = %Q", name, text);
    if (number == (double)(int64_t)number)
        return evaluator_run(e, err, "UPDATE facts SET \"%w\" = %lld", name, (long long)number);
    return evaluator_run(e, err, "UPDATE facts SET \"%w\" = %!.17g", name, number);
}

static moesaic_status add_problem(column_list *columns, evaluator *e, const cJSON *problem,
                                  moesaic_text *err)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, problem)
    {
        if (strcmp(field->string, "pass") == 0)
            continue;
        moesaic_status status =
            add_fact(columns, e, field->string, cJSON_IsString(field) ? field->valuestring : NULL,
                     field->valuedouble, err);
        if (status != MOESAIC_OK)
            return status;
    }
    return MOESAIC_OK;
}

static moesaic_status add_device(column_list *columns, evaluator *e, const gen_device *device,
                                 moesaic_text *err)
{
    const struct {
        const char *name;
        double value;
    } facts[] = {
        {"cu_count", (double)device->cu_count},
        {"xcd_count", (double)device->xcd_count},
        {"lds_per_cu", (double)device->lds_per_cu},
        {"clock_mhz", (double)device->clock_mhz},
        {"hbm_gbps", device->hbm_gbps},
        {"mfma_flops_per_clk_per_cu", device->mfma_flops_per_clk_per_cu},
    };
    moesaic_status status = MOESAIC_OK;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0] && status == MOESAIC_OK; i++)
        status = add_fact(columns, e, facts[i].name, NULL, facts[i].value, err);
    return status;
}

static moesaic_status add_parameters(column_list *columns, evaluator *e, const cJSON *json,
                                     moesaic_text *err)
{
    const cJSON *p;
    moesaic_status status = MOESAIC_OK;
    cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(json, "parameters"))
    {
        if (status == MOESAIC_OK)
            status = add_column(columns, e, p->string, COLUMN_PARAMETER, p, err);
    }
    return status;
}

static moesaic_status add_derived(column_list *columns, evaluator *e, const cJSON *json,
                                  moesaic_text *err)
{
    const cJSON *d;
    cJSON_ArrayForEach(d, cJSON_GetObjectItemCaseSensitive(json, "derived"))
    {
        column_set needs;
        moesaic_status status = columns_needed(columns, e, d->string, d->valuestring, &needs, err);
        if (status == MOESAIC_OK)
            status = add_column(columns, e, d->string, COLUMN_DERIVED, d, err);
        if (status != MOESAIC_OK)
            return status;
        columns->c[columns->n - 1].needs = needs;
    }
    return MOESAIC_OK;
}

moesaic_status columns_facts(const char *pass, const cJSON *problem, evaluator *e, column_list *out,
                             moesaic_text *err)
{
    out->n = 0;
    moesaic_status status = evaluator_run(
        e, err,
        "CREATE TABLE shape(\"-\"); CREATE TABLE facts(\"-\"); INSERT INTO facts VALUES (NULL)");
    if (status == MOESAIC_OK)
        status = add_fact(out, e, "pass", pass, 0, err);
    return status == MOESAIC_OK ? add_problem(out, e, problem, err) : status;
}

moesaic_status columns_read(const gen_family *family, const char *pass, const cJSON *problem,
                            const gen_device *device, evaluator *e, column_list *out,
                            moesaic_text *err)
{
    moesaic_status status = columns_facts(pass, problem, e, out, err);
    if (status == MOESAIC_OK)
        status = add_device(out, e, device, err);
    if (status == MOESAIC_OK)
        status = add_parameters(out, e, family->json, err);
    return status == MOESAIC_OK ? add_derived(out, e, family->json, err) : status;
}

typedef struct need_reader {
    const column_list *columns;
    column_set *needs;
} need_reader;

static void note_read(void *reader, const char *name)
{
    const need_reader *r = reader;
    int i = find_column(r->columns, name);
    if (i < 0)
        return;
    r->needs->has[i] = true;
    for (int j = 0; j < i; j++)
        r->needs->has[j] |= r->columns->c[i].needs.has[j];
}

moesaic_status columns_needed(const column_list *columns, evaluator *e, const char *where,
                              const char *expression, column_set *out, moesaic_text *err)
{
    *out = (column_set){0};
    need_reader reader = {.columns = columns, .needs = out};
    return evaluator_reads(e, where, "shape", expression, note_read, &reader, err);
}

/* Is all that column i is made of in the table?  Facts and parameters always are. */
static bool is_ready(const column_list *columns, int i, const column_set *have)
{
    for (int j = 0; j < i; j++)
        if (columns->c[i].needs.has[j] && columns->c[j].kind == COLUMN_DERIVED && !have->has[j])
            return false;
    return true;
}

/* Add the wanted columns that can be computed from those that are there: all in one pass over the rows. */
static moesaic_status derive_ready(const column_list *columns, evaluator *e, const char *table,
                                   const column_set *wanted, column_set *have, bool *more,
                                   moesaic_text *err)
{
    str assignments = {0};
    const column_set before = *have;
    const char *first = NULL;
    moesaic_status status = MOESAIC_OK;
    for (int i = 0; i < columns->n && status == MOESAIC_OK; i++) {
        const space_column *c = &columns->c[i];
        if (c->kind != COLUMN_DERIVED || !wanted->has[i] || have->has[i] ||
            !is_ready(columns, i, &before))
            continue;
        status = evaluator_run(e, err, "ALTER TABLE %s ADD COLUMN \"%w\"", table, c->name);
        str_printf(&assignments, "%s\"%s\" = (%s\n)", assignments.n ? ", " : "", c->name,
                   c->json->valuestring);
        first = first ? first : c->name;
        have->has[i] = true;
    }
    *more = assignments.n > 0;
    if (assignments.failed)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "%s: no memory for its columns", e->family);
    if (status == MOESAIC_OK && *more)
        status = evaluator_update(e, first, table, assignments.s, err);
    str_free(&assignments);
    return status;
}

moesaic_status columns_derive(const column_list *columns, evaluator *e, const char *table,
                              const column_set *wanted, column_set *have, moesaic_text *err)
{
    bool more = true;
    moesaic_status status = MOESAIC_OK;
    while (more && status == MOESAIC_OK)
        status = derive_ready(columns, e, table, wanted, have, &more, err);
    return status;
}
