/* base/json.c: JSON through cJSON.    SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_MAX_BYTES = 64 << 20 };

static void line_and_column(const char *text, const char *at, int *line, int *column)
{
    *line = 1;
    *column = 1;
    for (const char *p = text; p < at && *p; p++) {
        *column = *p == '\n' ? 1 : *column + 1;
        *line += *p == '\n';
    }
}

moesaic_status json_parse(const char *text, const char *name, cJSON **out, moesaic_text *err)
{
    const char *end = text;
    *out = cJSON_ParseWithOpts(text, &end, 1);
    if (*out)
        return MOESAIC_OK;
    int line, column;
    line_and_column(text, end, &line, &column);
    return moesaic_fail(err, MOESAIC_E_INPUT, "%s:%d:%d: not valid JSON here", name, line, column);
}

moesaic_status json_read(const char *path, cJSON **out, moesaic_text *err)
{
    str text = {0};
    *out = NULL;
    moesaic_status status = file_read(path, JSON_MAX_BYTES, &text, err);
    if (status == MOESAIC_OK)
        status = json_parse(str_text(&text), path, out, err);
    str_free(&text);
    return status;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

static void add_string(const char *s, str *out)
{
    cJSON *value = cJSON_CreateString(s);
    char *text = value ? cJSON_PrintUnformatted(value) : NULL;
    if (text)
        str_add(out, text);
    else
        out->failed = true;
    cJSON_free(text);
    cJSON_Delete(value);
}

static void add_object(const cJSON *object, str *out)
{
    size_t n = (size_t)cJSON_GetArraySize(object);
    const cJSON **members = calloc(n + 1, sizeof *members);
    if (!members) {
        out->failed = true;
        return;
    }
    size_t i = 0;
    const cJSON *m;
    cJSON_ArrayForEach(m, object) members[i++] = m;
    qsort(members, n, sizeof *members, by_key);
    str_add(out, "{");
    for (i = 0; i < n; i++) {
        str_add(out, i ? "," : "");
        add_string(members[i]->string, out);
        str_add(out, ":");
        json_canonical(members[i], out);
    }
    str_add(out, "}");
    free(members);
}

static void add_number(double v, str *out)
{
    if (v == floor(v) && fabs(v) < 9007199254740992.0)
        str_printf(out, "%lld", (long long)v);
    else
        str_printf(out, "%.17g", v);
}

void json_canonical(const cJSON *value, str *out)
{
    if (cJSON_IsObject(value)) {
        add_object(value, out);
    } else if (cJSON_IsArray(value)) {
        const cJSON *m;
        bool first = true;
        str_add(out, "[");
        cJSON_ArrayForEach(m, value)
        {
            str_add(out, first ? "" : ",");
            first = false;
            json_canonical(m, out);
        }
        str_add(out, "]");
    } else if (cJSON_IsNumber(value)) {
        add_number(value->valuedouble, out);
    } else if (cJSON_IsString(value)) {
        add_string(value->valuestring, out);
    } else {
        str_add(out, cJSON_IsTrue(value) ? "true" : cJSON_IsFalse(value) ? "false" : "null");
    }
}

moesaic_status json_int(const cJSON *object, const char *key, const char *where, int64_t low,
                        int64_t high, const int64_t *fallback, int64_t *out, moesaic_text *err)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(object, key);
    *out = fallback ? *fallback : 0;
    if (!m && fallback)
        return MOESAIC_OK;
    if (!m)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"%s\" is missing", where, key);
    double v = m->valuedouble;
    if (!cJSON_IsNumber(m) || v != floor(v))
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"%s\" must be an integer", where, key);
    if (v < (double)low || v > (double)high)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%s: \"%s\" is %.0f, must be between %lld and %lld", where, key, v,
                            (long long)low, (long long)high);
    *out = (int64_t)v;
    return MOESAIC_OK;
}

moesaic_status json_text(const cJSON *object, const char *key, const char *where,
                         const char *fallback, const char **out, moesaic_text *err)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(object, key);
    *out = fallback;
    if (!m && fallback)
        return MOESAIC_OK;
    if (!m)
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"%s\" is missing", where, key);
    if (!cJSON_IsString(m))
        return moesaic_fail(err, MOESAIC_E_INPUT, "%s: \"%s\" must be a string", where, key);
    *out = m->valuestring;
    return MOESAIC_OK;
}

static moesaic_status add_pair(cJSON *object, char *pair, moesaic_text *err)
{
    char *equals = strchr(pair, '=');
    if (!equals || equals == pair || !equals[1])
        return moesaic_fail(err, MOESAIC_E_INPUT, "\"%s\" is not of the form KEY=VALUE", pair);
    *equals = 0;
    if (cJSON_GetObjectItemCaseSensitive(object, pair))
        return moesaic_fail(err, MOESAIC_E_INPUT, "\"%s\" is given twice", pair);
    char *end;
    errno = 0;
    long long v = strtoll(equals + 1, &end, 10);
    bool number = !*end && !errno && v > -(1ll << 53) && v < (1ll << 53);
    const cJSON *added = number ? cJSON_AddNumberToObject(object, pair, (double)v)
                                : cJSON_AddStringToObject(object, pair, equals + 1);
    return added ? MOESAIC_OK : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for \"%s\"", pair);
}

moesaic_status json_from_pairs(const char *pairs, cJSON **out, moesaic_text *err)
{
    char *copy = str_format("%s", pairs), *rest = copy, *pair;
    *out = cJSON_CreateObject();
    moesaic_status status = MOESAIC_OK;
    if (!copy || !*out)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for \"%.100s\"", pairs);
    while (status == MOESAIC_OK && (pair = strtok_r(rest, ",", &rest)))
        status = add_pair(*out, pair, err);
    free(copy);
    if (status != MOESAIC_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}
