/* gen/family.c: finding and opening a kernel family: a folder with a space.json and a template.
 *
 * Tested by tests/gen/test_space.c.                                                SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static bool holds_family(const char *folder)
{
    char *path = str_format("%s/space.json", folder);
    bool found = path && file_exists(path);
    free(path);
    return found;
}

static moesaic_status not_found(const char *name, const char *templates, moesaic_text *err)
{
    str names = {0};
    DIR *folder = templates ? opendir(templates) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char *path = str_format("%s/%s", templates, entry->d_name);
        if (path && entry->d_name[0] != '.' && holds_family(path))
            str_printf(&names, "%s%s", names.n ? ", " : "", entry->d_name);
        free(path);
    }
    if (folder)
        closedir(folder);
    moesaic_fail(err, MOESAIC_E_NOTFOUND, "there is no kernel family \"%s\"; there are: %s", name,
                 names.n ? names.s : "none");
    str_free(&names);
    return MOESAIC_E_NOTFOUND;
}

static moesaic_status find_folder(const char *name, char **out, moesaic_text *err)
{
    *out = NULL;
    if (holds_family(name)) {
        *out = str_format("%s", name);
    } else {
        char *templates = file_data_folder("templates");
        *out = templates ? str_format("%s/%s", templates, name) : NULL;
        moesaic_status status = MOESAIC_OK;
        if (strchr(name, '/') || !*out || !holds_family(*out))
            status = not_found(name, templates, err);
        free(templates);
        if (status != MOESAIC_OK)
            return status;
    }
    return *out ? MOESAIC_OK : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %s", name);
}

static moesaic_status read_family(gen_family *family, moesaic_text *err)
{
    char *path = str_format("%s/space.json", family->folder), *file = NULL;
    const char *name = NULL;
    moesaic_status status = path ? json_read(path, &family->json, err)
                                 : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a family");
    if (status == MOESAIC_OK)
        status = json_text(family->json, "family", path, NULL, &name, err);
    if (status == MOESAIC_OK && !is_name(name))
        status = moesaic_fail(err, MOESAIC_E_INPUT, "%s: the family name \"%s\" must be lower case",
                              path, name);
    if (status == MOESAIC_OK) {
        family->name = str_format("%s", name);
        file = str_format("%s.hip", name);
        status = family->name && file
                     ? check_family(family, err)
                     : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a family");
    }
    if (status == MOESAIC_OK)
        status = inline_source(family->folder, file, &family->source, err);
    free(file);
    free(path);
    return status;
}

static moesaic_status hash_family(gen_family *family, moesaic_text *err)
{
    str all = {0};
    json_canonical(family->json, &all);
    str_add(&all, "\n");
    str_add(&all, str_text(&family->source));
    moesaic_status status = all.failed
                                ? moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a family")
                                : hash_sha256(all.s, all.n, &family->hash, err);
    str_free(&all);
    return status;
}

moesaic_status gen_family_open(const char *name_or_folder, gen_family **out, moesaic_text *err)
{
    *out = NULL;
    gen_family *family = calloc(1, sizeof *family);
    if (!family)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a family");
    moesaic_status status = find_folder(name_or_folder, &family->folder, err);
    if (status == MOESAIC_OK)
        status = read_family(family, err);
    if (status == MOESAIC_OK)
        status = hash_family(family, err);
    if (status != MOESAIC_OK) {
        gen_family_free(family);
        return status;
    }
    *out = family;
    return MOESAIC_OK;
}

void gen_family_free(gen_family *family)
{
    if (!family)
        return;
    free(family->name);
    free(family->folder);
    cJSON_Delete(family->json);
    str_free(&family->source);
    free(family);
}

const char *gen_family_name(const gen_family *family)
{
    return family->name;
}

const hash_hex *gen_family_hash(const gen_family *family)
{
    return &family->hash;
}

const cJSON *gen_family_json(const gen_family *family)
{
    return family->json;
}

/* A family that states no passes has one, "run". */
bool gen_family_has_pass(const gen_family *family, const char *pass)
{
    const cJSON *passes = cJSON_GetObjectItemCaseSensitive(family->json, "passes"), *p;
    if (!passes)
        return strcmp(pass, "run") == 0;
    cJSON_ArrayForEach(p, passes)
    {
        if (cJSON_IsString(p) && strcmp(p->valuestring, pass) == 0)
            return true;
    }
    return false;
}
