/* tests/hsa/test_signal.c: signals: values, waits with and without an end, threads.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "tests/hsa/support.h"

#include <limits.h>

#define MS UINT64_C(1000000)

static hsa_signal_value_t wait_for(hsa_signal_t s, hsa_signal_condition_t condition,
                                   hsa_signal_value_t reference, uint64_t timeout_ns)
{
    return hsa_signal_wait_scacquire(s, condition, reference, timeout_ns, HSA_WAIT_STATE_BLOCKED);
}

static void test_operations_change_the_value(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(10);
    hsa_signal_add_relaxed(s, 5);
    hsa_signal_subtract_screlease(s, 3);
    assert_int_equal(hsa_signal_load_relaxed(s), 12);
    hsa_signal_and_relaxed(s, 8);
    hsa_signal_or_scacquire(s, 3);
    hsa_signal_xor_scacq_screl(s, 1);
    assert_int_equal(hsa_signal_load_scacquire(s), 10);
    assert_int_equal(hsa_signal_exchange_relaxed(s, -7), 10);
    assert_int_equal(hsa_signal_cas_relaxed(s, 1, 2), -7);
    assert_int_equal(hsa_signal_cas_relaxed(s, -7, INT64_MIN), -7);
    assert_true(hsa_signal_load_relaxed(s) == INT64_MIN);
    hsa_signal_silent_store_relaxed(s, 4);
    assert_int_equal(hsa_signal_load_relaxed(s), 4);
    OK(hsa_signal_destroy(s));
}

static void test_wait_returns_at_once_when_the_condition_holds(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(3);
    assert_int_equal(wait_for(s, HSA_SIGNAL_CONDITION_EQ, 3, UINT64_MAX), 3);
    assert_int_equal(wait_for(s, HSA_SIGNAL_CONDITION_NE, 2, UINT64_MAX), 3);
    assert_int_equal(wait_for(s, HSA_SIGNAL_CONDITION_LT, 4, UINT64_MAX), 3);
    assert_int_equal(wait_for(s, HSA_SIGNAL_CONDITION_GTE, 3, UINT64_MAX), 3);
    OK(hsa_signal_destroy(s));
}

static void test_wait_ends_with_its_time(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(1);
    uint64_t begin = clock_monotonic_ns();
    assert_int_equal(wait_for(s, HSA_SIGNAL_CONDITION_LT, 1, 30 * MS), 1);
    uint64_t took = clock_monotonic_ns() - begin;
    assert_in_range(took, 30 * MS, 10000 * MS);
    assert_int_equal(wait_for(s, HSA_SIGNAL_CONDITION_LT, 1, 0), 1);
    OK(hsa_signal_destroy(s));
}

static void decrement(void *signal)
{
    hsa_signal_subtract_screlease(*(hsa_signal_t *)signal, 1);
}

static void test_another_thread_wakes_the_waiter(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(1);
    run_later(decrement, &s);
    assert_int_equal(wait_for(s, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX), 0);
    join_later();
    OK(hsa_signal_destroy(s));
}

static void store_as_a_device(void *signal)
{
    volatile hsa_signal_value_t *value;
    OK(hsa_amd_signal_value_pointer(*(hsa_signal_t *)signal, &value));
    __atomic_store_n(value, 77, __ATOMIC_RELAXED);
}

static void test_a_store_that_bypasses_us_is_noticed(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(1);
    run_later(store_as_a_device, &s);
    assert_int_equal(wait_for(s, HSA_SIGNAL_CONDITION_NE, 1, UINT64_MAX), 77);
    join_later();
    OK(hsa_signal_destroy(s));
}

static void test_any_and_all(void **state)
{
    (void)state;
    enum { N = 3 };
    hsa_signal_t s[N];
    hsa_signal_condition_t conditions[N] = {HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_LT,
                                            HSA_SIGNAL_CONDITION_LT};
    hsa_signal_value_t references[N] = {1, 1, 1}, values[N] = {9, 9, 9};
    for (int i = 0; i < N; i++)
        s[i] = new_signal(1);
    assert_int_equal(hsa_amd_signal_wait_any(N, s, conditions, references, 5 * MS,
                                             HSA_WAIT_STATE_BLOCKED, values),
                     UINT32_MAX);
    run_later(decrement, &s[1]);
    assert_int_equal(hsa_amd_signal_wait_any(N, s, conditions, references, UINT64_MAX,
                                             HSA_WAIT_STATE_BLOCKED, values),
                     1);
    join_later();
    assert_int_equal(values[0], 0);
    hsa_signal_store_relaxed(s[0], -1);
    assert_int_equal(hsa_amd_signal_wait_all(N, s, conditions, references, 5 * MS,
                                             HSA_WAIT_STATE_BLOCKED, values),
                     UINT32_MAX);
    run_later(decrement, &s[2]);
    assert_int_equal(hsa_amd_signal_wait_all(N, s, conditions, references, UINT64_MAX,
                                             HSA_WAIT_STATE_BLOCKED, values),
                     0);
    join_later();
    assert_int_equal(values[0], -1);
    for (int i = 0; i < N; i++)
        OK(hsa_signal_destroy(s[i]));
}

static void test_signals_are_distinct_and_used_again(void **state)
{
    (void)state;
    enum { N = 3000 };
    static hsa_signal_t s[N];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            s[i] = new_signal(i);
        for (int i = 0; i < N; i++)
            assert_int_equal(hsa_signal_load_relaxed(s[i]), i);
        for (int i = 0; i < N; i++)
            OK(hsa_signal_destroy(s[i]));
    }
}

static void test_what_is_no_signal_is_refused(void **state)
{
    (void)state;
    hsa_signal_t s = new_signal(0);
    volatile hsa_signal_value_t *value;
    OK(hsa_signal_destroy(s));
    assert_int_equal(hsa_signal_destroy(s), HSA_STATUS_ERROR_INVALID_SIGNAL);
    assert_int_equal(hsa_signal_destroy((hsa_signal_t){0}), HSA_STATUS_ERROR_INVALID_SIGNAL);
    assert_int_equal(hsa_signal_destroy((hsa_signal_t){(uintptr_t)&s}),
                     HSA_STATUS_ERROR_INVALID_SIGNAL);
    assert_int_equal(hsa_amd_signal_value_pointer(s, &value), HSA_STATUS_ERROR_INVALID_SIGNAL);
    assert_int_equal(hsa_signal_create(0, 1, NULL, &s), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_signal_create(0, 0, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations_change_the_value),
        cmocka_unit_test(test_wait_returns_at_once_when_the_condition_holds),
        cmocka_unit_test(test_wait_ends_with_its_time),
        cmocka_unit_test(test_another_thread_wakes_the_waiter),
        cmocka_unit_test(test_a_store_that_bypasses_us_is_noticed),
        cmocka_unit_test(test_any_and_all),
        cmocka_unit_test(test_signals_are_distinct_and_used_again),
        cmocka_unit_test(test_what_is_no_signal_is_refused),
    };
    return cmocka_run_group_tests(tests, open_hsa, close_hsa);
}
