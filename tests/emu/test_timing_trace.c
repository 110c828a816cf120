/* tests/emu/test_timing_trace.c: LDS bank clocks, L1 and line counts against cases counted by hand.
 * SPDX-License-Identifier: MIT
 */
#include "emu/timing/trace_int.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static uint32_t clocks_of_stride(uint32_t stride_bytes, uint32_t bytes_per_lane)
{
    uint32_t address[64];
    for (uint32_t lane = 0; lane < 64; lane++)
        address[lane] = lane * stride_bytes;
    return emu_lds_clocks(address, ~0ull, bytes_per_lane);
}

/* 128 bytes a clock without conflicts: CDNA3 white paper. */
static void test_consecutive_lanes_have_no_conflicts(void **state)
{
    (void)state;
    assert_int_equal(clocks_of_stride(4, 4), 2);
    assert_int_equal(clocks_of_stride(8, 8), 4);
    assert_int_equal(clocks_of_stride(16, 16), 8);
}

static void test_stride_of_all_banks_serialises(void **state)
{
    (void)state;
    enum { ALL_LANES_ON_ONE_BANK = 128 };
    assert_true(clocks_of_stride(ALL_LANES_ON_ONE_BANK, 4) >= 32);
    assert_int_equal(clocks_of_stride(8, 4), 4); /* every second bank: two lanes each */
}

static void test_same_dword_is_a_broadcast(void **state)
{
    (void)state;
    assert_int_equal(clocks_of_stride(0, 4), 2);
}

static void test_padding_removes_the_conflict(void **state)
{
    (void)state;
    assert_true(clocks_of_stride(64, 16) > 8);
    assert_int_equal(clocks_of_stride(64 + 16, 16),
                     8); /* 8 lanes at 20 dwords: 8 x 4 banks, all different */
}

static void test_inactive_lanes_take_no_clock(void **state)
{
    (void)state;
    uint32_t address[64] = {0};
    assert_int_equal(emu_lds_clocks(address, 0, 4), 0);
    assert_int_equal(emu_lds_clocks(address, 1, 4), 1);
}

static void test_lines_count_reads_writes_and_fills(void **state)
{
    (void)state;
    emu_lines *lines = emu_lines_new();
    emu_lines_cache cache = {0};
    emu_lines_touch(lines, &cache, 7, 0, false);
    emu_lines_touch(lines, &cache, 7, 0, false);
    emu_lines_touch(lines, &cache, 7, 5, false);
    emu_lines_touch(lines, &cache, 1ull << 40, 3, true);
    emu_lines_count n = emu_lines_sum(lines);
    assert_int_equal(n.read, 1);
    assert_int_equal(n.fills, 2);
    assert_int_equal(n.written, 1);
    assert_false(n.incomplete);
    emu_lines_free(lines);
}

enum { MANY = 200000 };

static void *touch_every_line(void *lines)
{
    emu_lines_cache cache = {0};
    for (uint64_t i = 0; i < MANY; i++)
        emu_lines_touch(lines, &cache, i * 3, (uint32_t)(i % 8), i % 2);
    return NULL;
}

static void test_two_threads_count_what_one_counts(void **state)
{
    (void)state;
    emu_lines *lines = emu_lines_new();
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, touch_every_line, lines), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    emu_lines_count n = emu_lines_sum(lines);
    assert_int_equal(n.read, MANY / 2);
    assert_int_equal(n.written, MANY / 2);
    emu_lines_free(lines);
}

/* A wave that loads 16 bytes per lane, contiguous: 8 lines; a second time they come from the L1. */
static void test_second_load_hits_the_l1(void **state)
{
    (void)state;
    emu_trace *trace = emu_timing_trace_new();
    emu_device_shape shape = {
        .cu_count = 8, .xcd_count = 8, .simds_per_cu = 4, .waves_per_simd = 8};
    emu_timing_launch *launch = emu_timing_begin(&shape, (emu_occupancy){1, 1, 1}, 1);
    emu_timing_workgroup_begin(launch, trace, 0);
    emu_wave *wave = calloc(1, sizeof *wave);
    wave->trace = trace;
    uint64_t address[64];
    for (uint64_t lane = 0; lane < 64; lane++)
        address[lane] = 0x10000 + lane * 16;
    emu_trace_vmem(wave, address, ~0ull, 16, false);
    assert_int_equal(trace->l1_lines, 8);
    assert_int_equal(trace->l2_lines, 8);
    emu_trace_vmem(wave, address, ~0ull, 16, false);
    assert_int_equal(trace->l1_lines, 16);
    assert_int_equal(trace->l2_lines, 8);
    free(wave);
    emu_timing_trace_free(trace);
    emu_timing_end(launch, &(moesaic_sim_result){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_consecutive_lanes_have_no_conflicts),
        cmocka_unit_test(test_stride_of_all_banks_serialises),
        cmocka_unit_test(test_same_dword_is_a_broadcast),
        cmocka_unit_test(test_padding_removes_the_conflict),
        cmocka_unit_test(test_inactive_lanes_take_no_clock),
        cmocka_unit_test(test_lines_count_reads_writes_and_fills),
        cmocka_unit_test(test_two_threads_count_what_one_counts),
        cmocka_unit_test(test_second_load_hits_the_l1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
