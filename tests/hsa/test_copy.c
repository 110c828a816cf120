/* tests/hsa/test_copy.c: the copy engines.    SPDX-License-Identifier: MIT */
#include "emu/hsa/time.h"
#include "tests/hsa/support.h"

#include <string.h>

enum { BYTES = 100000 };

static uint8_t from[BYTES], to[BYTES];

static int fill(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BYTES; i++)
        from[i] = (uint8_t)(i * 13 >> 3);
    memset(to, 0, sizeof to);
    return 0;
}

static hsa_status_t copy(size_t n_bytes, uint32_t n, const hsa_signal_t *dependencies,
                         hsa_signal_t done)
{
    return hsa_amd_memory_async_copy(to, gpu_agent(), from, cpu_agent(), n_bytes, n, dependencies,
                                     done);
}

static void test_copy_is_complete_when_its_signal_says_so(void **state)
{
    (void)state;
    hsa_signal_t done = new_signal(1);
    OK(copy(BYTES - 1, 0, NULL, done));
    must_become(done, 0);
    assert_memory_equal(to, from, BYTES - 1);
    assert_int_equal(to[BYTES - 1], 0);
    OK(hsa_signal_destroy(done));
}

static void test_copy_waits_and_does_not_hold_up_others(void **state)
{
    (void)state;
    hsa_signal_t gates[2] = {new_signal(1), new_signal(1)}, done = new_signal(1),
                 other = new_signal(1);
    static const uint8_t zeros[BYTES];
    uint8_t word = 0;
    OK(copy(BYTES, 2, gates, done));
    OK(hsa_amd_memory_async_copy_on_engine(&word, cpu_agent(), &from[100], cpu_agent(), 1, 0, NULL,
                                           other, HSA_AMD_SDMA_ENGINE_1, false));
    must_become(other, 0);
    assert_int_equal(word, from[100]);
    hsa_signal_store_relaxed(gates[1], 0);
    a_moment();
    assert_memory_equal(to, zeros, BYTES);
    hsa_signal_store_relaxed(gates[0], -3); /* at most 0 will do */
    must_become(done, 0);
    assert_memory_equal(to, from, BYTES);
    OK(hsa_signal_destroy(gates[0]));
    OK(hsa_signal_destroy(gates[1]));
    OK(hsa_signal_destroy(done));
    OK(hsa_signal_destroy(other));
}

static void test_rectangles_have_pitch_slice_and_offset(void **state)
{
    (void)state;
    hsa_signal_t done = new_signal(1);
    hsa_pitched_ptr_t a = {from, 50, 1000}, b = {to, 64, 800};
    hsa_dim3_t range = {20, 7, 3}, a_offset = {5, 2, 1}, b_offset = {1, 0, 2};
    OK(hsa_amd_memory_async_copy_rect(&b, &b_offset, &a, &a_offset, &range, gpu_agent(),
                                      hsaDeviceToDevice, 0, NULL, done));
    must_become(done, 0);
    static uint8_t want[BYTES];
    for (unsigned z = 0; z < 3; z++)
        for (unsigned y = 0; y < 7; y++)
            for (unsigned x = 0; x < 20; x++)
                want[(z + 2) * 800 + y * 64 + x + 1] = from[(z + 1) * 1000 + (y + 2) * 50 + x + 5];
    assert_memory_equal(to, want, BYTES);
    OK(hsa_signal_destroy(done));
}

static void test_time_is_that_of_the_host_link(void **state)
{
    (void)state;
    hsa_signal_t done = new_signal(1);
    hsa_amd_profiling_async_copy_time_t t;
    OK(copy(BYTES, 0, NULL, done));
    must_become(done, 0);
    OK(hsa_amd_profiling_get_async_copy_time(done, &t));
    assert_int_equal(t.end - t.start, emu_time_of_copy_ns(BYTES, true));
    assert_true(emu_time_of_copy_ns(BYTES, false) < emu_time_of_copy_ns(BYTES, true));
    OK(hsa_signal_destroy(done));
}

static void test_fill_and_synchronous_copy(void **state)
{
    (void)state;
    uint32_t words[4] = {0};
    OK(hsa_amd_memory_fill(words, 0xabcd1234, 3));
    assert_int_equal(words[2], 0xabcd1234);
    assert_int_equal(words[3], 0);
    assert_int_equal(hsa_amd_memory_fill((uint8_t *)words + 1, 0, 1),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    OK(hsa_memory_copy(to, from, 10));
    assert_memory_equal(to, from, 10);
    OK(hsa_memory_copy(NULL, NULL, 0));
    assert_int_equal(hsa_memory_copy(NULL, from, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void test_what_is_wrong_is_refused(void **state)
{
    (void)state;
    hsa_signal_t done = new_signal(1), none = {0};
    assert_int_equal(copy(1, 0, NULL, none), HSA_STATUS_ERROR_INVALID_SIGNAL);
    assert_int_equal(copy(1, 1, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(copy(1, 1, &none, done), HSA_STATUS_ERROR_INVALID_SIGNAL);
    assert_int_equal(
        hsa_amd_memory_async_copy(to, (hsa_agent_t){1}, from, cpu_agent(), 1, 0, NULL, done),
        HSA_STATUS_ERROR_INVALID_AGENT);
    assert_int_equal(hsa_amd_memory_async_copy_on_engine(to, gpu_agent(), from, cpu_agent(), 1, 0,
                                                         NULL, done, HSA_AMD_SDMA_ENGINE_2, false),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    OK(hsa_signal_destroy(done));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_copy_is_complete_when_its_signal_says_so, fill),
        cmocka_unit_test_setup(test_copy_waits_and_does_not_hold_up_others, fill),
        cmocka_unit_test_setup(test_rectangles_have_pitch_slice_and_offset, fill),
        cmocka_unit_test_setup(test_time_is_that_of_the_host_link, fill),
        cmocka_unit_test_setup(test_fill_and_synchronous_copy, fill),
        cmocka_unit_test_setup(test_what_is_wrong_is_refused, fill),
    };
    return cmocka_run_group_tests(tests, open_hsa, close_hsa);
}
