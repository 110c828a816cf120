/* tests/db/test_open.c: opening files in every state that they may be in.    SPDX-License-Identifier: MIT */
#include "tests/db/support.h"

#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path_of(void **state)
{
    return in_folder(state, "a.db");
}

/* A file with one winner and one trial that failed. */
static void make_filled(const char *path)
{
    fixture f;
    moesaic_text err;
    int64_t id;
    fixture_open(&f, path);
    add_result(&f, 0, DB_TRIAL_OK, 20);
    add_result(&f, 1, DB_TRIAL_WRONG, 10);
    assert_status(MOESAIC_OK,
                  db_winner_choose(f.database, f.problem_id, f.device_id, f.template_id, &id, &err),
                  &err);
    fixture_close(&f);
}

static bool count_one(const db_trial_row *row, const db_device *device, void *user)
{
    int *n = user;
    (void)row, (void)device;
    ++*n;
    return true;
}

static moesaic_status count_winners(db *database, int *n, moesaic_text *err)
{
    *n = 0;
    return db_winners(database, NULL, NULL, count_one, n, err);
}

static void refused(const char *path, db_mode mode, moesaic_status want, const char *says)
{
    db *database;
    moesaic_text err;
    assert_status(want, db_open(path, mode, &database, &err), &err);
    assert_null(database);
    if (!strstr(err.s, says))
        print_error("\"%s\" is not in \"%s\"\n", says, err.s);
    assert_non_null(strstr(err.s, says));
    assert_non_null(strstr(err.s, path));
}

static int n_files(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void hash_file(const char *path, hash_hex *out)
{
    str bytes = {0};
    moesaic_text err;
    assert_status(MOESAIC_OK, file_read(path, 1 << 24, &bytes, &err), &err);
    assert_status(MOESAIC_OK, hash_sha256(str_text(&bytes), bytes.n, out, &err), &err);
    str_free(&bytes);
}

static void test_reading_a_missing_file_makes_none(void **state)
{
    refused(path_of(state), DB_READ, MOESAIC_E_IO, "moesaic tune");
    assert_int_equal(0, n_files(*state));
    refused(in_folder(state, "no/such/folder.db"), DB_WRITE, MOESAIC_E_IO, "check path");
}

static void test_a_closed_database_is_one_file(void **state)
{
    make_filled(path_of(state));
    assert_int_equal(1, n_files(*state));
    db *database = open_or_fail(path_of(state), DB_READ);
    int n;
    moesaic_text err;
    assert_status(MOESAIC_OK, count_winners(database, &n, &err), &err);
    assert_int_equal(1, n);
    assert_string_equal(path_of(state), db_path(database));
    db_close(database);
    assert_int_equal(1, n_files(*state));
}

static void test_names_with_special_characters(void **state)
{
    const char *path = in_folder(state, "a?mode=ro#b%41 c.db");
    make_filled(path);
    assert_int_equal(0, access(path, F_OK));
    assert_int_equal(1, n_files(*state));
}

static void test_a_reader_does_not_wait_for_a_writer(void **state)
{
    moesaic_text err;
    int n;
    make_filled(path_of(state));
    db *writer = open_or_fail(path_of(state), DB_WRITE);
    assert_status(MOESAIC_OK, db_begin(writer, &err), &err);
    assert_status(MOESAIC_OK, db_run(writer, NULL, &err, "DELETE FROM winner", ""), &err);
    db *reader = open_or_fail(path_of(state), DB_READ);
    sqlite3_busy_timeout(reader->sql, 0); /* waiting would be an error now */
    assert_status(MOESAIC_OK, count_winners(reader, &n, &err), &err);
    assert_int_equal(1, n);
    assert_status(MOESAIC_OK, db_finish(writer, MOESAIC_OK, &err), &err);
    assert_status(MOESAIC_OK, count_winners(reader, &n, &err), &err);
    assert_int_equal(0, n);
    db_close(reader);
    db_close(writer);
}

static void test_reading_refuses_to_write(void **state)
{
    moesaic_text err;
    int64_t id;
    make_filled(path_of(state));
    db *database = open_or_fail(path_of(state), DB_READ);
    assert_status(MOESAIC_E_IO, db_problem_put(database, "a", "b", "{}", &id, &err), &err);
    assert_non_null(strstr(err.s, "read-only"));
    db_close(database);
}

/* --- as a user who may only read --- */

static int read_all(void *path)
{
    db *database;
    moesaic_text err;
    int n;
    if (db_open(path, DB_READ, &database, &err) != MOESAIC_OK)
        return 1;
    bool good = count_winners(database, &n, &err) == MOESAIC_OK && n == 1;
    db_close(database);
    return good ? 0 : 2;
}

static int write_must_fail(void *path)
{
    db *database;
    moesaic_text err;
    moesaic_status status = db_open(path, DB_WRITE, &database, &err);
    db_close(database);
    return status == MOESAIC_E_IO && strstr(err.s, "--db") ? 0 : 1;
}

static void test_a_read_only_file_is_read_and_left_alone(void **state)
{
    char path[256];
    hash_hex before, after;
    strcpy(path, path_of(state));
    make_filled(path);
    hash_file(path, &before);
    assert_int_equal(0, chmod(path, 0444) | chmod(*state, 0555));
    assert_int_equal(0, in_child(read_all, path, true));
    assert_int_equal(0, in_child(write_must_fail, path, true));
    hash_file(path, &after);
    assert_string_equal(before.s, after.s);
    assert_int_equal(1, n_files(*state));
}

/* A writer that was killed leaves its WAL; a read-only folder allows no recovery, and stale data is no answer. */
static int leave_journal(void *path)
{
    fixture f;
    fixture_open(&f, path);
    add_result(&f, 0, DB_TRIAL_OK, 5);
    _exit(0);
}

static int read_must_fail(void *path)
{
    db *database;
    moesaic_text err;
    moesaic_status status = db_open(path, DB_READ, &database, &err);
    db_close(database);
    return status == MOESAIC_E_IO && strstr(err.s, "was not closed") ? 0 : 1;
}

static void test_an_unclosed_file_in_a_read_only_folder_is_refused(void **state)
{
    char path[256];
    strcpy(path, path_of(state));
    assert_int_equal(0, in_child(leave_journal, path, false));
    assert_true(n_files(*state) > 1);
    unlink(in_folder(state, "a.db-shm"));
    assert_int_equal(0, chmod(path, 0444) | chmod(in_folder(state, "a.db-wal"), 0444) |
                            chmod(*state, 0555));
    assert_int_equal(0, in_child(read_must_fail, path, true));
}

/* --- files that are none of ours --- */

static void write_text(const char *path, const char *text)
{
    moesaic_text err;
    assert_status(MOESAIC_OK, file_replace(path, text, strlen(text), &err), &err);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *handle;
    assert_int_equal(SQLITE_OK, sqlite3_open(path, &handle));
    assert_int_equal(SQLITE_OK, sqlite3_exec(handle, sql, NULL, NULL, NULL));
    assert_int_equal(SQLITE_OK, sqlite3_close(handle));
}

static void refused_untouched(const char *path, moesaic_status want, const char *says)
{
    hash_hex before, after;
    hash_file(path, &before);
    refused(path, DB_READ, want, says);
    refused(path, DB_WRITE, want, says);
    hash_file(path, &after);
    assert_string_equal(before.s, after.s);
}

static void test_other_files_are_refused_and_left_alone(void **state)
{
    char path[256];
    strcpy(path, path_of(state));
    write_text(
        path,
        "this is a letter and no database, although it is long enough to have a header of its own: "
        "one hundred bytes are needed for that, and more than that are here.");
    refused_untouched(path, MOESAIC_E_SCHEMA, "not a SQLite database");
    unlink(path);
    run_sql(path, "PRAGMA application_id = 7; CREATE TABLE music(title)");
    refused_untouched(path, MOESAIC_E_SCHEMA, "another program");
    unlink(path);
    run_sql(path, "CREATE TABLE music(title)");
    refused_untouched(path, MOESAIC_E_SCHEMA, "not a Moesaic database");
    unlink(path);
    write_text(path, "");
    refused(path, DB_READ, MOESAIC_E_SCHEMA, "it is empty");
}

static void test_an_empty_file_becomes_a_database(void **state)
{
    write_text(path_of(state), "");
    make_filled(path_of(state));
}

/* --- schemas of other versions --- */

static void test_a_newer_minor_schema_is_read_only(void **state)
{
    char path[256];
    hash_hex before, after;
    strcpy(path, path_of(state));
    make_filled(path);
    run_sql(path, "PRAGMA user_version = 1009; ALTER TABLE trial ADD COLUMN novelty TEXT;"
                  " CREATE TABLE novelty(x)");
    hash_file(path, &before);
    assert_int_equal(0, read_all(path));
    refused(path, DB_WRITE, MOESAIC_E_SCHEMA, "newer Moesaic");
    hash_file(path, &after);
    assert_string_equal(before.s, after.s);
}

static void test_a_newer_major_schema_is_refused(void **state)
{
    char path[256];
    strcpy(path, path_of(state));
    make_filled(path);
    run_sql(path, "PRAGMA user_version = 2000");
    refused_untouched(path, MOESAIC_E_SCHEMA, "schema 2.0");
    run_sql(path, "PRAGMA user_version = 3");
    refused_untouched(path, MOESAIC_E_DB, "version 3");
}

/* --- damage --- */

/* Everything that reads; the answers may be anything, the process must live. */
static void read_everything(const char *path)
{
    db *database;
    moesaic_text err;
    cJSON *json;
    str elf = {0};
    int n;
    if (db_open(path, DB_READ, &database, &err) != MOESAIC_OK)
        return;
    count_winners(database, &n, &err);
    if (db_stat(database, &json, &err) == MOESAIC_OK)
        cJSON_Delete(json);
    for (int64_t id = 1; id <= 2; id++) {
        if (db_trial_show(database, id, &json, &err) == MOESAIC_OK)
            cJSON_Delete(json);
        db_code_object_get(database, id, &elf, &err);
    }
    str_free(&elf);
    db_close(database);
}

static void test_a_truncated_file_is_an_error(void **state)
{
    char path[256];
    struct stat st;
    strcpy(path, path_of(state));
    make_filled(path);
    assert_int_equal(0, stat(path, &st));
    for (off_t n = st.st_size - 4096; n > 0; n -= 4096) {
        assert_int_equal(0, truncate(path, n - 1000));
        db *database;
        moesaic_text err;
        cJSON *stat_json = NULL;
        moesaic_status status = db_open(path, DB_READ, &database, &err);
        if (status == MOESAIC_OK)
            status = db_stat(database, &stat_json, &err);
        assert_true(status == MOESAIC_E_DB || status == MOESAIC_E_SCHEMA);
        cJSON_Delete(stat_json);
        db_close(database);
        read_everything(path);
    }
}

static void test_damaged_bytes_crash_nothing(void **state)
{
    enum { N_FILES = 150, N_BYTES = 12 };
    str good = {0};
    moesaic_text err;
    uint64_t seed = 3;
    char path[256];
    strcpy(path, path_of(state));
    make_filled(path);
    assert_status(MOESAIC_OK, file_read(path, 1 << 24, &good, &err), &err);
    for (int i = 0; i < N_FILES; i++) {
        str bad = {0};
        str_add_bytes(&bad, good.s, good.n);
        for (int j = 0; j < N_BYTES; j++) {
            size_t n_range = j % 2 ? bad.n : 4096; /* half of them in the header and the schema */
            bad.s[100 + hash_next(&seed) % (n_range - 100)] = (char)hash_next(&seed);
        }
        assert_status(MOESAIC_OK, file_replace(path, bad.s, bad.n, &err), &err);
        read_everything(path);
        str_free(&bad);
    }
    str_free(&good);
}

/* What a hostile file holds must not run: neither triggers nor views in place of tables. */
static void test_triggers_and_views_do_not_run(void **state)
{
    char path[256];
    moesaic_text err;
    int64_t n;
    strcpy(path, path_of(state));
    make_filled(path);
    run_sql(path, "CREATE TRIGGER evil AFTER INSERT ON problem BEGIN DELETE FROM winner; END");
    db *database = open_or_fail(path, DB_WRITE);
    assert_status(MOESAIC_OK, db_problem_put(database, "a", "b", "{}", &n, &err), &err);
    assert_status(MOESAIC_OK, db_get_int(database, &n, &err, "SELECT count(*) FROM winner", ""),
                  &err);
    assert_int_equal(1, n);
    db_close(database);
    run_sql(path, "PRAGMA foreign_keys = OFF; DROP TABLE winner;"
                  " CREATE VIEW winner AS SELECT 1 AS problem_id, 1 AS device_id, 2 AS trial_id");
    int n_winners;
    database = open_or_fail(path, DB_READ);
    assert_int_not_equal(MOESAIC_OK, count_winners(database, &n_winners, &err));
    db_close(database);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_reading_a_missing_file_makes_none),
        TEST(test_a_closed_database_is_one_file),
        TEST(test_names_with_special_characters),
        TEST(test_a_reader_does_not_wait_for_a_writer),
        TEST(test_reading_refuses_to_write),
        TEST(test_a_read_only_file_is_read_and_left_alone),
        TEST(test_an_unclosed_file_in_a_read_only_folder_is_refused),
        TEST(test_other_files_are_refused_and_left_alone),
        TEST(test_an_empty_file_becomes_a_database),
        TEST(test_a_newer_minor_schema_is_read_only),
        TEST(test_a_newer_major_schema_is_refused),
        TEST(test_a_truncated_file_is_an_error),
        TEST(test_damaged_bytes_crash_nothing),
        TEST(test_triggers_and_views_do_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
