/* base/status.c: texts of statuses, and how a failure is stated.    SPDX-License-Identifier: MIT */
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
} statuses[] = {
#define MOESAIC_STATUS(name, text) [MOESAIC_##name] = {#name, text},
#include "moesaic/status.def"
#undef MOESAIC_STATUS
};

enum { N_STATUSES = sizeof statuses / sizeof statuses[0] };

const char *status_text(moesaic_status status)
{
    return (unsigned)status < N_STATUSES ? statuses[status].text : "unknown status";
}

const char *status_name(moesaic_status status)
{
    return (unsigned)status < N_STATUSES ? statuses[status].name : "?";
}

moesaic_status moesaic_fail(moesaic_text *err, moesaic_status status, const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(err->s, sizeof err->s, format, arguments);
        va_end(arguments);
    }
    return status;
}

moesaic_status moesaic_fail_in(moesaic_text *err, moesaic_status status, const char *format, ...)
{
    if (err) {
        moesaic_text inner = *err;
        va_list arguments;
        va_start(arguments, format);
        int n = vsnprintf(err->s, sizeof err->s, format, arguments);
        va_end(arguments);
        int room = (int)(sizeof err->s - sizeof ": ") - n; /* what is longer is cut */
        if (n >= 0 && room > 0)
            snprintf(err->s + n, sizeof err->s - (size_t)n, ": %.*s", room, inner.s);
    }
    return status;
}

void assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
    abort();
}
