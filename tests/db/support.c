/* tests/db/support.c: what the tests of db/ share.    SPDX-License-Identifier: MIT */
#include "tests/db/support.h"

#include <grp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int folder_make(void **state)
{
    char pattern[] = "/tmp/moesaic-test-db.XXXXXX";
    *state = mkdtemp(pattern) ? strdup(pattern) : NULL;
    return *state ? 0 : -1;
}

int folder_remove(void **state)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", (char *)*state, (char *)*state);
    free(*state);
    return system(command);
}

const char *in_folder(void **state, const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", (const char *)*state, name);
    return path;
}

void check_status(moesaic_status want, moesaic_status got, const moesaic_text *err,
                  const char *expression, const char *file, int line)
{
    if (want != got)
        print_error("%s:%d: want %s got %s (%s) from %s\n", file, line, status_name(want),
                    status_name(got), got ? err->s : "", expression);
    _assert_true(want == got, expression, file, line);
}

db *open_or_fail(const char *path, db_mode mode)
{
    db *database;
    moesaic_text err;
    moesaic_status status = db_open(path, mode, &database, &err);
    assert_status(MOESAIC_OK, status, &err);
    return database;
}

const db_device fixture_device = {.kind = "software",
                                  .target = "gfx942",
                                  .partition = "spx",
                                  .driver = "",
                                  .hip_version = "6.4.43484",
                                  .compiler = "hiprtc 6.4.43484",
                                  .model_version = "0",
                                  .pci_device_id = 0x74a1,
                                  .cu_count = 304,
                                  .memory_bytes = 192ll << 30};

const char fixture_elf[FIXTURE_ELF_BYTES] = "\177ELF, as far as these tests care";

void fixture_open(fixture *f, const char *path)
{
    moesaic_text err;
    *f = (fixture){.database = open_or_fail(path, DB_WRITE)};
    db *d = f->database;
    assert_status(MOESAIC_OK, db_run_begin(d, "tune", "{}", &f->run_id, &err), &err);
    assert_status(MOESAIC_OK, db_device_put(d, &fixture_device, &f->device_id, &err), &err);
    assert_status(
        MOESAIC_OK,
        db_problem_put(d, "moe_gemm", "gate_up", "{\"tokens\":512}", &f->problem_id, &err), &err);
    assert_status(MOESAIC_OK, db_template_put(d, "moe_gemm", "abc", &f->template_id, &err), &err);
    for (int i = 0; i < 4; i++) {
        char key[32];
        snprintf(key, sizeof key, "{\"tile_m\":%d}", 16 << i);
        assert_status(MOESAIC_OK, db_config_put(d, f->template_id, key, &f->config_ids[i], &err),
                      &err);
    }
    db_code_object object = {.elf = fixture_elf,
                             .n_bytes = FIXTURE_ELF_BYTES,
                             .target = "gfx942",
                             .compiler = "hiprtc 6.4.43484",
                             .launch_abi = "1",
                             .vgpr = 128};
    assert_status(MOESAIC_OK, db_code_object_put(d, &object, &f->code_object_id, &err), &err);
}

void fixture_close(fixture *f)
{
    db_close(f->database);
}

db_trial_result result_of(db_trial_status status, double time_us)
{
    return (db_trial_result){.status = status,
                             .time_us = time_us,
                             .spread_pct = NAN,
                             .max_error = 1e-3,
                             .error_bound = 1e-2,
                             .time_kind = "modelled",
                             .model_version = "0",
                             .reason = status == DB_TRIAL_OK ? "" : "for a test",
                             .launch = "{}",
                             .verified = true,
                             .verified_full = true};
}

int64_t add_result(fixture *f, int i, db_trial_status status, double time_us)
{
    moesaic_text err;
    int64_t trial_id, deaths;
    bool known;
    assert_status(MOESAIC_OK,
                  db_trial_begin(f->database, f->run_id, f->problem_id, f->config_ids[i],
                                 f->device_id, false, &trial_id, &known, &deaths, &err),
                  &err);
    assert_false(known);
    db_trial_result result = result_of(status, time_us);
    result.code_object_id = f->code_object_id;
    assert_status(MOESAIC_OK, db_trial_end(f->database, trial_id, &result, &err), &err);
    return trial_id;
}

int in_child(int (*body)(void *argument), void *argument, bool as_nobody)
{
    enum { NOBODY = 65534 };
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool changed = !as_nobody || geteuid() != 0 ||
                       (setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        _exit(changed ? body(argument) : 125);
    }
    int status;
    assert_int_equal(child, waitpid(child, &status, 0));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
