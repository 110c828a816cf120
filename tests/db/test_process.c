/* tests/db/test_process.c: several processes on one file, processes that are killed, disks that are full.
 *
 * What db_trial_end has said to be stored must be there whatever happens afterwards.    SPDX-License-Identifier: MIT
 */
#include "tests/db/support.h"

#include "base/hash.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t count(db *database, const char *sql)
{
    int64_t n;
    moesaic_text err;
    assert_status(MOESAIC_OK, db_get_int(database, &n, &err, sql, ""), &err);
    return n;
}

static void assert_intact(db *database)
{
    assert_int_equal(0, count(database, "SELECT count(*) FROM pragma_integrity_check"
                                        " WHERE integrity_check <> 'ok'"));
    assert_int_equal(0, count(database, "SELECT count(*) FROM pragma_foreign_key_check"));
}

/* Begin and end the trial of configuration i.  *mine: it was this process's turn. */
static moesaic_status tune_one(fixture *f, int i, bool *mine, moesaic_text *err)
{
    char key[32];
    int64_t config_id, trial_id, deaths;
    bool known = true;
    snprintf(key, sizeof key, "{\"i\":%d}", i);
    *mine = false;
    moesaic_status status = db_config_put(f->database, f->template_id, key, &config_id, err);
    if (status == MOESAIC_OK)
        status = db_trial_begin(f->database, f->run_id, f->problem_id, config_id, f->device_id,
                                false, &trial_id, &known, &deaths, err);
    if (status != MOESAIC_OK || known)
        return status;
    db_trial_result result = result_of(DB_TRIAL_OK, 1 + i);
    *mine = true;
    return db_trial_end(f->database, trial_id, &result, err);
}

/* --- two at once --- */

enum { N_SHARED = 60 };

typedef struct worker {
    const char *path;
    int start, to_parent[2];
} worker;

/* Tune all configurations that nobody else has, from an offset on; tell the parent which. */
static int share(void *argument)
{
    const worker *w = argument;
    fixture f;
    moesaic_text err;
    fixture_open(&f, w->path);
    for (int n = 0; n < N_SHARED; n++) {
        bool mine;
        char i = (char)((w->start + n) % N_SHARED);
        if (tune_one(&f, i, &mine, &err) != MOESAIC_OK)
            return 1;
        if (mine && write(w->to_parent[1], &i, 1) != 1)
            return 2;
    }
    fixture_close(&f);
    return 0;
}

static pid_t start(int (*body)(void *argument), void *argument)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(body(argument));
    return child;
}

static void test_two_processes_share_the_work(void **state)
{
    char path[256], i;
    int status, n = 0, times[N_SHARED] = {0};
    strcpy(path, in_folder(state, "a.db"));
    worker w[2] = {{.path = path, .start = 0}, {.path = path, .start = N_SHARED / 3}};
    assert_int_equal(0, pipe(w[0].to_parent));
    memcpy(w[1].to_parent, w[0].to_parent, sizeof w[1].to_parent);
    pid_t children[2] = {start(share, &w[0]), start(share, &w[1])};
    close(w[0].to_parent[1]);
    for (; read(w[0].to_parent[0], &i, 1) == 1; n++)
        times[(int)i]++;
    close(w[0].to_parent[0]);
    for (int c = 0; c < 2; c++) {
        assert_int_equal(children[c], waitpid(children[c], &status, 0));
        assert_int_equal(0, status);
    }
    assert_int_equal(N_SHARED, n);
    for (int k = 0; k < N_SHARED; k++)
        assert_int_equal(1, times[k]);
    db *database = open_or_fail(path, DB_READ);
    assert_int_equal(N_SHARED, count(database, "SELECT count(*) FROM trial WHERE status = 'ok'"));
    assert_intact(database);
    db_close(database);
}

/* --- killed --- */

enum { N_KILLS = 12, N_TO_TUNE = 5000 };

static int tune_until_killed(void *argument)
{
    const worker *w = argument;
    fixture f;
    moesaic_text err;
    fixture_open(&f, w->path);
    for (int i = 0; i < N_TO_TUNE; i++) {
        bool mine;
        if (tune_one(&f, i, &mine, &err) != MOESAIC_OK)
            return 1;
        if (mine && write(w->to_parent[1], &i, sizeof i) != sizeof i)
            return 2;
    }
    return 0;
}

static void sleep_us(long us)
{
    struct timespec t = {.tv_nsec = us * 1000};
    nanosleep(&t, NULL);
}

/* Let a child tune for a while, kill it, and count what it said to be stored. */
static int kill_one(const char *path, long after_us, bool *repeated, bool done[N_TO_TUNE])
{
    worker w = {.path = path};
    int status, i, n = 0;
    assert_int_equal(0, pipe(w.to_parent));
    pid_t child = start(tune_until_killed, &w);
    close(w.to_parent[1]);
    /* Not before its first trial: opening is another test's. */
    for (bool first = true; read(w.to_parent[0], &i, sizeof i) == sizeof i; first = false) {
        *repeated |= done[i];
        done[i] = true;
        n++;
        if (!first)
            continue;
        sleep_us(after_us);
        kill(child, SIGKILL);
    }
    close(w.to_parent[0]);
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_true(WIFSIGNALED(status));
    return n;
}

static void test_a_kill_at_any_instant_loses_the_one_in_flight(void **state)
{
    static bool done[N_TO_TUNE];
    char path[256];
    uint64_t seed = 5;
    bool repeated = false;
    int64_t n_reported = 0;
    strcpy(path, in_folder(state, "a.db"));
    memset(done, 0, sizeof done);
    for (int k = 0; k < N_KILLS; k++) {
        n_reported += kill_one(path, (long)(hash_next(&seed) % 30000), &repeated, done);
        db *database = open_or_fail(path, DB_WRITE);
        int64_t n_stored = count(database, "SELECT count(*) FROM trial WHERE status = 'ok'");
        /* One more may have been stored and not reported any more, at each kill. */
        assert_true(n_stored >= n_reported && n_stored <= n_reported + k + 1);
        assert_true(count(database, "SELECT count(*) FROM trial WHERE ended_at IS NULL") <= 1);
        assert_intact(database);
        db_close(database);
    }
    assert_false(repeated);
}

/* --- no space --- */

/* Tune until it fails; the number of trials that were stored goes to the parent. */
static int tune_until_full(void *argument)
{
    const worker *w = argument;
    enum { LIMIT_BYTES = 600000 };
    fixture f;
    moesaic_text err;
    moesaic_status status = MOESAIC_OK;
    int n = 0;
    fixture_open(&f, w->path);
    struct rlimit limit = {LIMIT_BYTES, LIMIT_BYTES};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    for (bool mine; status == MOESAIC_OK && n < 100000; n += status == MOESAIC_OK)
        status = tune_one(&f, n, &mine, &err);
    if (write(w->to_parent[1], &n, sizeof n) != sizeof n)
        return 2;
    fixture_close(&f);
    return status == MOESAIC_E_IO && strstr(err.s, "disk") ? 0 : 3;
}

static void test_a_full_disk_is_an_error_and_no_damage(void **state)
{
    char path[256];
    int n, status;
    bool mine;
    fixture f;
    moesaic_text err;
    strcpy(path, in_folder(state, "a.db"));
    worker w = {.path = path};
    assert_int_equal(0, pipe(w.to_parent));
    pid_t child = start(tune_until_full, &w);
    close(w.to_parent[1]);
    assert_int_equal(sizeof n, read(w.to_parent[0], &n, sizeof n));
    close(w.to_parent[0]);
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_int_equal(0, status);
    assert_true(n > 10);
    fixture_open(&f, path);
    assert_intact(f.database);
    assert_int_equal(n, count(f.database, "SELECT count(*) FROM trial WHERE status = 'ok'"));
    /* With space again, tuning goes on where it was. */
    assert_status(MOESAIC_OK, tune_one(&f, n, &mine, &err), &err);
    assert_true(mine);
    assert_status(MOESAIC_OK, tune_one(&f, 0, &mine, &err), &err);
    assert_false(mine);
    fixture_close(&f);
}

static void test_no_page_left_is_a_full_disk(void **state)
{
    fixture f;
    moesaic_text err;
    moesaic_status status = MOESAIC_OK;
    bool mine;
    int n = 0;
    fixture_open(&f, in_folder(state, "a.db"));
    assert_status(MOESAIC_OK, db_script(f.database, "PRAGMA max_page_count = 64", &err), &err);
    for (; status == MOESAIC_OK && n < 100000; n += status == MOESAIC_OK)
        status = tune_one(&f, n, &mine, &err);
    assert_status(MOESAIC_E_IO, status, &err);
    assert_non_null(strstr(err.s, "disk is full"));
    assert_int_equal(n, count(f.database, "SELECT count(*) FROM trial WHERE status = 'ok'"));
    assert_intact(f.database);
    fixture_close(&f);
}

/* A process in the middle of a write transaction keeps others out, who say so after a while. */
static void test_a_held_lock_is_busy(void **state)
{
    moesaic_text err;
    int64_t id;
    db *holder = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    db *other = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    sqlite3_busy_timeout(other->sql, 10);
    assert_status(MOESAIC_OK, db_begin(holder, &err), &err);
    assert_status(MOESAIC_E_BUSY, db_problem_put(other, "a", "b", "{}", &id, &err), &err);
    assert_non_null(strstr(err.s, "another process"));
    assert_status(MOESAIC_OK, db_finish(holder, MOESAIC_OK, &err), &err);
    assert_status(MOESAIC_OK, db_problem_put(other, "a", "b", "{}", &id, &err), &err);
    db_close(other);
    db_close(holder);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_two_processes_share_the_work),
        TEST(test_a_kill_at_any_instant_loses_the_one_in_flight),
        TEST(test_a_full_disk_is_an_error_and_no_damage),
        TEST(test_no_page_left_is_a_full_disk),
        TEST(test_a_held_lock_is_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
