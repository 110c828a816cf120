/* cli/problem.c: a family and a problem of it, as `FAMILY --problem K=V,...` states them.
 *
 * Pass and routing are fields of a problem to people and in the database's keys, not to the family.
 * SPDX-License-Identifier: MIT
 */
#include "cli/problem.h"

#include "db/db.h"
#include "tuner/routing.h"

#include <string.h>

moesaic_status cli_fields(const char *text, const char *name, cJSON **out, moesaic_text *err)
{
    if (text[strspn(text, " \t\n")] != '{')
        return json_from_pairs(text, out, err);
    moesaic_status status = json_parse(text, name, out, err);
    const cJSON *m;
    cJSON_ArrayForEach(m, *out)
    {
        if (status == MOESAIC_OK && !cJSON_IsNumber(m) && !cJSON_IsString(m))
            status = moesaic_fail(err, MOESAIC_E_INPUT, "%s: %s must be a number or a text", name,
                                  m->string);
    }
    if (status != MOESAIC_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}

static const char *first_pass(const gen_family *family)
{
    const cJSON *passes = cJSON_GetObjectItemCaseSensitive(gen_family_json(family), "passes");
    return passes ? cJSON_GetArrayItem(passes, 0)->valuestring : "run";
}

/* The database's key of the problem: its fields, and the routing where one was stated. */
static moesaic_status make_key(cli_problem *p, const char *routing, moesaic_text *err)
{
    routing_spec spec;
    char name[80];
    moesaic_status status = routing_parse(routing, NULL, &spec, err);
    if (status != MOESAIC_OK)
        return status;
    routing_name(&spec, name);
    cJSON *fields = cJSON_Duplicate(p->fields, 1);
    status = fields && cJSON_AddStringToObject(fields, "routing", name)
                 ? db_problem_key(fields, &p->key, err)
                 : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
    cJSON_Delete(fields);
    return status;
}

static moesaic_status complete(cli_problem *p, moesaic_text *err)
{
    const char *routing, *where = "--problem";
    moesaic_status status =
        json_text(p->given, "pass", where, first_pass(p->family), &p->pass, err);
    if (status == MOESAIC_OK)
        status = json_text(p->given, "routing", where, "uniform", &routing, err);
    cJSON *fields = cJSON_Duplicate(p->given, 1);
    cJSON_DeleteItemFromObjectCaseSensitive(fields, "routing");
    if (status == MOESAIC_OK)
        status = gen_problem_complete(p->family, p->pass, fields, &p->fields, err);
    cJSON_Delete(fields);
    return status == MOESAIC_OK ? make_key(p, routing, err) : status;
}

moesaic_status cli_problem_read(const cli_call *call, cli_problem *out, moesaic_text *err)
{
    const char *text = cli_value(call, "--problem");
    *out = (cli_problem){0};
    moesaic_status status = gen_family_open(call->args[0], &out->family, err);
    if (status == MOESAIC_OK)
        status = cli_fields(text ? text : "{}", "--problem", &out->given, err);
    return status == MOESAIC_OK ? complete(out, err) : status;
}

void cli_problem_free(cli_problem *problem)
{
    gen_family_free(problem->family);
    cJSON_Delete(problem->fields);
    cJSON_Delete(problem->given);
    str_free(&problem->key);
    *problem = (cli_problem){0};
}

moesaic_status cli_problem_space(const cli_problem *problem, gen_space **out, moesaic_text *err)
{
    return gen_space_open(problem->family, problem->pass, problem->fields, &gen_mi300x, out, err);
}
