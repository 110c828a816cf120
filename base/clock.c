/* base/clock.c: the host's clocks.    SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

uint64_t clock_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double clock_now_s(void)
{
    return (double)clock_monotonic_ns() * 1e-9;
}

void clock_utc(char out[21])
{
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(out, 21, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
