/* tuner/time.c: warm-up, repeats, median and spread.    SPDX-License-Identifier: MIT */
#include "tuner/time.h"

#include <math.h>
#include <stdlib.h>

const time_policy time_modelled = {.min_runs = 1, .max_runs = 1};
const time_policy time_measured = {
    .warm_ups = 3, .min_runs = 7, .max_runs = 30, .steady_spread_pct = 1};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between neighbours where the share falls between two. */
static double quantile(const double *sorted, int n, double share)
{
    double at = share * (n - 1);
    int i = (int)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

static void summarise(const double *samples, int n, time_result *out)
{
    double sorted[TIME_MAX_RUNS];
    for (int i = 0; i < n; i++)
        sorted[i] = samples[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    out->runs = n;
    out->median_us = quantile(sorted, n, 0.5);
    out->spread_pct =
        100 * (quantile(sorted, n, 0.75) - quantile(sorted, n, 0.25)) / out->median_us;
}

/* One believable sample. */
static moesaic_status take(const time_policy *policy, time_sample sample, void *user, double *us,
                           moesaic_text *err)
{
    enum { TRIES = 5 };
    for (int i = 0; i < TRIES; i++) {
        moesaic_status status = sample(user, us, err);
        if (status != MOESAIC_OK)
            return status;
        if (isfinite(*us) && *us > 0 && *us >= policy->floor_us)
            return MOESAIC_OK;
    }
    return moesaic_fail(err, MOESAIC_E_STATE,
                        "%d times in a row a run took %g us, which is below %g: the clock is wrong",
                        TRIES, *us, policy->floor_us);
}

moesaic_status time_measure(const time_policy *policy, time_sample sample, void *user,
                            time_result *out, moesaic_text *err)
{
    double samples[TIME_MAX_RUNS], unused;
    moesaic_status status = MOESAIC_OK;
    *out = (time_result){0};
    for (int i = 0; i < policy->warm_ups && status == MOESAIC_OK; i++)
        status = sample(user, &unused, err);
    for (int n = 0; n < policy->max_runs && n < TIME_MAX_RUNS && status == MOESAIC_OK; n++) {
        status = take(policy, sample, user, &samples[n], err);
        if (status != MOESAIC_OK)
            return status;
        summarise(samples, n + 1, out);
        if (n + 1 >= policy->min_runs && out->spread_pct <= policy->steady_spread_pct)
            break;
    }
    return status;
}
