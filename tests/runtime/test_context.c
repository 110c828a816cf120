/* tests/runtime/test_context.c: one context per process, forks, and which files become layers.
 * SPDX-License-Identifier: MIT
 */
#include "tests/runtime/support.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const winner usual[] = {{.pass = "down", .fields = "tokens=512"}};

static moesaic_status try_open(const char *database, uint32_t flags, moesaic_text *err)
{
    moesaic_context *context = (void *)&context;
    const moesaic_options options = {
        .size_bytes = sizeof options, .flags = flags, .database = database};
    moesaic_status status = moesaic_open(&options, &context, err);
    if (status != MOESAIC_OK)
        assert_null(context);
    moesaic_close(context);
    return status;
}

static moesaic_layer layer_of(moesaic_context *context, uint32_t i)
{
    moesaic_layer l = {.size_bytes = sizeof l};
    assert_int_equal(moesaic_layer_info(context, i, &l), MOESAIC_OK);
    return l;
}

static moesaic_lookup looked_up(moesaic_context *context, int64_t tokens)
{
    moesaic_text err = {""};
    moesaic_plan *plan;
    moesaic_lookup info = {.size_bytes = sizeof info};
    const moesaic_moe_gemm shape = usual_shape(MOESAIC_DOWN, tokens);
    assert_status(MOESAIC_OK, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    assert_int_equal(moesaic_plan_lookup(plan, &info), MOESAIC_OK);
    moesaic_plan_free(plan);
    return info;
}

static void test_missing_database_is_an_error(void **state)
{
    (void)state;
    moesaic_text err = {""};
    assert_status(MOESAIC_E_IO, try_open(in_world("none.sqlite"), 0, &err), &err);
    assert_non_null(strstr(err.s, "none.sqlite"));
    setenv("MOESAIC_DB", in_world("none.sqlite"), 1);
    assert_status(MOESAIC_E_IO, try_open(NULL, 0, &err), &err);
    unsetenv("MOESAIC_DB");
}

static void test_rubbish_is_an_error(void **state)
{
    (void)state;
    moesaic_text err = {""};
    const char *path = in_world("rubbish.sqlite");
    assert_int_equal(file_replace(path, "this is no database at all", 26, &err), MOESAIC_OK);
    moesaic_status status = try_open(path, 0, &err);
    assert_true(status == MOESAIC_E_DB || status == MOESAIC_E_SCHEMA);
    assert_non_null(strstr(err.s, "rubbish.sqlite"));
}

static void test_cut_database_is_an_error(void **state)
{
    (void)state;
    moesaic_text err = {""};
    str bytes = {0};
    const char *path = in_world("cut.sqlite");
    make_database(path, usual, 1);
    assert_int_equal(file_read(path, 1 << 24, &bytes, &err), MOESAIC_OK);
    assert_int_equal(file_replace(path, bytes.s, 5000, &err), MOESAIC_OK);
    str_free(&bytes);
    assert_status(MOESAIC_E_DB, try_open(path, 0, &err), &err);
}

static void test_options_are_checked(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_context *context;
    const moesaic_options small = {.size_bytes = 4};
    assert_status(MOESAIC_E_INPUT, moesaic_open(&small, &context, &err), &err);
    assert_status(MOESAIC_E_INPUT, try_open(NULL, 0x80, &err), &err);
    assert_non_null(strstr(err.s, "0x80"));
    const moesaic_options far = {.size_bytes = sizeof far, .device = 99};
    assert_status(MOESAIC_E_DEVICE, moesaic_open(&far, &context, &err), &err);
    assert_non_null(strstr(err.s, "device 99"));
    assert_status(MOESAIC_OK, try_open(NULL, 0, &err), &err);
}

static void test_second_context_is_refused(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_context *context = open_or_fail(NULL, 0);
    assert_status(MOESAIC_E_STATE, try_open(NULL, 0, &err), &err);
    moesaic_close(context);
    assert_status(MOESAIC_OK, try_open(NULL, 0, &err), &err);
}

/* --- fork --- */

/* 0 when every call in the child ended at once with E_FORK. */
static int calls_of_child(moesaic_context *context, moesaic_plan *plan)
{
    const moesaic_moe_gemm shape = usual_shape(MOESAIC_DOWN, 512);
    const moesaic_moe_gemm_buffers buffers = {.size_bytes = sizeof buffers, .tokens = 1};
    moesaic_counters counted = {.size_bytes = sizeof counted};
    moesaic_lookup info = {.size_bytes = sizeof info};
    moesaic_layer l = {.size_bytes = sizeof l};
    moesaic_plan *other_plan;
    moesaic_context *other;
    const moesaic_status statuses[] = {
        moesaic_plan_moe_gemm(context, &shape, &other_plan, NULL),
        moesaic_moe_gemm_execute(plan, &buffers, NULL, NULL),
        moesaic_counters_read(context, &counted),
        moesaic_plan_lookup(plan, &info),
        moesaic_layer_info(context, 0, &l),
        moesaic_open(NULL, &other, NULL),
    };
    for (int i = 0; i < 6; i++)
        if (statuses[i] != MOESAIC_E_FORK)
            return 1 + i;
    if (moesaic_plan_workspace_bytes(plan, 10) != 0)
        return 10;
    moesaic_plan_free(plan);
    moesaic_close(context);
    return 0;
}

static void test_child_of_a_fork_gets_errors(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_plan *plan;
    const moesaic_moe_gemm shape = usual_shape(MOESAIC_DOWN, 512);
    make_database(in_world("fork.sqlite"), usual, 1);
    moesaic_context *context = open_or_fail(in_world("fork.sqlite"), 0);
    assert_status(MOESAIC_OK, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    pid_t child = fork();
    if (child == 0)
        _exit(calls_of_child(context, plan));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(moesaic_plan_workspace_bytes(plan, 1), 64 + 512);
    moesaic_plan_free(plan);
    moesaic_close(context);
}

/* --- layers --- */

static void test_environment_names_the_first_layer(void **state)
{
    (void)state;
    make_database(in_world("first.sqlite"), usual, 1);
    setenv("MOESAIC_DB", in_world("first.sqlite"), 1);
    moesaic_context *context = open_or_fail(NULL, 0);
    unsetenv("MOESAIC_DB");
    moesaic_layer l = layer_of(context, 0);
    assert_string_equal(l.kind, "explicit");
    assert_string_equal(l.path, in_world("first.sqlite"));
    assert_int_equal(l.used, 1);
    assert_int_equal(moesaic_layer_info(context, 99, &l), MOESAIC_E_NOTFOUND);
    moesaic_close(context);
}

static void test_user_layers_answer_in_order(void **state)
{
    (void)state;
    const winner a[] = {{.pass = "down", .fields = "tokens=512", .time_us = 1}};
    const winner b[] = {{.pass = "down", .fields = "tokens=512", .time_us = 2},
                        {.pass = "down", .fields = "tokens=600", .time_us = 3}};
    make_database(in_world("moesaic/b.db"), b, 2);
    make_database(in_world("moesaic/a.db"), a, 1);
    moesaic_context *context = open_or_fail(NULL, 0);
    assert_string_equal(layer_of(context, 0).path, in_world("moesaic/a.db"));
    assert_string_equal(layer_of(context, 1).kind, "user");
    assert_true(looked_up(context, 512).time_us == 1);
    assert_true(looked_up(context, 600).time_us == 3);
    moesaic_close(context);
    remove(in_world("moesaic/a.db"));
    remove(in_world("moesaic/b.db"));
}

static void test_layer_that_others_may_write_is_passed_over(void **state)
{
    (void)state;
    make_database(in_world("moesaic/open.db"), usual, 1);
    assert_int_equal(chmod(in_world("moesaic/open.db"), 0664), 0);
    moesaic_context *context = open_or_fail(NULL, 0);
    moesaic_layer l = layer_of(context, 0);
    assert_int_equal(l.used, 0);
    assert_non_null(strstr(l.reason, "chmod go-w"));
    moesaic_close(context);
    remove(in_world("moesaic/open.db"));
}

static void test_broken_user_layer_is_passed_over(void **state)
{
    (void)state;
    moesaic_text err = {""};
    assert_int_equal(file_replace(in_world("moesaic/bad.db"), "rubbish", 7, &err), MOESAIC_OK);
    assert_int_equal(chmod(in_world("moesaic/bad.db"), 0644), 0);
    moesaic_context *context = open_or_fail(NULL, 0);
    moesaic_layer l = layer_of(context, 0);
    assert_int_equal(l.used, 0);
    assert_non_null(strstr(l.reason, "bad.db"));
    moesaic_close(context);
    remove(in_world("moesaic/bad.db"));
}

/* --- records that don't serve, or not as verified --- */

static void test_other_target_is_never_served(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_plan *plan;
    const winner other[] = {{.pass = "down", .fields = "tokens=512", .target = "gfx90a"}};
    const moesaic_moe_gemm shape = usual_shape(MOESAIC_DOWN, 512);
    make_database(in_world("target.sqlite"), other, 1);
    moesaic_context *context = open_or_fail(in_world("target.sqlite"), MOESAIC_OPEN_REPRODUCIBLE);
    assert_status(MOESAIC_E_NOTFOUND, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    moesaic_close(context);
}

static void test_other_device_and_stack_are_labelled(void **state)
{
    (void)state;
    const winner other[] = {{.pass = "down", .fields = "tokens=512", .more_cus = 4},
                            {.pass = "down", .fields = "tokens=64", .compiler = "older"}};
    make_database(in_world("other.sqlite"), other, 2);
    moesaic_context *context = open_or_fail(in_world("other.sqlite"), MOESAIC_OPEN_REPRODUCIBLE);
    moesaic_lookup info = looked_up(context, 1024);
    assert_int_equal(info.candidate, 1);
    assert_int_equal(info.served, MOESAIC_SERVED_NEAR);
    info = looked_up(context, 64);
    assert_int_equal(info.candidate, 0);
    assert_int_equal(info.other_stack, 1);
    moesaic_counters c = {.size_bytes = sizeof c};
    assert_int_equal(moesaic_counters_read(context, &c), MOESAIC_OK);
    assert_int_equal(c.candidates, 1);
    assert_int_equal(c.other_stack, 1);
    moesaic_close(context);
}

static void test_unusable_records_give_way(void **state)
{
    (void)state;
    static const char foreign[] =
        "{\"kernels\":[{\"kernel\":\"moe_gemm\",\"block\":[64,1,1],\"grid\":[1,1,1]}],"
        "\"arguments\":[{\"name\":\"x\",\"type\":\"ptr\"},{\"name\":\"bias\",\"type\":\"ptr\"}]}";
    const winner records[] = {{.pass = "down", .fields = "tokens=512", .launch = foreign},
                              {.pass = "down", .fields = "tokens=600"}};
    make_database(in_world("abi.sqlite"), records, 2);
    moesaic_context *context = open_or_fail(in_world("abi.sqlite"), MOESAIC_OPEN_REPRODUCIBLE);
    moesaic_lookup info = looked_up(context, 512);
    assert_int_equal(info.served, MOESAIC_SERVED_NEAR);
    assert_string_equal(info.differs, "tokens 600, asked 512");
    moesaic_counters c = {.size_bytes = sizeof c};
    assert_int_equal(moesaic_counters_read(context, &c), MOESAIC_OK);
    assert_int_equal(c.unusable, 1);
    moesaic_close(context);
}

static void test_lost_code_is_refused_with_its_reason(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_plan *plan;
    const moesaic_moe_gemm shape = usual_shape(MOESAIC_DOWN, 512);
    make_database(in_world("lost.sqlite"), usual, 1);
    collect_code(in_world("lost.sqlite"));
    moesaic_context *context = open_or_fail(in_world("lost.sqlite"), MOESAIC_OPEN_REPRODUCIBLE);
    assert_status(MOESAIC_E_NOTFOUND, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    assert_non_null(strstr(err.s, "lost.sqlite"));
    moesaic_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_database_is_an_error),
        cmocka_unit_test(test_rubbish_is_an_error),
        cmocka_unit_test(test_cut_database_is_an_error),
        cmocka_unit_test(test_options_are_checked),
        cmocka_unit_test(test_second_context_is_refused),
        cmocka_unit_test(test_child_of_a_fork_gets_errors),
        cmocka_unit_test(test_environment_names_the_first_layer),
        cmocka_unit_test(test_user_layers_answer_in_order),
        cmocka_unit_test(test_layer_that_others_may_write_is_passed_over),
        cmocka_unit_test(test_broken_user_layer_is_passed_over),
        cmocka_unit_test(test_other_target_is_never_served),
        cmocka_unit_test(test_other_device_and_stack_are_labelled),
        cmocka_unit_test(test_unusable_records_give_way),
        cmocka_unit_test(test_lost_code_is_refused_with_its_reason),
    };
    return cmocka_run_group_tests(tests, world_make, world_remove);
}
