/* tests/db/support.h: a folder of its own and a filled database for each test.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TESTS_DB_SUPPORT_H
#define MOESAIC_TESTS_DB_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "db/db.h"
#include "db/db_int.h"

/* cmocka set-up and tear-down: a fresh folder; *state is a char * of its path, without trailing slash. */
int folder_make(void **state);
int folder_remove(void **state);

/* "FOLDER/name" in a static buffer that the next call but three overwrites. */
const char *in_folder(void **state, const char *name);

/* Open or fail the test with the error's text. */
db *open_or_fail(const char *path, db_mode mode);

/* Fail the test with err's text unless status is want. */
#define assert_status(want, status, err)                                                           \
    check_status(want, status, err, #status, __FILE__, __LINE__)
void check_status(moesaic_status want, moesaic_status got, const moesaic_text *err,
                  const char *expression, const char *file, int line);

/* Rows that a trial needs. */
typedef struct fixture {
    db *database;
    int64_t run_id, problem_id, template_id, config_ids[4], device_id, code_object_id;
} fixture;
void fixture_open(fixture *f, const char *path);
void fixture_close(fixture *f);
extern const db_device fixture_device;
extern const char fixture_elf[];
enum { FIXTURE_ELF_BYTES = 4096 };

/* Begin and end a trial of config `i` with this time; returns its id. */
int64_t add_result(fixture *f, int i, db_trial_status status, double time_us);
db_trial_result result_of(db_trial_status status, double time_us);

/* Run in a child process, optionally as another user; returns its exit status, or 128 + signal. */
int in_child(int (*body)(void *argument), void *argument, bool as_nobody);

#endif
