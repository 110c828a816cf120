/* runtime/index.c: the winners of all layers in memory: after opening, a lookup touches no file but for code.
 *
 * Tested by tests/runtime/test_lookup.c.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    moesaic_context *context;
    int layer;
    size_t capacity;
    moesaic_status status;
} reading;

static void record_free(record *r)
{
    char *const texts[] = {r->family, r->pass,      r->key,          r->config,
                           r->launch, r->time_kind, r->model_version};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    cJSON_Delete(r->fields);
}

/* Was it measured on a device like ours? */
static bool same_device(const device_info *ours, const db_device *d)
{
    return strcmp(device_kind_name(ours->kind), d->kind) == 0 &&
           strcmp(ours->partition, d->partition) == 0 && ours->pci_device_id == d->pci_device_id &&
           ours->cu_count == d->cu_count;
}

static bool same_stack(const device_info *ours, const db_device *d)
{
    return strcmp(ours->driver, d->driver) == 0 && strcmp(ours->hip_version, d->hip_version) == 0 &&
           strcmp(ours->compiler, d->compiler) == 0 &&
           strcmp(ours->model_version, d->model_version) == 0;
}

static char *copy_text(const char *text)
{
    return str_format("%s", text ? text : "");
}

static bool fill_record(const reading *to, const db_trial_row *row, const db_device *d, record *out)
{
    const device_info *ours = device_get_info(to->context->dev);
    *out = (record){
        .layer = to->layer,
        .trial = row->trial_id,
        .code_object = row->code_object_id,
        .family = copy_text(row->family),
        .pass = copy_text(row->pass),
        .key = copy_text(row->problem),
        .config = copy_text(row->config),
        .launch = copy_text(row->launch),
        .time_kind = copy_text(row->time_kind),
        .model_version = copy_text(row->model_version),
        .time_us = isfinite(row->time_us) ? row->time_us : 0,
        .candidate = !same_device(ours, d),
        .other_stack = !same_stack(ours, d),
    };
    bool complete = out->family && out->pass && out->key && out->config && out->launch &&
                    out->time_kind && out->model_version;
    if (complete && json_parse(out->key, "problem", &out->fields, NULL) != MOESAIC_OK)
        out->unusable = true;
    return complete;
}

static bool grow(reading *to)
{
    moesaic_context *c = to->context;
    if (c->n_records < to->capacity)
        return true;
    size_t wanted = to->capacity ? 2 * to->capacity : 64;
    record *records = realloc(c->records, wanted * sizeof *records);
    if (!records)
        return false;
    c->records = records;
    to->capacity = wanted;
    return true;
}

/* Code of another target can't run here at all: it is left out. */
static bool visit(const db_trial_row *row, const db_device *d, void *user)
{
    reading *to = user;
    if (strcmp(d->target, device_get_info(to->context->dev)->target) != 0)
        return true;
    record r = {0};
    if (!grow(to) || !fill_record(to, row, d, &r)) {
        record_free(&r);
        to->status = MOESAIC_E_NOMEM;
        return false;
    }
    to->context->records[to->context->n_records++] = r;
    return true;
}

/* A layer that can't be read is an error if it was asked for by name, else passed over. */
static moesaic_status read_layer(reading *to, layer *l, moesaic_text *err)
{
    moesaic_text why = {""};
    moesaic_status status = db_winners(l->database, NULL, NULL, visit, to, &why);
    if (status == MOESAIC_OK && to->status != MOESAIC_OK)
        return moesaic_fail(err, to->status, "no memory for the winners of %s", l->info.path);
    if (status == MOESAIC_OK)
        return MOESAIC_OK;
    if (strcmp(l->info.kind, "explicit") == 0)
        return moesaic_fail(err, status, "%s", why.s);
    memcpy(l->info.reason, why.s, sizeof l->info.reason - 1);
    return MOESAIC_OK;
}

moesaic_status index_build(moesaic_context *context, moesaic_text *err)
{
    reading to = {.context = context};
    moesaic_status status = MOESAIC_OK;
    for (uint32_t i = 0; status == MOESAIC_OK && i < context->n_layers; i++) {
        to.layer = (int)i;
        if (context->layers[i].database)
            status = read_layer(&to, &context->layers[i], err);
    }
    return status;
}

void index_free(moesaic_context *context)
{
    for (size_t i = 0; i < context->n_records; i++)
        record_free(&context->records[i]);
    free(context->records);
    context->records = NULL;
    context->n_records = 0;
}
