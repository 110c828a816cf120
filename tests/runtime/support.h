/* tests/runtime/support.h: a folder of its own, a hand-made database and a kernel that tells its arguments.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TESTS_RUNTIME_SUPPORT_H
#define MOESAIC_TESTS_RUNTIME_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/runtime_int.h"

/* Group set-up and tear-down: opens the device, makes the folder, points XDG_DATA_HOME into it, compiles the probe. */
int world_make(void **state);
int world_remove(void **state);
extern device *world_device;
extern str world_probe; /* code object with moe_gemm and moe_combine */

/* "FOLDER/name" in one of four static buffers. */
const char *in_world(const char *name);

/* Fail the test with err's text unless got is want. */
#define assert_status(want, got, err) check_status(want, got, err, #got, __FILE__, __LINE__)
void check_status(moesaic_status want, moesaic_status got, const moesaic_text *err,
                  const char *expression, const char *file, int line);

/* One winner of a hand-made database; zero is the usual. */
typedef struct winner {
    const char *pass;     /* "down" */
    const char *fields;   /* "tokens=512,..."; what is left out is as in usual_fields */
    const char *launch;   /* JSON; NULL: probe_launch */
    const char *config;   /* JSON; NULL: "{}" */
    double time_us;       /* 0: 10 */
    int64_t more_cus;     /* than the device has: another device */
    const char *target;   /* NULL: gfx942 */
    const char *compiler; /* NULL: the device's */
} winner;
extern const char usual_fields[];
extern const char probe_launch[];

void make_database(const char *path, const winner *winners, size_t n);
/* Lose the machine code, as `moesaic db gc --code-objects` does. */
void collect_code(const char *path);

/* The shape that usual_fields states. */
moesaic_moe_gemm usual_shape(moesaic_pass pass, int64_t tokens);

/* Open on a database or fail the test. */
moesaic_context *open_or_fail(const char *database, uint32_t flags);

/* What the probe writes: its arguments in their order, then marks of both kernels. */
enum { PROBE_ARGUMENTS = 16, PROBE_GEMM = 16, PROBE_COMBINE = 17, PROBE_WORDS = 18 };

/* Every pointer that an execution needs: device memory, filled with zeros. */
typedef struct operands {
    moesaic_moe_gemm_buffers b;
    void *memory;
} operands;
operands make_operands(int64_t tokens, size_t workspace_bytes);
void read_probe(const operands *o, uint64_t words[PROBE_WORDS]);
void free_operands(operands *o);

#endif
