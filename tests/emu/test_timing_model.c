/* tests/emu/test_timing_model.c: a launch's time: bounds that must hold, occupancy, and independence of threads.
 * SPDX-License-Identifier: MIT
 */
#include "emu/timing/constants.h"
#include "emu/timing/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const emu_device_shape mi300x = {
    .cu_count = 304,
    .xcd_count = 8,
    .simds_per_cu = 4,
    .waves_per_simd = 8,
    .lds_bytes_per_cu = 65536,
    .clock_mhz = 2100,
};

/* The occupancy table of CDNA: registers per lane -> waves per SIMD. */
static void test_occupancy_follows_the_register_table(void **state)
{
    (void)state;
    static const uint32_t table[][2] = {{64, 8},  {72, 7},  {80, 6},  {96, 5},
                                        {128, 4}, {168, 3}, {256, 2}, {512, 1}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_int_equal(emu_timing_occupancy(&mi300x, 4, table[i][0], 0).waves_per_simd,
                         table[i][1]);
}

static void test_occupancy_is_limited_by_lds(void **state)
{
    (void)state;
    assert_int_equal(emu_timing_occupancy(&mi300x, 4, 64, 65536).workgroups_per_cu, 1);
    assert_int_equal(emu_timing_occupancy(&mi300x, 4, 64, 32768).workgroups_per_cu, 2);
    assert_int_equal(emu_timing_occupancy(&mi300x, 4, 64, 32769).workgroups_per_cu, 1);
}

/* Time of n workgroups that each keep the four SIMDs' matrix units busy for mfma_cycles, in order or reversed. */
static uint64_t time_of(uint64_t n, uint64_t mfma_cycles, uint64_t serial_cycles, bool reversed)
{
    emu_timing_launch *launch = emu_timing_begin(&mi300x, (emu_occupancy){1, 4, 1}, n);
    emu_trace *trace = emu_timing_trace_new();
    emu_wave_cost waves[4];
    memset(waves, 0, sizeof waves);
    for (int i = 0; i < 4; i++) {
        waves[i].cycles[EMU_UNIT_MFMA] = mfma_cycles;
        waves[i].serial_cycles = serial_cycles;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t workgroup = reversed ? n - 1 - i : i;
        emu_timing_workgroup_begin(launch, trace, workgroup);
        emu_timing_workgroup_end(launch, trace, workgroup, waves, 4);
    }
    moesaic_sim_result result = {.size_bytes = sizeof result};
    emu_timing_end(launch, &result);
    emu_timing_trace_free(trace);
    return result.time_ns;
}

static void test_empty_launch_costs_the_launch(void **state)
{
    (void)state;
    assert_int_equal(time_of(0, 0, 0, false), emu_launch_ns);
}

/* A full device cannot be faster than its matrix units at the throttled clock, nor more than 10 % slower here. */
static void test_matrix_bound_launch_is_at_the_sustained_peak(void **state)
{
    (void)state;
    const uint64_t cycles = 1000000;
    double bound_ns = (double)cycles * (1 + emu_throttle_permille / 1000.0) / 2.1;
    double ns = (double)time_of(304, cycles, cycles / 2, false) - emu_launch_ns;
    assert_true(ns >= bound_ns);
    assert_true(ns <= bound_ns * 1.1);
}

static void test_one_workgroup_too_many_costs_a_round(void **state)
{
    (void)state;
    double full = (double)time_of(304, 100000, 100000, false),
           over = (double)time_of(305, 100000, 100000, false);
    assert_true(over > 1.5 * full);
}

static void test_time_does_not_depend_on_the_order(void **state)
{
    (void)state;
    assert_int_equal(time_of(1000, 5000, 7000, false), time_of(1000, 5000, 7000, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_occupancy_follows_the_register_table),
        cmocka_unit_test(test_occupancy_is_limited_by_lds),
        cmocka_unit_test(test_empty_launch_costs_the_launch),
        cmocka_unit_test(test_matrix_bound_launch_is_at_the_sustained_peak),
        cmocka_unit_test(test_one_workgroup_too_many_costs_a_round),
        cmocka_unit_test(test_time_does_not_depend_on_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
