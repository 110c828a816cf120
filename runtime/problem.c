/* runtime/problem.c: a problem as databases know it: family, pass and the fields of its key.    SPDX-License-Identifier: MIT */
#include "runtime/runtime_int.h"

moesaic_status problem_make(const char *family, const char *pass, cJSON *fields, problem *out,
                            moesaic_text *err)
{
    *out = (problem){.family = family, .pass = pass};
    moesaic_status status = fields ? db_problem_key(fields, &out->key, err)
                                   : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
    cJSON_Delete(fields);
    if (status == MOESAIC_OK)
        status = json_parse(str_text(&out->key), "problem", &out->fields, err);
    return status;
}

void problem_free(problem *p)
{
    cJSON_Delete(p->fields);
    str_free(&p->key);
}

moesaic_status check_range(const char *name, int64_t value, int64_t low, int64_t high,
                           moesaic_text *err)
{
    if (value >= low && value <= high)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_SHAPE, "%s is %lld, must be %lld to %lld", name,
                        (long long)value, (long long)low, (long long)high);
}
