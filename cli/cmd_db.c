/* cli/cmd_db.c: `moesaic db`: what a tuning database holds, and removing what it need not hold.
 *
 * A table of subcommands; each opens the file itself, for reading where that is enough.
 * Tested by tests/cli/test_db.sh.    SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include "base/file.h"
#include "db/db.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"--code-objects", NULL,
     "gc: remove the stored machine code; it is compiled again when needed"},
    {0},
};

/* --- ls --- */

typedef struct lister {
    cli_table *table;
    cJSON *list;
} lister;

/* "K=V,K=V" of a key; the key itself when it is something else. */
static void add_pairs(const char *key, str *out)
{
    cJSON *fields = cJSON_Parse(key);
    const cJSON *f;
    cJSON_ArrayForEach(f, fields)
    {
        str_printf(out, "%s%s=", out->n ? "," : "", f->string);
        if (cJSON_IsString(f))
            str_add(out, f->valuestring);
        else
            str_printf(out, "%.15g", f->valuedouble);
    }
    if (!fields)
        str_add(out, key);
    cJSON_Delete(fields);
}

static void add_winner_row(cli_table *table, const db_trial_row *row, const db_device *device)
{
    str problem = {0}, config = {0};
    add_pairs(row->problem, &problem);
    add_pairs(row->config, &config);
    cli_table_cell(table, "%lld", (long long)row->trial_id);
    cli_table_cell(table, "%s", row->family);
    cli_table_cell(table, "%s", row->pass);
    cli_table_cell(table, "%s", str_text(&problem));
    cli_table_cell(table, "%.2f", row->time_us);
    cli_table_cell(table, "%s", row->time_kind);
    cli_table_cell(table, "%s %s", device->kind, device->target);
    cli_table_cell(table, "%s", str_text(&config));
    str_free(&problem);
    str_free(&config);
}

static void add_winner_object(cJSON *list, const db_trial_row *row, const db_device *device)
{
    cJSON *w = cJSON_CreateObject();
    cJSON_AddNumberToObject(w, "trial", (double)row->trial_id);
    cJSON_AddStringToObject(w, "family", row->family);
    cJSON_AddStringToObject(w, "pass", row->pass);
    cJSON_AddItemToObject(w, "problem", cJSON_Parse(row->problem));
    cJSON_AddItemToObject(w, "config", cJSON_Parse(row->config));
    cJSON_AddNumberToObject(w, "time_us", row->time_us);
    cJSON_AddStringToObject(w, "time_kind", row->time_kind);
    cJSON_AddStringToObject(w, "model_version", row->model_version);
    cJSON_AddStringToObject(w, "device", device->kind);
    cJSON_AddStringToObject(w, "target", device->target);
    cJSON_AddNumberToObject(w, "cu_count", (double)device->cu_count);
    cJSON_AddItemToArray(list, w);
}

static bool visit_winner(const db_trial_row *row, const db_device *device, void *user)
{
    const lister *l = user;
    if (l->list)
        add_winner_object(l->list, row, device);
    else
        add_winner_row(l->table, row, device);
    return true;
}

static int run_ls(cli_call *call, db *database)
{
    static const char *const headings[] = {">trial",   "<family", "<pass",   "<problem",
                                           ">time us", "<kind",   "<device", "<configuration"};
    cJSON *out = call->json ? cJSON_CreateObject() : NULL;
    lister l = {.list = call->json ? cJSON_AddArrayToObject(out, "winners") : NULL,
                .table = call->json ? NULL : cli_table_new()};
    moesaic_text err;
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        cli_table_column(l.table, headings[i]);
    moesaic_status status = db_winners(database, NULL, NULL, visit_winner, &l, &err);
    int rc = call->json ? CLI_OK : cli_table_print(l.table);
    if (status == MOESAIC_OK)
        return call->json ? cli_print_json(call, out) : rc;
    cJSON_Delete(out);
    return cli_fail(call, status, &err);
}

/* --- show and stat: an object as lines of name and value --- */

static void add_lines(cli_table *table, const char *prefix, const cJSON *object)
{
    const cJSON *m;
    cJSON_ArrayForEach(m, object)
    {
        char *name = str_format("%s%s%s", prefix, *prefix ? "." : "", m->string);
        if (cJSON_IsObject(m)) {
            add_lines(table, name ? name : "", m);
        } else {
            str text = {0};
            json_canonical(m, &text);
            cli_table_cell(table, "%s", name ? name : "");
            cli_table_cell(table, "%s", cJSON_IsString(m) ? m->valuestring : str_text(&text));
            str_free(&text);
        }
        free(name);
    }
}

static int print_object(const cli_call *call, cJSON *object)
{
    if (call->json)
        return cli_print_json(call, object);
    cli_table *table = cli_table_new();
    cli_table_column(table, "<what");
    cli_table_column(table, "<value");
    add_lines(table, "", object);
    cJSON_Delete(object);
    return cli_table_print(table);
}

static int run_show(cli_call *call, db *database)
{
    char *end;
    errno = 0;
    long long id = strtoll(call->args[1], &end, 10);
    if (*end || errno || id < 1)
        return cli_usage(call, "\"%s\" is no trial: its number is what `moesaic db ls` shows first",
                         call->args[1]);
    cJSON *shown;
    moesaic_text err;
    moesaic_status status = db_trial_show(database, id, &shown, &err);
    return status == MOESAIC_OK ? print_object(call, shown) : cli_fail(call, status, &err);
}

static int run_stat(cli_call *call, db *database)
{
    cJSON *stat;
    moesaic_text err;
    moesaic_status status = db_stat(database, &stat, &err);
    return status == MOESAIC_OK ? print_object(call, stat) : cli_fail(call, status, &err);
}

/* --- gc --- */

static int run_gc(cli_call *call, db *database)
{
    int64_t n_removed;
    moesaic_text err;
    bool code = cli_flag(call, "--code-objects");
    moesaic_status status = code ? db_code_objects_collect(database, &n_removed, &err)
                                 : db_collect(database, &n_removed, &err);
    if (status != MOESAIC_OK)
        return cli_fail(call, status, &err);
    if (call->json) {
        cJSON *out = cJSON_CreateObject();
        cJSON_AddNumberToObject(out, "removed", (double)n_removed);
        return cli_print_json(call, out);
    }
    printf("removed %lld %s\n", (long long)n_removed,
           code ? "code objects; winners are compiled again when they are needed"
                : "records that no trial refers to");
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
}

/* --- where: the layers, first wins --- */

static int is_database(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + n - 3, ".db") == 0;
}

static void add_file(cJSON *list, const char *layer, const char *path)
{
    cJSON *file = cJSON_CreateObject();
    cJSON_AddStringToObject(file, "layer", layer);
    cJSON_AddStringToObject(file, "path", path);
    cJSON_AddBoolToObject(file, "exists", access(path, R_OK) == 0);
    cJSON_AddItemToArray(list, file);
}

/* The databases of a folder in the order of their names; the folder's pattern when there is none. */
static void add_folder(cJSON *list, const char *layer, const char *folder)
{
    struct dirent **entries = NULL;
    int n = folder ? scandir(folder, &entries, is_database, alphasort) : 0;
    for (int i = 0; i < (n > 0 ? n : 1) && folder; i++) {
        char *path = str_format("%s/%s", folder, n > 0 ? entries[i]->d_name : "*.db");
        add_file(list, layer, path ? path : folder);
        free(path);
    }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
}

static int run_where(cli_call *call, db *database)
{
    (void)database;
    cJSON *out = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(out, "layers");
    const cJSON *f;
    char *user = file_user_folder();
    if (call->db_given)
        add_file(list, "explicit", call->db);
    add_folder(list, "user", user);
    add_folder(list, "site", MOESAIC_SYSCONF_FOLDER);
    add_folder(list, "shipped", MOESAIC_LIB_FOLDER);
    free(user);
    if (call->json)
        return cli_print_json(call, out);
    cli_table *table = cli_table_new();
    cli_table_column(table, "<layer");
    cli_table_column(table, "<there");
    cli_table_column(table, "<database");
    cJSON_ArrayForEach(f, list)
    {
        cli_table_cell(table, "%s", cJSON_GetObjectItem(f, "layer")->valuestring);
        cli_table_cell(table, "%s", cJSON_IsTrue(cJSON_GetObjectItem(f, "exists")) ? "yes" : "no");
        cli_table_cell(table, "%s", cJSON_GetObjectItem(f, "path")->valuestring);
    }
    cJSON_Delete(out);
    return cli_table_print(table);
}

/* --- the table --- */

static const struct subcommand {
    const char *name;
    int n_args; /* behind its name */
    bool opens;
    db_mode mode;
    int (*run)(cli_call *call, db *database);
} subcommands[] = {
    {"ls", 0, true, DB_READ, run_ls},        {"show", 1, true, DB_READ, run_show},
    {"stat", 0, true, DB_READ, run_stat},    {"gc", 0, true, DB_WRITE, run_gc},
    {"where", 0, false, DB_READ, run_where},
};

static const struct subcommand *find_subcommand(const char *name)
{
    for (size_t i = 0; i < sizeof subcommands / sizeof subcommands[0]; i++)
        if (strcmp(subcommands[i].name, name) == 0)
            return &subcommands[i];
    return NULL;
}

static int run(cli_call *call)
{
    const struct subcommand *sub = find_subcommand(call->args[0]);
    moesaic_text err;
    db *database = NULL;
    if (!sub)
        return cli_usage(call, "\"%s\" is none of ls, show, stat, gc and where", call->args[0]);
    if (call->n_args != 1 + sub->n_args)
        return cli_usage(call,
                         sub->n_args ? "%s needs the number of one trial" : "%s takes no argument",
                         sub->name);
    if (cli_flag(call, "--code-objects") && sub->run != run_gc)
        return cli_usage(call, "--code-objects is for gc");
    /* Opening for writing makes a file; there is nothing to collect in a new one. */
    moesaic_status status = sub->opens && !file_exists(call->db)
                                ? db_open(call->db, DB_READ, &database, &err)
                                : MOESAIC_OK;
    if (status == MOESAIC_OK && sub->opens)
        status = db_open(call->db, sub->mode, &database, &err);
    int rc = status == MOESAIC_OK ? sub->run(call, database) : cli_fail(call, status, &err);
    db_close(database);
    return rc;
}

const cli_command cli_db = {
    .name = "db",
    .usage = "ls | show TRIAL | stat | gc [--code-objects] | where [options]",
    .summary = "Show what a tuning database holds, and clean it up",
    .help = "  ls      the winners\n"
            "  show    one trial with its problem, configuration, device, code and run\n"
            "  stat    how much of everything there is\n"
            "  gc      remove records that no trial refers to, or the stored machine code\n"
            "  where   the databases that a program would use, first wins\n"
            "docs/database.md tells more.",
    .options = options,
    .min_args = 1,
    .max_args = 2,
    .run = run,
};
