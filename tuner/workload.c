/* tuner/workload.c: reads workload files and expands them: tokens x routing x passes.
 *
 * What describes the entry (source, status, note ...) stays here; every other key is a field of the problem, and
 * the family says whether it knows it.  Tested by tests/tuner/test_workload.c.    SPDX-License-Identifier: MIT
 */
#include "tuner/workload.h"

#include "base/file.h"
#include "db/db.h"

#include <stdlib.h>
#include <string.h>

/* Sections of a workload file, and the family that tunes their entries. */
static const struct {
    const char *section, *family, *passes[4];
} sections[] = {
    {"moe", "moe_gemm", {"gate_up", "down", NULL}},
};
enum { N_SECTIONS = sizeof sections / sizeof sections[0], MAX_PROBLEMS = 100000 };

/* Keys of an entry that are lists, or that only describe it. */
static const char *const other_keys[] = {"passes", "tokens", "routing",       "source",
                                         "status", "note",   "tokens_source", "tokens_status"};

static bool is_other_key(const char *key)
{
    for (size_t i = 0; i < sizeof other_keys / sizeof other_keys[0]; i++)
        if (!strcmp(key, other_keys[i]))
            return true;
    return false;
}

static void problem_free(tuner_problem *p)
{
    free(p->pass);
    free(p->label);
    cJSON_Delete(p->fields);
    cJSON_Delete(p->key_fields);
    free(p->key);
}

void workload_free(workload *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->n_problems; i++)
        problem_free(&w->problems[i]);
    for (int i = 0; i < w->n_families; i++)
        gen_family_free(w->families[i]);
    free(w->problems);
    free(w->name);
    free(w->source);
    free(w);
}

/* --- one problem --- */

/* The entry while it is expanded. */
typedef struct expansion {
    workload *to;
    const cJSON *entry;
    const gen_family *family;
    const char *const *default_passes;
    const char *folder; /* of the file: recorded routings are found relative to it */
} expansion;

/* The entry's own fields with one number of tokens; a new object. */
static cJSON *problem_fields(const cJSON *entry, const cJSON *tokens)
{
    cJSON *fields = cJSON_CreateObject(), *member = NULL;
    const cJSON *m;
    bool added = fields != NULL;
    cJSON_ArrayForEach(m, entry)
    {
        if (!added || is_other_key(m->string))
            continue;
        member = cJSON_Duplicate(m, 1);
        added = member && cJSON_AddItemToObject(fields, m->string, member);
    }
    member = added ? cJSON_Duplicate(tokens, 1) : NULL;
    if (member && cJSON_AddItemToObject(fields, "tokens", member))
        return fields;
    cJSON_Delete(fields);
    return NULL;
}

static moesaic_status make_key(tuner_problem *p, moesaic_text *err)
{
    char name[80];
    str key = {0};
    routing_name(&p->routing, name);
    p->key_fields = cJSON_Duplicate(p->fields, 1);
    if (!p->key_fields || !cJSON_AddStringToObject(p->key_fields, "routing", name))
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
    moesaic_status status = db_problem_key(p->key_fields, &key, err);
    p->key = key.s;
    return status;
}

static moesaic_status make_label(tuner_problem *p, const char *routing, moesaic_text *err)
{
    const cJSON *tokens = cJSON_GetObjectItemCaseSensitive(p->fields, "tokens");
    p->label = str_format("%s tokens=%.0f %s", p->pass, tokens ? tokens->valuedouble : 0, routing);
    return p->label ? MOESAIC_OK : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
}

static moesaic_status fill_problem(const expansion *x, const cJSON *tokens, const char *routing,
                                   tuner_problem *p, moesaic_text *err)
{
    moesaic_status status = routing_parse(routing, x->folder, &p->routing, err);
    if (status != MOESAIC_OK)
        return status;
    cJSON *fields = problem_fields(x->entry, tokens);
    if (!fields)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
    status = gen_problem_complete(x->family, p->pass, fields, &p->fields, err);
    cJSON_Delete(fields);
    if (status == MOESAIC_OK)
        status = make_key(p, err);
    return status == MOESAIC_OK ? make_label(p, routing, err) : status;
}

static moesaic_status add_problem(const expansion *x, const char *pass, const cJSON *tokens,
                                  const char *routing, moesaic_text *err)
{
    workload *w = x->to;
    if (w->n_problems == MAX_PROBLEMS)
        return moesaic_fail(err, MOESAIC_E_INPUT, "more than %d problems in one workload",
                            MAX_PROBLEMS);
    tuner_problem p = {.family = x->family, .pass = str_format("%s", pass)};
    moesaic_status status = p.pass ? fill_problem(x, tokens, routing, &p, err) : MOESAIC_E_NOMEM;
    tuner_problem *all = NULL;
    if (status == MOESAIC_OK) {
        all = realloc(w->problems, (size_t)(w->n_problems + 1) * sizeof *all);
        if (!all)
            status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a problem");
    }
    if (status != MOESAIC_OK) {
        problem_free(&p);
        return status;
    }
    w->problems = all;
    w->problems[w->n_problems++] = p;
    return MOESAIC_OK;
}

/* --- one entry --- */

/* Item i of a member that is one value or a list of them; NULL behind the end. */
static const cJSON *item_of(const cJSON *member, int i)
{
    if (cJSON_IsArray(member))
        return cJSON_GetArrayItem(member, i);
    return i == 0 ? member : NULL;
}

static moesaic_status check_list(const cJSON *entry, const char *key, bool required, bool text,
                                 moesaic_text *err)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(entry, key), *item;
    if (!member && !required)
        return MOESAIC_OK;
    if (!item_of(member, 0))
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "\"%s\" is missing or empty; state at least one %s", key,
                            text ? "name" : "number");
    for (int i = 0; (item = item_of(member, i)) != NULL; i++)
        if (text ? !cJSON_IsString(item) : !cJSON_IsNumber(item))
            return moesaic_fail(err, MOESAIC_E_INPUT, "\"%s\" must hold %s only", key,
                                text ? "names" : "numbers");
    return MOESAIC_OK;
}

static moesaic_status expand_passes(const expansion *x, const cJSON *tokens, const char *routing,
                                    moesaic_text *err)
{
    const cJSON *passes = cJSON_GetObjectItemCaseSensitive(x->entry, "passes"), *item;
    moesaic_status status = MOESAIC_OK;
    if (!passes)
        for (int i = 0; status == MOESAIC_OK && x->default_passes[i]; i++)
            status = add_problem(x, x->default_passes[i], tokens, routing, err);
    for (int i = 0; passes && status == MOESAIC_OK && (item = item_of(passes, i)) != NULL; i++)
        status = add_problem(x, item->valuestring, tokens, routing, err);
    return status;
}

static moesaic_status expand_entry(const expansion *x, moesaic_text *err)
{
    const cJSON *tokens = cJSON_GetObjectItemCaseSensitive(x->entry, "tokens"), *count;
    const cJSON *routing = cJSON_GetObjectItemCaseSensitive(x->entry, "routing"), *way;
    moesaic_status status = check_list(x->entry, "tokens", true, false, err);
    if (status == MOESAIC_OK)
        status = check_list(x->entry, "passes", false, true, err);
    if (status == MOESAIC_OK)
        status = check_list(x->entry, "routing", false, true, err);
    for (int t = 0; status == MOESAIC_OK && (count = item_of(tokens, t)) != NULL; t++) {
        if (!routing)
            status = expand_passes(x, count, "uniform", err);
        for (int r = 0; routing && status == MOESAIC_OK && (way = item_of(routing, r)); r++)
            status = expand_passes(x, count, way->valuestring, err);
    }
    return status;
}

/* --- the file --- */

static int section_of(const char *key)
{
    for (int i = 0; i < N_SECTIONS; i++)
        if (!strcmp(sections[i].section, key))
            return i;
    return -1;
}

static moesaic_status expand_section(workload *w, const cJSON *entries, const char *folder,
                                     moesaic_text *err)
{
    int s = section_of(entries->string), i = 0;
    if (s < 0)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "\"%s\": there is no kernel family for such entries; remove them, or "
                            "use: moe",
                            entries->string);
    if (!cJSON_IsArray(entries))
        return moesaic_fail(err, MOESAIC_E_INPUT, "\"%s\" must be a list of entries",
                            entries->string);
    if (w->n_families == WORKLOAD_MAX_FAMILIES)
        return moesaic_fail(err, MOESAIC_E_INPUT, "\"%s\" is there too often; join its entries",
                            entries->string);
    gen_family **family = &w->families[w->n_families];
    moesaic_status status = gen_family_open(sections[s].family, family, err);
    w->n_families += status == MOESAIC_OK;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, entries)
    {
        if (status != MOESAIC_OK)
            break;
        expansion x = {w, entry, *family, sections[s].passes, folder};
        status = cJSON_IsObject(entry)
                     ? expand_entry(&x, err)
                     : moesaic_fail(err, MOESAIC_E_INPUT, "the entry is not an object");
        if (status != MOESAIC_OK)
            moesaic_fail_in(err, status, "%s[%d]", entries->string, i);
        i++;
    }
    return status;
}

static moesaic_status expand_file(workload *w, const cJSON *file, const char *folder,
                                  moesaic_text *err)
{
    const char *name, *source;
    if (!cJSON_IsObject(file))
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "a workload is an object with \"name\" and \"moe\"");
    moesaic_status status = json_text(file, "name", "workload", NULL, &name, err);
    if (status == MOESAIC_OK)
        status = json_text(file, "source", "workload", "", &source, err);
    if (status != MOESAIC_OK)
        return status;
    w->name = str_format("%s", name);
    w->source = str_format("%s", source);
    if (!w->name || !w->source)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a workload");
    const cJSON *member;
    cJSON_ArrayForEach(member, file)
    {
        if (!strcmp(member->string, "name") || !strcmp(member->string, "source"))
            continue;
        status = expand_section(w, member, folder, err);
        if (status != MOESAIC_OK)
            return status;
    }
    if (!w->n_problems)
        return moesaic_fail(err, MOESAIC_E_INPUT, "there is no entry; add a \"moe\" list");
    return MOESAIC_OK;
}

/* The folder of a path, without trailing slash; a malloc'ed string or NULL. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? str_format("%.*s", (int)(slash - path), path) : str_format(".");
}

moesaic_status workload_read(const char *path, workload **out, moesaic_text *err)
{
    cJSON *file = NULL;
    *out = NULL;
    moesaic_status status = json_read(path, &file, err);
    if (status != MOESAIC_OK)
        return status;
    workload *w = calloc(1, sizeof *w);
    char *folder = folder_of(path);
    status = w && folder ? expand_file(w, file, folder, err)
                         : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a workload");
    free(folder);
    cJSON_Delete(file);
    if (status == MOESAIC_OK)
        *out = w;
    else
        workload_free(w);
    return status == MOESAIC_OK ? status : moesaic_fail_in(err, status, "%s", path);
}

moesaic_status workload_select(workload *w, const char *glob, moesaic_text *err)
{
    int n = 0;
    str labels = {0};
    for (int i = 0; i < w->n_problems; i++)
        str_printf(&labels, "%s%s", i ? ", " : "", w->problems[i].label);
    for (int i = 0; i < w->n_problems; i++) {
        if (str_glob(glob, w->problems[i].label))
            w->problems[n++] = w->problems[i];
        else
            problem_free(&w->problems[i]);
    }
    w->n_problems = n;
    if (!n)
        moesaic_fail(err, MOESAIC_E_INPUT, "--only \"%s\" matches none of: %s", glob,
                     str_text(&labels));
    str_free(&labels);
    return n ? MOESAIC_OK : MOESAIC_E_INPUT;
}
