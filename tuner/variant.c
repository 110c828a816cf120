/* tuner/variant.c: packs arguments by their names and launches the kernels of a variant in turn.
 *
 * Tested by tests/tuner/test_planted.c.    SPDX-License-Identifier: MIT
 */
#include "tuner/variant.h"

#include <string.h>

/* What an argument's name stands for; types: ptr, i64, i32. */
typedef struct argument {
    const char *name;
    int64_t value;
} argument;

static int64_t address(const guarded *g)
{
    return (int64_t)(intptr_t)guard_data(g);
}

enum { N_ARGUMENTS = 16 };

static void list_arguments(const moe_operands *o, argument out[N_ARGUMENTS])
{
    const moe_shape *s = &o->shape;
    const argument all[N_ARGUMENTS] = {
        {"x", address(&o->d_x)},
        {"w", address(&o->d_w)},
        {"out", address(&o->d_out)},
        {"offsets", address(&o->d_offsets)},
        {"token_index", address(&o->d_token_index)},
        {"routing_weight", address(&o->d_weight)},
        {"row_of_slot", address(&o->d_row_of_slot)},
        {"workspace", address(&o->d_workspace)},
        {"ldx", o->ldx},
        {"ldw", o->ldw},
        {"ldout", o->ldout},
        {"tokens", s->tokens},
        {"hidden", s->hidden},
        {"ffn", s->ffn},
        {"experts", s->experts},
        {"top_k", s->top_k},
    };
    memcpy(out, all, sizeof all);
}

static size_t bytes_of_type(const char *type)
{
    if (!strcmp(type, "ptr") || !strcmp(type, "i64"))
        return 8;
    return !strcmp(type, "i32") ? 4 : 0;
}

static moesaic_status pack_one(const cJSON *stated, const argument *known, char *bytes, size_t *n,
                               moesaic_text *err)
{
    const char *name, *type;
    moesaic_status status = json_text(stated, "name", "launch argument", NULL, &name, err);
    if (status == MOESAIC_OK)
        status = json_text(stated, "type", name, NULL, &type, err);
    if (status != MOESAIC_OK)
        return status;
    size_t bytes_needed = bytes_of_type(type), i = 0;
    while (i < N_ARGUMENTS && strcmp(known[i].name, name) != 0)
        i++;
    if (i == N_ARGUMENTS || !bytes_needed)
        return moesaic_fail(err, MOESAIC_E_ABI, "launch argument \"%s\" of type %s is unknown",
                            name, type);
    *n = (*n + bytes_needed - 1) / bytes_needed * bytes_needed;
    if (*n + bytes_needed > VARIANT_MAX_ARGUMENT_BYTES)
        return moesaic_fail(err, MOESAIC_E_ABI, "more than %d bytes of launch arguments",
                            VARIANT_MAX_ARGUMENT_BYTES);
    memcpy(bytes + *n, &known[i].value, bytes_needed);
    *n += bytes_needed;
    return MOESAIC_OK;
}

static moesaic_status pack(const variant *v, const moe_operands *o, char *bytes, size_t *n,
                           moesaic_text *err)
{
    argument known[N_ARGUMENTS];
    const cJSON *stated;
    moesaic_status status = MOESAIC_OK;
    list_arguments(o, known);
    *n = 0;
    cJSON_ArrayForEach(stated, cJSON_GetObjectItemCaseSensitive(v->json, "arguments"))
    {
        status = pack_one(stated, known, bytes, n, err);
        if (status != MOESAIC_OK)
            break;
    }
    return status;
}

/* --- opening --- */

static moesaic_status read_triple(const cJSON *kernel, const char *key, uint32_t out[3],
                                  moesaic_text *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(kernel, key);
    for (int i = 0; i < 3; i++) {
        const cJSON *item = cJSON_GetArrayItem(list, i);
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 1 && item->valuedouble < 0x1p31))
            return moesaic_fail(err, MOESAIC_E_ABI, "launch: \"%s\" must be three numbers from 1",
                                key);
        out[i] = (uint32_t)item->valuedouble;
    }
    return MOESAIC_OK;
}

static moesaic_status open_kernel(variant *v, const cJSON *kernel, moesaic_text *err)
{
    const char *name;
    int64_t zero = 0, lds_bytes;
    if (v->n_kernels == VARIANT_MAX_KERNELS)
        return moesaic_fail(err, MOESAIC_E_ABI, "launch: more than %d kernels",
                            VARIANT_MAX_KERNELS);
    device_launch *g = &v->geometry[v->n_kernels];
    moesaic_status status = json_text(kernel, "kernel", "launch", NULL, &name, err);
    if (status == MOESAIC_OK)
        status = json_int(kernel, "lds_bytes", name, 0, 1 << 20, &zero, &lds_bytes, err);
    if (status == MOESAIC_OK)
        status = read_triple(kernel, "grid", g->workgroups, err);
    if (status == MOESAIC_OK)
        status = read_triple(kernel, "block", g->lanes, err);
    if (status != MOESAIC_OK)
        return status;
    g->lds_bytes = (uint32_t)lds_bytes;
    return device_module_function(v->module, name, &v->functions[v->n_kernels++], err);
}

moesaic_status variant_open(device *dev, const void *code, size_t n_bytes, const char *launch_json,
                            variant *out, moesaic_text *err)
{
    *out = (variant){.dev = dev};
    moesaic_status status = json_parse(launch_json, "launch", &out->json, err);
    if (status == MOESAIC_OK)
        status = device_module_load(dev, code, n_bytes, &out->module, err);
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, cJSON_GetObjectItemCaseSensitive(out->json, "kernels"))
    {
        if (status == MOESAIC_OK)
            status = open_kernel(out, kernel, err);
    }
    if (status == MOESAIC_OK && !out->n_kernels)
        status = moesaic_fail(err, MOESAIC_E_ABI, "launch: no kernel");
    if (status != MOESAIC_OK)
        variant_close(out);
    return status;
}

void variant_close(variant *v)
{
    if (v->module)
        device_module_free(v->module);
    cJSON_Delete(v->json);
    *v = (variant){0};
}

size_t variant_workspace_bytes(const variant *v, int64_t rows)
{
    const cJSON *w = cJSON_GetObjectItemCaseSensitive(v->json, "workspace");
    const cJSON *fixed = cJSON_GetObjectItemCaseSensitive(w, "fixed_bytes");
    const cJSON *per_row = cJSON_GetObjectItemCaseSensitive(w, "per_row_bytes");
    double bytes = (cJSON_IsNumber(fixed) ? fixed->valuedouble : 0) +
                   (cJSON_IsNumber(per_row) ? per_row->valuedouble : 0) * (double)rows;
    return bytes > 0 ? (size_t)bytes : 0;
}

moesaic_status variant_run(const variant *v, const moe_operands *o, moesaic_text *err)
{
    char bytes[VARIANT_MAX_ARGUMENT_BYTES];
    size_t n = 0;
    moesaic_status status = pack(v, o, bytes, &n, err);
    for (int i = 0; status == MOESAIC_OK && i < v->n_kernels; i++) {
        device_launch geometry = v->geometry[i];
        geometry.arguments = bytes;
        geometry.n_argument_bytes = n;
        status = device_launch_kernel(v->dev, v->functions[i], &geometry, NULL, err);
    }
    return status;
}
