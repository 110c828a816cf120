/* tests/tuner/test_time.c: median, spread and stopping on made-up samples.    SPDX-License-Identifier: MIT */
#include "tests/tuner/support.h"

#include "tuner/time.h"

#include <math.h>

typedef struct script {
    const double *us;
    int n, at;
} script;

static moesaic_status play(void *user, double *us, moesaic_text *err)
{
    script *s = user;
    if (s->at >= s->n)
        return moesaic_fail(err, MOESAIC_E_STATE, "asked for more than %d samples", s->n);
    *us = s->us[s->at++];
    return MOESAIC_OK;
}

static time_result measure(const time_policy *policy, script *s)
{
    moesaic_text err;
    time_result result;
    assert_status(MOESAIC_OK, time_measure(policy, play, s, &result, &err), &err);
    return result;
}

static void test_a_modelled_time_is_one_run(void **state)
{
    (void)state;
    static const double us[] = {7};
    script s = {us, 1, 0};
    time_result r = measure(&time_modelled, &s);
    assert_true(r.median_us == 7 && r.spread_pct == 0 && r.runs == 1);
}

static void test_warm_ups_do_not_count_and_the_median_ignores_outliers(void **state)
{
    (void)state;
    static const double us[] = {900, 800, 10, 11, 12, 11, 500};
    script s = {us, 7, 0};
    time_policy policy = {.warm_ups = 2, .min_runs = 5, .max_runs = 5, .steady_spread_pct = 1};
    time_result r = measure(&policy, &s);
    assert_true(r.median_us == 11 && r.runs == 5);
    assert_true(fabs(r.spread_pct - 100.0 / 11) < 1e-9);
}

static void test_steady_samples_stop_early_and_unsteady_ones_late(void **state)
{
    (void)state;
    static const double steady[] = {5, 5, 5, 5, 5, 5}, unsteady[] = {5, 9, 5, 9, 5, 9};
    time_policy policy = {.min_runs = 3, .max_runs = 6, .steady_spread_pct = 1};
    script s = {steady, 6, 0}, u = {unsteady, 6, 0};
    assert_int_equal(3, measure(&policy, &s).runs);
    assert_int_equal(6, measure(&policy, &u).runs);
}

static void test_impossible_samples_are_taken_again(void **state)
{
    (void)state;
    static const double us[] = {0, -3, 0.5, 4, 0, 4, 4};
    script s = {us, 7, 0};
    time_policy policy = {.min_runs = 3, .max_runs = 3, .steady_spread_pct = 1, .floor_us = 1};
    time_result r = measure(&policy, &s);
    assert_true(r.median_us == 4 && r.runs == 3 && s.at == 7);
}

static void test_a_clock_that_stands_still_is_an_error(void **state)
{
    (void)state;
    static const double us[] = {0, 0, 0, 0, 0, 0, 0, 0};
    script s = {us, 8, 0};
    moesaic_text err;
    time_result r;
    assert_status(MOESAIC_E_STATE, time_measure(&time_modelled, play, &s, &r, &err), &err);
    assert_says(&err, "the clock is wrong");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_modelled_time_is_one_run),
        cmocka_unit_test(test_warm_ups_do_not_count_and_the_median_ignores_outliers),
        cmocka_unit_test(test_steady_samples_stop_early_and_unsteady_ones_late),
        cmocka_unit_test(test_impossible_samples_are_taken_again),
        cmocka_unit_test(test_a_clock_that_stands_still_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
