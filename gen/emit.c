/* gen/emit.c: one standalone HIP file of a variant: its template with the configuration filled in.
 *
 * The block between `// moesaic:config` and `// moesaic:end` has one line for each field,
 *     static constexpr int NAME = VALUE; // what it means
 * whose value is replaced; lines that are neither a parameter nor a field of the problem stay.
 * Uses inline.c.  Tested by tests/gen/test_emit.c.                                 SPDX-License-Identifier: MIT
 */
#include "gen/gen_int.h"

#include <ctype.h>
#include <string.h>

/* A text field's code or a number; false: not a field of the configuration. */
static bool field_value(const gen_family *family, const cJSON *field, int64_t *value)
{
    if (!field)
        return false;
    if (cJSON_IsString(field))
        return problem_code(family, field->string, field->valuestring, value);
    *value = (int64_t)field->valuedouble;
    return cJSON_IsNumber(field);
}

typedef struct variant {
    const gen_family *family;
    const char *pass;
    const cJSON *problem, *config;
    int n_filled; /* parameters that found their line */
} variant;

static bool value_of(variant *v, const char *name, int64_t *value)
{
    const cJSON *parameter = cJSON_GetObjectItemCaseSensitive(v->config, name);
    v->n_filled += parameter != NULL;
    if (parameter)
        return field_value(v->family, parameter, value);
    if (strcmp(name, "pass") == 0)
        return problem_code(v->family, "pass", v->pass, value);
    return field_value(v->family, cJSON_GetObjectItemCaseSensitive(v->problem, name), value);
}

/* Where the value of `... int NAME = VALUE;` lies in a line of n characters. */
static bool find_value(const char *line, size_t n, char *name, size_t room, size_t *begin,
                       size_t *end)
{
    static const char start[] = "static constexpr int ";
    size_t at = strspn(line, " ");
    if (at + sizeof start - 1 >= n || memcmp(line + at, start, sizeof start - 1) != 0)
        return false;
    at += sizeof start - 1;
    size_t n_name = 0;
    while (at + n_name < n &&
           (isalnum((unsigned char)line[at + n_name]) || line[at + n_name] == '_'))
        n_name++;
    if (n_name >= room || at + n_name + 3 >= n || memcmp(line + at + n_name, " = ", 3) != 0)
        return false;
    memcpy(name, line + at, n_name);
    name[n_name] = 0;
    *begin = at + n_name + 3;
    const char *semicolon = memchr(line + *begin, ';', n - *begin);
    *end = semicolon ? (size_t)(semicolon - line) : n;
    return semicolon != NULL;
}

/* A comment behind the value stays in its column where there is room. */
static void add_rest(const char *rest, size_t n, long grown, str *out)
{
    str_add(out, ";");
    size_t n_blanks = strspn(rest + 1, " ");
    if (n_blanks && 1 + n_blanks < n) {
        long wanted = (long)n_blanks - grown;
        str_printf(out, "%*s", (int)(wanted > 1 ? wanted : 1), "");
    }
    str_add_bytes(out, rest + 1 + n_blanks, n - 1 - n_blanks);
    str_add(out, "\n");
}

static void add_config_line(variant *v, const char *line, size_t n, str *out)
{
    char name[64];
    size_t begin, end;
    int64_t value;
    if (!find_value(line, n, name, sizeof name, &begin, &end) || !value_of(v, name, &value)) {
        str_add_bytes(out, line, n);
        str_add(out, "\n");
        return;
    }
    str_add_bytes(out, line, begin);
    size_t before = out->n;
    str_printf(out, "%lld", (long long)value);
    long grown = (long)(out->n - before) - (long)(end - begin);
    add_rest(line + end, n - end, grown, out);
}

/* The block's lines, up to its end mark; NULL when that is missing. */
static const char *add_block(variant *v, const char *text, str *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        const char *mark = "// moesaic:end";
        if (n == strlen(mark) && memcmp(text, mark, n) == 0)
            return text;
        add_config_line(v, text, n, out);
        text += n + (text[n] == '\n');
    }
    return NULL;
}

static moesaic_status add_source(variant *v, str *out, moesaic_text *err)
{
    const char *source = str_text(&v->family->source), *mark = "// moesaic:config\n";
    const char *config = strstr(source, mark), *rest = source;
    if (config) {
        str_add_bytes(out, source, (size_t)(config - source) + strlen(mark));
        rest = add_block(v, config + strlen(mark), out);
        if (!rest)
            return moesaic_fail(err, MOESAIC_E_INPUT, "%s.hip: \"// moesaic:end\" is missing",
                                v->family->name);
    }
    if (v->n_filled != cJSON_GetArraySize(v->config))
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s.hip: %d of %d parameters have a line `static constexpr int NAME = "
                            "VALUE;` between // moesaic:config and // moesaic:end",
                            v->family->name, v->n_filled, cJSON_GetArraySize(v->config));
    str_add(out, rest);
    return MOESAIC_OK;
}

static void add_word(const char *word, size_t *column, str *out)
{
    enum { MAX_COLUMNS = 100, INDENT = 12 };
    size_t n = strlen(word);
    if (*column + 1 + n > MAX_COLUMNS) {
        str_printf(out, "\n *%*s", INDENT - 2, "");
        *column = INDENT;
    }
    str_printf(out, " %s", word);
    *column += 1 + n;
}

/* Fields as K=V in lines that fit.  A * is shown as ?: no text may end the comment. */
static void add_fields(const char *heading, const cJSON *fields, str *out)
{
    size_t column = 12;
    const cJSON *f;
    str_printf(out, " * %-9s", heading);
    cJSON_ArrayForEach(f, fields)
    {
        str word = {0};
        str_printf(&word, "%s=", f->string);
        if (cJSON_IsString(f))
            str_add(&word, f->valuestring);
        else
            str_printf(&word, "%.0f", f->valuedouble);
        for (size_t i = 0; i < word.n; i++)
            if (word.s[i] == '*' || !isprint((unsigned char)word.s[i]))
                word.s[i] = '?';
        add_word(str_text(&word), &column, out);
        out->failed |= word.failed;
        str_free(&word);
    }
    str_add(out, "\n");
}

static void add_head(const variant *v, str *out)
{
    str_printf(out, "/* A variant of %s, pass %s, emitted by Moesaic: it stands alone.\n *\n",
               v->family->name, v->pass);
    add_fields("problem", v->problem, out);
    add_fields("config", v->config, out);
    str_printf(out, " * template  %s\n", v->family->hash.s);
    str_add(out,
            " * compile   hipcc --offload-arch=gfx942 -std=c++17 -O3 -c FILE, or hiprtc\n */\n");
}

moesaic_status gen_emit(const gen_family *family, const char *pass, const cJSON *problem,
                        const cJSON *config, str *out, moesaic_text *err)
{
    variant v = {.family = family, .pass = pass, .problem = problem, .config = config};
    size_t before = out->n;
    add_head(&v, out);
    moesaic_status status = add_source(&v, out, err);
    if (status == MOESAIC_OK && out->failed)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a variant of %s", family->name);
    if (status != MOESAIC_OK && out->s) {
        out->n = before;
        out->s[before] = 0;
    }
    return status;
}
