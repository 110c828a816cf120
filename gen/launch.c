/* gen/launch.c: how a variant is launched: its kernels with block, grid and LDS, arguments, workspace.
 *
 * "launch" of space.json is one kernel or a list of them; one whose "when" is false is left out.
 * Uses one.c.  Tested by tests/gen/test_launch.c.                                  SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <stdio.h>
#include <string.h>

enum { MAX_BLOCK = 1024, MAX_LDS_BYTES = 65536, MAX_GRID = 2147483647 };
#define MAX_WORKSPACE INT64_C(1125899906842624) /* 2^50: beyond any memory, and exact in JSON */

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static moesaic_status no_memory(moesaic_text *err)
{
    return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a launch");
}

/* An expression, or a plain number, as an integer in [low, high]. */
static moesaic_status integer_of(gen_space *space, const char *where, const cJSON *value,
                                 int64_t low, int64_t high, int64_t *out, moesaic_text *err)
{
    char number[32];
    snprintf(number, sizeof number, "%.17g", value ? value->valuedouble : 0);
    if (cJSON_IsString(value) || cJSON_IsNumber(value))
        return one_integer(space, where, cJSON_IsString(value) ? value->valuestring : number, low,
                           high, out, err);
    *out = 0;
    return moesaic_fail(err, MOESAIC_E_INPUT, "%s: %s must be an SQL expression",
                        space->eval.family, where);
}

/* Three expressions as [x, y, z]; *product: of the three. */
static moesaic_status add_extent(gen_space *space, const cJSON *launch, const char *key,
                                 int64_t high, cJSON *to, int64_t *product, moesaic_text *err)
{
    const cJSON *extent = member(launch, key);
    if (!cJSON_IsArray(extent) || cJSON_GetArraySize(extent) != 3)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: launch \"%s\" must be three expressions",
                            space->eval.family, key);
    cJSON *list = cJSON_AddArrayToObject(to, key);
    moesaic_status status = list ? MOESAIC_OK : no_memory(err);
    *product = 1;
    for (int i = 0; i < 3 && status == MOESAIC_OK; i++) {
        int64_t value;
        char where[48];
        snprintf(where, sizeof where, "launch \"%s\" %c", key, "xyz"[i]);
        status = integer_of(space, where, cJSON_GetArrayItem(extent, i), 1, high, &value, err);
        if (status == MOESAIC_OK && !cJSON_AddItemToArray(list, cJSON_CreateNumber((double)value)))
            status = no_memory(err);
        *product *= value;
    }
    return status;
}

static moesaic_status fill_kernel(gen_space *space, const cJSON *launch, cJSON *kernel,
                                  moesaic_text *err)
{
    int64_t threads = 0, groups, lds_bytes = 0;
    const cJSON *lds = member(launch, "lds_bytes");
    const char *usual, *name;
    moesaic_status status = json_text(space->family->json, "kernel", space->eval.family,
                                      space->family->name, &usual, err);
    if (status == MOESAIC_OK)
        status = json_text(launch, "kernel", space->eval.family, usual, &name, err);
    if (status == MOESAIC_OK && !cJSON_AddStringToObject(kernel, "kernel", name))
        status = no_memory(err);
    if (status == MOESAIC_OK)
        status = add_extent(space, launch, "block", MAX_BLOCK, kernel, &threads, err);
    if (status == MOESAIC_OK && threads > MAX_BLOCK)
        status =
            moesaic_fail(err, MOESAIC_E_INPUT, "%s: launch \"block\" has %lld threads, at most %d",
                         space->eval.family, (long long)threads, MAX_BLOCK);
    if (status == MOESAIC_OK)
        status = add_extent(space, launch, "grid", MAX_GRID, kernel, &groups, err);
    if (status == MOESAIC_OK && lds)
        status = integer_of(space, "launch \"lds_bytes\"", lds, 0, MAX_LDS_BYTES, &lds_bytes, err);
    if (status == MOESAIC_OK && !cJSON_AddNumberToObject(kernel, "lds_bytes", (double)lds_bytes))
        status = no_memory(err);
    return status;
}

static moesaic_status add_kernel(gen_space *space, const cJSON *launch, cJSON *kernels,
                                 moesaic_text *err)
{
    double holds = 1;
    const char *when;
    moesaic_status status = json_text(launch, "when", space->eval.family, "1", &when, err);
    if (status == MOESAIC_OK)
        status = one_eval(space, "launch \"when\"", when, &holds, err);
    if (status != MOESAIC_OK || !(holds < 0 || holds > 0))
        return status;
    cJSON *kernel = cJSON_CreateObject();
    if (!kernel || !cJSON_AddItemToArray(kernels, kernel)) {
        cJSON_Delete(kernel);
        return no_memory(err);
    }
    return fill_kernel(space, launch, kernel, err);
}

static moesaic_status add_kernels(gen_space *space, cJSON *out, moesaic_text *err)
{
    const cJSON *launch = member(space->family->json, "launch"), *l;
    cJSON *kernels = cJSON_AddArrayToObject(out, "kernels");
    if (!kernels)
        return no_memory(err);
    if (cJSON_IsObject(launch))
        return add_kernel(space, launch, kernels, err);
    int n = cJSON_IsArray(launch) ? cJSON_GetArraySize(launch) : 0;
    if (n < 1 || n > GEN_MAX_LAUNCHES)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: \"launch\" must be a kernel or 1 to %d of them",
                            space->eval.family, GEN_MAX_LAUNCHES);
    moesaic_status status = MOESAIC_OK;
    cJSON_ArrayForEach(l, launch)
    {
        if (status == MOESAIC_OK)
            status = add_kernel(space, l, kernels, err);
    }
    return status;
}

/* Type of an argument: stated, or a buffer's pointer, or the scalar's. */
static const char *type_of(const cJSON *argument)
{
    if (member(argument, "buffer"))
        return "ptr";
    const cJSON *type = member(argument, member(argument, "scalar") ? "scalar" : "type");
    return cJSON_IsString(type) ? type->valuestring : NULL;
}

static moesaic_status add_argument(gen_space *space, const cJSON *argument, cJSON *list,
                                   moesaic_text *err)
{
    static const char *const types[] = {"ptr", "i32", "i64", "f32", "f64"};
    const char *type = type_of(argument), *name;
    moesaic_status status = json_text(argument, "name", space->eval.family, NULL, &name, err);
    if (status != MOESAIC_OK)
        return status;
    bool known = false;
    for (size_t i = 0; type && i < sizeof types / sizeof types[0]; i++)
        known |= strcmp(type, types[i]) == 0;
    if (!known)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: argument \"%s\" has no type; use ptr, i32, i64, f32 or f64",
                            space->eval.family, name);
    cJSON *copy = cJSON_CreateObject();
    if (copy && cJSON_AddStringToObject(copy, "name", name) &&
        cJSON_AddStringToObject(copy, "type", type) && cJSON_AddItemToArray(list, copy))
        return MOESAIC_OK;
    cJSON_Delete(copy);
    return no_memory(err);
}

static moesaic_status add_arguments(gen_space *space, cJSON *out, moesaic_text *err)
{
    const cJSON *a;
    cJSON *list = cJSON_AddArrayToObject(out, "arguments");
    moesaic_status status = list ? MOESAIC_OK : no_memory(err);
    cJSON_ArrayForEach(a, member(space->family->json, "arguments"))
    {
        if (status == MOESAIC_OK)
            status = add_argument(space, a, list, err);
    }
    return status;
}

static moesaic_status add_workspace(gen_space *space, cJSON *out, moesaic_text *err)
{
    static const char *const keys[] = {"fixed_bytes", "per_row_bytes"};
    cJSON *workspace = cJSON_AddObjectToObject(out, "workspace");
    moesaic_status status = workspace ? MOESAIC_OK : no_memory(err);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && status == MOESAIC_OK; i++) {
        const cJSON *value = member(member(space->family->json, "workspace"), keys[i]);
        char where[48];
        int64_t n_bytes = 0;
        snprintf(where, sizeof where, "workspace \"%s\"", keys[i]);
        if (value)
            status = integer_of(space, where, value, 0, MAX_WORKSPACE, &n_bytes, err);
        if (status == MOESAIC_OK && !cJSON_AddNumberToObject(workspace, keys[i], (double)n_bytes))
            status = no_memory(err);
    }
    return status;
}

moesaic_status gen_space_launch(gen_space *space, const cJSON *config, cJSON **out,
                                moesaic_text *err)
{
    *out = NULL;
    moesaic_status status = one_set(space, config, err);
    if (status != MOESAIC_OK)
        return status;
    cJSON *launch = cJSON_CreateObject();
    status = launch ? add_kernels(space, launch, err) : no_memory(err);
    if (status == MOESAIC_OK)
        status = add_arguments(space, launch, err);
    if (status == MOESAIC_OK)
        status = add_workspace(space, launch, err);
    if (status == MOESAIC_OK)
        *out = launch;
    else
        cJSON_Delete(launch);
    return status;
}
