/* tests/db/test_schema.c: migration of older schemas, on a copy, by made-up steps.    SPDX-License-Identifier: MIT */
#include "tests/db/support.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST                                                                                      \
    {                                                                                              \
        1000, NULL                                                                                 \
    } /* what the file has: its SQL must not run */
static const schema_step good_steps[] = {
    FIRST,
    {1001, "ALTER TABLE run ADD COLUMN note TEXT"},
    {1002, "CREATE TABLE extra(x TEXT) STRICT"},
};
static const schema_step rebuilding_steps[] = {
    FIRST,
    {1001,
     "CREATE TABLE meta2(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
     "INSERT INTO meta2 SELECT * FROM meta; DROP TABLE meta; ALTER TABLE meta2 RENAME TO meta"},
};
static const schema_step failing_steps[] = {
    FIRST, {1001, "ALTER TABLE run ADD COLUMN note TEXT"}, {1002, "CREATE TABLE run(x)"}};
static const schema_step damaging_steps[] = {FIRST, {1001, "DELETE FROM config"}};
#define STEPS(list) list, sizeof(list) / sizeof(list)[0]

static int64_t get(const char *path, const char *sql)
{
    db connection;
    int64_t value;
    moesaic_text err;
    assert_status(MOESAIC_OK, db_connect(path, SQLITE_OPEN_READONLY, NULL, &connection, &err),
                  &err);
    assert_status(MOESAIC_OK, db_get_int(&connection, &value, &err, sql, ""), &err);
    db_disconnect(&connection);
    return value;
}

static const char *make_file(void **state)
{
    static char path[256];
    fixture f;
    strcpy(path, in_folder(state, "a.db"));
    fixture_open(&f, path);
    add_result(&f, 0, DB_TRIAL_OK, 20);
    fixture_close(&f);
    return path;
}

static void test_steps_are_applied_in_order_and_data_is_kept(void **state)
{
    const char *path = make_file(state);
    moesaic_text err;
    struct stat st;
    assert_int_equal(0, chmod(path, 0640));
    assert_status(MOESAIC_OK, schema_migrate(path, STEPS(good_steps), &err), &err);
    assert_int_equal(1002, get(path, "PRAGMA user_version"));
    assert_int_equal(DB_APPLICATION_ID, get(path, "PRAGMA application_id"));
    assert_int_equal(1, get(path, "SELECT count(*) FROM trial WHERE time_us = 20"));
    assert_int_equal(1, get(path, "SELECT count(*) FROM run WHERE note IS NULL"));
    assert_int_equal(0, stat(path, &st));
    assert_int_equal(0640, st.st_mode & 0777);
    assert_false(file_exists(in_folder(state, "a.db.migrating")));
    /* A second time there is nothing to do. */
    assert_status(MOESAIC_OK, schema_migrate(path, STEPS(good_steps), &err), &err);
}

static void test_a_step_may_rebuild_a_table(void **state)
{
    const char *path = make_file(state);
    moesaic_text err;
    assert_status(MOESAIC_OK, schema_migrate(path, STEPS(rebuilding_steps), &err), &err);
    assert_int_equal(1001, get(path, "PRAGMA user_version"));
}

static void check_left_alone(const char *path, const schema_step *steps, size_t n_steps)
{
    moesaic_text err;
    moesaic_status status = schema_migrate(path, steps, n_steps, &err);
    assert_true(status == MOESAIC_E_DB);
    assert_int_equal(1000, get(path, "PRAGMA user_version"));
    assert_int_equal(4, get(path, "SELECT count(*) FROM config"));
    assert_int_equal(
        0, get(path, "SELECT count(*) FROM pragma_table_info('run') WHERE name = 'note'"));
}

static void test_a_failing_migration_leaves_the_old_file(void **state)
{
    const char *path = make_file(state);
    check_left_alone(path, STEPS(failing_steps));
    check_left_alone(path, STEPS(damaging_steps)); /* the trial's configuration is gone */
    assert_false(file_exists(in_folder(state, "a.db.migrating")));
}

static void test_what_a_killed_migration_left_is_in_nobodys_way(void **state)
{
    const char *path = make_file(state);
    moesaic_text err;
    assert_status(MOESAIC_OK, file_replace(in_folder(state, "a.db.migrating"), "half", 4, &err),
                  &err);
    assert_status(MOESAIC_OK, schema_migrate(path, STEPS(good_steps), &err), &err);
    assert_int_equal(1002, get(path, "PRAGMA user_version"));
}

static void test_the_schema_is_the_documented_one(void **state)
{
    static const char *const columns[] = {
        "device(id, kind, target, pci_device_id, cu_count, partition, memory_bytes, driver, "
        "hip_version,"
        " compiler, model_version)",
        "problem(id, family, pass, key)",
        "template(id, family, hash)",
        "config(id, template_id, key)",
        "code_object(id, hash, blob, target, compiler, launch_abi, vgpr, agpr, sgpr, lds_bytes, "
        "scratch_bytes)",
        "trial(id, run_id, problem_id, config_id, device_id, code_object_id, status, time_us, "
        "time_kind,"
        " model_version, spread_pct, max_error, error_bound, reason, started_at, ended_at)",
        "winner(problem_id, device_id, trial_id)",
    };
    const char *path = make_file(state);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        char sql[512];
        size_t n_name = strcspn(columns[i], "(");
        snprintf(sql, sizeof sql, "SELECT count(*) FROM (SELECT %.*s FROM %.*s)",
                 (int)(strlen(columns[i]) - n_name - 2), columns[i] + n_name + 1, (int)n_name,
                 columns[i]);
        get(path, sql);
    }
    assert_int_equal(
        0, get(path, "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND NOT strict"
                     " AND name NOT LIKE 'sqlite_%'"));
    assert_int_equal(DB_SCHEMA_MAJOR * 1000 + DB_SCHEMA_MINOR, get(path, "PRAGMA user_version"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_steps_are_applied_in_order_and_data_is_kept),
        TEST(test_a_step_may_rebuild_a_table),
        TEST(test_a_failing_migration_leaves_the_old_file),
        TEST(test_what_a_killed_migration_left_is_in_nobodys_way),
        TEST(test_the_schema_is_the_documented_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
