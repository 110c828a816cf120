/* tests/db/test_trial.c: trials are stated before they are launched, and survive the death of their process.
 * SPDX-License-Identifier: MIT
 */
#include "tests/db/support.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct begun {
    int64_t trial_id, deaths;
    bool known;
} begun;

static begun begin(fixture *f, int64_t run_id, int config, bool retune)
{
    begun b;
    moesaic_text err;
    moesaic_status status =
        db_trial_begin(f->database, run_id, f->problem_id, f->config_ids[config], f->device_id,
                       retune, &b.trial_id, &b.known, &b.deaths, &err);
    assert_status(MOESAIC_OK, status, &err);
    return b;
}

static int64_t new_run(fixture *f)
{
    moesaic_text err;
    int64_t run_id;
    assert_status(MOESAIC_OK, db_run_begin(f->database, "tune", "{}", &run_id, &err), &err);
    return run_id;
}

static void test_begin_states_a_running_trial(void **state)
{
    fixture f;
    moesaic_text err;
    db_trial_row row;
    fixture_open(&f, in_folder(state, "a.db"));
    begun b = begin(&f, f.run_id, 0, false);
    assert_false(b.known);
    assert_int_equal(0, b.deaths);
    assert_status(MOESAIC_OK, db_trial_get(f.database, b.trial_id, &row, &err), &err);
    assert_int_equal(DB_TRIAL_RUNNING, row.status);
    assert_true(row.in_flight);
    assert_true(isnan(row.time_us));
    assert_string_equal("moe_gemm", row.family);
    assert_string_equal("{\"tile_m\":16}", row.config);
    db_row_free(&row);
    fixture_close(&f);
}

static void test_end_stores_every_field(void **state)
{
    fixture f;
    moesaic_text err;
    db_trial_row row;
    fixture_open(&f, in_folder(state, "a.db"));
    begun b = begin(&f, f.run_id, 1, false);
    db_trial_result r = {.status = DB_TRIAL_WRONG,
                         .code_object_id = f.code_object_id,
                         .time_us = NAN,
                         .spread_pct = 1.5,
                         .max_error = INFINITY,
                         .error_bound = 0.25,
                         .time_kind = "modelled",
                         .model_version = "0",
                         .reason = "element 3",
                         .launch = "{\"kernels\":[]}",
                         .verified = false};
    assert_status(MOESAIC_OK, db_trial_end(f.database, b.trial_id, &r, &err), &err);
    assert_status(MOESAIC_OK, db_trial_get(f.database, b.trial_id, &row, &err), &err);
    assert_int_equal(DB_TRIAL_WRONG, row.status);
    assert_false(row.in_flight);
    assert_true(isnan(row.time_us));
    assert_true(row.spread_pct == 1.5 && isinf(row.max_error) && row.error_bound == 0.25);
    assert_string_equal("element 3", row.reason);
    assert_string_equal("modelled", row.time_kind);
    assert_string_equal("{\"kernels\":[]}", row.launch);
    assert_string_equal("abc", row.template_hash);
    assert_string_equal("1", row.launch_abi);
    assert_int_equal(f.code_object_id, row.code_object_id);
    db_row_free(&row);
    fixture_close(&f);
}

static void test_an_ok_without_time_is_refused(void **state)
{
    fixture f;
    moesaic_text err;
    fixture_open(&f, in_folder(state, "a.db"));
    begun b = begin(&f, f.run_id, 0, false);
    const double bad[] = {0, -1, NAN};
    for (int i = 0; i < 3; i++) {
        db_trial_result r = result_of(DB_TRIAL_OK, bad[i]);
        assert_status(MOESAIC_E_INPUT, db_trial_end(f.database, b.trial_id, &r, &err), &err);
    }
    fixture_close(&f);
}

static void test_end_of_an_unknown_trial_is_not_found(void **state)
{
    fixture f;
    moesaic_text err;
    fixture_open(&f, in_folder(state, "a.db"));
    db_trial_result r = result_of(DB_TRIAL_OK, 1);
    assert_status(MOESAIC_E_NOTFOUND, db_trial_end(f.database, 77, &r, &err), &err);
    fixture_close(&f);
}

static void test_a_finished_trial_is_known_unless_retuned(void **state)
{
    fixture f;
    moesaic_text err;
    db_trial_row row;
    fixture_open(&f, in_folder(state, "a.db"));
    int64_t id = add_result(&f, 0, DB_TRIAL_OK, 12.5);
    begun b = begin(&f, new_run(&f), 0, false);
    assert_true(b.known);
    assert_int_equal(id, b.trial_id);
    b = begin(&f, new_run(&f), 0, true);
    assert_false(b.known);
    assert_int_equal(id, b.trial_id);
    assert_status(MOESAIC_OK, db_trial_get(f.database, id, &row, &err), &err);
    assert_true(row.in_flight && row.time_us == 12.5 && row.status == DB_TRIAL_OK);
    db_row_free(&row);
    fixture_close(&f);
}

static void test_a_living_process_keeps_its_trial(void **state)
{
    fixture f;
    fixture_open(&f, in_folder(state, "a.db"));
    begin(&f, f.run_id, 0, false);
    begun b = begin(&f, new_run(&f), 0, false);
    assert_true(b.known);
    assert_int_equal(0, b.deaths);
    b = begin(&f, f.run_id, 0, false);
    assert_false(b.known); /* its own run may start it again */
    fixture_close(&f);
}

/* A child that states a trial and is killed before it ends. */
static int die_in_flight(void *path)
{
    fixture f;
    fixture_open(&f, path);
    begun b = begin(&f, f.run_id, 2, false);
    if (b.known)
        return 1;
    kill(getpid(), SIGKILL);
    return 2;
}

static void test_deaths_of_processes_are_counted(void **state)
{
    char path[256];
    strcpy(path, in_folder(state, "a.db"));
    assert_int_equal(128 + SIGKILL, in_child(die_in_flight, path, false));
    assert_int_equal(128 + SIGKILL, in_child(die_in_flight, path, false));
    fixture f;
    fixture_open(&f, path);
    begun b = begin(&f, f.run_id, 2, false);
    assert_false(b.known);
    assert_int_equal(2, b.deaths);
    fixture_close(&f);
}

static void test_process_identity(void **state)
{
    (void)state;
    process_identity self;
    process_self(&self);
    assert_true(process_lives(&self));
    process_identity other = self;
    other.start++; /* the pid was reused */
    assert_false(process_lives(&other));
    other = self;
    other.boot_id[0] ^= 1; /* before the last reboot */
    assert_false(process_lives(&other));
    other = self;
    other.pid = 0x7ffffff0;
    assert_false(process_lives(&other));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_begin_states_a_running_trial),
        TEST(test_end_stores_every_field),
        TEST(test_an_ok_without_time_is_refused),
        TEST(test_end_of_an_unknown_trial_is_not_found),
        TEST(test_a_finished_trial_is_known_unless_retuned),
        TEST(test_a_living_process_keeps_its_trial),
        TEST(test_deaths_of_processes_are_counted),
        TEST(test_process_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
