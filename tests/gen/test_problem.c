/* tests/gen/test_problem.c: a problem's fields: defaults, refusals with value and remedy, one key for one problem.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gen/support.h"

#include "db/db.h"

#include <string.h>

typedef struct refusal {
    const char *pass, *pairs, *says[2];
} refusal;

static void check_refusals(const char *name, const refusal *cases, size_t n)
{
    gen_family *family;
    moesaic_text err;
    assert_status(MOESAIC_OK, gen_family_open(name, &family, &err), &err);
    for (size_t i = 0; i < n; i++) {
        cJSON *fields = object_of(cases[i].pairs), *out;
        moesaic_status status = gen_problem_complete(family, cases[i].pass, fields, &out, &err);
        if (status != MOESAIC_E_INPUT)
            print_error("%s: ", cases[i].pairs);
        assert_status(MOESAIC_E_INPUT, status, &err);
        assert_null(out);
        for (int s = 0; s < 2 && cases[i].says[s]; s++)
            assert_says(&err, cases[i].says[s]);
        cJSON_Delete(fields);
    }
    gen_family_free(family);
}

#define LAYER "hidden=2048,expert_ffn=2048,"

static void test_bad_problems_are_refused_with_value_and_remedy(void **state)
{
    static const refusal cases[] = {
        {"gate_up", LAYER "experts=16,top_k=1,tokens=8,dtype=w4a4", {"\"w4a4\"", "use bf16"}},
        {"gate_up", LAYER "experts=16,top_k=1,tokens=-8", {"tokens = -8", "between 1 and"}},
        {"gate_up", LAYER "experts=16,top_k=1,tokens=0", {"tokens = 0", "between 1 and"}},
        {"gate_up", LAYER "experts=16,top_k=1,tokens=9007199254740991", {"9007199254740991"}},
        {"gate_up",
         "hidden=99999999,expert_ffn=8,experts=1,top_k=1,tokens=8",
         {"99999999", "1048576"}},
        {"gate_up",
         LAYER "experts=16,top_k=17,tokens=8",
         {"top_k = 17, experts = 16", "lower top_k"}},
        {"gate_up", LAYER "experts=16,top_k=1", {"tokens is missing", "add tokens=VALUE"}},
        {"gate_up", LAYER "experts=16,top_k=1,tokens=8,colour=3", {"\"colour\"", "expert_ffn"}},
        {"gate_up", LAYER "experts=sixteen,top_k=1,tokens=8", {"experts must be an integer"}},
        {"gate_up", LAYER "experts=16,top_k=1,tokens=8.5", {"tokens must be an integer"}},
        {"gate_up", LAYER "experts=16,top_k=1,tokens=8,dtype=16", {"dtype must be a text"}},
        {"gate_up", LAYER "experts=16,top_k=16,tokens=2000000000", {"32 bits", "split"}},
        {"gate_up",
         "hidden=2052,expert_ffn=8,experts=1,top_k=1,tokens=8",
         {"2052", "state aligned=0"}},
        {"backward", LAYER "experts=16,top_k=1,tokens=8", {"\"backward\"", "gate_up, down"}},
    };
    (void)state;
    check_refusals("moe_gemm", cases, sizeof cases / sizeof cases[0]);
}

static void test_a_family_without_passes_has_the_pass_run(void **state)
{
    static const refusal cases[] = {
        {"fwd", "rows=4", {"\"fwd\"", "run"}},
        {"run", "rows=1000000,cols=1000", {"must fit", "rows = 1000000"}},
        {"run", "rows=1,dtype=f16", {"f32, f64"}}};
    opened o;
    (void)state;
    check_refusals(SCALE, cases, sizeof cases / sizeof cases[0]);
    open_or_fail(&o, SCALE, "run", "rows=4");
    opened_free(&o);
}

static void test_fields_that_are_no_values_are_refused(void **state)
{
    static const char *const texts[] = {"{\"rows\":[1]}", "{\"rows\":{}}", "{\"rows\":null}",
                                        "{\"rows\":true}", "{\"rows\":1.5}"};
    gen_family *family;
    moesaic_text err;
    (void)state;
    assert_status(MOESAIC_OK, gen_family_open(SCALE, &family, &err), &err);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cJSON *fields = cJSON_Parse(texts[i]), *out;
        assert_status(MOESAIC_E_INPUT, gen_problem_complete(family, "run", fields, &out, &err),
                      &err);
        cJSON_Delete(fields);
    }
    gen_family_free(family);
}

static void test_defaults_are_filled_in(void **state)
{
    opened o;
    str text = {0};
    (void)state;
    open_or_fail(&o, SCALE, "run", "rows=4");
    json_canonical(o.problem, &text);
    assert_string_equal("{\"cols\":64,\"dtype\":\"f32\",\"note\":\"none\",\"rows\":4}",
                        str_text(&text));
    str_free(&text);
    opened_free(&o);
}

static void check_key(const char *pairs, const char *want)
{
    opened o;
    str key = {0};
    moesaic_text err;
    open_or_fail(&o, "moe_gemm", "down", pairs);
    assert_status(MOESAIC_OK, db_problem_key(o.problem, &key, &err), &err);
    assert_string_equal(want, str_text(&key));
    str_free(&key);
    opened_free(&o);
}

static void test_one_problem_has_one_key(void **state)
{
    static const char want[] =
        "{\"aligned\":1,\"dtype\":\"bf16\",\"expert_ffn\":512,\"experts\":16,"
        "\"hidden\":256,\"tokens\":64,\"top_k\":2}";
    (void)state;
    check_key("hidden=256,expert_ffn=512,experts=16,top_k=2,tokens=64", want);
    check_key("tokens=64,top_k=2,experts=16,expert_ffn=512,hidden=256", want);
    check_key("dtype=bf16,activation=swiglu,aligned=1,tokens=64,top_k=2,experts=16,expert_ffn=512,"
              "hidden=256",
              want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_problems_are_refused_with_value_and_remedy),
        cmocka_unit_test(test_a_family_without_passes_has_the_pass_run),
        cmocka_unit_test(test_fields_that_are_no_values_are_refused),
        cmocka_unit_test(test_defaults_are_filled_in),
        cmocka_unit_test(test_one_problem_has_one_key),
    };
    return cmocka_run_group_tests(tests, use_own_templates, NULL);
}
