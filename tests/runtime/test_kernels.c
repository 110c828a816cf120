/* tests/runtime/test_kernels.c: launch records that are not as they should be never launch anything.
 * SPDX-License-Identifier: MIT
 */
#include "tests/runtime/support.h"

#include <stdlib.h>
#include <string.h>

/* probe_launch with the first `from` replaced. */
static char *launch_with(const char *from, const char *to)
{
    const char *at = strstr(probe_launch, from);
    assert_non_null(at);
    char *text =
        str_format("%.*s%s%s", (int)(at - probe_launch), probe_launch, to, at + strlen(from));
    assert_non_null(text);
    return text;
}

static void test_wrong_records_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        moesaic_status status;
        const char *text;
    } cases[] = {
        {"\"row_of_slot\"", "\"bias\"", MOESAIC_E_ABI, "\"bias\" (ptr)"},
        {"\"tokens\",\"type\":\"i64\"", "\"tokens\",\"type\":\"i32\"", MOESAIC_E_ABI,
         "\"tokens\" (i32)"},
        {"[64,1,1]", "[64,1]", MOESAIC_E_ABI, "\"block\""},
        {"[64,1,1]", "[2048,1,1]", MOESAIC_E_ABI, "1 to 1024"},
        {"[2,1,1]", "[0,1,1]", MOESAIC_E_ABI, "\"grid\""},
        {"\"moe_gemm\"", "\"moe_gone\"", MOESAIC_E_NOTFOUND, "moe_gone"},
        {"\"fixed_bytes\":64", "\"fixed_bytes\":-64", MOESAIC_E_INPUT, "fixed_bytes"},
        {"\"kernels\"", "\"nothing\"", MOESAIC_E_ABI, "no kernel"},
        {"{", "", MOESAIC_E_INPUT, "launch record"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        moesaic_text err = {""};
        kernels k;
        char *launch = launch_with(cases[i].from, cases[i].to);
        assert_status(cases[i].status,
                      kernels_load(world_device, world_probe.s, world_probe.n, launch, &k, &err),
                      &err);
        assert_non_null(strstr(err.s, cases[i].text));
        assert_null(k.module);
        free(launch);
    }
}

static void test_code_that_is_none_is_refused(void **state)
{
    (void)state;
    moesaic_text err = {""};
    static const char rubbish[4096] = "no code";
    kernels k;
    assert_status(MOESAIC_E_DEVICE,
                  kernels_load(world_device, rubbish, sizeof rubbish, probe_launch, &k, &err),
                  &err);
}

static void test_arguments_lie_as_in_the_struct(void **state)
{
    (void)state;
    moesaic_text err = {""};
    kernels k;
    assert_status(MOESAIC_OK,
                  kernels_load(world_device, world_probe.s, world_probe.n, probe_launch, &k, &err),
                  &err);
    assert_int_equal(k.n_kernels, 2);
    assert_int_equal(k.n_argument_bytes, 12 * 8 + 4 * 4);
    assert_int_equal(k.slots[15].offset, 12 * 8 + 3 * 4);
    assert_int_equal(k.workspace_fixed_bytes, 64);
    kernels_unload(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_records_are_refused),
        cmocka_unit_test(test_code_that_is_none_is_refused),
        cmocka_unit_test(test_arguments_lie_as_in_the_struct),
    };
    return cmocka_run_group_tests(tests, world_make, world_remove);
}
