/* tests/api/test_null.c: the public header alone: what NULL and zero do, and texts.    SPDX-License-Identifier: MIT */
#include <moesaic/moesaic.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_null_handles_are_input_errors(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_plan *plan = (void *)&plan;
    moesaic_counters counters = {.size_bytes = sizeof counters};
    moesaic_lookup info = {.size_bytes = sizeof info};
    moesaic_layer layer = {.size_bytes = sizeof layer};
    const moesaic_moe_gemm shape = {.size_bytes = sizeof shape};
    const moesaic_moe_gemm_buffers buffers = {.size_bytes = sizeof buffers};
    assert_int_equal(moesaic_open(NULL, NULL, &err), MOESAIC_E_INPUT);
    assert_int_equal(moesaic_plan_moe_gemm(NULL, &shape, &plan, &err), MOESAIC_E_INPUT);
    assert_null(plan);
    assert_non_null(strstr(err.s, "moesaic_open"));
    assert_int_equal(moesaic_plan_moe_gemm(NULL, NULL, NULL, NULL), MOESAIC_E_INPUT);
    assert_int_equal(moesaic_moe_gemm_execute(NULL, &buffers, NULL, &err), MOESAIC_E_INPUT);
    assert_int_equal(moesaic_moe_gemm_execute(NULL, NULL, NULL, NULL), MOESAIC_E_INPUT);
    assert_int_equal(moesaic_counters_read(NULL, &counters), MOESAIC_E_INPUT);
    assert_int_equal(moesaic_plan_lookup(NULL, &info), MOESAIC_E_INPUT);
    assert_int_equal(moesaic_layer_info(NULL, 0, &layer), MOESAIC_E_INPUT);
    assert_int_equal(moesaic_plan_workspace_bytes(NULL, 100), 0);
}

static void test_freeing_null_is_fine(void **state)
{
    (void)state;
    moesaic_plan_free(NULL);
    moesaic_close(NULL);
}

static void test_every_status_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(moesaic_status_text(MOESAIC_OK), "ok");
    assert_string_equal(moesaic_status_text(MOESAIC_E_SHAPE), "shape not supported");
    assert_non_null(moesaic_status_text((moesaic_status)999));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_handles_are_input_errors),
        cmocka_unit_test(test_freeing_null_is_fine),
        cmocka_unit_test(test_every_status_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
