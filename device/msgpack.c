/* device/msgpack.c: a reader of MessagePack.    SPDX-License-Identifier: MIT */
#include "device/msgpack.h"

#include <string.h>

/* What a first byte from `low` on means; the table is ordered.  `size_bytes` big-endian bytes follow and
 * hold the count or value; 0: the count is in the low bits of the first byte. */
typedef struct format {
    uint8_t low;
    msgpack_kind kind;
    uint8_t size_bytes;
    uint8_t mask;     /* of the count in the first byte */
    uint16_t payload; /* bytes behind size and count that belong to it */
    bool counted;     /* n more bytes of payload follow */
} format;

static const format formats[] = {
    {0x00, MSGPACK_INT, 0, 0x7f, 0, false},   {0x80, MSGPACK_MAP, 0, 0x0f, 0, false},
    {0x90, MSGPACK_ARRAY, 0, 0x0f, 0, false}, {0xa0, MSGPACK_STRING, 0, 0x1f, 0, true},
    {0xc0, MSGPACK_OTHER, 0, 0, 0, false}, /* nil, unused, false, true */
    {0xc4, MSGPACK_OTHER, 1, 0, 0, true},     {0xc5, MSGPACK_OTHER, 2, 0, 0, true},
    {0xc6, MSGPACK_OTHER, 4, 0, 0, true},     {0xc7, MSGPACK_OTHER, 1, 0, 1, true},
    {0xc8, MSGPACK_OTHER, 2, 0, 1, true},     {0xc9, MSGPACK_OTHER, 4, 0, 1, true},
    {0xca, MSGPACK_OTHER, 0, 0, 4, false},    {0xcb, MSGPACK_OTHER, 0, 0, 8, false},
    {0xcc, MSGPACK_INT, 1, 0, 0, false},      {0xcd, MSGPACK_INT, 2, 0, 0, false},
    {0xce, MSGPACK_INT, 4, 0, 0, false},      {0xcf, MSGPACK_INT, 8, 0, 0, false},
    {0xd0, MSGPACK_INT, 1, 0, 0, false},      {0xd1, MSGPACK_INT, 2, 0, 0, false},
    {0xd2, MSGPACK_INT, 4, 0, 0, false},      {0xd3, MSGPACK_INT, 8, 0, 0, false},
    {0xd4, MSGPACK_OTHER, 0, 0, 2, false},    {0xd5, MSGPACK_OTHER, 0, 0, 3, false},
    {0xd6, MSGPACK_OTHER, 0, 0, 5, false},    {0xd7, MSGPACK_OTHER, 0, 0, 9, false},
    {0xd8, MSGPACK_OTHER, 0, 0, 17, false},   {0xd9, MSGPACK_STRING, 1, 0, 0, true},
    {0xda, MSGPACK_STRING, 2, 0, 0, true},    {0xdb, MSGPACK_STRING, 4, 0, 0, true},
    {0xdc, MSGPACK_ARRAY, 2, 0, 0, false},    {0xdd, MSGPACK_ARRAY, 4, 0, 0, false},
    {0xde, MSGPACK_MAP, 2, 0, 0, false},      {0xdf, MSGPACK_MAP, 4, 0, 0, false},
    {0xe0, MSGPACK_OTHER, 0, 0, 0, false}, /* -32 .. -1: no count is negative */
};
enum { N_FORMATS = sizeof formats / sizeof formats[0] };

static const format *format_of(uint8_t first)
{
    size_t i = N_FORMATS - 1;
    while (formats[i].low > first)
        i--;
    return &formats[i];
}

/* n bytes, or NULL (and bad) when there are fewer. */
static const uint8_t *take(msgpack *from, uint64_t n)
{
    if (from->bad || n > (uint64_t)(from->end - from->at)) {
        from->bad = true;
        return NULL;
    }
    const uint8_t *bytes = from->at;
    from->at += n;
    return bytes;
}

msgpack_value msgpack_next(msgpack *from)
{
    msgpack_value value = {0};
    const uint8_t *first = take(from, 1);
    if (!first)
        return value;
    const format *f = format_of(*first);
    uint64_t n = *first & f->mask;
    const uint8_t *size = take(from, f->size_bytes);
    for (int i = 0; size && i < f->size_bytes; i++)
        n = n << 8 | size[i];
    const uint8_t *payload = take(from, f->payload + (f->counted ? n : 0));
    if (!payload)
        return value;
    value.kind = f->kind;
    value.n = n;
    value.string = f->kind == MSGPACK_STRING ? (const char *)payload : NULL;
    return value;
}

void msgpack_skip(msgpack *from)
{
    uint64_t pending = 1;
    while (pending && !from->bad) {
        msgpack_value value = msgpack_next(from);
        pending--;
        if (value.kind == MSGPACK_ARRAY)
            pending += value.n;
        if (value.kind == MSGPACK_MAP)
            pending += 2 * value.n;
    }
}

bool msgpack_is(const msgpack_value *value, const char *string)
{
    return value->kind == MSGPACK_STRING && value->n == strlen(string) &&
           memcmp(value->string, string, value->n) == 0;
}
