/* cli/command.c: the command table, the parsing of a command line, help.
 *
 * Tested by tests/cli/test_command.c.    SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include "base/file.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOESAIC_CLI_VERSION "0.1.0"

#define CLI_COMMAND(name) extern const cli_command cli_##name;
#include "cli/commands.def"
#undef CLI_COMMAND

static const cli_command *const commands[] = {
#define CLI_COMMAND(name) &cli_##name,
#include "cli/commands.def"
#undef CLI_COMMAND
    NULL,
};

static const cli_option common_options[] = {
    {"--db", "FILE", "the database (default: $MOESAIC_DB, else the user's)"},
    {"--device", "auto|silicon|software", "the device (default: $MOESAIC_DEVICE, else auto)"},
    {"--json", NULL, "print results as one line of JSON"},
    {"--help", NULL, "print this help"},
    {NULL, NULL, NULL},
};

const cli_command *cli_command_at(int i)
{
    return i >= 0 && i < (int)(sizeof commands / sizeof commands[0]) ? commands[i] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

/* --- help --- */

static void print_options(const cli_option *options)
{
    for (const cli_option *o = options; o && o->name; o++) {
        char *left = str_format("%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        printf("  %-32s %s\n", left ? left : o->name, o->help);
        free(left);
    }
}

static int print_command_help(const cli_command *command)
{
    printf("moesaic %s %s\n%s.\n", command->name, command->usage, command->summary);
    if (command->help)
        printf("\n%s\n", command->help);
    if (command->options)
        printf("\noptions:\n");
    print_options(command->options);
    printf("\ncommon options:\n");
    print_options(common_options);
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
}

static int print_help(void)
{
    printf("moesaic COMMAND [ARGUMENTS]: tuned mixture-of-experts kernels for AMD Instinct "
           "MI300X\n\n");
    for (int i = 0; commands[i]; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("  %-10s %s\n", "help", "Show the help of a command");
    printf("\nmoesaic help COMMAND, or moesaic COMMAND --help, tells more; moesaic --version "
           "prints the version.\n");
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
}

static int unknown_command(const char *name)
{
    fprintf(stderr, "moesaic: there is no command \"%s\"; the commands are:", name);
    for (int i = 0; commands[i]; i++)
        fprintf(stderr, " %s", commands[i]->name);
    fprintf(stderr, "\n");
    return CLI_USAGE;
}

/* --- options --- */

static const cli_option *option_in(const cli_option *options, const char *name, size_t n)
{
    for (const cli_option *o = options; o && o->name; o++)
        if (strlen(o->name) == n && !strncmp(o->name, name, n))
            return o;
    return NULL;
}

static const cli_option *option_find(const cli_command *command, const char *name, size_t n)
{
    const cli_option *found = option_in(command->options, name, n);
    return found ? found : option_in(common_options, name, n);
}

static int keep_value(cli_call *call, const cli_option *option, const char *value)
{
    if (call->n_values == CLI_MAX_VALUES)
        return cli_usage(call, "more than %d options", CLI_MAX_VALUES);
    call->values[call->n_values].name = option->name;
    call->values[call->n_values++].value = value;
    return CLI_OK;
}

/* Take argv[*i] as an option, with its value from "--name=value" or from the next argument. */
static int take_option(cli_call *call, char **argv, int *i)
{
    const char *word = argv[*i], *equals = !strncmp(word, "--", 2) ? strchr(word, '=') : NULL;
    size_t n = equals ? (size_t)(equals - word) : strlen(word);
    const cli_option *option = option_find(call->command, word, n);
    if (!option)
        return cli_usage(call, "unknown option \"%.*s\"", (int)n, word);
    if (!option->value && equals)
        return cli_usage(call, "%s takes no value, \"%s\" was given", option->name, equals + 1);
    if (!option->value)
        return keep_value(call, option, "");
    const char *value = equals ? equals + 1 : argv[*i + 1];
    if (!value || !*value)
        return cli_usage(call, "%s needs a value (%s)", option->name, option->value);
    *i += !equals;
    return keep_value(call, option, value);
}

static int parse(cli_call *call, int argc, char **argv)
{
    bool only_args = false;
    int n = 0, rc = CLI_OK;
    for (int i = 0; i < argc && rc == CLI_OK; i++) {
        bool is_option = !only_args && argv[i][0] == '-' && argv[i][1];
        if (is_option && !strcmp(argv[i], "--")) {
            only_args = true;
        } else if (is_option) {
            rc = take_option(call, argv, &i);
        } else {
            argv[n++] = argv[i];
            only_args = only_args || call->command->passes_rest;
        }
    }
    if (rc == CLI_OK)
        argv[n] = NULL;
    call->args = argv;
    call->n_args = n;
    return rc;
}

static const char *value_of(const cli_call *call, const char *name)
{
    for (int i = call->n_values - 1; i >= 0; i--)
        if (!strcmp(call->values[i].name, name))
            return call->values[i].value;
    return NULL;
}

const char *cli_value(const cli_call *call, const char *name)
{
    ASSERT(option_find(call->command, name, strlen(name)) &&
           option_find(call->command, name, strlen(name))->value);
    return value_of(call, name);
}

bool cli_flag(const cli_call *call, const char *name)
{
    ASSERT(option_find(call->command, name, strlen(name)) &&
           !option_find(call->command, name, strlen(name))->value);
    return value_of(call, name) != NULL;
}

moesaic_status cli_int(const cli_call *call, const char *name, int64_t low, int64_t high,
                       int64_t fallback, int64_t *out, moesaic_text *err)
{
    const char *text = cli_value(call, name);
    *out = fallback;
    if (!text)
        return MOESAIC_OK;
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (*end || errno || v < low || v > high)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s is \"%s\", must be an integer between %lld and %lld", name, text,
                            (long long)low, (long long)high);
    *out = v;
    return MOESAIC_OK;
}

/* --- the common options --- */

static int settle_db(cli_call *call)
{
    const char *stated = getenv("MOESAIC_DB");
    call->db = value_of(call, "--db");
    if (!call->db && stated && *stated)
        call->db = stated;
    call->db_given = call->db != NULL;
    if (call->db)
        return CLI_OK;
    char *folder = file_user_folder();
    call->owned_db = folder ? str_format("%s/tuned.db", folder) : NULL;
    free(folder);
    call->db = call->owned_db;
    return call->db
               ? CLI_OK
               : cli_usage(call, "no home folder for the default database: state one with --db");
}

static int settle_device(cli_call *call)
{
    static const char *const known[] = {"auto", "silicon", "software"};
    const char *stated = getenv("MOESAIC_DEVICE");
    const char *device = value_of(call, "--device");
    if (!device)
        device = stated && *stated ? stated : "auto";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(device, known[i]))
            call->device = known[i];
    if (!call->device)
        return cli_usage(call, "the device is \"%s\", must be auto, silicon or software", device);
    return CLI_OK;
}

static int check_count(const cli_call *call)
{
    const cli_command *c = call->command;
    if (call->n_args < c->min_args)
        return cli_usage(call, "too few arguments: %s %s", c->name, c->usage);
    if (c->max_args >= 0 && call->n_args > c->max_args)
        return cli_usage(call, "too many arguments, from \"%s\" on", call->args[c->max_args]);
    return CLI_OK;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_call call = {.command = command};
    int rc = parse(&call, argc, argv);
    if (rc == CLI_OK && value_of(&call, "--help"))
        return print_command_help(command);
    if (rc == CLI_OK)
        rc = check_count(&call);
    if (rc == CLI_OK)
        rc = settle_db(&call);
    if (rc == CLI_OK)
        rc = settle_device(&call);
    call.json = value_of(&call, "--json") != NULL;
    if (rc == CLI_OK)
        rc = command->run(&call);
    free(call.owned_db);
    return rc;
}

static int help_on(const char *name)
{
    const cli_command *command = name ? cli_command_find(name) : NULL;
    if (!name)
        return print_help();
    return command ? print_command_help(command) : unknown_command(name);
}

int cli_main(int argc, char **argv)
{
    if (argc < 2) {
        print_help();
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
        return help_on(argc > 2 ? argv[2] : NULL);
    if (!strcmp(name, "--version")) {
        printf("moesaic %s\n", MOESAIC_CLI_VERSION);
        return CLI_OK;
    }
    const cli_command *command = cli_command_find(name);
    return command ? run_command(command, argc - 2, argv + 2) : unknown_command(name);
}
