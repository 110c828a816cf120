/* runtime/lookup.c: which record serves a problem: its own, or that of a neighbour.
 *
 * Order: verified on a device like ours before candidates, then distance, then layer, then key; so ranks with the
 * same files choose the same.  Tested by tests/runtime/test_lookup.c.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Three doublings of tokens. */
#define NEAR_LIMIT 3.0

typedef struct near_rule {
    const char *field;
    double per_doubling, penalty;
} near_rule;

static const near_rule rules[] = {
#define NEAR_RATIO(field, per_doubling) {#field, per_doubling, 0},
#define NEAR_ANY(field, penalty)        {#field, 0, penalty},
#include "runtime/near.def"
#undef NEAR_RATIO
#undef NEAR_ANY
};
enum { N_RULES = sizeof rules / sizeof rules[0] };

static bool is_size(const cJSON *value)
{
    return value && cJSON_IsNumber(value) && value->valuedouble > 0;
}

/* How far apart two values of a field are; either may be NULL, which is the field's default. */
static double field_distance(const char *field, const cJSON *a, const cJSON *b)
{
    if (a && b && cJSON_Compare(a, b, 1))
        return 0;
    for (int i = 0; i < N_RULES; i++) {
        if (strcmp(rules[i].field, field) != 0)
            continue;
        if (rules[i].per_doubling == 0)
            return rules[i].penalty;
        if (is_size(a) && is_size(b))
            return rules[i].per_doubling * fabs(log2(a->valuedouble / b->valuedouble));
    }
    return INFINITY;
}

/* Both are objects made from keys: fields at their default are in neither. */
static double distance_between(const cJSON *a, const cJSON *b)
{
    double sum = 0;
    const cJSON *field;
    cJSON_ArrayForEach(field, a)
    {
        sum += field_distance(field->string, field,
                              cJSON_GetObjectItemCaseSensitive(b, field->string));
    }
    cJSON_ArrayForEach(field, b)
    {
        if (!cJSON_GetObjectItemCaseSensitive(a, field->string))
            sum += field_distance(field->string, NULL, field);
    }
    return sum;
}

static bool better(const record *a, double distance_a, const record *b, double distance_b)
{
    if (a->candidate != b->candidate)
        return !a->candidate;
    if (distance_a != distance_b)
        return distance_a < distance_b;
    if (a->layer != b->layer)
        return a->layer < b->layer;
    return strcmp(a->key, b->key) < 0;
}

record *lookup_best(const moesaic_context *context, const problem *p, double *distance)
{
    record *best = NULL;
    *distance = INFINITY;
    for (size_t i = 0; i < context->n_records; i++) {
        record *r = &context->records[i];
        if (r->unusable || strcmp(r->family, p->family) != 0 || strcmp(r->pass, p->pass) != 0)
            continue;
        double d = distance_between(r->fields, p->fields);
        if (d <= NEAR_LIMIT && (!best || better(r, d, best, *distance))) {
            best = r;
            *distance = d;
        }
    }
    return best;
}

/* --- words --- */

static void add_difference(str *to, const char *field, const cJSON *tuned, const cJSON *asked)
{
    str values[2] = {{0}, {0}};
    if (tuned)
        json_canonical(tuned, &values[0]);
    if (asked)
        json_canonical(asked, &values[1]);
    str_printf(to, "%s%s %s, asked %s", to->n ? "; " : "", field,
               tuned ? str_text(&values[0]) : "default", asked ? str_text(&values[1]) : "default");
    str_free(&values[0]);
    str_free(&values[1]);
}

void lookup_differs(const record *r, const problem *p, char *text, size_t n)
{
    str all = {0};
    const cJSON *field, *other;
    cJSON_ArrayForEach(field, r->fields)
    {
        other = cJSON_GetObjectItemCaseSensitive(p->fields, field->string);
        if (!other || !cJSON_Compare(field, other, 1))
            add_difference(&all, field->string, field, other);
    }
    cJSON_ArrayForEach(field, p->fields)
    {
        if (!cJSON_GetObjectItemCaseSensitive(r->fields, field->string))
            add_difference(&all, field->string, NULL, field);
    }
    snprintf(text, n, "%s", str_text(&all));
    str_free(&all);
}

/* A workload of this one problem, fed to tune; workloads have no other family's problems. */
void lookup_tune_command(const problem *p, char *text, size_t n)
{
    text[0] = 0;
    if (strcmp(p->family, "moe_gemm") == 0)
        snprintf(text, n,
                 "echo '{\"name\":\"missed\",\"moe\":[{\"passes\":[\"%s\"],%s]}' > missed.json && "
                 "moesaic tune missed.json",
                 p->pass, p->key.s ? p->key.s + 1 : "}");
}
