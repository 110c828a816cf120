/* emu/hsa/message.c: writes messages, each with one call: those of threads do not mix.
 * SPDX-License-Identifier: MIT
 */
#include "emu/hsa/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_MESSAGE = 1024 };

static void __attribute__((format(printf, 1, 0))) print(const char *format, va_list arguments)
{
    static const char prefix[] = "moesaic: ";
    char text[LONGEST_MESSAGE];
    memcpy(text, prefix, sizeof prefix);
    size_t room = sizeof text - sizeof prefix; /* keeps one byte for the end of the line */
    vsnprintf(text + sizeof prefix - 1, room, format, arguments);
    size_t n = strlen(text);
    text[n] = '\n';
    for (size_t done = 0; done <= n;) {
        ssize_t written = write(STDERR_FILENO, text + done, n + 1 - done);
        if (written <= 0)
            return;
        done += (size_t)written;
    }
}

void emu_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

void emu_log(const char *format, ...)
{
    const char *wanted = getenv("MOESAIC_SIM_LOG");
    if (!wanted || strcmp(wanted, "1") != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}
