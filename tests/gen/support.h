/* tests/gen/support.h: families for the tests of gen/: ours, a small one, and ones made up on the spot.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TESTS_GEN_SUPPORT_H
#define MOESAIC_TESTS_GEN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/gen.h"

#define SCALE "tests/gen/families/scale"

/* Templates are looked up in the tree that the tests run in. */
int use_own_templates(void **state);

/* Fail the test with err's text unless status is want. */
#define assert_status(want, status, err)                                                           \
    check_status(want, status, err, #status, __FILE__, __LINE__)
void check_status(moesaic_status want, moesaic_status got, const moesaic_text *err,
                  const char *expression, const char *file, int line);

/* Fail the test unless err's text holds part. */
#define assert_says(err, part) check_says((err)->s, part, __FILE__, __LINE__)
void check_says(const char *text, const char *part, const char *file, int line);

/* A family with a complete problem and its space on an MI300X.  pairs: "K=V,..." */
typedef struct opened {
    gen_family *family;
    cJSON *problem;
    gen_space *space;
} opened;
void open_or_fail(opened *o, const char *name, const char *pass, const char *pairs);
void opened_free(opened *o);

cJSON *object_of(const char *pairs);

/* A copy of the small family's space.json; what is changed in it makes a family in a folder of its own. */
cJSON *scale_json(void);
/* Open a family of that space.json (text, or json, which is freed) and its space for rows=10; all is closed again. */
moesaic_status try_text(const char *text, moesaic_text *err);
moesaic_status try_json(cJSON *json, moesaic_text *err);

#endif
