/* device/msgpack.h: a reader of MessagePack, as far as code-object metadata goes.
 *
 * Private to device/.  Bytes may come from a damaged database: every read is checked, nesting costs no
 * stack.    Source: github.com/msgpack/msgpack, spec.md.    SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_DEVICE_MSGPACK_H
#define MOESAIC_DEVICE_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct msgpack {
    const uint8_t *at, *end;
    bool bad; /* ended early or not MessagePack: everything read since is empty */
} msgpack;

typedef enum msgpack_kind {
    MSGPACK_OTHER, /* nil, bool, float, bytes, extension: skipped */
    MSGPACK_INT,
    MSGPACK_STRING,
    MSGPACK_ARRAY,
    MSGPACK_MAP,
} msgpack_kind;

typedef struct msgpack_value {
    msgpack_kind kind;
    uint64_t n; /* the integer, bytes of the string, elements of the array, pairs of the map */
    const char *string; /* not terminated */
} msgpack_value;

/* Read one value; of an array or map only the head: its elements follow. */
msgpack_value msgpack_next(msgpack *from);

/* Read one value with all that it holds, and forget it. */
void msgpack_skip(msgpack *from);

bool msgpack_is(const msgpack_value *value, const char *string);

#endif
