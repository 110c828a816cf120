/* base/clock.h: the two host clocks.  Neither is a kernel's time.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_BASE_CLOCK_H
#define MOESAIC_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_monotonic_ns(void);

/* Seconds since some start, for progress and budgets. */
double clock_now_s(void);

/* "2026-11-30T22:00:00Z" now. */
void clock_utc(char out[21]);

#endif
