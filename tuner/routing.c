/* tuner/routing.c: drawing and reading routings, and turning them into lists.
 *
 * Everything follows from the seed, so that a trial can be repeated.  Tested by tests/tuner/test_routing.c.
 * SPDX-License-Identifier: MIT
 */
#include "tuner/routing.h"

#include "base/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 30 };

static moesaic_status parse_zipf(const char *text, routing_spec *out, moesaic_text *err)
{
    char *end;
    out->kind = ROUTING_ZIPF;
    out->exponent = strtod(text, &end);
    if (end != text && !*end && out->exponent >= 0 && out->exponent <= 16)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_INPUT,
                        "routing \"zipf:%.40s\": the exponent must be a number between 0 and 16",
                        text);
}

static moesaic_status hash_file(routing_spec *out, moesaic_text *err)
{
    str bytes = {0};
    moesaic_status status = file_read(out->path, MAX_FILE_BYTES, &bytes, err);
    if (status == MOESAIC_OK)
        status = hash_sha256(str_text(&bytes), bytes.n, &out->hash, err);
    str_free(&bytes);
    return status;
}

static moesaic_status parse_file(const char *path, const char *folder, routing_spec *out,
                                 moesaic_text *err)
{
    bool relative = path[0] != '/' && folder && *folder;
    int n = snprintf(out->path, sizeof out->path, "%s%s%s", relative ? folder : "",
                     relative ? "/" : "", path);
    out->kind = ROUTING_FILE;
    if (n < 0 || (size_t)n >= sizeof out->path)
        return moesaic_fail(err, MOESAIC_E_INPUT, "routing \"file:%.40s...\": the path is too long",
                            path);
    return hash_file(out, err);
}

moesaic_status routing_parse(const char *text, const char *folder, routing_spec *out,
                             moesaic_text *err)
{
    *out = (routing_spec){.kind = ROUTING_UNIFORM};
    if (!strcmp(text, "uniform"))
        return MOESAIC_OK;
    if (!strncmp(text, "zipf:", 5))
        return parse_zipf(text + 5, out, err);
    if (!strncmp(text, "file:", 5) && text[5])
        return parse_file(text + 5, folder, out, err);
    return moesaic_fail(err, MOESAIC_E_INPUT,
                        "routing \"%.80s\" is unknown; use uniform, zipf:EXPONENT or file:PATH",
                        text);
}

void routing_name(const routing_spec *spec, char out[80])
{
    if (spec->kind == ROUTING_ZIPF)
        snprintf(out, 80, "zipf:%g", spec->exponent);
    else if (spec->kind == ROUTING_FILE)
        snprintf(out, 80, "file:%s", spec->hash.s);
    else
        snprintf(out, 80, "uniform");
}

/* --- drawing --- */

/* In [0, 1). */
static double next_unit(uint64_t *state)
{
    return (double)(hash_next(state) >> 11) * 0x1p-53;
}

/* Weight of each expert: its rank's, ranks in a drawn order. */
static void weigh_experts(const routing_spec *spec, int experts, uint64_t *state, double *weight)
{
    double exponent = spec->kind == ROUTING_ZIPF ? spec->exponent : 0;
    for (int e = 0; e < experts; e++)
        weight[e] = pow(e + 1, -exponent);
    for (int e = experts - 1; e > 0; e--) {
        int other = (int)(next_unit(state) * (e + 1));
        double w = weight[e];
        weight[e] = weight[other];
        weight[other] = w;
    }
}

static bool is_taken(const int32_t *slots, int n, int expert)
{
    for (int i = 0; i < n; i++)
        if (slots[i] == expert)
            return true;
    return false;
}

/* One expert by weight among those that the token does not have yet. */
static int draw_expert(const double *weight, int experts, const int32_t *slots, int n_taken,
                       uint64_t *state)
{
    double sum = 0;
    int last = 0;
    for (int e = 0; e < experts; e++)
        sum += is_taken(slots, n_taken, e) ? 0 : weight[e];
    double at = next_unit(state) * sum;
    for (int e = 0; e < experts; e++) {
        if (is_taken(slots, n_taken, e))
            continue;
        last = e;
        at -= weight[e];
        if (at < 0)
            break;
    }
    return last;
}

static moesaic_status draw_by_weight(const routing_spec *spec, int64_t tokens, int experts,
                                     int top_k, uint64_t seed, int32_t *slots, moesaic_text *err)
{
    double *weight = malloc((size_t)experts * sizeof *weight);
    if (!weight)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %d experts", experts);
    uint64_t state = hash_mix(seed);
    weigh_experts(spec, experts, &state, weight);
    for (int64_t t = 0; t < tokens; t++)
        for (int i = 0; i < top_k; i++)
            slots[t * top_k + i] = draw_expert(weight, experts, slots + t * top_k, i, &state);
    free(weight);
    return MOESAIC_OK;
}

/* --- a recorded file --- */

static moesaic_status check_recorded(const char *path, const int32_t *slots, int64_t slot,
                                     int experts, int top_k, long expert, moesaic_text *err)
{
    if (expert < -1 || expert >= experts)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: number %lld is %ld, must be an expert between 0 and %d, or -1 for "
                            "none",
                            path, (long long)slot + 1, expert, experts - 1);
    int n = (int)(slot % top_k);
    if (expert >= 0 && is_taken(slots + slot - n, n, (int)expert))
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: number %lld: token %lld has expert %ld twice", path,
                            (long long)slot + 1, (long long)(slot / top_k), expert);
    return MOESAIC_OK;
}

static moesaic_status read_slots(const char *path, const char *text, int64_t n_slots, int experts,
                                 int top_k, int32_t *slots, moesaic_text *err)
{
    for (int64_t slot = 0; slot < n_slots; slot++) {
        char *end;
        errno = 0;
        long expert = strtol(text, &end, 10);
        if (end == text || errno)
            return moesaic_fail(err, MOESAIC_E_INPUT,
                                "%s: %lld expert numbers are needed (tokens times top_k), number "
                                "%lld is missing or none",
                                path, (long long)n_slots, (long long)slot + 1);
        moesaic_status status = check_recorded(path, slots, slot, experts, top_k, expert, err);
        if (status != MOESAIC_OK)
            return status;
        slots[slot] = (int32_t)expert;
        text = end;
    }
    return MOESAIC_OK;
}

moesaic_status routing_draw(const routing_spec *spec, int64_t tokens, int experts, int top_k,
                            uint64_t seed, int32_t *expert_of_slot, moesaic_text *err)
{
    if (spec->kind != ROUTING_FILE)
        return draw_by_weight(spec, tokens, experts, top_k, seed, expert_of_slot, err);
    str text = {0};
    moesaic_status status = file_read(spec->path, MAX_FILE_BYTES, &text, err);
    if (status == MOESAIC_OK)
        status = read_slots(spec->path, str_text(&text), tokens * top_k, experts, top_k,
                            expert_of_slot, err);
    str_free(&text);
    return status;
}

/* --- lists --- */

static moesaic_status allocate(routing_table *r, moesaic_text *err)
{
    size_t n_slots = (size_t)(r->tokens * r->top_k);
    r->offsets = calloc((size_t)r->experts + 1, sizeof *r->offsets);
    r->token_index = calloc(n_slots + 1, sizeof *r->token_index);
    r->row_of_slot = calloc(n_slots + 1, sizeof *r->row_of_slot);
    r->weight = calloc(n_slots + 1, sizeof *r->weight);
    if (r->offsets && r->token_index && r->row_of_slot && r->weight)
        return MOESAIC_OK;
    routing_free(r);
    return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for the routing of %zu slots", n_slots);
}

/* Offsets by counting; slots that no expert serves are counted as one more expert behind all others. */
static moesaic_status place_rows(const int32_t *expert_of_slot, routing_table *r, moesaic_text *err)
{
    int64_t n_slots = r->tokens * r->top_k;
    int32_t *next = calloc((size_t)r->experts + 2, sizeof *next);
    if (!next)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %d experts", r->experts);
    for (int64_t s = 0; s < n_slots; s++)
        next[(expert_of_slot[s] < 0 ? r->experts : expert_of_slot[s]) + 1]++;
    for (int e = 0; e < r->experts; e++)
        next[e + 1] += next[e];
    memcpy(r->offsets, next, ((size_t)r->experts + 1) * sizeof *next);
    r->rows = r->offsets[r->experts];
    for (int64_t s = 0; s < n_slots; s++) {
        bool served = expert_of_slot[s] >= 0;
        int32_t row = next[served ? expert_of_slot[s] : r->experts]++;
        r->token_index[row] = (int32_t)(s / r->top_k);
        r->row_of_slot[s] = served ? row : -1;
    }
    free(next);
    return MOESAIC_OK;
}

/* Drawn, so that a kernel that leaves them out is seen; their sum over a token stays below 1, as where a softmax
 * runs over more experts than are taken. */
static void draw_weights(uint64_t seed, routing_table *r)
{
    uint64_t state = hash_mix(~seed);
    for (int64_t slot = 0; slot < r->tokens * r->top_k; slot++) {
        float weight = (float)((0.125 + 0.875 * next_unit(&state)) / r->top_k);
        if (r->row_of_slot[slot] >= 0)
            r->weight[r->row_of_slot[slot]] = weight;
    }
}

moesaic_status routing_build(const int32_t *expert_of_slot, int64_t tokens, int experts, int top_k,
                             uint64_t seed, routing_table *out, moesaic_text *err)
{
    *out = (routing_table){.tokens = tokens, .experts = experts, .top_k = top_k};
    moesaic_status status = allocate(out, err);
    if (status == MOESAIC_OK)
        status = place_rows(expert_of_slot, out, err);
    if (status == MOESAIC_OK)
        draw_weights(seed, out);
    else
        routing_free(out);
    return status;
}

void routing_free(routing_table *r)
{
    free(r->offsets);
    free(r->token_index);
    free(r->row_of_slot);
    free(r->weight);
    *r = (routing_table){0};
}

int routing_active(const routing_table *r)
{
    int n = 0;
    for (int e = 0; e < r->experts; e++)
        n += r->offsets[e + 1] > r->offsets[e];
    return n;
}

int64_t routing_largest(const routing_table *r)
{
    int64_t most = 0;
    for (int e = 0; e < r->experts; e++) {
        int64_t n = r->offsets[e + 1] - r->offsets[e];
        most = n > most ? n : most;
    }
    return most;
}
