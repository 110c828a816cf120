/* tuner/strategy.c: exhaustive, random and guided search.
 *
 * guided: the first half of the budget goes through the ranking by estimate, leaving out what differs from an earlier
 * candidate in one parameter only; the second half tries such neighbours of the best so far, by estimate.
 * Tested by tests/tuner/test_strategy.c.    SPDX-License-Identifier: MIT
 */
#include "tuner/strategy.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct strategy {
    strategy_space space;
    int64_t (*choose)(strategy *s);
    int64_t *order; /* all indices, in the order of preference */
    bool *given;
    int64_t *history; /* what was given, in order */
    int64_t n_given, budget, at;
    int64_t first[8];
    int n_first;
    int64_t best; /* -1: none is ok yet */
    double best_us;
};

/* --- orders --- */

static void order_by_index(strategy *s, uint64_t seed)
{
    (void)seed;
    for (int64_t i = 0; i < s->space.n; i++)
        s->order[i] = i;
}

static void order_by_chance(strategy *s, uint64_t seed)
{
    uint64_t state = hash_mix(seed);
    order_by_index(s, seed);
    for (int64_t i = s->space.n - 1; i > 0; i--) {
        int64_t other = (int64_t)(hash_next(&state) % (uint64_t)(i + 1));
        int64_t index = s->order[i];
        s->order[i] = s->order[other];
        s->order[other] = index;
    }
}

/* Better estimates first, none last, equal ones by index. */
static int by_estimate(const void *a, const void *b, void *estimate_us)
{
    const double *us = estimate_us;
    int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    double x = us[i], y = us[j];
    if (isnan(x) != isnan(y))
        return isnan(x) ? 1 : -1;
    if (x != y && !isnan(x))
        return x < y ? -1 : 1;
    return i < j ? -1 : 1;
}

static void order_by_estimate(strategy *s, uint64_t seed)
{
    order_by_index(s, seed);
    qsort_r(s->order, (size_t)s->space.n, sizeof *s->order, by_estimate, s->space.estimate_us);
}

/* --- choices --- */

static int64_t choose_in_order(strategy *s)
{
    while (s->at < s->space.n && s->given[s->order[s->at]])
        s->at++;
    return s->at < s->space.n ? s->order[s->at] : -1;
}

/* In how many parameters two configurations differ. */
static int distance(const strategy *s, int64_t i, int64_t j)
{
    int n = s->space.n_parameters, different = 0;
    const uint8_t *a = s->space.values + i * n, *b = s->space.values + j * n;
    for (int p = 0; p < n; p++)
        different += a[p] != b[p];
    return different;
}

static bool resembles_given(const strategy *s, int64_t index)
{
    for (int64_t i = 0; i < s->n_given; i++)
        if (distance(s, index, s->history[i]) < 2)
            return true;
    return false;
}

static int64_t choose_guided(strategy *s)
{
    bool near_best = s->budget > 0 && 2 * s->n_given >= s->budget && s->best >= 0;
    for (int64_t i = 0; i < s->space.n; i++) {
        int64_t index = s->order[i];
        if (s->given[index])
            continue;
        if (near_best ? distance(s, index, s->best) == 1 : !resembles_given(s, index))
            return index;
    }
    return choose_in_order(s);
}

/* --- the table --- */

static const struct {
    const char *name;
    void (*order)(strategy *s, uint64_t seed);
    int64_t (*choose)(strategy *s);
} strategies[] = {
    {"exhaustive", order_by_index, choose_in_order},
    {"random", order_by_chance, choose_in_order},
    {"guided", order_by_estimate, choose_guided},
};
enum { N_STRATEGIES = sizeof strategies / sizeof strategies[0] };

static int find(const char *name)
{
    for (int i = 0; i < N_STRATEGIES; i++)
        if (!strcmp(strategies[i].name, name))
            return i;
    return -1;
}

moesaic_status strategy_check(const char *name, moesaic_text *err)
{
    if (find(name) >= 0)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_INPUT,
                        "there is no strategy \"%s\"; use exhaustive, random or guided", name);
}

moesaic_status strategy_open(const char *name, const strategy_space *space, const int64_t *first,
                             int n_first, int64_t budget, uint64_t seed, strategy **out,
                             moesaic_text *err)
{
    *out = NULL;
    moesaic_status status = strategy_check(name, err);
    if (status != MOESAIC_OK)
        return status;
    size_t n = (size_t)space->n;
    strategy *s = calloc(1, sizeof *s);
    if (s) {
        s->order = malloc((n + 1) * sizeof *s->order);
        s->history = malloc((n + 1) * sizeof *s->history);
        s->given = calloc(n + 1, sizeof *s->given);
    }
    if (!s || !s->order || !s->history || !s->given) {
        strategy_free(s);
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %zu configurations", n);
    }
    s->space = *space;
    s->budget = budget;
    s->best = -1;
    s->choose = strategies[find(name)].choose;
    strategies[find(name)].order(s, seed);
    for (int i = 0; i < n_first && i < (int)(sizeof s->first / sizeof s->first[0]); i++)
        s->first[s->n_first++] = first[i];
    *out = s;
    return MOESAIC_OK;
}

void strategy_free(strategy *s)
{
    if (!s)
        return;
    free(s->order);
    free(s->history);
    free(s->given);
    free(s);
}

int64_t strategy_next(strategy *s)
{
    int64_t index = -1;
    for (int i = 0; i < s->n_first && index < 0; i++)
        if (!s->given[s->first[i]])
            index = s->first[i];
    if (index < 0)
        index = s->choose(s);
    if (index < 0)
        return -1;
    s->given[index] = true;
    s->history[s->n_given++] = index;
    return index;
}

void strategy_tell(strategy *s, int64_t index, bool ok, double time_us)
{
    if (!ok || (s->best >= 0 && time_us >= s->best_us))
        return;
    s->best = index;
    s->best_us = time_us;
}
