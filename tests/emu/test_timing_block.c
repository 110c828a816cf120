/* tests/emu/test_timing_block.c: prices of basic blocks against schedules worked out by hand.
 * SPDX-License-Identifier: MIT
 */
#include "emu/timing/constants.h"
#include "emu/timing/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const emu_row load = {.mnemonic = "load", .unit = EMU_UNIT_VMEM_LOAD, .cycles = 16};
static const emu_row matrix = {.mnemonic = "matrix", .unit = EMU_UNIT_MFMA, .cycles = 32};
static const emu_row add = {.mnemonic = "add", .unit = EMU_UNIT_VALU, .cycles = 4};
static const emu_row wait = {.mnemonic = "wait", .unit = EMU_UNIT_WAIT, .cycles = 4};

static emu_timed_instruction plain(const emu_row *row)
{
    return (emu_timed_instruction){.row = row, .vmcnt = -1, .lgkmcnt = -1};
}

static emu_timed_instruction wait_vm(int32_t count)
{
    return (emu_timed_instruction){.row = &wait, .vmcnt = count, .lgkmcnt = -1};
}

static void test_price_counts_each_unit(void **state)
{
    (void)state;
    const emu_timed_instruction block[] = {plain(&add), plain(&matrix), plain(&matrix),
                                           plain(&load)};
    emu_block_cost cost;
    emu_timing_block(block, 4, false, &cost);
    assert_int_equal(cost.instructions[EMU_UNIT_VALU], 1);
    assert_int_equal(cost.instructions[EMU_UNIT_MFMA], 2);
    assert_int_equal(cost.cycles[EMU_UNIT_MFMA], 64);
    assert_int_equal(cost.cycles[EMU_UNIT_VMEM_LOAD], 16);
}

static void test_wait_right_behind_a_load_shows_its_latency(void **state)
{
    (void)state;
    const emu_timed_instruction block[] = {plain(&load), wait_vm(0), plain(&add)};
    emu_block_cost cost;
    emu_timing_block(block, 3, false, &cost);
    assert_int_equal(cost.serial_cycles, emu_vmem_latency_cycles + emu_issue_cycles + 4);
}

static void test_wait_for_an_older_load_lets_newer_ones_fly(void **state)
{
    (void)state;
    const emu_timed_instruction all[] = {plain(&load), plain(&load), wait_vm(0)};
    const emu_timed_instruction first[] = {plain(&load), plain(&load), wait_vm(1)};
    emu_block_cost cost_all, cost_first;
    emu_timing_block(all, 3, false, &cost_all);
    emu_timing_block(first, 3, false, &cost_first);
    assert_int_equal(cost_all.serial_cycles - cost_first.serial_cycles, 16);
}

static void test_prefetch_across_iterations_hides_latency(void **state)
{
    (void)state;
    enum { N_MATRIX = 40 }; /* 40 * 32 clocks cover the load's latency */
    emu_timed_instruction prefetched[N_MATRIX + 2], exposed[N_MATRIX + 2];
    prefetched[0] = wait_vm(0);
    prefetched[1] = plain(&load);
    exposed[0] = plain(&load);
    exposed[1] = wait_vm(0);
    for (int i = 2; i < N_MATRIX + 2; i++)
        prefetched[i] = exposed[i] = plain(&matrix);
    emu_block_cost hidden, shown;
    emu_timing_block(prefetched, N_MATRIX + 2, true, &hidden);
    emu_timing_block(exposed, N_MATRIX + 2, true, &shown);
    assert_int_equal(hidden.serial_cycles, N_MATRIX * 32);
    assert_true(shown.serial_cycles > hidden.serial_cycles + emu_vmem_latency_cycles / 2);
}

static void test_empty_block_is_free(void **state)
{
    (void)state;
    emu_block_cost cost;
    emu_timing_block(NULL, 0, true, &cost);
    assert_int_equal(cost.serial_cycles, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_price_counts_each_unit),
        cmocka_unit_test(test_wait_right_behind_a_load_shows_its_latency),
        cmocka_unit_test(test_wait_for_an_older_load_lets_newer_ones_fly),
        cmocka_unit_test(test_prefetch_across_iterations_hides_latency),
        cmocka_unit_test(test_empty_block_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
