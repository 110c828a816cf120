/* base/status.h: status codes and the text that goes with them.
 *
 * Errors travel as a status by return value and a sentence in the caller's buffer; nothing below cli/ prints.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_BASE_STATUS_H
#define MOESAIC_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef MOESAIC_STATUS_DEFINED
#define MOESAIC_STATUS_DEFINED
typedef enum moesaic_status {
#define MOESAIC_STATUS(name, text) MOESAIC_##name,
#include "moesaic/status.def"
#undef MOESAIC_STATUS
} moesaic_status;

/* Room for one sentence; a longer one is cut. */
typedef struct moesaic_text {
    char s[1024];
} moesaic_text;
#endif

/* Write the formatted sentence into err (may be NULL) and return status. */
moesaic_status moesaic_fail(moesaic_text *err, moesaic_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "prefix: " in front of what err already says, and return status. */
moesaic_status moesaic_fail_in(moesaic_text *err, moesaic_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The default text of a status; never NULL. */
const char *status_text(moesaic_status status);

/* "E_SHAPE"; never NULL. */
const char *status_name(moesaic_status status);

/* Broken invariants: always on in debug and test builds. */
void assert_failed(const char *condition, const char *file, int line) __attribute__((noreturn));
#ifdef NDEBUG
#define ASSERT(condition) ((void)0)
#else
#define ASSERT(condition) ((condition) ? (void)0 : assert_failed(#condition, __FILE__, __LINE__))
#endif

#endif
