/* gen/check.c: is a space.json what it must be?
 *
 * Expressions are looked at later, by SQLite (column.c).  Tested by tests/gen/test_hostile.c.
 * SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <math.h>
#include <string.h>

enum { MAX_VALUES = 1000 };
#define MAX_VALUE 2147483647.0

bool is_name(const char *s)
{
    return *s >= 'a' && *s <= 'z' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(s);
}

static bool is_integer(const cJSON *value)
{
    return cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble) &&
           fabs(value->valuedouble) <= MAX_VALUE;
}

static bool is_text(const cJSON *value)
{
    return cJSON_IsString(value) && value->valuestring[0];
}

static moesaic_status check_names(const char *family, const cJSON *object, moesaic_text *err)
{
    const cJSON *member;
    cJSON_ArrayForEach(member, object)
    {
        if (!is_name(member->string))
            return moesaic_fail(
                err, MOESAIC_E_INPUT,
                "%s: \"%s\": the name \"%s\" must be lower case letters, digits and "
                "_, a letter first",
                family, object->string, member->string);
    }
    return MOESAIC_OK;
}

static moesaic_status check_objects(const gen_family *family, moesaic_text *err)
{
    static const struct {
        const char *key;
        bool required;
    } objects[] = {{"parameters", true}, {"default", true}, {"derived", false},
                   {"problem", false},   {"codes", false},  {"workspace", false}};
    moesaic_status status = MOESAIC_OK;
    for (size_t i = 0; i < sizeof objects / sizeof objects[0] && status == MOESAIC_OK; i++) {
        const cJSON *object = cJSON_GetObjectItemCaseSensitive(family->json, objects[i].key);
        if (!object && objects[i].required)
            return moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"%s\" is missing", family->name,
                                objects[i].key);
        if (object && !cJSON_IsObject(object))
            return moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"%s\" must be an object", family->name,
                                objects[i].key);
        status = check_names(family->name, object, err);
    }
    return status;
}

static bool is_value_of(const cJSON *values, const cJSON *value)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, values)
    {
        if (cJSON_IsNumber(value) && v->valuedouble == value->valuedouble)
            return true;
    }
    return false;
}

static moesaic_status check_values(const gen_family *family, const cJSON *values, moesaic_text *err)
{
    int n = cJSON_IsArray(values) ? cJSON_GetArraySize(values) : 0;
    if (n < 1 || n > MAX_VALUES)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: parameter \"%s\" must be a list of 1 to %d integers", family->name,
                            values->string, MAX_VALUES);
    const cJSON *v, *earlier;
    cJSON_ArrayForEach(v, values)
    {
        if (!is_integer(v))
            return moesaic_fail(err, MOESAIC_E_INPUT,
                                "%s: parameter \"%s\": its values must be integers", family->name,
                                values->string);
        for (earlier = values->child; earlier != v; earlier = earlier->next)
            if (earlier->valuedouble == v->valuedouble)
                return moesaic_fail(err, MOESAIC_E_INPUT, "%s: parameter \"%s\" lists %.0f twice",
                                    family->name, values->string, v->valuedouble);
    }
    return MOESAIC_OK;
}

static moesaic_status check_parameters(const gen_family *family, moesaic_text *err)
{
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(family->json, "parameters"), *p;
    const cJSON *defaults = cJSON_GetObjectItemCaseSensitive(family->json, "default");
    cJSON_ArrayForEach(p, parameters)
    {
        moesaic_status status = check_values(family, p, err);
        if (status != MOESAIC_OK)
            return status;
        if (!is_value_of(p, cJSON_GetObjectItemCaseSensitive(defaults, p->string)))
            return moesaic_fail(err, MOESAIC_E_INPUT,
                                "%s: \"default\" must give \"%s\" one of its listed values",
                                family->name, p->string);
    }
    if (cJSON_GetArraySize(defaults) != cJSON_GetArraySize(parameters))
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"default\" names what is no parameter",
                            family->name);
    return MOESAIC_OK;
}

static moesaic_status check_derived(const gen_family *family, moesaic_text *err)
{
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(family->json, "derived"), *d;
    cJSON_ArrayForEach(d, derived)
    {
        if (!is_text(d))
            return moesaic_fail(err, MOESAIC_E_INPUT,
                                "%s: derived \"%s\" must be an SQL expression", family->name,
                                d->string);
    }
    return MOESAIC_OK;
}

static moesaic_status check_constraints(const gen_family *family, moesaic_text *err)
{
    static const char *const members[] = {"name", "sql", "reason"};
    const cJSON *constraints = cJSON_GetObjectItemCaseSensitive(family->json, "constraints"), *c,
                *e;
    if (constraints && !cJSON_IsArray(constraints))
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"constraints\" must be a list",
                            family->name);
    int i = 0;
    cJSON_ArrayForEach(c, constraints)
    {
        i++;
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++)
            if (!is_text(cJSON_GetObjectItemCaseSensitive(c, members[m])))
                return moesaic_fail(err, MOESAIC_E_INPUT, "%s: constraint %d has no text \"%s\"",
                                    family->name, i, members[m]);
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(c, "name");
        for (e = constraints->child; e != c; e = e->next)
            if (cJSON_Compare(cJSON_GetObjectItemCaseSensitive(e, "name"), name, 1))
                return moesaic_fail(err, MOESAIC_E_INPUT, "%s: two constraints are named \"%s\"",
                                    family->name, name->valuestring);
    }
    return MOESAIC_OK;
}

static moesaic_status check_passes(const gen_family *family, moesaic_text *err)
{
    const cJSON *passes = cJSON_GetObjectItemCaseSensitive(family->json, "passes"), *p;
    bool good = !passes || (cJSON_IsArray(passes) && passes->child);
    cJSON_ArrayForEach(p, passes)
    {
        good = good && is_text(p) && is_name(p->valuestring);
    }
    return good ? MOESAIC_OK
                : moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"passes\" must be a list of names",
                               family->name);
}

moesaic_status check_family(const gen_family *family, moesaic_text *err)
{
    moesaic_status (*const checks[])(const gen_family *, moesaic_text *) = {
        check_objects, check_passes, check_parameters, check_derived, check_constraints};
    moesaic_status status = MOESAIC_OK;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && status == MOESAIC_OK; i++)
        status = checks[i](family, err);
    return status;
}
