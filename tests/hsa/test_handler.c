/* tests/hsa/test_handler.c: functions of the program that are called back.
 * SPDX-License-Identifier: MIT */
#include "tests/hsa/support.h"

typedef struct record {
    hsa_signal_t done; /* counts down */
    hsa_signal_t other;
    hsa_signal_value_t last;
    int n_calls, n_wanted;
} record;

static bool count(hsa_signal_value_t value, void *argument)
{
    record *r = argument;
    r->last = value;
    const bool is_wanted_again = ++r->n_calls < r->n_wanted;
    hsa_signal_subtract_screlease(r->done, 1); /* last: the test may now return, and R with it */
    return is_wanted_again;
}

static void test_handler_is_called_once_when_its_time_comes(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(5);
    record r = {.done = new_signal(1), .n_wanted = 1};
    OK(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_LT, 3, count, &r));
    hsa_signal_store_relaxed(s, 3);
    a_moment();
    assert_int_equal(r.n_calls, 0);
    hsa_signal_store_relaxed(s, 2);
    must_become(r.done, 0);
    assert_int_equal(r.last, 2);
    hsa_signal_store_relaxed(s, 1);
    a_moment();
    assert_int_equal(r.n_calls, 1);
    OK(hsa_signal_destroy(s));
    OK(hsa_signal_destroy(r.done));
}

static void test_handler_that_wants_more_is_called_again(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(0);
    record r = {.done = new_signal(4), .n_wanted = 4};
    OK(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_EQ, 0, count, &r));
    must_become(r.done, 0);
    a_moment();
    assert_int_equal(r.n_calls, 4);
    OK(hsa_signal_destroy(s));
    OK(hsa_signal_destroy(r.done));
}

static bool chain(hsa_signal_value_t value, void *argument)
{
    record *r = argument;
    (void)value;
    OK(hsa_amd_signal_async_handler(r->other, HSA_SIGNAL_CONDITION_EQ, 0, count, r));
    must_become(r->other, 0);
    return false;
}

static void test_handler_may_wait_and_add_handlers(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(0);
    record r = {.done = new_signal(1), .other = new_signal(1), .n_wanted = 1};
    OK(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_EQ, 0, chain, &r));
    a_moment();
    assert_int_equal(r.n_calls, 0);
    hsa_signal_store_relaxed(r.other, 0);
    must_become(r.done, 0);
    OK(hsa_signal_destroy(s));
    OK(hsa_signal_destroy(r.done));
    OK(hsa_signal_destroy(r.other));
}

static void call(void *argument)
{
    hsa_signal_store_relaxed(*(hsa_signal_t *)argument, 0);
}

static void test_function_is_called_soon(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(1);
    OK(hsa_amd_async_function(call, &s));
    must_become(s, 0);
    OK(hsa_signal_destroy(s));
    assert_int_equal(hsa_amd_async_function(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void test_handler_needs_a_signal_and_a_function(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(1);
    assert_int_equal(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_EQ, 0, NULL, NULL),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    OK(hsa_signal_destroy(s));
    assert_int_equal(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_EQ, 0, count, NULL),
                     HSA_STATUS_ERROR_INVALID_SIGNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handler_is_called_once_when_its_time_comes),
        cmocka_unit_test(test_handler_that_wants_more_is_called_again),
        cmocka_unit_test(test_handler_may_wait_and_add_handlers),
        cmocka_unit_test(test_function_is_called_soon),
        cmocka_unit_test(test_handler_needs_a_signal_and_a_function),
    };
    return cmocka_run_group_tests(tests, open_hsa, close_hsa);
}
