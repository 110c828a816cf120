/* tests/tuner/support.h: folders, files and workloads for the tests of tuner/.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TESTS_TUNER_SUPPORT_H
#define MOESAIC_TESTS_TUNER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/str.h"
#include "tuner/operands.h"

/* cmocka set-up and tear-down: a fresh folder; *state is a char * of its path.  Templates are those of the tree that
 * the test runs in. */
int folder_make(void **state);
int folder_remove(void **state);

/* "FOLDER/name" in a static buffer that the next call but three overwrites. */
const char *in_folder(void **state, const char *name);
void write_text(const char *path, const char *text);
void read_text(const char *path, str *out);

/* Fail the test with err's text unless status is want. */
#define assert_status(want, status, err)                                                           \
    check_status(want, status, err, #status, __FILE__, __LINE__)
void check_status(moesaic_status want, moesaic_status got, const moesaic_text *err,
                  const char *expression, const char *file, int line);

/* Fail the test unless err's text holds part. */
#define assert_says(err, part) check_says((err)->s, part, __FILE__, __LINE__)
void check_says(const char *text, const char *part, const char *file, int line);

/* Host operands of a small pass: 5 experts, one empty, one with most rows, some slots without an expert. */
moe_shape small_shape(bool down, int top_k, int hidden, int ffn);
void make_operands(const moe_shape *shape, int padding, uint64_t seed, moe_operands *out);

#endif
