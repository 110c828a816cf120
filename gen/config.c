/* gen/config.c: is a configuration one of the family's, and completing one that states some parameters only.
 *
 * Whether it is legal for a problem is another question: space.c, one.c.
 * Tested by tests/gen/test_space.c.                                                SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

static bool lists(const cJSON *values, const cJSON *value)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, values)
    {
        if (v->valuedouble == value->valuedouble)
            return true;
    }
    return false;
}

static moesaic_status bad_value(const gen_family *family, const cJSON *values, const cJSON *value,
                                moesaic_text *err)
{
    str shown = {0}, listed = {0};
    if (value)
        json_canonical(value, &shown);
    json_canonical(values, &listed);
    moesaic_fail(err, MOESAIC_E_INPUT, "%s: parameter %s %s%s; its values are %s", family->name,
                 values->string, value ? "has no value " : "is missing", str_text(&shown),
                 str_text(&listed));
    str_free(&shown);
    str_free(&listed);
    return MOESAIC_E_INPUT;
}

static moesaic_status unknown_name(const gen_family *family, const char *name, moesaic_text *err)
{
    str names = {0};
    const cJSON *p;
    cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(family->json, "parameters"))
        str_printf(&names, "%s%s", names.n ? ", " : "", p->string);
    moesaic_fail(err, MOESAIC_E_INPUT, "%s has no parameter \"%s\"; it has: %s", family->name, name,
                 str_text(&names));
    str_free(&names);
    return MOESAIC_E_INPUT;
}

moesaic_status config_check(const gen_family *family, const cJSON *config, moesaic_text *err)
{
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(family->json, "parameters");
    const cJSON *c, *p;
    cJSON_ArrayForEach(c, config)
    {
        if (!cJSON_GetObjectItemCaseSensitive(parameters, c->string))
            return unknown_name(family, c->string, err);
    }
    cJSON_ArrayForEach(p, parameters)
    {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(config, p->string);
        if (!cJSON_IsNumber(value) || !lists(p, value))
            return bad_value(family, p, value, err);
    }
    return MOESAIC_OK;
}

static moesaic_status copy_values(const gen_family *family, const cJSON *base, const cJSON *given,
                                  cJSON *out, moesaic_text *err)
{
    const cJSON *p;
    cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(family->json, "parameters"))
    {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(given, p->string);
        if (!value)
            value = cJSON_GetObjectItemCaseSensitive(base, p->string);
        cJSON *copy = cJSON_Duplicate(value, 1);
        if (value && (!copy || !cJSON_AddItemToObject(out, p->string, copy))) {
            cJSON_Delete(copy);
            return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a configuration");
        }
    }
    return config_check(family, out, err);
}

moesaic_status gen_config_complete(const gen_family *family, const cJSON *base, const cJSON *given,
                                   cJSON **out, moesaic_text *err)
{
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(family->json, "parameters"), *g;
    *out = NULL;
    cJSON_ArrayForEach(g, given)
    {
        if (!cJSON_GetObjectItemCaseSensitive(parameters, g->string))
            return unknown_name(family, g->string, err);
    }
    if (!base)
        base = cJSON_GetObjectItemCaseSensitive(family->json, "default");
    cJSON *config = cJSON_CreateObject();
    moesaic_status status =
        config ? copy_values(family, base, given, config, err)
               : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a configuration");
    if (status == MOESAIC_OK)
        *out = config;
    else
        cJSON_Delete(config);
    return status;
}
