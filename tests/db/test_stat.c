/* tests/db/test_stat.c: counting, showing and collecting what a file holds.    SPDX-License-Identifier: MIT */
#include "tests/db/support.h"

#include <math.h>
#include <string.h>

static const cJSON *at(const cJSON *object, const char *first, const char *second)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(object, first);
    assert_non_null(m);
    m = second ? cJSON_GetObjectItemCaseSensitive(m, second) : m;
    assert_non_null(m);
    return m;
}

/* Two results, and rows that no trial refers to: two configurations. */
static void make_filled(fixture *f, const char *path)
{
    moesaic_text err;
    int64_t id;
    fixture_open(f, path);
    add_result(f, 0, DB_TRIAL_OK, 20);
    add_result(f, 1, DB_TRIAL_WRONG, NAN);
    assert_status(
        MOESAIC_OK,
        db_winner_choose(f->database, f->problem_id, f->device_id, f->template_id, &id, &err),
        &err);
}

static void test_everything_is_counted(void **state)
{
    fixture f;
    cJSON *stat;
    moesaic_text err;
    make_filled(&f, in_folder(state, "a.db"));
    assert_status(MOESAIC_OK, db_stat(f.database, &stat, &err), &err);
    assert_int_equal(1, at(stat, "problems", NULL)->valueint);
    assert_int_equal(4, at(stat, "configs", NULL)->valueint);
    assert_int_equal(1, at(stat, "devices", NULL)->valueint);
    assert_int_equal(1, at(stat, "runs", NULL)->valueint);
    assert_int_equal(1, at(stat, "winners", NULL)->valueint);
    assert_int_equal(1, at(stat, "code_objects", NULL)->valueint);
    assert_int_equal(1, at(stat, "trials", "ok")->valueint);
    assert_int_equal(1, at(stat, "trials", "wrong")->valueint);
    assert_int_equal(0, at(stat, "trials", "race")->valueint);
    assert_string_equal("1.0", at(stat, "schema", NULL)->valuestring);
    assert_true(at(stat, "bytes", NULL)->valuedouble >= 4096);
    assert_true(at(stat, "code_object_bytes", NULL)->valuedouble > 0);
    cJSON_Delete(stat);
    fixture_close(&f);
}

static void test_a_trial_is_shown_with_all_that_it_refers_to(void **state)
{
    fixture f;
    cJSON *shown;
    moesaic_text err;
    make_filled(&f, in_folder(state, "a.db"));
    assert_status(MOESAIC_OK, db_trial_show(f.database, 1, &shown, &err), &err);
    assert_string_equal("ok", at(shown, "trial", "status")->valuestring);
    assert_true(at(shown, "trial", "time_us")->valuedouble == 20);
    assert_true(cJSON_IsNull(at(shown, "trial", "spread_pct")));
    assert_int_equal(16, at(at(shown, "config", "key"), "tile_m", NULL)->valueint);
    assert_int_equal(512, at(at(shown, "problem", "key"), "tokens", NULL)->valueint);
    assert_string_equal("moe_gemm", at(shown, "template", "family")->valuestring);
    assert_int_equal(304, at(shown, "device", "cu_count")->valueint);
    assert_int_equal(128, at(shown, "code_object", "vgpr")->valueint);
    assert_true(cJSON_IsNumber(at(shown, "code_object", "blob")));
    assert_string_equal("tune", at(shown, "run", "command")->valuestring);
    assert_int_equal(1, at(shown, "winner", "trial_id")->valueint);
    cJSON_Delete(shown);
    assert_status(MOESAIC_OK, db_trial_show(f.database, 2, &shown, &err), &err);
    assert_true(cJSON_IsNull(at(shown, "winner", NULL)));
    cJSON_Delete(shown);
    assert_status(MOESAIC_E_NOTFOUND, db_trial_show(f.database, 3, &shown, &err), &err);
    assert_non_null(strstr(err.s, "no trial 3"));
    fixture_close(&f);
}

static void test_an_infinite_error_is_shown(void **state)
{
    fixture f;
    cJSON *shown;
    moesaic_text err;
    make_filled(&f, in_folder(state, "a.db"));
    db_trial_result r = result_of(DB_TRIAL_WRONG, NAN);
    r.max_error = INFINITY;
    assert_status(MOESAIC_OK, db_trial_end(f.database, 2, &r, &err), &err);
    assert_status(MOESAIC_OK, db_trial_show(f.database, 2, &shown, &err), &err);
    assert_string_equal("inf", at(shown, "trial", "max_error")->valuestring);
    assert_true(cJSON_IsNull(at(shown, "code_object", NULL)));
    cJSON_Delete(shown);
    fixture_close(&f);
}

static void test_collecting_removes_what_no_trial_refers_to(void **state)
{
    fixture f;
    moesaic_text err;
    int64_t n, id;
    make_filled(&f, in_folder(state, "a.db"));
    assert_status(MOESAIC_OK, db_problem_put(f.database, "a", "b", "{}", &id, &err), &err);
    assert_status(MOESAIC_OK, db_collect(f.database, &n, &err), &err);
    assert_int_equal(3, n); /* a problem and two configurations */
    assert_status(MOESAIC_OK, db_collect(f.database, &n, &err), &err);
    assert_int_equal(0, n);
    assert_status(MOESAIC_OK, db_get_int(f.database, &n, &err, "SELECT count(*) FROM trial", ""),
                  &err);
    assert_int_equal(2, n);
    fixture_close(&f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_everything_is_counted),
        TEST(test_a_trial_is_shown_with_all_that_it_refers_to),
        TEST(test_an_infinite_error_is_shown),
        TEST(test_collecting_removes_what_no_trial_refers_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
