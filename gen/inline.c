/* gen/inline.c: one file out of a template and its includes.
 *
 * Quoted includes are looked up in the template's folder, then in the folder above it, then in our own
 * templates; each is put in once, where it is first asked for.  Angled includes stay.
 * Tested by tests/gen/test_emit.c.                                                 SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INCLUDES = 64, MAX_DEPTH = 16, MAX_SOURCE_BYTES = 4 << 20 };

typedef struct inliner {
    const char *folder;
    char *seen[MAX_INCLUDES];
    int n_seen, depth;
    str *out;
} inliner;

static char *look_up(const char *folder, const char *name)
{
    char *above = str_format("%s/..", folder), *ours = file_data_folder("templates");
    const char *const folders[] = {folder, above, ours};
    char *path = NULL;
    for (size_t i = 0; i < 3; i++) {
        free(path);
        path = folders[i] ? str_format("%s/%s", folders[i], name) : NULL;
        if (path && file_exists(path))
            break;
    }
    free(above);
    free(ours);
    return path;
}

static bool first_time(inliner *in, const char *name)
{
    for (int i = 0; i < in->n_seen; i++)
        if (strcmp(in->seen[i], name) == 0)
            return false;
    if (in->n_seen < MAX_INCLUDES)
        in->seen[in->n_seen++] = str_format("%s", name);
    return true;
}

/* The name in `#include "name"`, or false. */
static bool is_include(const char *line, size_t n, char *name, size_t room)
{
    static const char start[] = "#include \"";
    if (n < sizeof start || memcmp(line, start, sizeof start - 1) != 0)
        return false;
    const char *first = line + sizeof start - 1;
    const char *end = memchr(first, '"', n - (sizeof start - 1));
    if (!end || (size_t)(end - first) >= room)
        return false;
    memcpy(name, first, (size_t)(end - first));
    name[end - first] = 0;
    return true;
}

static moesaic_status add_file(inliner *in, const char *name, moesaic_text *err);

static moesaic_status add_lines(inliner *in, const char *text, moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    while (*text && status == MOESAIC_OK) {
        char name[256];
        size_t n = strcspn(text, "\n");
        if (!is_include(text, n, name, sizeof name))
            str_add_bytes(in->out, text, n), str_add(in->out, "\n");
        else if (first_time(in, name))
            status = add_file(in, name, err);
        text += n + (text[n] == '\n');
    }
    return status;
}

static moesaic_status add_file(inliner *in, const char *name, moesaic_text *err)
{
    if (in->depth == MAX_DEPTH || in->n_seen == MAX_INCLUDES)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s/%s: too many includes", in->folder, name);
    char *path = look_up(in->folder, name);
    str text = {0};
    moesaic_status status = path ? file_read(path, MAX_SOURCE_BYTES, &text, err)
                                 : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to read %s", name);
    in->depth++;
    if (status == MOESAIC_OK)
        status = add_lines(in, str_text(&text), err);
    in->depth--;
    str_free(&text);
    free(path);
    return status;
}

moesaic_status inline_source(const char *folder, const char *file, str *out, moesaic_text *err)
{
    inliner in = {.folder = folder, .out = out};
    moesaic_status status = add_file(&in, file, err);
    for (int i = 0; i < in.n_seen; i++)
        free(in.seen[i]);
    if (status == MOESAIC_OK && out->failed)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for the source of %s", file);
    return status;
}
