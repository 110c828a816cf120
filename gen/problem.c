/* gen/problem.c: a problem's fields against what its family can do.
 *
 * A member of "problem" in space.json is a default (a number or a text), null (a size, required), a list
 * (its first value is the default; texts not in it are refused), or {"default", "min", "max", "allowed"}; without
 * a default the field is required.  Tested by tests/gen/test_problem.c.                          SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <math.h>
#include <string.h>

#define MAX_SIZE 2147483647.0

bool problem_code(const gen_family *family, const char *field, const char *value, int64_t *code)
{
    const cJSON *codes = cJSON_GetObjectItemCaseSensitive(family->json, "codes");
    const cJSON *c =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(codes, field), value);
    *code = cJSON_IsNumber(c) ? (int64_t)c->valuedouble : 0;
    return cJSON_IsNumber(c);
}

static void list_names(const cJSON *list, str *out)
{
    const cJSON *m;
    cJSON_ArrayForEach(m, list)
    {
        const char *name = cJSON_IsString(m) ? m->valuestring : m->string;
        if (name)
            str_printf(out, "%s%s", out->n ? ", " : "", name);
        else
            str_printf(out, "%s%.0f", out->n ? ", " : "", m->valuedouble);
    }
}

static bool is_listed(const cJSON *list, const cJSON *value)
{
    const cJSON *m;
    if (cJSON_IsObject(list)) /* codes: the names count */
        return cJSON_IsString(value) && cJSON_GetObjectItemCaseSensitive(list, value->valuestring);
    cJSON_ArrayForEach(m, list)
    {
        if (cJSON_Compare(m, value, 1))
            return true;
    }
    return false;
}

static double bound_of(const cJSON *rule, const char *key, double otherwise)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(rule, key);
    return cJSON_IsNumber(m) ? m->valuedouble : otherwise;
}

static const cJSON *default_of(const cJSON *rule)
{
    if (cJSON_IsArray(rule))
        return cJSON_GetArrayItem(rule, 0);
    const cJSON *usual =
        cJSON_IsObject(rule) ? cJSON_GetObjectItemCaseSensitive(rule, "default") : rule;
    return cJSON_IsNull(usual) ? NULL : usual;
}

/* The values that a field may have, or NULL for any. */
static const cJSON *allowed_of(const gen_family *family, const cJSON *rule)
{
    const cJSON *allowed = cJSON_GetObjectItemCaseSensitive(rule, "allowed");
    if (cJSON_IsArray(rule) && cJSON_IsString(cJSON_GetArrayItem(rule, 0)))
        return rule;
    return allowed ? allowed
                   : cJSON_GetObjectItemCaseSensitive(
                         cJSON_GetObjectItemCaseSensitive(family->json, "codes"), rule->string);
}

static moesaic_status check_number(const cJSON *rule, const cJSON *value, moesaic_text *err)
{
    double low = bound_of(rule, "min", default_of(rule) && !cJSON_IsArray(rule) ? 0 : 1);
    double high = bound_of(rule, "max", MAX_SIZE), v = value->valuedouble;
    if (v != floor(v) || !(v >= low && v <= high))
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "problem field %s = %.*f: must be an integer between %.0f and %.0f",
                            rule->string, v == floor(v) ? 0 : 3, v, low, high);
    return MOESAIC_OK;
}

static moesaic_status check_value(const gen_family *family, const cJSON *rule, const cJSON *value,
                                  moesaic_text *err)
{
    const cJSON *usual = default_of(rule), *allowed = allowed_of(family, rule);
    bool text = cJSON_IsString(usual) || cJSON_IsObject(allowed) ||
                cJSON_IsString(cJSON_GetArrayItem(allowed, 0));
    if (!cJSON_IsString(value) && !cJSON_IsNumber(value))
        return moesaic_fail(err, MOESAIC_E_INPUT, "problem field %s must be an integer or a text",
                            rule->string);
    if (text != (bool)cJSON_IsString(value))
        return moesaic_fail(err, MOESAIC_E_INPUT, "problem field %s must be %s", rule->string,
                            text ? "a text" : "an integer");
    moesaic_status status = text ? MOESAIC_OK : check_number(rule, value, err);
    if (status != MOESAIC_OK || !allowed || is_listed(allowed, value))
        return status;
    str names = {0}, shown = {0};
    list_names(allowed, &names);
    json_canonical(value, &shown);
    status =
        moesaic_fail(err, MOESAIC_E_INPUT, "problem field %s = %s is not supported by %s; use %s",
                     rule->string, str_text(&shown), family->name, str_text(&names));
    str_free(&names);
    str_free(&shown);
    return status;
}

static moesaic_status fill_in(const gen_family *family, const cJSON *rules, const cJSON *fields,
                              cJSON *out, moesaic_text *err)
{
    const cJSON *rule;
    cJSON_ArrayForEach(rule, rules)
    {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(fields, rule->string);
        if (!value)
            value = default_of(rule);
        if (!value)
            return moesaic_fail(err, MOESAIC_E_INPUT, "problem field %s is missing; add %s=VALUE",
                                rule->string, rule->string);
        moesaic_status status = check_value(family, rule, value, err);
        if (status != MOESAIC_OK)
            return status;
        cJSON *copy = cJSON_Duplicate(value, 1);
        if (!copy || !cJSON_AddItemToObject(out, rule->string, copy)) {
            cJSON_Delete(copy);
            return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
        }
    }
    return MOESAIC_OK;
}

static moesaic_status check_known(const gen_family *family, const cJSON *rules, const cJSON *fields,
                                  const char *pass, moesaic_text *err)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, fields)
    {
        if (strcmp(field->string, "pass") == 0 ||
            cJSON_GetObjectItemCaseSensitive(rules, field->string))
            continue;
        str names = {0};
        list_names(rules, &names);
        moesaic_fail(err, MOESAIC_E_INPUT, "%s has no problem field \"%s\"; it has: %s",
                     family->name, field->string, str_text(&names));
        str_free(&names);
        return MOESAIC_E_INPUT;
    }
    if (!gen_family_has_pass(family, pass)) {
        str names = {0};
        list_names(cJSON_GetObjectItemCaseSensitive(family->json, "passes"), &names);
        moesaic_fail(err, MOESAIC_E_INPUT, "%s has no pass \"%s\"; it has: %s", family->name, pass,
                     names.n ? names.s : "run");
        str_free(&names);
        return MOESAIC_E_INPUT;
    }
    return MOESAIC_OK;
}

moesaic_status gen_problem_complete(const gen_family *family, const char *pass, const cJSON *fields,
                                    cJSON **out, moesaic_text *err)
{
    const cJSON *rules = cJSON_GetObjectItemCaseSensitive(family->json, "problem");
    *out = NULL;
    moesaic_status status = check_known(family, rules, fields, pass, err);
    if (status != MOESAIC_OK)
        return status;
    cJSON *problem = cJSON_CreateObject();
    status = problem ? fill_in(family, rules, fields, problem, err)
                     : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
    if (status == MOESAIC_OK)
        status = require_all(family, pass, problem, err);
    if (status == MOESAIC_OK)
        *out = problem;
    else
        cJSON_Delete(problem);
    return status;
}
