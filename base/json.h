/* base/json.h: JSON through cJSON: files with good errors, checked getters, canonical text.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_BASE_JSON_H
#define MOESAIC_BASE_JSON_H

#include "base/status.h"
#include "base/str.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* Parse text (name is for messages: a path).  Trailing garbage is an error.  Errors: E_INPUT with line, column. */
moesaic_status json_parse(const char *text, const char *name, cJSON **out, moesaic_text *err);
moesaic_status json_read(const char *path, cJSON **out, moesaic_text *err);

/* Canonical text: keys sorted by byte, no white space, integers without fraction.  The same value gives the same
 * bytes always: keys of the database are made of it. */
void json_canonical(const cJSON *value, str *out);

/* A checked member.  Errors: E_INPUT naming `where` and the key; a missing one is an error unless fallback is
 * given (non-NULL). */
moesaic_status json_int(const cJSON *object, const char *key, const char *where, int64_t low,
                        int64_t high, const int64_t *fallback, int64_t *out, moesaic_text *err);
moesaic_status json_text(const cJSON *object, const char *key, const char *where,
                         const char *fallback, const char **out, moesaic_text *err);

/* "K=V,K=V" of a command line -> object; integers become numbers, the rest strings.  Errors: E_INPUT. */
moesaic_status json_from_pairs(const char *pairs, cJSON **out, moesaic_text *err);

#endif
