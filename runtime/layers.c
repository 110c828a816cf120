/* runtime/layers.c: which database files are read, in which order, and which are not trusted.
 *
 *   explicit   the one that the caller or $MOESAIC_DB names: must be usable
 *   user       $XDG_DATA_HOME/moesaic/<name>.db: must belong to the user and be writable by nobody else
 *   site       MOESAIC_SYSCONF_FOLDER/<name>.db
 *   shipped    MOESAIC_LIB_FOLDER/<name>.db
 *
 * Site and shipped files need a signature; this version can't check one, so they are used only if the caller
 * takes unsigned ones.  Within a folder, names are in the order of their bytes.  docs/security.md says why.
 * Tested by tests/runtime/test_layers.c.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static layer *add_layer(moesaic_context *context, const char *kind, const char *path)
{
    if (context->n_layers == MAX_LAYERS)
        return NULL;
    layer *l = &context->layers[context->n_layers];
    if (strlen(path) >= sizeof l->info.path)
        return NULL;
    context->n_layers++;
    l->info.size_bytes = sizeof l->info;
    snprintf(l->info.path, sizeof l->info.path, "%s", path);
    snprintf(l->info.kind, sizeof l->info.kind, "%s", kind);
    return l;
}

static void pass_over(layer *l, const char *reason)
{
    snprintf(l->info.reason, sizeof l->info.reason, "%.255s", reason);
}

/* Why a file of a folder must not be used, or NULL. */
static const char *distrust(const moesaic_context *context, const layer *l)
{
    struct stat file;
    if (strcmp(l->info.kind, "user") != 0)
        return context->flags & MOESAIC_OPEN_UNSIGNED
                   ? NULL
                   : "not signed by a trusted key; MOESAIC_OPEN_UNSIGNED uses it all the same";
    if (stat(l->info.path, &file) != 0)
        return "cannot be looked at";
    if (file.st_uid != geteuid())
        return "belongs to another user";
    return file.st_mode & (S_IWGRP | S_IWOTH) ? "others may write it: chmod go-w" : NULL;
}

static void open_of_folder(moesaic_context *context, layer *l)
{
    moesaic_text err = {""};
    const char *reason = distrust(context, l);
    if (!reason && db_open(l->info.path, DB_READ, &l->database, &err) != MOESAIC_OK)
        reason = err.s;
    if (reason)
        pass_over(l, reason);
    l->info.used = l->database != NULL;
}

static int is_database(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + n - 3, ".db") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_folder(moesaic_context *context, const char *kind, const char *folder)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_database, by_bytes);
    for (int i = 0; i < n; i++) {
        char path[sizeof context->layers[0].info.path];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        layer *l =
            length > 0 && (size_t)length < sizeof path ? add_layer(context, kind, path) : NULL;
        if (l)
            open_of_folder(context, l);
        free(entries[i]);
    }
    free(entries);
}

static moesaic_status open_explicit(moesaic_context *context, const char *path, moesaic_text *err)
{
    layer *l = add_layer(context, "explicit", path);
    if (!l)
        return moesaic_fail(err, MOESAIC_E_INPUT, "the database's path is too long: %.200s", path);
    moesaic_status status = db_open(path, DB_READ, &l->database, err);
    l->info.used = status == MOESAIC_OK;
    return status;
}

moesaic_status layers_open(moesaic_context *context, const char *database, moesaic_text *err)
{
    const char *stated = database ? database : getenv("MOESAIC_DB");
    if (stated && stated[0]) {
        moesaic_status status = open_explicit(context, stated, err);
        if (status != MOESAIC_OK)
            return status;
    }
    char *user = file_user_folder();
    if (user)
        add_folder(context, "user", user);
    free(user);
    add_folder(context, "site", MOESAIC_SYSCONF_FOLDER);
    add_folder(context, "shipped", MOESAIC_LIB_FOLDER);
    return MOESAIC_OK;
}

void layers_close(moesaic_context *context)
{
    for (uint32_t i = 0; i < context->n_layers; i++)
        db_close(context->layers[i].database);
    context->n_layers = 0;
}
