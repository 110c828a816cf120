/* tuner/strategy.h: which configuration to try next.
 *
 * One strategy is one row of a table: it is asked for the next index and told how the ones it gave fared.  Failure is
 * no number: a candidate that failed is told as such.  A strategy never gives an index twice.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_STRATEGY_H
#define MOESAIC_TUNER_STRATEGY_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* What strategies see of a space: configurations as value indices of their parameters, and estimates. */
typedef struct strategy_space {
    int64_t n; /* configurations */
    int n_parameters;
    uint8_t *values;     /* [n][n_parameters]: which of the parameter's values */
    double *estimate_us; /* [n], NAN: none */
} strategy_space;

typedef struct strategy strategy;

/* Names: exhaustive, random, guided.
 *
 * first    indices to try before any other, in order: the default, winners of similar problems
 * budget   how many will be asked for, or 0 for all; guided spends its second half near the best
 * Errors: E_INPUT for an unknown name, listing those that exist; E_NOMEM. */
moesaic_status strategy_open(const char *name, const strategy_space *space, const int64_t *first,
                             int n_first, int64_t budget, uint64_t seed, strategy **out,
                             moesaic_text *err);
void strategy_free(strategy *s);

/* Is there a strategy of that name? */
moesaic_status strategy_check(const char *name, moesaic_text *err);

/* Next index, -1 when all were given. */
int64_t strategy_next(strategy *s);
/* How a given index fared; ok false: it failed. */
void strategy_tell(strategy *s, int64_t index, bool ok, double time_us);

#endif
