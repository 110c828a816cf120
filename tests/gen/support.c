/* tests/gen/support.c: families for the tests of gen/.    SPDX-License-Identifier: MIT */
#include "tests/gen/support.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int use_own_templates(void **state)
{
    (void)state;
    return setenv("MOESAIC_DATA", ".", 1);
}

void check_status(moesaic_status want, moesaic_status got, const moesaic_text *err,
                  const char *expression, const char *file, int line)
{
    if (want != got)
        print_error("%s:%d: want %s got %s (%s) from %s\n", file, line, status_name(want),
                    status_name(got), got ? err->s : "", expression);
    _assert_true(want == got, expression, file, line);
}

void check_says(const char *text, const char *part, const char *file, int line)
{
    if (!strstr(text, part))
        print_error("%s:%d: \"%s\" is not in \"%s\"\n", file, line, part, text);
    _assert_true(strstr(text, part) != NULL, part, file, line);
}

cJSON *object_of(const char *pairs)
{
    cJSON *object;
    moesaic_text err;
    assert_status(MOESAIC_OK, json_from_pairs(pairs, &object, &err), &err);
    return object;
}

void open_or_fail(opened *o, const char *name, const char *pass, const char *pairs)
{
    moesaic_text err;
    cJSON *fields = object_of(pairs);
    *o = (opened){0};
    assert_status(MOESAIC_OK, gen_family_open(name, &o->family, &err), &err);
    assert_status(MOESAIC_OK, gen_problem_complete(o->family, pass, fields, &o->problem, &err),
                  &err);
    assert_status(MOESAIC_OK,
                  gen_space_open(o->family, pass, o->problem, &gen_mi300x, &o->space, &err), &err);
    cJSON_Delete(fields);
}

void opened_free(opened *o)
{
    gen_space_free(o->space);
    cJSON_Delete(o->problem);
    gen_family_free(o->family);
}

cJSON *scale_json(void)
{
    cJSON *json;
    moesaic_text err;
    assert_status(MOESAIC_OK, json_read(SCALE "/space.json", &json, &err), &err);
    return json;
}

static moesaic_status try_folder(const char *folder, moesaic_text *err)
{
    gen_family *family;
    gen_space *space = NULL;
    cJSON *problem = NULL, *config, *launch = NULL, *fields = object_of("rows=10");
    int64_t i;
    double us;
    moesaic_status status = gen_family_open(folder, &family, err);
    if (status == MOESAIC_OK)
        status = gen_problem_complete(family, "run", fields, &problem, err);
    if (status == MOESAIC_OK)
        status = gen_space_open(family, "run", problem, &gen_mi300x, &space, err);
    if (status == MOESAIC_OK)
        status = gen_space_default(space, &i, err);
    if (status == MOESAIC_OK)
        status = gen_space_estimate_us(space, i, &us, err);
    if (status == MOESAIC_OK)
        status = gen_space_config(space, i, &config, err);
    if (status == MOESAIC_OK) {
        status = gen_space_launch(space, config, &launch, err);
        cJSON_Delete(config);
    }
    cJSON_Delete(launch);
    cJSON_Delete(fields);
    cJSON_Delete(problem);
    gen_space_free(space);
    gen_family_free(family);
    return status;
}

moesaic_status try_text(const char *text, moesaic_text *err)
{
    char folder[] = "/tmp/moesaic-test-gen.XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *space = str_format("%s/space.json", folder), *kernel = str_format("%s/scale.hip", folder);
    assert_status(MOESAIC_OK, file_replace(space, text, strlen(text), err), err);
    assert_status(MOESAIC_OK, file_replace(kernel, "\n", 1, err), err);
    moesaic_status status = try_folder(folder, err);
    assert_int_equal(0, unlink(space) | unlink(kernel) | rmdir(folder));
    free(space);
    free(kernel);
    return status;
}

moesaic_status try_json(cJSON *json, moesaic_text *err)
{
    char *text = cJSON_PrintUnformatted(json);
    assert_non_null(text);
    moesaic_status status = try_text(text, err);
    cJSON_free(text);
    cJSON_Delete(json);
    return status;
}
