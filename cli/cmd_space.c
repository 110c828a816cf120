/* cli/cmd_space.c: `moesaic space`: how many configurations a family has for a problem, which, and why not others.
 *
 * Tested by tests/cli/test_space.sh.    SPDX-License-Identifier: MIT
 */
#include "cli/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const cli_option options[] = {
    {"--problem", "K=V,...",
     "fields of the problem, pass and routing among them; or a JSON object"},
    {"--count", NULL, "count legal and excluded configurations (the default)"},
    {"--list", NULL, "list the legal configurations, with the analytical estimate of their time"},
    {"--why", "K=V,...",
     "name the rules that exclude a configuration; what is left out is the default"},
    {0},
};

static const char *text_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static const char *reason_of(const gen_family *family, const char *constraint)
{
    const cJSON *c;
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(gen_family_json(family), "constraints"))
    {
        const char *name = text_of(c, "name");
        if (name && strcmp(name, constraint) == 0)
            return text_of(c, "reason");
    }
    return "";
}

static int print_count(const cli_call *call, const cli_problem *p, gen_space *space)
{
    cJSON *excluded, *out;
    const cJSON *c;
    moesaic_text err;
    moesaic_status status = gen_space_excluded(space, &excluded, &err);
    if (status != MOESAIC_OK)
        return cli_fail(call, status, &err);
    if (call->json) {
        out = cJSON_CreateObject();
        cJSON_AddNumberToObject(out, "legal", (double)gen_space_legal(space));
        cJSON_AddNumberToObject(out, "total", (double)gen_space_total(space));
        cJSON_AddItemToObject(out, "excluded", excluded);
        return cli_print_json(call, out);
    }
    cli_table *table = cli_table_new();
    cli_table_column(table, ">configurations");
    cli_table_column(table, "<");
    cli_table_column(table, "<reason");
    cJSON_ArrayForEach(c, excluded)
    {
        cli_table_cell(table, "%.0f", c->valuedouble);
        cli_table_cell(table, "excluded by %s", c->string);
        cli_table_cell(table, "%s", reason_of(p->family, c->string));
    }
    cli_table_cell(table, "%lld", (long long)gen_space_legal(space));
    cli_table_cell(table, "legal");
    cli_table_cell(table, "of %lld", (long long)gen_space_total(space));
    cJSON_Delete(excluded);
    return cli_table_print(table);
}

/* "K=V,K=V", as --config and --why take it. */
static void add_pairs(const cJSON *config, str *out)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, config)
        str_printf(out, "%s%s=%.0f", out->n ? "," : "", v->string, v->valuedouble);
}

static void add_entry(cJSON *list, cJSON *config, double us)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddItemToObject(entry, "config", config);
    cJSON_AddItemToObject(entry, "estimate_us",
                          isnan(us) ? cJSON_CreateNull() : cJSON_CreateNumber(us));
    cJSON_AddItemToArray(list, entry);
}

static void add_row(cli_table *table, const cJSON *config, double us)
{
    str pairs = {0};
    add_pairs(config, &pairs);
    cli_table_cell(table, isnan(us) ? "" : "%.2f", us);
    cli_table_cell(table, "%s", str_text(&pairs));
    str_free(&pairs);
}

/* Every legal configuration into the one of list and table that is not NULL. */
static moesaic_status list_all(gen_space *space, cJSON *list, cli_table *table, moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    for (int64_t i = 0; i < gen_space_legal(space) && status == MOESAIC_OK; i++) {
        cJSON *config;
        double us;
        status = gen_space_estimate_us(space, i, &us, err);
        if (status == MOESAIC_OK)
            status = gen_space_config(space, i, &config, err);
        if (status != MOESAIC_OK)
            break;
        if (list) {
            add_entry(list, config, us);
        } else {
            add_row(table, config, us);
            cJSON_Delete(config);
        }
    }
    return status;
}

static int print_list_json(const cli_call *call, gen_space *space)
{
    cJSON *out = cJSON_CreateObject();
    moesaic_text err;
    cJSON_AddNumberToObject(out, "legal", (double)gen_space_legal(space));
    cJSON_AddNumberToObject(out, "total", (double)gen_space_total(space));
    moesaic_status status = list_all(space, cJSON_AddArrayToObject(out, "configs"), NULL, &err);
    if (status == MOESAIC_OK)
        return cli_print_json(call, out);
    cJSON_Delete(out);
    return cli_fail(call, status, &err);
}

static int print_list(const cli_call *call, gen_space *space)
{
    cli_table *table = cli_table_new();
    moesaic_text err;
    cli_table_column(table, ">estimate us");
    cli_table_column(table, "<configuration");
    moesaic_status status = list_all(space, NULL, table, &err);
    int rc = cli_table_print(table);
    return status == MOESAIC_OK ? rc : cli_fail(call, status, &err);
}

static int print_why_json(const cli_call *call, cJSON *config, cJSON *reasons)
{
    cJSON *out = cJSON_CreateObject();
    cJSON_AddBoolToObject(out, "legal", reasons->child == NULL);
    cJSON_AddItemToObject(out, "config", config);
    cJSON_AddItemToObject(out, "excluded_by", reasons);
    return cli_print_json(call, out);
}

static int print_why_text(cJSON *config, cJSON *reasons)
{
    const cJSON *r;
    str pairs = {0};
    add_pairs(config, &pairs);
    printf("%s: %s\n", reasons->child ? "excluded" : "legal", str_text(&pairs));
    cJSON_ArrayForEach(r, reasons)
        printf("  %s: %s\n      %s\n", text_of(r, "name"), text_of(r, "reason"), text_of(r, "sql"));
    str_free(&pairs);
    cJSON_Delete(config);
    cJSON_Delete(reasons);
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
}

static int print_why(const cli_call *call, const cli_problem *p, gen_space *space)
{
    cJSON *given, *config = NULL, *reasons = NULL;
    moesaic_text err;
    moesaic_status status = cli_fields(cli_value(call, "--why"), "--why", &given, &err);
    if (status == MOESAIC_OK)
        status = gen_config_complete(p->family, NULL, given, &config, &err);
    if (status == MOESAIC_OK)
        status = gen_space_why(space, config, &reasons, &err);
    cJSON_Delete(given);
    if (status == MOESAIC_OK)
        return call->json ? print_why_json(call, config, reasons) : print_why_text(config, reasons);
    cJSON_Delete(config);
    return cli_fail(call, status, &err);
}

static int print(const cli_call *call, const cli_problem *p, gen_space *space)
{
    if (cli_value(call, "--why"))
        return print_why(call, p, space);
    return cli_flag(call, "--list")
               ? call->json ? print_list_json(call, space) : print_list(call, space)
               : print_count(call, p, space);
}

static int run(cli_call *call)
{
    cli_problem p;
    gen_space *space = NULL;
    moesaic_text err;
    if (cli_flag(call, "--count") + cli_flag(call, "--list") + (cli_value(call, "--why") != NULL) >
        1)
        return cli_usage(call, "--count, --list and --why exclude each other");
    moesaic_status status = cli_problem_read(call, &p, &err);
    if (status == MOESAIC_OK)
        status = cli_problem_space(&p, &space, &err);
    int rc = status == MOESAIC_OK ? print(call, &p, space) : cli_fail(call, status, &err);
    gen_space_free(space);
    cli_problem_free(&p);
    return rc;
}

const cli_command cli_space = {
    .name = "space",
    .usage = "FAMILY --problem K=V,... [--count | --list | --why K=V,...] [options]",
    .summary = "Count, list or explain the configurations of a kernel family",
    .help =
        "FAMILY is a name (moe_gemm) or the path of a folder with a space.json.  Each excluded\n"
        "configuration counts for the first rule that excludes it.  The space is that of an "
        "MI300X.\n"
        "docs/spaces.md tells how a space is written.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
