/* db/key.c: the one builder of problem keys, for tuner, runtime and tools.
 *
 * Uses problem.def.  Tested by tests/db/test_key.c.                                SPDX-License-Identifier: MIT
 */
#include "db/db.h"

#include <math.h>
#include <string.h>

static const struct problem_default {
    const char *field, *text; /* text: NULL for a number */
    double number;
} defaults[] = {
#define PROBLEM_INT(field, value)  {#field, NULL, value},
#define PROBLEM_TEXT(field, value) {#field, value, 0},
#include "db/problem.def"
#undef PROBLEM_INT
#undef PROBLEM_TEXT
};

static bool is_default(const cJSON *field)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        const struct problem_default *d = &defaults[i];
        if (strcmp(field->string, d->field) != 0)
            continue;
        return d->text ? cJSON_IsString(field) && strcmp(field->valuestring, d->text) == 0
                       : cJSON_IsNumber(field) && field->valuedouble == d->number;
    }
    return false;
}

static bool is_usable(const cJSON *field)
{
    return cJSON_IsString(field) ||
           (cJSON_IsNumber(field) && field->valuedouble == floor(field->valuedouble));
}

/* What goes into the key; json_canonical brings it into order. */
static moesaic_status pick_fields(const cJSON *fields, cJSON *picked, moesaic_text *err)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, fields)
    {
        if (!is_usable(field))
            return moesaic_fail(err, MOESAIC_E_INPUT,
                                "problem field \"%s\" is neither an integer nor a text",
                                field->string);
        if (strcmp(field->string, "pass") == 0 || is_default(field))
            continue;
        if (cJSON_HasObjectItem(picked, field->string))
            return moesaic_fail(err, MOESAIC_E_INPUT, "problem field \"%s\" is given twice",
                                field->string);
        cJSON *copy = cJSON_Duplicate(field, 1);
        if (!copy || !cJSON_AddItemToObject(picked, field->string, copy)) {
            cJSON_Delete(copy);
            return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem key");
        }
    }
    return MOESAIC_OK;
}

moesaic_status db_problem_key(const cJSON *fields, str *out, moesaic_text *err)
{
    if (!cJSON_IsObject(fields))
        return moesaic_fail(err, MOESAIC_E_INPUT, "a problem must be an object of fields");
    cJSON *picked = cJSON_CreateObject();
    moesaic_status status = picked
                                ? pick_fields(fields, picked, err)
                                : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem key");
    if (status == MOESAIC_OK)
        json_canonical(picked, out);
    if (status == MOESAIC_OK && out->failed)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem key");
    cJSON_Delete(picked);
    return status;
}
