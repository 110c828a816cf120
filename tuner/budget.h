/* tuner/budget.h: how many trials a problem gets.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TUNER_BUDGET_H
#define MOESAIC_TUNER_BUDGET_H

#include "device/device.h"

/* Trials for a problem when the user states no number (docs/decisions/0015).  flops: of one run. */
int64_t budget_trials(device_kind kind, double flops);

/* Above this much work only the winner is verified at full size, with one seed; up to it the best
 * BUDGET_FINALISTS, with BUDGET_SEEDS seeds. */
#define BUDGET_FINALS_FLOPS 20e9
enum { BUDGET_FINALISTS = 3, BUDGET_SEEDS = 3 };

#endif
