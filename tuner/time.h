/* tuner/time.h: from single samples to one time: warm-up, repeats, median and spread.
 *
 * Knows no device: samples come from a function.                              SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_TIME_H
#define MOESAIC_TUNER_TIME_H

#include "base/status.h"

typedef struct time_policy {
    int warm_ups;             /* samples that are thrown away */
    int min_runs, max_runs;   /* up to TIME_MAX_RUNS */
    double steady_spread_pct; /* with min_runs done, this is steady enough to stop */
    double
        floor_us; /* a sample below cannot be true: it is taken again, as is one that is no number */
} time_policy;

enum { TIME_MAX_RUNS = 64 };

/* A modelled clock is deterministic: one run is enough.  A measured one needs the rest. */
extern const time_policy time_modelled, time_measured;

typedef struct time_result {
    double median_us;
    double spread_pct; /* 100 * (third quartile - first) / median; 0 for one run */
    int runs;
} time_result;

typedef moesaic_status (*time_sample)(void *user, double *us, moesaic_text *err);

/* Errors: the sample's own; E_STATE when too many samples are below the floor. */
moesaic_status time_measure(const time_policy *policy, time_sample sample, void *user,
                            time_result *out, moesaic_text *err);

#endif
