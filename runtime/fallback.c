/* runtime/fallback.c: compiles a family's default configuration for a problem that nothing tuned serves.
 *
 * Needs the templates and hiprtc, and takes seconds: a plan is made once.  The emitted file is the same one that the
 * tuner would compile.  Tested by tests/runtime/test_fallback.c.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

#include "gen/gen.h"

#include <stdio.h>

/* Rates rank configurations; the default is chosen by legality alone, so only capacities matter here. */
static gen_device facts_of(const device_info *info)
{
    return (gen_device){.cu_count = info->cu_count,
                        .xcd_count = info->xcd_count,
                        .lds_per_cu = info->lds_per_cu_bytes,
                        .clock_mhz = info->clock_mhz,
                        .hbm_gbps = 5300,
                        .mfma_flops_per_clk_per_cu = 2048};
}

/* The variant as text, and how it is launched. */
typedef struct variant {
    cJSON *config, *launch;
    str source;
} variant;

static void variant_free(variant *v)
{
    cJSON_Delete(v->config);
    cJSON_Delete(v->launch);
    str_free(&v->source);
}

static moesaic_status make_variant(const gen_family *family, gen_space *space, const problem *p,
                                   const cJSON *fields, variant *out, moesaic_text *err)
{
    int64_t i = 0;
    moesaic_status status = gen_space_default(space, &i, err);
    if (status == MOESAIC_OK)
        status = gen_space_config(space, i, &out->config, err);
    if (status == MOESAIC_OK)
        status = gen_space_launch(space, out->config, &out->launch, err);
    if (status == MOESAIC_OK)
        status = gen_emit(family, p->pass, fields, out->config, &out->source, err);
    return status;
}

/* The key's fields that a kernel depends on; how tokens are routed is none of them. */
static moesaic_status family_fields(const gen_family *family, const problem *p, cJSON **out,
                                    moesaic_text *err)
{
    const cJSON *rule, *field;
    bool added = (*out = cJSON_CreateObject()) != NULL;
    cJSON_ArrayForEach(rule, cJSON_GetObjectItemCaseSensitive(gen_family_json(family), "problem"))
    {
        if (added && (field = cJSON_GetObjectItemCaseSensitive(p->fields, rule->string)) != NULL)
            added = cJSON_AddItemToObject(*out, rule->string, cJSON_Duplicate(field, 1));
    }
    return added ? MOESAIC_OK : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
}

static moesaic_status generate(const problem *p, const device_info *info, variant *out,
                               moesaic_text *err)
{
    const gen_device facts = facts_of(info);
    gen_family *family = NULL;
    gen_space *space = NULL;
    cJSON *known = NULL, *fields = NULL;
    moesaic_status status = gen_family_open(p->family, &family, err);
    if (status == MOESAIC_OK)
        status = family_fields(family, p, &known, err);
    if (status == MOESAIC_OK)
        status = gen_problem_complete(family, p->pass, known, &fields, err);
    if (status == MOESAIC_OK)
        status = gen_space_open(family, p->pass, fields, &facts, &space, err);
    if (status == MOESAIC_OK)
        status = make_variant(family, space, p, fields, out, err);
    gen_space_free(space);
    gen_family_free(family);
    cJSON_Delete(known);
    cJSON_Delete(fields);
    return status;
}

static moesaic_status load_variant(device *dev, const variant *v, const char *name, kernels *out,
                                   moesaic_text *err)
{
    str code = {0}, log = {0}, launch = {0};
    moesaic_status status = device_compile(dev, str_text(&v->source), name, &code, &log, err);
    json_canonical(v->launch, &launch);
    if (status == MOESAIC_OK)
        status = kernels_load(dev, code.s, code.n, str_text(&launch), out, err);
    str_free(&code);
    str_free(&log);
    str_free(&launch);
    return status;
}

moesaic_status fallback_load(moesaic_context *context, const problem *p, kernels *out, char *config,
                             size_t n_config, moesaic_text *err)
{
    variant v = {0};
    str text = {0};
    moesaic_status status = generate(p, device_get_info(context->dev), &v, err);
    if (status == MOESAIC_OK)
        status = load_variant(context->dev, &v, p->family, out, err);
    if (status == MOESAIC_OK)
        json_canonical(v.config, &text);
    snprintf(config, n_config, "%s", str_text(&text));
    str_free(&text);
    variant_free(&v);
    return status;
}
