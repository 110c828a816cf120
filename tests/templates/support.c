/* tests/templates/support.c: a device, variants of a family, and numbers.    SPDX-License-Identifier: MIT */
#include "tests/templates/support.h"

#include <stdlib.h>
#include <string.h>

void must(moesaic_status status, const moesaic_text *err)
{
    if (status != MOESAIC_OK)
        fail_msg("%s: %s", status_name(status), err->s);
}

device *test_device(void)
{
    static device *dev;
    moesaic_text err = {""};
    moesaic_sim_options options = {.size_bytes = sizeof options};
    if (dev)
        return dev;
    must(device_open(0, &dev, &err), &err);
    if (device_sim_get(dev, &options)) {
        options.mode = MOESAIC_SIM_EXACT;
        assert_true(device_sim_set(dev, &options));
    }
    return dev;
}

cJSON *config_with(const gen_family *family, const char *pairs)
{
    moesaic_text err = {""};
    cJSON *config =
        cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(gen_family_json(family), "default"), 1);
    cJSON *changes = NULL, *change;
    assert_non_null(config);
    must(json_from_pairs(pairs, &changes, &err), &err);
    cJSON_ArrayForEach(change, changes)
    {
        cJSON *value = cJSON_GetObjectItemCaseSensitive(config, change->string);
        assert_non_null(value);
        cJSON_SetNumberValue(value, change->valuedouble);
    }
    cJSON_Delete(changes);
    return config;
}

static gen_device facts_of(device *dev)
{
    const device_info *info = device_get_info(dev);
    return (gen_device){.cu_count = info->cu_count,
                        .xcd_count = info->xcd_count,
                        .lds_per_cu = info->lds_per_cu_bytes,
                        .clock_mhz = info->clock_mhz,
                        .hbm_gbps = 5325,
                        .mfma_flops_per_clk_per_cu = 2048};
}

static void compile(const char *source, const char *name, str *code)
{
    moesaic_text err = {""};
    str log = {0};
    must(device_compile(test_device(), source, name, code, &log, &err), &err);
    assert_string_equal(str_text(&log), "");
    str_free(&log);
}

void kernels_open(const char *family, const char *pass, const char *problem,
                  const char *config_pairs, kernels *out)
{
    moesaic_text err = {""};
    gen_family *f = NULL;
    gen_space *space = NULL;
    cJSON *fields = NULL, *complete = NULL;
    str source = {0};
    *out = (kernels){.config = config_pairs};
    must(gen_family_open(family, &f, &err), &err);
    must(json_from_pairs(problem, &fields, &err), &err);
    must(gen_problem_complete(f, pass, fields, &complete, &err), &err);
    cJSON *config = config_with(f, config_pairs);
    gen_device facts = facts_of(test_device());
    must(gen_space_open(f, pass, complete, &facts, &space, &err), &err);
    must(gen_space_launch(space, config, &out->launch, &err), &err);
    must(gen_emit(f, pass, complete, config, &source, &err), &err);
    compile(str_text(&source), family, &out->code);
    must(device_module_load(test_device(), out->code.s, out->code.n, &out->module, &err), &err);
    str_free(&source);
    cJSON_Delete(config);
    cJSON_Delete(fields);
    cJSON_Delete(complete);
    gen_space_free(space);
    gen_family_free(f);
}

void kernels_close(kernels *k)
{
    device_module_free(k->module);
    cJSON_Delete(k->launch);
    str_free(&k->code);
}

static uint32_t member(const cJSON *kernel, const char *key, int i)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(kernel, key);
    return (uint32_t)(cJSON_IsArray(list) ? cJSON_GetArrayItem(list, i) : list)->valuedouble;
}

void kernels_run(const kernels *k, const void *arguments, size_t n_bytes)
{
    moesaic_text err = {""};
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, cJSON_GetObjectItemCaseSensitive(k->launch, "kernels"))
    {
        const char *name = cJSON_GetObjectItemCaseSensitive(kernel, "kernel")->valuestring;
        device_launch launch = {.arguments = arguments, .n_argument_bytes = n_bytes};
        device_function function;
        for (int i = 0; i < 3; i++) {
            launch.workgroups[i] = member(kernel, "grid", i);
            launch.lanes[i] = member(kernel, "block", i);
        }
        launch.lds_bytes = member(kernel, "lds_bytes", 0);
        must(device_module_function(k->module, name, &function, &err), &err);
        must(device_launch_kernel(test_device(), function, &launch, NULL, &err), &err);
    }
    must(device_synchronize(test_device(), NULL, &err), &err);
}

uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double random_normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(random_bits(state) >> 11) * 0x1p-53;
    return sum;
}

uint16_t bf16_of(double value)
{
    union {
        float f;
        uint32_t u;
    } v = {(float)value};
    return (uint16_t)(v.u >> 16);
}

guarded to_device(const void *host, size_t n_bytes, size_t skew)
{
    moesaic_text err = {""};
    guarded g;
    must(guard_alloc(test_device(), n_bytes, skew, &g, &err), &err);
    if (host && n_bytes)
        must(device_copy_in(test_device(), guard_data(&g), host, n_bytes, &err), &err);
    return g;
}

void *to_host(const guarded *g, const char *what)
{
    moesaic_text err = {""};
    bool intact;
    int64_t where;
    must(guard_check(g, &intact, &where, &err), &err);
    if (!intact)
        fail_msg("%s: a write at byte %lld of %zu", what, (long long)where, g->n_bytes);
    void *host = malloc(g->n_bytes + 1);
    assert_non_null(host);
    if (g->n_bytes)
        must(device_copy_out(test_device(), host, guard_data(g), g->n_bytes, &err), &err);
    return host;
}
