/* tests/tuner/support.c: folders, files and workloads for the tests of tuner/.    SPDX-License-Identifier: MIT */
#include "tests/tuner/support.h"

#include "base/file.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int folder_make(void **state)
{
    const char *base = getenv("TMPDIR");
    char *path = str_format("%s/moesaic-tuner-XXXXXX", base && *base ? base : "/tmp");
    setenv("MOESAIC_DATA", ".", 0);
    *state = path;
    return path && mkdtemp(path) ? 0 : -1;
}

int folder_remove(void **state)
{
    char *command = str_format("rm -rf '%s'", (char *)*state);
    int rc = command ? system(command) : -1;
    free(command);
    free(*state);
    return rc == 0 ? 0 : -1;
}

const char *in_folder(void **state, const char *name)
{
    static char paths[4][1024];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", (char *)*state, name);
    return path;
}

void write_text(const char *path, const char *text)
{
    moesaic_text err;
    assert_status(MOESAIC_OK, file_replace(path, text, strlen(text), &err), &err);
}

void read_text(const char *path, str *out)
{
    moesaic_text err;
    assert_status(MOESAIC_OK, file_read(path, 1 << 24, out, &err), &err);
}

void check_status(moesaic_status want, moesaic_status got, const moesaic_text *err,
                  const char *expression, const char *file, int line)
{
    if (want == got)
        return;
    print_error("%s:%d: %s: want %s, got %s: %s\n", file, line, expression, status_name(want),
                status_name(got), got == MOESAIC_OK ? "" : err->s);
    _fail(file, line);
}

void check_says(const char *text, const char *part, const char *file, int line)
{
    if (strstr(text, part))
        return;
    print_error("%s:%d: want \"%s\" in \"%s\"\n", file, line, part, text);
    _fail(file, line);
}

moe_shape small_shape(bool down, int top_k, int hidden, int ffn)
{
    return (moe_shape){.down = down,
                       .aligned = hidden % 8 == 0 && ffn % 8 == 0,
                       .tokens = 37,
                       .hidden = hidden,
                       .ffn = ffn,
                       .experts = 5,
                       .top_k = top_k};
}

/* Expert 1 stays empty, expert 0 gets most. */
void make_operands(const moe_shape *shape, int padding, uint64_t seed, moe_operands *out)
{
    moesaic_text err;
    routing_table routing;
    int32_t slots[37 * 2];
    uint64_t state = hash_mix(seed);
    assert_true(shape->tokens == 37 && shape->top_k <= 2);
    for (int t = 0; t < 37; t++)
        for (int i = 0; i < shape->top_k; i++) {
            uint64_t draw = hash_next(&state) % 10;
            int32_t expert = draw < 6 ? 0 : draw < 9 ? (int32_t)(draw - 4) : -1;
            slots[t * shape->top_k + i] = i && expert == slots[t * shape->top_k] ? -1 : expert;
        }
    assert_status(MOESAIC_OK, routing_build(slots, 37, 5, shape->top_k, seed, &routing, &err),
                  &err);
    assert_status(MOESAIC_OK, operands_make(shape, &routing, padding, 0, seed, out, &err), &err);
}
