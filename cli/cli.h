/* cli/cli.h: what every subcommand shares: the command table, options, exit codes, messages, tables
 * of results.
 *
 * A subcommand is one file cli/cmd_<name>.c with one exported `const cli_command cli_<name>`, and
 * one row in cli/commands.def.  Commands are thin: all logic lives in the rooms below.  Results go
 * to stdout (text, or one line of JSON with --json), messages and progress to stderr.
 * SPDX-License-Identifier: MIT */
#ifndef MOESAIC_CLI_CLI_H
#define MOESAIC_CLI_CLI_H

#include "base/json.h"
#include "base/status.h"

#include <stdint.h>

/* Exit status of the contract; `sim` also gives its program's own. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_INTERRUPTED = 130 };

/* One option of a command.  value NULL: a flag.  The table of a command ends with a row whose name
 * is NULL. */
typedef struct cli_option {
    const char *name;  /* "--budget" or "-o" */
    const char *value; /* "N|TIME" */
    const char *help;  /* one line */
} cli_option;

enum { CLI_MAX_VALUES = 64 };

/* A parsed command line. */
typedef struct cli_call {
    const struct cli_command *command;
    const char *db; /* --db, else $MOESAIC_DB, else the user's default database */
    const char
        *device;   /* --device, else $MOESAIC_DEVICE, else "auto"; one of auto, silicon, software */
    bool db_given; /* --db or $MOESAIC_DB stated it */
    bool json;
    char **args; /* what is left: arguments that are not options, NULL-terminated */
    int n_args;
    struct {
        const char *name, *value;
    } values[CLI_MAX_VALUES]; /* use cli_value and cli_flag */
    int n_values;
    char *owned_db;
} cli_call;

typedef struct cli_command {
    const char *name;    /* "tune" */
    const char *usage;   /* what follows the name: "WORKLOAD.json [options]" */
    const char *summary; /* one line for the list of commands, without a full stop */
    const char *help;    /* more lines for --help, or NULL */
    const cli_option *
        options; /* the command's own, or NULL; --db, --device, --json and --help come by themselves */
    int min_args, max_args; /* max_args -1: any number */
    bool passes_rest;       /* options end at the first argument or at "--" (sim) */
    int (*run)(cli_call *call);
} cli_command;

/* Value of an option (the last one given), or NULL; "" never occurs.  Asking for a name that the
 * table does not hold is a broken invariant. */
const char *cli_value(const cli_call *call, const char *name);
bool cli_flag(const cli_call *call, const char *name);

/* An option's value as an integer in [low, high].  Errors: E_INPUT with value and range. */
moesaic_status cli_int(const cli_call *call, const char *name, int64_t low, int64_t high,
                       int64_t fallback, int64_t *out, moesaic_text *err);

/* Print "moesaic tune: <text>" on stderr and give the exit status: bad input, a missing or unusable
 * file and an unknown name are 2, E_INTERRUPTED is 130, the rest 1. */
int cli_fail(const cli_call *call, moesaic_status status, const moesaic_text *err);

/* The call itself was wrong: the message, a hint at --help, and 2. */
int cli_usage(const cli_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A message on stderr, prefixed as above. */
void cli_note(const cli_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print value on stdout as one line and free it.  Returns CLI_OK, or CLI_FAILED when writing fails.
 */
int cli_print_json(const cli_call *call, cJSON *value);

/* Find a command by name; NULL when there is none.  cli_command_at(i) walks the table, NULL behind
 * its end. */
const cli_command *cli_command_find(const char *name);
const cli_command *cli_command_at(int i);

/* What main does behind the loader: parse, run, exit status. */
int cli_main(int argc, char **argv);

/* A table on stdout: cells as text, columns as wide as needed, numbers to the right.  Bold heading
 * on a terminal unless NO_COLOR is set.  Cells are copied. */
typedef struct cli_table cli_table;
cli_table *cli_table_new(void); /* NULL: out of memory; the functions below take NULL */
/* "<name" aligns to the left, ">name" to the right. */
void cli_table_column(cli_table *table, const char *heading);
/* Cells go row by row, left to right. */
void cli_table_cell(cli_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Print and free.  Returns CLI_OK, or CLI_FAILED when memory or the output failed. */
int cli_table_print(cli_table *table);

/* True when the stream is a terminal that wants colour: NO_COLOR unset, TERM not "dumb". */
bool cli_wants_colour(int fd);

#endif
