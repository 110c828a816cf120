/* tests/db/test_winner.c: only the best verified trial wins.    SPDX-License-Identifier: MIT */
#include "tests/db/support.h"

#include <math.h>
#include <string.h>

static int64_t choose(fixture *f)
{
    moesaic_text err;
    int64_t id;
    moesaic_status status =
        db_winner_choose(f->database, f->problem_id, f->device_id, f->template_id, &id, &err);
    assert_status(MOESAIC_OK, status, &err);
    return id;
}

/* End config i's trial with a result that is not eligible. */
static void add_ineligible(fixture *f, int i, db_trial_result result)
{
    moesaic_text err;
    int64_t id, deaths;
    bool known;
    assert_status(MOESAIC_OK,
                  db_trial_begin(f->database, f->run_id, f->problem_id, f->config_ids[i],
                                 f->device_id, false, &id, &known, &deaths, &err),
                  &err);
    assert_status(MOESAIC_OK, db_trial_end(f->database, id, &result, &err), &err);
}

static void test_the_fastest_verified_trial_wins(void **state)
{
    fixture f;
    fixture_open(&f, in_folder(state, "a.db"));
    add_result(&f, 0, DB_TRIAL_OK, 20);
    int64_t best = add_result(&f, 1, DB_TRIAL_OK, 10);
    add_result(&f, 2, DB_TRIAL_OK, 30);
    assert_int_equal(best, choose(&f));
    fixture_close(&f);
}

static void test_unverified_untrusted_and_failed_trials_never_win(void **state)
{
    fixture f;
    moesaic_text err;
    int64_t id;
    fixture_open(&f, in_folder(state, "a.db"));
    db_trial_result unverified = result_of(DB_TRIAL_OK, 1);
    unverified.verified_full = false;
    add_ineligible(&f, 0, unverified);
    db_trial_result untrusted = result_of(DB_TRIAL_OK, 1);
    untrusted.time_kind = "untrusted";
    add_ineligible(&f, 1, untrusted);
    add_ineligible(&f, 2, result_of(DB_TRIAL_RACE, 1));
    moesaic_status status =
        db_winner_choose(f.database, f.problem_id, f.device_id, f.template_id, &id, &err);
    assert_status(MOESAIC_E_NOTFOUND, status, &err);
    int64_t slow = add_result(&f, 3, DB_TRIAL_OK, 1000);
    assert_int_equal(slow, choose(&f));
    fixture_close(&f);
}

static void test_a_winner_that_fails_anew_is_a_winner_no_more(void **state)
{
    fixture f;
    moesaic_text err;
    db_trial_row row;
    bool known;
    int64_t id, deaths;
    fixture_open(&f, in_folder(state, "a.db"));
    add_result(&f, 0, DB_TRIAL_OK, 10);
    choose(&f);
    assert_status(MOESAIC_OK,
                  db_trial_begin(f.database, f.run_id, f.problem_id, f.config_ids[0], f.device_id,
                                 true, &id, &known, &deaths, &err),
                  &err);
    /* while it is measured anew the old result still serves */
    assert_status(MOESAIC_OK, db_winner_get(f.database, f.problem_id, f.device_id, &row, &err),
                  &err);
    db_row_free(&row);
    db_trial_result wrong = result_of(DB_TRIAL_WRONG, 5);
    assert_status(MOESAIC_OK, db_trial_end(f.database, id, &wrong, &err), &err);
    moesaic_status status = db_winner_get(f.database, f.problem_id, f.device_id, &row, &err);
    assert_status(MOESAIC_E_NOTFOUND, status, &err);
    fixture_close(&f);
}

static bool count_trial(const db_trial_row *row, void *user)
{
    double *last = user;
    assert_true(isnan(row->time_us) || row->time_us >= *last);
    *last = row->time_us;
    return true;
}

static bool stop_at_once(const db_trial_row *row, void *user)
{
    (void)row;
    return ++*(int *)user < 1;
}

static void test_trials_come_best_first_and_a_visit_may_stop(void **state)
{
    fixture f;
    moesaic_text err;
    fixture_open(&f, in_folder(state, "a.db"));
    add_result(&f, 0, DB_TRIAL_OK, 20);
    add_result(&f, 1, DB_TRIAL_COMPILE_ERROR, NAN);
    add_result(&f, 2, DB_TRIAL_OK, 10);
    double last = 0;
    assert_status(
        MOESAIC_OK,
        db_trials(f.database, f.problem_id, f.device_id, f.template_id, count_trial, &last, &err),
        &err);
    assert_true(isnan(last)); /* the one without a time came last */
    int n = 0;
    assert_status(MOESAIC_OK, db_trials(f.database, f.problem_id, 0, 0, stop_at_once, &n, &err),
                  &err);
    assert_int_equal(1, n);
    fixture_close(&f);
}

static bool check_winner(const db_trial_row *row, const db_device *device, void *user)
{
    ++*(int *)user;
    assert_string_equal("gate_up", row->pass);
    assert_string_equal("{\"tile_m\":16}", row->config);
    assert_string_equal(fixture_device.kind, device->kind);
    assert_string_equal(fixture_device.target, device->target);
    assert_string_equal(fixture_device.partition, device->partition);
    assert_string_equal(fixture_device.hip_version, device->hip_version);
    assert_string_equal(fixture_device.compiler, device->compiler);
    assert_int_equal(fixture_device.pci_device_id, device->pci_device_id);
    assert_int_equal(fixture_device.cu_count, device->cu_count);
    assert_int_equal(fixture_device.memory_bytes, device->memory_bytes);
    return true;
}

static void test_winners_are_listed_with_their_device(void **state)
{
    fixture f;
    moesaic_text err;
    int n = 0;
    fixture_open(&f, in_folder(state, "a.db"));
    add_result(&f, 0, DB_TRIAL_OK, 20);
    choose(&f);
    assert_status(MOESAIC_OK, db_winners(f.database, NULL, NULL, check_winner, &n, &err), &err);
    assert_int_equal(1, n);
    assert_status(MOESAIC_OK, db_winners(f.database, "moe_gemm", "gate_up", check_winner, &n, &err),
                  &err);
    assert_int_equal(2, n);
    assert_status(MOESAIC_OK, db_winners(f.database, "moe_gemm", "down", check_winner, &n, &err),
                  &err);
    assert_int_equal(2, n);
    fixture_close(&f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_the_fastest_verified_trial_wins),
        TEST(test_unverified_untrusted_and_failed_trials_never_win),
        TEST(test_a_winner_that_fails_anew_is_a_winner_no_more),
        TEST(test_trials_come_best_first_and_a_visit_may_stop),
        TEST(test_winners_are_listed_with_their_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
