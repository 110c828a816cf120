/* cli/cmd_emit.c: `moesaic emit`: one variant of a kernel family as a HIP file that stands alone.
 *
 * Tested by tests/cli/test_space.sh.    SPDX-License-Identifier: MIT
 */
#include "cli/problem.h"

#include "base/file.h"
#include "db/db.h"

#include <stdio.h>
#include <string.h>

static const cli_option options[] = {
    {"--problem", "K=V,...",
     "fields of the problem, pass and routing among them; or a JSON object"},
    {"--config", "K=V,...", "parameters; what is left out is the problem's default configuration"},
    {"--winner", NULL, "the winner that the database has for the problem"},
    {"-o", "FILE", "where to write it (default: stdout)"},
    {0},
};

/* The winner's configuration among the devices' winners: one that was measured, else the first. */
typedef struct finder {
    const char *key;
    char *config;
    bool measured;
    bool failed;
} finder;

static bool visit_winner(const db_trial_row *row, const db_device *device, void *user)
{
    finder *f = user;
    (void)device;
    bool measured = strcmp(row->time_kind, "measured") == 0;
    if (strcmp(row->problem, f->key) != 0 || (f->config && (f->measured || !measured)))
        return true;
    cJSON_free(f->config);
    f->config = str_format("%s", row->config);
    f->measured = measured;
    f->failed = !f->config;
    return !f->failed;
}

static moesaic_status winner_config(const cli_call *call, const cli_problem *p, cJSON **out,
                                    moesaic_text *err)
{
    db *database;
    finder f = {.key = str_text(&p->key)};
    *out = NULL;
    moesaic_status status = db_open(call->db, DB_READ, &database, err);
    if (status != MOESAIC_OK)
        return status;
    status = db_winners(database, gen_family_name(p->family), p->pass, visit_winner, &f, err);
    db_close(database);
    if (status == MOESAIC_OK && f.failed)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a configuration");
    if (status == MOESAIC_OK && !f.config)
        status =
            moesaic_fail(err, MOESAIC_E_NOTFOUND,
                         "database %s has no winner of %s, pass %s, for %s; tune it with `moesaic "
                         "tune`, or leave --winner out for the default configuration",
                         call->db, gen_family_name(p->family), p->pass, f.key);
    if (status == MOESAIC_OK)
        status = json_parse(f.config, call->db, out, err);
    cJSON_free(f.config);
    return status;
}

/* An error that names the first rule which excludes config. */
static moesaic_status refuse(gen_space *space, const cJSON *config, moesaic_text *err)
{
    cJSON *reasons;
    moesaic_status status = gen_space_why(space, config, &reasons, err);
    if (status != MOESAIC_OK)
        return status;
    const cJSON *first = reasons->child;
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(first, "name"));
    const char *reason = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(first, "reason"));
    status = moesaic_fail(err, MOESAIC_E_INPUT, "the configuration is excluded by \"%s\": %s",
                          name ? name : "?", reason ? reason : "?");
    cJSON_Delete(reasons);
    return status;
}

static moesaic_status stated_config(const cli_call *call, const cli_problem *p, gen_space *space,
                                    cJSON **out, moesaic_text *err)
{
    const char *text = cli_value(call, "--config");
    cJSON *given = NULL, *usual = NULL;
    int64_t i;
    *out = NULL;
    moesaic_status status = cli_fields(text ? text : "{}", "--config", &given, err);
    if (status == MOESAIC_OK)
        status = gen_space_default(space, &i, err);
    if (status == MOESAIC_OK)
        status = gen_space_config(space, i, &usual, err);
    if (status == MOESAIC_OK)
        status = gen_config_complete(p->family, usual, given, out, err);
    cJSON_Delete(given);
    cJSON_Delete(usual);
    return status;
}

static moesaic_status make_source(const cli_call *call, const cli_problem *p, gen_space *space,
                                  str *source, moesaic_text *err)
{
    cJSON *config = NULL;
    int64_t i;
    moesaic_status status = cli_flag(call, "--winner")
                                ? winner_config(call, p, &config, err)
                                : stated_config(call, p, space, &config, err);
    if (status == MOESAIC_OK)
        status = gen_space_find(space, config, &i, err);
    if (status == MOESAIC_E_NOTFOUND && config)
        status = refuse(space, config, err);
    if (status == MOESAIC_OK)
        status = gen_emit(p->family, p->pass, p->fields, config, source, err);
    cJSON_Delete(config);
    return status;
}

static moesaic_status write_source(const cli_call *call, const str *source, moesaic_text *err)
{
    const char *path = cli_value(call, "-o");
    if (path)
        return file_replace(path, source->s, source->n, err);
    bool written = fwrite(source->s, 1, source->n, stdout) == source->n && fflush(stdout) == 0;
    return written ? MOESAIC_OK : moesaic_fail(err, MOESAIC_E_IO, "cannot write to stdout");
}

static int run(cli_call *call)
{
    cli_problem p;
    gen_space *space = NULL;
    str source = {0};
    moesaic_text err;
    if (cli_flag(call, "--winner") && cli_value(call, "--config"))
        return cli_usage(call, "--winner and --config exclude each other");
    moesaic_status status = cli_problem_read(call, &p, &err);
    if (status == MOESAIC_OK)
        status = cli_problem_space(&p, &space, &err);
    if (status == MOESAIC_OK)
        status = make_source(call, &p, space, &source, &err);
    if (status == MOESAIC_OK)
        status = write_source(call, &source, &err);
    str_free(&source);
    gen_space_free(space);
    cli_problem_free(&p);
    return status == MOESAIC_OK ? CLI_OK : cli_fail(call, status, &err);
}

const cli_command cli_emit = {
    .name = "emit",
    .usage = "FAMILY --problem K=V,... [--config K=V,... | --winner] [-o FILE]",
    .summary = "Write one variant of a kernel family as a HIP file that stands alone",
    .help =
        "The file holds all that it includes, with the configuration filled in; hiprtc and hipcc\n"
        "compile it by itself.  The same call writes the same bytes.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
