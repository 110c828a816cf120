/* tests/gen/test_launch.c: launch geometry, arguments and workspace of a variant.    SPDX-License-Identifier: MIT */
#include "tests/gen/support.h"

#include <string.h>

static void check_launch(opened *o, const char *config, const char *want)
{
    cJSON *given = object_of(config), *full, *launch;
    moesaic_text err;
    str text = {0};
    assert_status(MOESAIC_OK, gen_config_complete(o->family, NULL, given, &full, &err), &err);
    assert_status(MOESAIC_OK, gen_space_launch(o->space, full, &launch, &err), &err);
    json_canonical(launch, &text);
    assert_string_equal(want, str_text(&text));
    str_free(&text);
    cJSON_Delete(launch);
    cJSON_Delete(full);
    cJSON_Delete(given);
}

static void test_every_expression_is_evaluated(void **state)
{
    opened o;
    (void)state;
    open_or_fail(&o, SCALE, "run", "rows=10,cols=512");
    check_launch(
        &o, "waves=2,whole=1,unroll=3",
        "{\"arguments\":[{\"name\":\"x\",\"type\":\"ptr\"},{\"name\":\"factor\",\"type\":\"f32\"},"
        "{\"name\":\"rows\",\"type\":\"i64\"}],"
        "\"kernels\":[{\"block\":[128,1,1],\"grid\":[608,1,3],\"kernel\":\"scale_rows\","
        "\"lds_bytes\":512}],"
        "\"workspace\":{\"fixed_bytes\":256,\"per_row_bytes\":2048}}");
    opened_free(&o);
}

static const cJSON *at(const cJSON *object, const char *key)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_non_null(m);
    return m;
}

/* A kernel whose "when" is false is left out. */
static void check_kernels(const char *config, int n_kernels, int64_t per_row_bytes)
{
    opened o;
    moesaic_text err;
    cJSON *given = object_of(config), *full, *launch;
    open_or_fail(&o, "moe_gemm", "down",
                 "hidden=2048,expert_ffn=2048,experts=16,top_k=1,tokens=512");
    assert_status(MOESAIC_OK, gen_config_complete(o.family, NULL, given, &full, &err), &err);
    assert_status(MOESAIC_OK, gen_space_launch(o.space, full, &launch, &err), &err);
    assert_int_equal(n_kernels, cJSON_GetArraySize(at(launch, "kernels")));
    assert_string_equal("moe_gemm", at(at(launch, "kernels")->child, "kernel")->valuestring);
    assert_int_equal(per_row_bytes,
                     (int64_t)at(at(launch, "workspace"), "per_row_bytes")->valuedouble);
    assert_int_equal(16, cJSON_GetArraySize(at(launch, "arguments")));
    cJSON_Delete(launch);
    cJSON_Delete(full);
    cJSON_Delete(given);
    opened_free(&o);
}

static void test_the_combining_kernel_comes_with_its_parameter(void **state)
{
    (void)state;
    check_kernels("combine=0,split_k=1", 1, 0);
    check_kernels("combine=1,split_k=4", 2, 4 * 4 * 2048);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_expression_is_evaluated),
        cmocka_unit_test(test_the_combining_kernel_comes_with_its_parameter),
    };
    return cmocka_run_group_tests(tests, use_own_templates, NULL);
}
