/* cli/message.c: messages on stderr, JSON on stdout, and the exit status of a failure.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a caller can put right by calling differently is 2; everything else that fails is 1. */
static int exit_status(moesaic_status status)
{
    switch (status) {
    case MOESAIC_OK:
        return CLI_OK;
    case MOESAIC_E_INPUT:
    case MOESAIC_E_SHAPE:
    case MOESAIC_E_NOTFOUND:
    case MOESAIC_E_IO:
    case MOESAIC_E_SCHEMA:
    case MOESAIC_E_TRUST:
        return CLI_USAGE;
    case MOESAIC_E_INTERRUPTED:
        return CLI_INTERRUPTED;
    default:
        return CLI_FAILED;
    }
}

int cli_fail(const cli_call *call, moesaic_status status, const moesaic_text *err)
{
    const char *text = err->s[0] ? err->s : status_text(status);
    cli_note(call, "%s", text);
    return exit_status(status);
}

static void note(const cli_call *call, const char *format, va_list arguments)
{
    fflush(stdout);
    fprintf(stderr, "moesaic %s: ", call->command->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void cli_note(const cli_call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note(call, format, arguments);
    va_end(arguments);
}

int cli_usage(const cli_call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note(call, format, arguments);
    va_end(arguments);
    cli_note(call, "see moesaic %s --help", call->command->name);
    return CLI_USAGE;
}

int cli_print_json(const cli_call *call, cJSON *value)
{
    char *text = value ? cJSON_PrintUnformatted(value) : NULL;
    bool printed = text && puts(text) >= 0 && fflush(stdout) == 0;
    if (!printed)
        cli_note(call, text ? "the result could not be written to stdout"
                            : "out of memory for the result");
    cJSON_free(text);
    cJSON_Delete(value);
    return printed ? CLI_OK : CLI_FAILED;
}

bool cli_wants_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fd) && !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
}
