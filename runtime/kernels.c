/* runtime/kernels.c: loaded code, and how it is launched: geometry and packed arguments.
 *
 * A launch record is JSON that the generator wrote and the database keeps; it is read once, when a plan is made.
 * Launching fills a buffer on the stack.  Tested by tests/runtime/test_kernels.c.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

#include <string.h>

static const struct {
    const char *name, *type;
} arguments[N_ARGUMENTS] = {
#define ARGUMENT(name, type) {#name, #type},
#include "runtime/arguments.def"
#undef ARGUMENT
};

static uint8_t bytes_of(const char *type)
{
    return strcmp(type, "i32") == 0 ? 4 : 8;
}

static moesaic_status add_argument(kernels *k, const cJSON *stated, moesaic_text *err)
{
    const char *name, *type;
    moesaic_status status = json_text(stated, "name", "launch argument", NULL, &name, err);
    if (status == MOESAIC_OK)
        status = json_text(stated, "type", name, NULL, &type, err);
    if (status != MOESAIC_OK)
        return status;
    uint8_t id = 0;
    while (id < N_ARGUMENTS && strcmp(arguments[id].name, name) != 0)
        id++;
    if (id == N_ARGUMENTS || strcmp(arguments[id].type, type) != 0 || k->n_slots == N_ARGUMENTS)
        return moesaic_fail(
            err, MOESAIC_E_ABI,
            "its argument \"%s\" (%s) is none that this build passes: tune it again", name, type);
    size_t bytes = bytes_of(type), offset = (k->n_argument_bytes + bytes - 1) / bytes * bytes;
    k->slots[k->n_slots++] = (argument_slot){id, (uint8_t)bytes, (uint16_t)offset};
    k->n_argument_bytes = offset + bytes;
    return MOESAIC_OK;
}

/* The struct is as long as a multiple of its widest member: C's rule, and the compiler's for the kernel. */
static moesaic_status read_arguments(kernels *k, const cJSON *launch, moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    const cJSON *stated;
    cJSON_ArrayForEach(stated, cJSON_GetObjectItemCaseSensitive(launch, "arguments"))
    {
        if (status == MOESAIC_OK)
            status = add_argument(k, stated, err);
    }
    k->n_argument_bytes = (k->n_argument_bytes + 7) / 8 * 8;
    return status;
}

static moesaic_status read_triple(const cJSON *kernel, const char *key, int64_t high,
                                  uint32_t out[3], moesaic_text *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(kernel, key);
    for (int i = 0; i < 3; i++) {
        const cJSON *item = cJSON_GetArrayItem(list, i);
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 1 && item->valuedouble <= (double)high))
            return moesaic_fail(err, MOESAIC_E_ABI,
                                "its \"%s\" is not three numbers from 1 to %lld: tune it again",
                                key, (long long)high);
        out[i] = (uint32_t)item->valuedouble;
    }
    return MOESAIC_OK;
}

static moesaic_status add_kernel(kernels *k, const cJSON *stated, moesaic_text *err)
{
    enum { MAX_GRID = 1 << 30, MAX_BLOCK = 1024, MAX_LDS = 65536 };
    const int64_t none = 0;
    int64_t lds_bytes = 0;
    const char *name = NULL;
    if (k->n_kernels == MAX_KERNELS)
        return moesaic_fail(err, MOESAIC_E_ABI, "it has more than %d kernels", MAX_KERNELS);
    device_launch *g = &k->geometry[k->n_kernels];
    moesaic_status status = json_text(stated, "kernel", "launch", NULL, &name, err);
    if (status == MOESAIC_OK)
        status = json_int(stated, "lds_bytes", "launch", 0, MAX_LDS, &none, &lds_bytes, err);
    if (status == MOESAIC_OK)
        status = read_triple(stated, "grid", MAX_GRID, g->workgroups, err);
    if (status == MOESAIC_OK)
        status = read_triple(stated, "block", MAX_BLOCK, g->lanes, err);
    if (status == MOESAIC_OK)
        status = device_module_function(k->module, name, &k->functions[k->n_kernels], err);
    g->lds_bytes = (uint32_t)lds_bytes;
    k->n_kernels += status == MOESAIC_OK;
    return status;
}

static moesaic_status read_kernels(kernels *k, const cJSON *launch, moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    const cJSON *stated;
    cJSON_ArrayForEach(stated, cJSON_GetObjectItemCaseSensitive(launch, "kernels"))
    {
        if (status == MOESAIC_OK)
            status = add_kernel(k, stated, err);
    }
    if (status == MOESAIC_OK && !k->n_kernels)
        return moesaic_fail(err, MOESAIC_E_ABI, "its launch record has no kernel: tune it again");
    return status;
}

static moesaic_status read_workspace(kernels *k, const cJSON *launch, moesaic_text *err)
{
    const int64_t none = 0;
    const cJSON *w = cJSON_GetObjectItemCaseSensitive(launch, "workspace");
    if (!w)
        return MOESAIC_OK;
    moesaic_status status = json_int(w, "fixed_bytes", "workspace", 0, INT64_MAX / 4, &none,
                                     &k->workspace_fixed_bytes, err);
    if (status == MOESAIC_OK)
        status = json_int(w, "per_row_bytes", "workspace", 0, 1ll << 32, &none,
                          &k->workspace_per_row_bytes, err);
    return status;
}

moesaic_status kernels_load(device *dev, const void *code, size_t n, const char *launch,
                            kernels *out, moesaic_text *err)
{
    cJSON *json = NULL;
    *out = (kernels){0};
    moesaic_status status = json_parse(launch, "launch record", &json, err);
    if (status == MOESAIC_OK)
        status = read_arguments(out, json, err);
    if (status == MOESAIC_OK)
        status = read_workspace(out, json, err);
    if (status == MOESAIC_OK)
        status = device_module_load(dev, code, n, &out->module, err);
    if (status == MOESAIC_OK)
        status = read_kernels(out, json, err);
    cJSON_Delete(json);
    if (status != MOESAIC_OK)
        kernels_unload(out);
    return status;
}

void kernels_unload(kernels *k)
{
    device_module_free(k->module);
    *k = (kernels){0};
}

moesaic_status kernels_launch(const kernels *k, device *dev, const int64_t values[N_ARGUMENTS],
                              device_stream stream, moesaic_text *err)
{
    _Static_assert(8 * N_ARGUMENTS <= MAX_ARGUMENT_BYTES, "every argument fits");
    unsigned char packed[MAX_ARGUMENT_BYTES] = {0};
    moesaic_status status = MOESAIC_OK;
    /* Little-endian: the low bytes of a value are its first. */
    for (int i = 0; i < k->n_slots; i++)
        memcpy(packed + k->slots[i].offset, &values[k->slots[i].id], k->slots[i].bytes);
    for (int i = 0; status == MOESAIC_OK && i < k->n_kernels; i++) {
        device_launch launch = k->geometry[i];
        launch.arguments = packed;
        launch.n_argument_bytes = k->n_argument_bytes;
        status = device_launch_kernel(dev, k->functions[i], &launch, stream, err);
    }
    return status;
}
