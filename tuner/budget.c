/* tuner/budget.c: how many trials a problem gets.
 *
 * A software device takes host time in proportion to the work of a run, so large problems get few trials; they
 * begin with the winners of smaller ones.  docs/decisions/0015 has the numbers.    SPDX-License-Identifier: MIT
 */
#include "tuner/budget.h"

#define WORK_PER_PROBLEM 6e11 /* floating point operations, all timed runs together */

enum { FEWEST = 4, MOST = 20, ON_SILICON = 200 };

int64_t budget_trials(device_kind kind, double flops)
{
    if (kind == DEVICE_SILICON)
        return ON_SILICON;
    double n = WORK_PER_PROBLEM / flops;
    return n < FEWEST ? FEWEST : n > MOST ? MOST : (int64_t)n;
}
