/* base/str.c: a string that grows.    SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and the NUL; false when there is none. */
static bool str_reserve(str *to, size_t n)
{
    if (to->failed || n > (size_t)-1 - to->n - 1) {
        to->failed = true;
        return false;
    }
    size_t need = to->n + n + 1;
    if (need <= to->capacity)
        return true;
    size_t capacity = to->capacity ? to->capacity : 64;
    while (capacity < need)
        capacity = capacity > (size_t)-1 / 2 ? need : capacity * 2;
    char *s = realloc(to->s, capacity);
    if (!s) {
        to->failed = true;
        return false;
    }
    to->s = s;
    to->capacity = capacity;
    return true;
}

void str_add_bytes(str *to, const void *bytes, size_t n)
{
    if (!str_reserve(to, n))
        return;
    if (n)
        memcpy(to->s + to->n, bytes, n);
    to->n += n;
    to->s[to->n] = 0;
}

void str_add(str *to, const char *text)
{
    str_add_bytes(to, text, strlen(text));
}

void str_vprintf(str *to, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    if (n < 0)
        to->failed = true;
    else if (str_reserve(to, (size_t)n)) {
        vsnprintf(to->s + to->n, (size_t)n + 1, format, again);
        to->n += (size_t)n;
    }
    va_end(again);
}

void str_printf(str *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    str_vprintf(to, format, arguments);
    va_end(arguments);
}

void str_clear(str *to)
{
    to->n = 0;
    to->failed = false;
    if (to->s)
        to->s[0] = 0;
}

void str_free(str *to)
{
    free(to->s);
    *to = (str){0};
}

const char *str_text(const str *from)
{
    return from->s ? from->s : "";
}

char *str_format(const char *format, ...)
{
    str to = {0};
    va_list arguments;
    va_start(arguments, format);
    str_vprintf(&to, format, arguments);
    va_end(arguments);
    if (to.failed)
        str_free(&to);
    return to.s;
}

bool str_glob(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}
