/* base/str.h: a string that grows, and a list of strings.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_BASE_STR_H
#define MOESAIC_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise; `s` is NULL until something was added, else NUL-terminated.  After an allocation
 * failed `failed` is true and further additions do nothing: check once at the end. */
typedef struct str {
    char *s;
    size_t n, capacity;
    bool failed;
} str;

void str_add(str *to, const char *text);
void str_add_bytes(str *to, const void *bytes, size_t n);
void str_printf(str *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_vprintf(str *to, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void str_clear(str *to); /* keeps the memory */
void str_free(str *to);

/* The text, "" when empty; valid until the next change. */
const char *str_text(const str *from);

/* A malloc'ed formatted string, or NULL. */
char *str_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shell-style match of a whole text: * and ?. */
bool str_glob(const char *pattern, const char *text);

#endif
