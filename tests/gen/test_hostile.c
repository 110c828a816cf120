/* tests/gen/test_hostile.c: a space.json may come from anybody: it can be refused, and nothing else.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gen/support.h"

#include "base/file.h"
#include "gen/gen_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cJSON *member(cJSON *object, const char *key)
{
    cJSON *m = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_non_null(m);
    return m;
}

static void set_text(cJSON *object, const char *key, const char *text)
{
    cJSON *value = cJSON_CreateString(text);
    assert_non_null(value);
    if (cJSON_GetObjectItemCaseSensitive(object, key))
        assert_true(cJSON_ReplaceItemInObjectCaseSensitive(object, key, value));
    else
        assert_true(cJSON_AddItemToObject(object, key, value));
}

/* The small family with this expression wherever one may stand; each must be refused. */
static void check_expression(const char *sql, const char *says)
{
    moesaic_text err;
    for (int place = 0; place < 6; place++) {
        cJSON *json = scale_json(), *launch = member(json, "launch");
        cJSON *const objects[] = {member(json, "constraints")->child->next,
                                  member(json, "derived"),
                                  json,
                                  launch,
                                  member(json, "workspace"),
                                  member(json, "requires")->child};
        static const char *const keys[] = {"sql",       "registers",   "estimate_us",
                                           "lds_bytes", "fixed_bytes", "sql"};
        set_text(objects[place], keys[place], sql);
        moesaic_status status = try_json(json, &err);
        if (status != MOESAIC_E_INPUT)
            print_error("%s in place %d: ", sql, place);
        assert_status(MOESAIC_E_INPUT, status, &err);
        if (says)
            assert_says(&err, says);
    }
}

static void test_the_small_family_is_good_as_it_is(void **state)
{
    moesaic_text err;
    (void)state;
    assert_status(MOESAIC_OK, try_json(scale_json(), &err), &err);
}

static void test_expressions_read_columns_and_compute(void **state)
{
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"(SELECT 1)", NULL},
        {"EXISTS (SELECT 1 FROM sqlite_schema)", NULL},
        {"(SELECT count(*) FROM facts a, facts b)", NULL},
        {"(WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n)",
         NULL},
        {"load_extension('libevil.so')", "load_extension"},
        {"readfile('/etc/passwd')", "readfile"},
        {"writefile('/tmp/moesaic-hostile', 'x')", "writefile"},
        {"randomblob(1000000000)", "randomblob"},
        {"zeroblob(1000000000)", "zeroblob"},
        {"printf('%s', waves)", "printf"},
        {"random()", "random"},
        {"'a' LIKE '%a%'", "LIKE"},
        {"glob('*a*a*a*b', 'aaaa')", "glob"},
        {"sqlite_version()", "sqlite_version"},
        {"1); ATTACH '/tmp/moesaic-hostile' AS evil; SELECT (1", "not one SQL expression"},
        {"1; DROP TABLE facts", "not one SQL expression"},
        {"1) OR (1", "not one SQL expression"},
        {"1) -- ", "not one SQL expression"},
        {"1 /* ", "not one SQL expression"},
        {"'unclosed", NULL},
        {"\"no such column\" > 0", "no such column"},
        {"tiles > 0", "no such column"},
        {"", NULL},
        {")(", "not one SQL expression"},
        {"1, 2", NULL},
        {"max(waves)", NULL},
        {"count(*)", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_expression(cases[i].sql, cases[i].says);
    assert_int_not_equal(0, access("/tmp/moesaic-hostile", F_OK));
}

static void check_repeated(const char *before, const char *text, int n, const char *after,
                           const char *says)
{
    str sql = {0};
    for (int i = 0; i < n; i++)
        str_add(&sql, before);
    str_add(&sql, text);
    for (int i = 0; i < n; i++)
        str_add(&sql, after);
    check_expression(str_text(&sql), says);
    str_free(&sql);
}

static void test_long_and_deep_expressions_are_refused(void **state)
{
    (void)state;
    check_repeated("(", "1", 1000, ")", NULL);
    check_repeated("1+", "1", 3000, "", "longer than");
}

/* A chain of derived columns, each made of the one before it twice. */
static moesaic_status try_chain(const char *first, const char *format, int n, moesaic_text *err)
{
    cJSON *json = scale_json(), *derived = member(json, "derived");
    char name[16], sql[64];
    set_text(derived, "d0", first);
    for (int i = 1; i < n; i++) {
        snprintf(name, sizeof name, "d%d", i);
        snprintf(sql, sizeof sql, format, i - 1, i - 1);
        set_text(derived, name, sql);
    }
    snprintf(name, sizeof name, "d%d", n - 1);
    set_text(json, "estimate_us", name);
    return try_json(json, err);
}

static void test_chains_of_columns_do_not_grow_exponentially(void **state)
{
    moesaic_text err;
    (void)state;
    assert_status(MOESAIC_OK, try_chain("2", "d%d * 0.5 + d%d * 0.5", 60, &err), &err);
    assert_status(MOESAIC_E_INPUT, try_chain("'x'", "d%d || d%d", 60, &err), &err);
    assert_says(&err, "too big");
}

/* Fill a table with n rows of n_bytes, with a limited number of steps. */
static moesaic_status fill(int64_t steps, int n, int n_bytes, moesaic_text *err)
{
    evaluator e;
    assert_status(MOESAIC_OK, evaluator_open("hostile", &e, err), err);
    assert_status(MOESAIC_OK, evaluator_run(&e, err, "CREATE TABLE t(x)"), err);
    e.steps_left = steps;
    moesaic_status status =
        evaluator_run(&e, err,
                      "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1"
                      " FROM n WHERE i < %d) INSERT INTO t SELECT zeroblob(%d) FROM n",
                      n, n_bytes);
    evaluator_close(&e);
    return status;
}

static void test_steps_and_memory_are_limited(void **state)
{
    moesaic_text err;
    (void)state;
    assert_status(MOESAIC_OK, fill(1000000, 1000, 10, &err), &err);
    assert_status(MOESAIC_E_INPUT, fill(1000000, 10000000, 10, &err), &err);
    assert_says(&err, "too many steps");
    assert_status(MOESAIC_E_INPUT, fill(100000000, 100000, 50000, &err), &err);
    assert_says(&err, "1 GiB");
}

static void test_too_many_configurations_are_refused(void **state)
{
    moesaic_text err;
    (void)state;
    for (int n_more = 12; n_more <= 30; n_more += 18) {
        cJSON *json = scale_json(), *parameters = member(json, "parameters");
        for (int i = 0; i < n_more; i++) {
            char name[16];
            snprintf(name, sizeof name, "p%d", i);
            cJSON_AddItemToObject(parameters, name, cJSON_CreateIntArray((int[]){1, 2, 3, 4}, 4));
            cJSON_AddNumberToObject(member(json, "default"), name, 1);
        }
        assert_status(MOESAIC_E_INPUT, try_json(json, &err), &err);
        assert_says(&err, "configurations");
    }
}

static void test_nothing_legal_is_not_found(void **state)
{
    moesaic_text err;
    cJSON *json = scale_json();
    (void)state;
    set_text(member(json, "constraints")->child, "sql", "0");
    assert_status(MOESAIC_E_NOTFOUND, try_json(json, &err), &err);
    assert_says(&err, "--count");
}

/* --- members --- */

static void check_change(const char *key, const char *value, const char *says)
{
    moesaic_text err;
    cJSON *json = scale_json();
    cJSON_DeleteItemFromObjectCaseSensitive(json, key);
    if (value)
        assert_true(cJSON_AddItemToObject(json, key, cJSON_Parse(value)));
    moesaic_status status = try_json(json, &err);
    if (status != MOESAIC_E_INPUT)
        print_error("%s %s: ", key, value ? value : "missing");
    assert_status(MOESAIC_E_INPUT, status, &err);
    assert_says(&err, says);
}

static void test_members_are_checked(void **state)
{
    static const struct {
        const char *key, *value, *says;
    } cases[] = {
        {"family", NULL, "\"family\" is missing"},
        {"family", "7", "must be a string"},
        {"family", "\"../scale\"", "lower case"},
        {"parameters", NULL, "\"parameters\" is missing"},
        {"parameters", "[]", "must be an object"},
        {"parameters", "{\"Waves\":[1]}", "lower case"},
        {"parameters", "{\"a\\\"b\":[1]}", "lower case"},
        {"parameters", "{\"waves\":[]}", "list of 1 to"},
        {"parameters", "{\"waves\":4}", "list of 1 to"},
        {"parameters", "{\"waves\":[\"4\"]}", "integers"},
        {"parameters", "{\"waves\":[1.5]}", "integers"},
        {"parameters", "{\"waves\":[1e300]}", "integers"},
        {"parameters", "{\"waves\":[4,4]}", "twice"},
        {"parameters", "{\"cols\":[4]}", "\"default\" must give \"cols\""},
        {"default", NULL, "\"default\" is missing"},
        {"default", "{}", "must give \"waves\""},
        {"default", "{\"waves\":3,\"vec\":4,\"whole\":0,\"unroll\":1}", "must give \"waves\""},
        {"default", "{\"waves\":4,\"vec\":4,\"whole\":0,\"unroll\":1,\"x\":1}", "no parameter"},
        {"derived", "{\"threads\":64}", "must be an SQL expression"},
        {"derived", "{\"waves\":\"1\"}", "used twice"},
        {"derived", "{\"threads\":\"later\",\"later\":\"1\"}", "no such column"},
        {"constraints", "{}", "must be a list"},
        {"constraints", "[{}]", "no text \"name\""},
        {"constraints", "[{\"name\":\"a\",\"sql\":\"1\"}]", "no text \"reason\""},
        {"constraints", "[{\"name\":\"a\",\"sql\":1,\"reason\":\"r\"}]", "no text \"sql\""},
        {"constraints",
         "[{\"name\":\"a\",\"sql\":\"1\",\"reason\":\"r\"},{\"name\":\"a\",\"sql\":\"1\","
         "\"reason\":\"r\"}]",
         "two constraints"},
        {"passes", "[]", "list of names"},
        {"passes", "[7]", "list of names"},
        {"requires", "[{\"sql\":\"0\"}]", "\"reason\" is missing"},
        {"launch", NULL, "\"launch\" must be"},
        {"launch", "{\"block\":[\"64\"],\"grid\":[\"1\",\"1\",\"1\"]}", "three expressions"},
        {"launch", "{\"block\":[\"64\",\"1\",\"1\"]}", "three expressions"},
        {"launch", "{\"block\":[\"2048\",\"1\",\"1\"],\"grid\":[\"1\",\"1\",\"1\"]}", "2048"},
        {"launch", "{\"block\":[\"64\",\"64\",\"1\"],\"grid\":[\"1\",\"1\",\"1\"]}",
         "4096 threads"},
        {"launch", "{\"block\":[\"64\",\"1\",\"1\"],\"grid\":[\"0\",\"1\",\"1\"]}", "= 0"},
        {"launch", "{\"block\":[\"64\",\"1\",\"1\"],\"grid\":[\"1.5\",\"1\",\"1\"]}", "= 1.5"},
        {"launch", "{\"block\":[\"64\",\"1\",\"1\"],\"grid\":[\"'x'\",\"1\",\"1\"]}",
         "not a number"},
        {"launch", "{\"block\":[\"64\",\"1\",\"1\"],\"grid\":[\"NULL\",\"1\",\"1\"]}", "integer"},
        {"arguments", "[{\"name\":\"x\"}]", "has no type"},
        {"arguments", "[{\"type\":\"ptr\"}]", "\"name\" is missing"},
        {"arguments", "[{\"name\":\"x\",\"type\":\"i8\"}]", "has no type"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_change(cases[i].key, cases[i].value, cases[i].says);
}

/* Cut anywhere, a space.json is no JSON; with any byte changed it is refused or another good one. */
static void test_damaged_files_are_refused(void **state)
{
    str text = {0};
    moesaic_text err;
    (void)state;
    assert_status(MOESAIC_OK, file_read(SCALE "/space.json", 1 << 20, &text, &err), &err);
    for (size_t n = 0; n + 2 < text.n; n += 13) {
        char last = text.s[n];
        text.s[n] = 0;
        assert_status(MOESAIC_E_INPUT, try_text(text.s, &err), &err);
        text.s[n] = last;
    }
    for (size_t n = 0; n < text.n; n += 7) {
        char was = text.s[n];
        text.s[n] = '\x7f';
        moesaic_status status = try_text(text.s, &err);
        assert_true(status == MOESAIC_OK || status == MOESAIC_E_INPUT ||
                    status == MOESAIC_E_IO); /* the template's name changed */
        text.s[n] = was;
    }
    str_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_small_family_is_good_as_it_is),
        cmocka_unit_test(test_expressions_read_columns_and_compute),
        cmocka_unit_test(test_long_and_deep_expressions_are_refused),
        cmocka_unit_test(test_chains_of_columns_do_not_grow_exponentially),
        cmocka_unit_test(test_steps_and_memory_are_limited),
        cmocka_unit_test(test_too_many_configurations_are_refused),
        cmocka_unit_test(test_nothing_legal_is_not_found),
        cmocka_unit_test(test_members_are_checked),
        cmocka_unit_test(test_damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, use_own_templates, NULL);
}
