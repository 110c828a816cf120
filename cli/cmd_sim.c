/* cli/cmd_sim.c: `moesaic sim`: any HIP program on the software MI300X.
 *
 * Hands its options to the software device through the environment (emu/sim.c reads them when the
 * program loads HIP) and becomes the program.                            SPDX-License-Identifier: MIT
 */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/loader.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--mode", "MODE", "exact: values only; timed (the default): values and modelled times"},
    {"--mfma", "KIND",
     "silicon (the default): matrix results bit for bit; fast: by an fp32 FMA chain"},
    {"--order", "ORDER",
     "of waves: ascending (the default), descending, or switching every few instructions"},
    {"--seed", "N", "for --order switching"},
    {"--threads", "N", "host threads (default: one for each core)"},
    {"--save-code-objects", "DIR",
     "write every code object that the program loads there, once per content"},
    {"--quiet", NULL, "no line at exit with the kernels run, wave-instructions and faults"},
    {0},
};

/* Options and what they set; the first value is the default. */
static const struct {
    const char *option, *variable, *values[4];
} settings[] = {
    {"--mode", "MOESAIC_SIM_MODE", {"timed", "exact"}},
    {"--mfma", "MOESAIC_SIM_MFMA", {"silicon", "fast"}},
    {"--order", "MOESAIC_SIM_ORDER", {"ascending", "descending", "switching"}},
};

static const struct {
    const char *option, *variable;
    int64_t low, high;
} numbers[] = {
    {"--seed", "MOESAIC_SIM_SEED", 0, (int64_t)1 << 53},
    {"--threads", "MOESAIC_SIM_THREADS", 0, 1024},
};

static moesaic_status set_word(cli_call *call, size_t i, moesaic_text *err)
{
    const char *const *allowed = settings[i].values;
    const char *value = cli_value(call, settings[i].option);
    if (!value)
        return setenv(settings[i].variable, allowed[0], 0) == 0 ? MOESAIC_OK : MOESAIC_E_NOMEM;
    for (; *allowed; allowed++) {
        if (strcmp(value, *allowed) == 0)
            return setenv(settings[i].variable, value, 1) == 0 ? MOESAIC_OK : MOESAIC_E_NOMEM;
    }
    allowed = settings[i].values;
    return moesaic_fail(err, MOESAIC_E_INPUT, "%s %s is none of %s, %s%s%s", settings[i].option,
                        value, allowed[0], allowed[1], allowed[2] ? ", " : "",
                        allowed[2] ? allowed[2] : "");
}

static moesaic_status set_number(cli_call *call, size_t i, moesaic_text *err)
{
    int64_t value;
    const char *text = cli_value(call, numbers[i].option);
    moesaic_status status =
        cli_int(call, numbers[i].option, numbers[i].low, numbers[i].high, 0, &value, err);
    if (status == MOESAIC_OK && text && setenv(numbers[i].variable, text, 1) != 0)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %s", text);
    return status;
}

/* The program may change its folder before it loads HIP, so the device gets the whole path. */
static moesaic_status set_folder(cli_call *call, moesaic_text *err)
{
    char path[PATH_MAX];
    const char *folder = cli_value(call, "--save-code-objects");
    if (!folder)
        return MOESAIC_OK;
    if (!*folder)
        return moesaic_fail(err, MOESAIC_E_INPUT, "--save-code-objects needs a folder");
    moesaic_status status = file_make_folder(folder, err);
    if (status != MOESAIC_OK)
        return status;
    if (!realpath(folder, path))
        return moesaic_fail(err, MOESAIC_E_IO, "--save-code-objects %s: %s", folder,
                            strerror(errno));
    if (setenv("MOESAIC_SIM_SAVE_CODE_OBJECTS", path, 1) != 0)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %s", path);
    return MOESAIC_OK;
}

/* Who has set the variable keeps it, but for --quiet. */
static moesaic_status set_summary(cli_call *call, moesaic_text *err)
{
    bool quiet = cli_flag(call, "--quiet");
    if (setenv("MOESAIC_SIM_SUMMARY", quiet ? "0" : "1", quiet) != 0)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for the environment");
    return MOESAIC_OK;
}

static int run(cli_call *call)
{
    moesaic_text err = {{0}};
    moesaic_status status = MOESAIC_OK;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && status == MOESAIC_OK; i++)
        status = set_word(call, i, &err);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == MOESAIC_OK; i++)
        status = set_number(call, i, &err);
    if (status == MOESAIC_OK)
        status = set_folder(call, &err);
    if (status == MOESAIC_OK)
        status = set_summary(call, &err);
    if (status == MOESAIC_OK)
        status = loader_run_program(call->args, &err);
    cli_fail(call, status, &err);
    return CLI_USAGE;
}

const cli_command cli_sim = {
    .name = "sim",
    .usage = "[options] -- PROGRAM [ARG...]",
    .summary = "Run any HIP program on the software MI300X",
    .help =
        "The program gets HIP and the software device; what it starts in turn gets the system's\n"
        "own libraries.  Scripts are run by the interpreter that their first line names.  The "
        "exit\n"
        "status is the program's own, or 2 when it cannot be started so.  A program that used the "
        "device\n"
        "ends with a line on standard error: kernels run, wave-instructions, faults.\n",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .passes_rest = true,
    .run = run,
};
