/* tests/db/test_key.c: one problem, one key.    SPDX-License-Identifier: MIT */
#include "tests/db/support.h"

#include <string.h>

static moesaic_status key_of(const char *json, str *out, moesaic_text *err)
{
    cJSON *fields = cJSON_Parse(json);
    assert_non_null(fields);
    moesaic_status status = db_problem_key(fields, out, err);
    cJSON_Delete(fields);
    return status;
}

static void check_key(const char *json, const char *want)
{
    str got = {0};
    moesaic_text err;
    assert_status(MOESAIC_OK, key_of(json, &got, &err), &err);
    assert_string_equal(want, str_text(&got));
    str_free(&got);
}

static void test_order_and_spelling_do_not_matter(void **state)
{
    (void)state;
    check_key("{\"tokens\":512,\"dtype\":\"bf16\"}", "{\"dtype\":\"bf16\",\"tokens\":512}");
    check_key("{ \"dtype\" : \"bf16\", \"tokens\" : 5.12e2 }",
              "{\"dtype\":\"bf16\",\"tokens\":512}");
    check_key("{}", "{}");
    check_key("{\"tokens\":9007199254740991}", "{\"tokens\":9007199254740991}");
    check_key("{\"routing\":\"zipf:\\u0031.2\"}", "{\"routing\":\"zipf:1.2\"}");
}

static void test_the_pass_is_no_part_of_it(void **state)
{
    (void)state;
    check_key("{\"pass\":\"down\",\"tokens\":1}", "{\"tokens\":1}");
}

/* Every row of the table, both at its default and beside it. */
static void test_defaults_are_left_out(void **state)
{
    static const struct {
        const char *field, *json, *other;
    } rows[] = {
#define PROBLEM_INT(field, value)  {#field, #value, "7777"},
#define PROBLEM_TEXT(field, value) {#field, "\"" value "\"", "\"other\""},
#include "db/problem.def"
#undef PROBLEM_INT
#undef PROBLEM_TEXT
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *at_default = str_format("{\"%s\":%s,\"tokens\":1}", rows[i].field, rows[i].json);
        char *beside = str_format("{\"%s\":%s}", rows[i].field, rows[i].other);
        check_key(at_default, "{\"tokens\":1}");
        check_key(beside, beside);
        cJSON_free(at_default);
        cJSON_free(beside);
    }
}

/* Defaults of the table and of a family's space.json must agree, or one problem would have two keys. */
static void test_families_have_the_same_defaults(void **state)
{
    static const char *const fields[] = {
#define PROBLEM_INT(field, value)  #field,
#define PROBLEM_TEXT(field, value) #field,
#include "db/problem.def"
#undef PROBLEM_INT
#undef PROBLEM_TEXT
    };
    cJSON *space;
    moesaic_text err;
    (void)state;
    assert_status(MOESAIC_OK, json_read("templates/moe_gemm/space.json", &space, &err), &err);
    const cJSON *problem = cJSON_GetObjectItemCaseSensitive(space, "problem");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const cJSON *rule = cJSON_GetObjectItemCaseSensitive(problem, fields[i]);
        if (cJSON_IsObject(rule))
            rule = cJSON_GetObjectItemCaseSensitive(rule, "default");
        if (cJSON_IsArray(rule))
            rule = cJSON_GetArrayItem(rule, 0);
        if (!rule)
            continue;
        cJSON *one = cJSON_CreateObject();
        str key = {0};
        cJSON_AddItemToObject(one, fields[i], cJSON_Duplicate(rule, 1));
        assert_status(MOESAIC_OK, db_problem_key(one, &key, &err), &err);
        assert_string_equal("{}", str_text(&key));
        str_free(&key);
        cJSON_Delete(one);
    }
    cJSON_Delete(space);
}

static void test_what_is_no_value_is_refused(void **state)
{
    static const char *const bad[] = {"{\"a\":1.5}",  "{\"a\":null}",      "{\"a\":[1]}",
                                      "{\"a\":true}", "{\"a\":1,\"a\":2}", "[]"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        str key = {0};
        moesaic_text err;
        assert_status(MOESAIC_E_INPUT, key_of(bad[i], &key, &err), &err);
        str_free(&key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_spelling_do_not_matter),
        cmocka_unit_test(test_the_pass_is_no_part_of_it),
        cmocka_unit_test(test_defaults_are_left_out),
        cmocka_unit_test(test_families_have_the_same_defaults),
        cmocka_unit_test(test_what_is_no_value_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
