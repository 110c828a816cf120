/* tuner/search.c: a problem's space as strategies see it, and where they begin.    SPDX-License-Identifier: MIT */
#include "tuner/tuner_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NEAR = 3 };

/* A winner of 16 times as many tokens or as few has another tile. */
#define MOST_UNLIKE 4.5

/* Which of a parameter's values a configuration has. */
static int value_index(const cJSON *values, const cJSON *value)
{
    int i = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, values)
    {
        if (cJSON_Compare(v, value, 1))
            return i;
        i++;
    }
    return 255;
}

static moesaic_status read_config(search *s, const cJSON *parameters, int64_t i, uint8_t *values,
                                  moesaic_text *err)
{
    cJSON *config;
    const cJSON *p;
    moesaic_status status = gen_space_config(s->space, i, &config, err);
    if (status != MOESAIC_OK)
        return status;
    cJSON_ArrayForEach(p, parameters)
    {
        *values++ = (uint8_t)value_index(p, cJSON_GetObjectItemCaseSensitive(config, p->string));
    }
    cJSON_Delete(config);
    return gen_space_estimate_us(s->space, i, &s->view.estimate_us[i], err);
}

static moesaic_status read_space(search *s, const gen_family *family, moesaic_text *err)
{
    const cJSON *parameters =
        cJSON_GetObjectItemCaseSensitive(gen_family_json(family), "parameters");
    int64_t n = gen_space_legal(s->space);
    int n_parameters = cJSON_GetArraySize(parameters);
    uint8_t *values = malloc((size_t)n * (size_t)n_parameters + 1);
    s->view = (strategy_space){n, n_parameters, values,
                               malloc(((size_t)n + 1) * sizeof *s->view.estimate_us)};
    if (!values || !s->view.estimate_us)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %lld configurations",
                            (long long)n);
    moesaic_status status = MOESAIC_OK;
    for (int64_t i = 0; i < n && status == MOESAIC_OK; i++)
        status = read_config(s, parameters, i, values + i * n_parameters, err);
    return status;
}

/* --- winners of similar problems --- */

static double tokens_of(const cJSON *fields)
{
    const cJSON *tokens = cJSON_GetObjectItemCaseSensitive(fields, "tokens");
    return cJSON_IsNumber(tokens) && tokens->valuedouble > 0 ? tokens->valuedouble : 1;
}

/* How unlike two problems are: by tokens, then by routing. */
static double unlikeness(const tuner_problem *a, const tuner_problem *b)
{
    double tokens = fabs(log2(tokens_of(a->fields) / tokens_of(b->fields)));
    return tokens + (a->routing.kind != b->routing.kind ? 0.5 : 0);
}

static int64_t index_of_key(search *s, const char *key)
{
    cJSON *config = NULL;
    int64_t index = -1;
    if (json_parse(key, "configuration", &config, NULL) == MOESAIC_OK &&
        gen_space_find(s->space, config, &index, NULL) != MOESAIC_OK)
        index = -1;
    cJSON_Delete(config);
    return index;
}

/* The most similar result of the same family and pass that is less similar than `beyond`. */
static const tuner_result *next_similar(const tuner_problem *p, const tuner_result *results, int n,
                                        double beyond)
{
    const tuner_result *best = NULL;
    for (int i = 0; i < n; i++) {
        const tuner_problem *other = results[i].problem;
        if (other->family != p->family || strcmp(other->pass, p->pass) != 0 ||
            unlikeness(p, other) <= beyond)
            continue;
        if (!best || unlikeness(p, other) < unlikeness(p, best->problem))
            best = &results[i];
    }
    return best;
}

static int begin_near(search *s, const tuner_problem *p, const tuner_result *results, int n_results,
                      int64_t *first)
{
    int n = 0;
    double beyond = -1;
    first[n++] = s->default_index;
    while (n <= MAX_NEAR) {
        const tuner_result *near = next_similar(p, results, n_results, beyond);
        if (!near)
            break;
        beyond = unlikeness(p, near->problem);
        if (beyond > MOST_UNLIKE)
            break;
        int64_t index = index_of_key(s, near->winner.config);
        if (index >= 0)
            first[n++] = index;
    }
    return n;
}

moesaic_status search_open(const tuner_problem *p, const gen_device *facts,
                           const tuner_options *options, const tuner_result *results, int n_results,
                           int64_t budget, search *out, moesaic_text *err)
{
    int64_t first[MAX_NEAR + 1];
    *out = (search){0};
    moesaic_status status = gen_space_open(p->family, p->pass, p->fields, facts, &out->space, err);
    if (status == MOESAIC_OK)
        status = gen_space_default(out->space, &out->default_index, err);
    if (status == MOESAIC_OK)
        status = read_space(out, p->family, err);
    if (status == MOESAIC_OK) {
        int n_first = begin_near(out, p, results, n_results, first);
        status = strategy_open(options->strategy, &out->view, first, n_first, budget, options->seed,
                               &out->strategy, err);
    }
    if (status != MOESAIC_OK)
        search_close(out);
    return status;
}

void search_close(search *s)
{
    strategy_free(s->strategy);
    free(s->view.values);
    free(s->view.estimate_us);
    gen_space_free(s->space);
    *s = (search){0};
}
