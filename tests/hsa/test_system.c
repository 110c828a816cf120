/* tests/hsa/test_system.c: opening, closing, forking; options; what is not supported says so.
 * SPDX-License-Identifier: MIT
 */
#include "emu/hsa/summary.h"
#include "emu/sim.h"
#include "tests/hsa/engine.h"
#include "tests/hsa/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

hsa_status_t hsa_init(void);
hsa_status_t hsa_shut_down(void);

static void test_the_library_is_open_until_the_last_close(void **state)
{
    (void)state;
    hsa_signal_t s;
    assert_int_equal(hsa_signal_create(0, 0, NULL, &s), HSA_STATUS_ERROR_NOT_INITIALIZED);
    OK(hsa_init());
    OK(hsa_init());
    OK(hsa_shut_down());
    s = new_signal(0);
    OK(hsa_signal_destroy(s));
    OK(hsa_shut_down());
    assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

static void test_what_programs_left_behind_is_freed(void **state)
{
    (void)state;
    hsa_queue_t *queue;
    void *p;
    uint64_t available;
    for (int i = 0; i < 3; i++) {
        OK(hsa_init());
        OK(hsa_agent_get_info(gpu_agent(), (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL,
                              &available));
        assert_int_equal(available, (UINT64_C(192) << 30) - (16 << 20));
        OK(hsa_queue_create(gpu_agent(), 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue));
        OK(hsa_amd_memory_pool_allocate(pool_of(gpu_agent(), 0), UINT64_C(100) << 30, 0, &p));
        OK(hsa_shut_down());
    }
}

static void test_late_calls_are_harmless(void **state)
{
    (void)state;
    OK(hsa_init());
    hsa_signal_t s = new_signal(1);
    OK(hsa_shut_down());
    assert_int_equal(hsa_signal_load_relaxed(s), 1);
    assert_int_equal(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                               HSA_WAIT_STATE_BLOCKED),
                     1);
    assert_int_equal(hsa_amd_memory_pool_free(&s), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

static void must_refuse(const char *variable, const char *value)
{
    setenv(variable, value, 1);
    assert_int_equal(hsa_init(), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    unsetenv(variable);
}

static void test_variables_that_are_not_understood_are_refused(void **state)
{
    (void)state;
    int saved = dup(STDERR_FILENO);
    assert_non_null(freopen("/dev/null", "w", stderr));
    must_refuse("MOESAIC_SIM", "mi300y");
    must_refuse("MOESAIC_SIM_MODE", "quick");
    must_refuse("MOESAIC_SIM_MFMA", "");
    must_refuse("MOESAIC_SIM_ORDER", "random");
    must_refuse("MOESAIC_SIM_SEED", "-1");
    must_refuse("MOESAIC_SIM_THREADS", "2 ");
    must_refuse("MOESAIC_SIM_WALL_LIMIT", "inf");
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    OK(hsa_init());
    OK(hsa_shut_down());
}

static void test_a_child_of_fork_is_refused(void **state)
{
    (void)state;
    OK(hsa_init());
    pid_t child = fork();
    if (child == 0) {
        hsa_signal_t s;
        close(STDERR_FILENO);
        _exit(hsa_init() == HSA_STATUS_ERROR_OUT_OF_RESOURCES &&
                      hsa_signal_create(0, 0, NULL, &s) == HSA_STATUS_ERROR_NOT_INITIALIZED
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    OK(hsa_shut_down());
}

static void test_statuses_have_names(void **state)
{
    (void)state;
    const char *text;
    OK(hsa_status_string(HSA_STATUS_ERROR_INVALID_AGENT, &text));
    assert_string_equal(text, "HSA_STATUS_ERROR_INVALID_AGENT");
    OK(hsa_status_string(INVALID_MEMORY_POOL, &text));
    assert_string_equal(text, "HSA_STATUS_ERROR_INVALID_MEMORY_POOL");
    assert_int_equal(hsa_status_string((hsa_status_t)12345, &text),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void test_unsupported_functions_name_themselves_once(void **state)
{
    (void)state;
    char text[256] = "";
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    hsa_signal_t s;
    assert_int_equal(hsa_amd_ipc_signal_create(s = (hsa_signal_t){0}, NULL), HSA_STATUS_ERROR);
    assert_int_equal(hsa_amd_ipc_signal_create(s, NULL), HSA_STATUS_ERROR);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    assert_string_equal(
        text, "moesaic: hsa_amd_ipc_signal_create is not supported by the software device\n");
    close(ends[0]);
    close(ends[1]);
    close(saved);
}

static void test_options_are_taken_whole_or_not_at_all(void **state)
{
    (void)state;
    moesaic_sim_options o = {.size_bytes = sizeof o}, now = {.size_bytes = sizeof now};
    moesaic_sim.get_options(&o);
    o.seed = 42;
    o.order = MOESAIC_SIM_SWITCHING;
    assert_true(moesaic_sim.set_options(&o));
    o.seed = 43;
    o.wall_limit_s = NAN;
    assert_false(moesaic_sim.set_options(&o));
    o.wall_limit_s = 0;
    o.mode = (moesaic_sim_mode)7;
    assert_false(moesaic_sim.set_options(&o));
    assert_false(moesaic_sim.set_options(NULL));
    moesaic_sim.get_options(&now);
    assert_int_equal(now.seed, 42);
    assert_int_equal(now.order, MOESAIC_SIM_SWITCHING);
}

static void test_callers_with_a_shorter_struct_keep_what_they_do_not_know(void **state)
{
    (void)state;
    struct {
        uint32_t size_bytes;
        moesaic_sim_mode mode;
    } older = {.size_bytes = sizeof older, .mode = MOESAIC_SIM_EXACT};
    moesaic_sim_options now = {.size_bytes = sizeof now};
    moesaic_sim.get_options(&now);
    uint64_t seed = now.seed;
    assert_true(moesaic_sim.set_options((const moesaic_sim_options *)(const void *)&older));
    moesaic_sim.get_options(&now);
    assert_int_equal(now.mode, MOESAIC_SIM_EXACT);
    assert_int_equal(now.seed, seed);
}

static void summary_is(const char *wanted)
{
    char text[256];
    emu_summary_text(text, sizeof text);
    assert_string_equal(text, wanted);
}

static void test_the_summary_adds_up_dispatches(void **state)
{
    (void)state;
    moesaic_sim_result r = {.size_bytes = sizeof r, .wave_instructions = 1};
    summary_is("0 kernels run, 0 wave-instructions, 0 faults");
    emu_summary_add(&r, true);
    summary_is("1 kernel run, 1 wave-instruction, 0 faults");
    r.wave_instructions = UINT64_C(1) << 33;
    r.status = MOESAIC_SIM_ILLEGAL_ADDRESS;
    emu_summary_add(&r, true);
    summary_is("2 kernels run, 8589934593 wave-instructions, 1 fault");
    emu_summary_add(&r, false);
    summary_is("3 kernels run, 8589934593 wave-instructions in the 2 timed, 2 faults");
}

int main(void)
{
    engine_reset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_library_is_open_until_the_last_close),
        cmocka_unit_test(test_what_programs_left_behind_is_freed),
        cmocka_unit_test(test_late_calls_are_harmless),
        cmocka_unit_test(test_variables_that_are_not_understood_are_refused),
        cmocka_unit_test(test_a_child_of_fork_is_refused),
        cmocka_unit_test(test_statuses_have_names),
        cmocka_unit_test(test_unsupported_functions_name_themselves_once),
        cmocka_unit_test(test_options_are_taken_whole_or_not_at_all),
        cmocka_unit_test(test_the_summary_adds_up_dispatches),
        cmocka_unit_test(test_callers_with_a_shorter_struct_keep_what_they_do_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
