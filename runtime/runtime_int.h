/* runtime/runtime_int.h: what the files of libmoesaic share: context, layers, records, plans.
 *
 * A context is read-only for executions; whatever changes is under its lock or atomic.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_RUNTIME_RUNTIME_INT_H
#define MOESAIC_RUNTIME_RUNTIME_INT_H

#include "base/json.h"
#include "base/str.h"
#include "db/db.h"
#include "device/device.h"
#include "moesaic/moesaic.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- layers.c: which files are read --- */

typedef struct layer {
    moesaic_layer info;
    db *database; /* NULL: passed over */
} layer;

enum { MAX_LAYERS = 64 };

/* --- index.c: the winners of all layers --- */

/* One winner; texts are owned. */
typedef struct record {
    int layer;
    int64_t trial, code_object;
    char *family, *pass, *key, *config, *launch, *time_kind, *model_version;
    cJSON *fields;  /* of key */
    double time_us; /* 0: unknown */
    bool candidate; /* another device than ours */
    bool other_stack;
    bool unusable; /* found out when it was loaded */
} record;

typedef struct counters {
    _Atomic uint64_t served[4]; /* by moesaic_served */
    _Atomic uint64_t candidates, other_stack, unusable, executions;
} counters;

struct moesaic_context {
    device *dev;
    uint32_t flags;
    _Atomic int *alive; /* a page of its own that the kernel empties in a forked child */
    pthread_mutex_t lock;
    int references; /* the user's, and one for each plan; under the lock */
    layer layers[MAX_LAYERS];
    uint32_t n_layers;
    record *records;
    size_t n_records;
    counters counters;
};

/* Open the layers that exist.  Errors: of the first one only, when it was asked for by name. */
moesaic_status layers_open(moesaic_context *context, const char *database, moesaic_text *err);
void layers_close(moesaic_context *context);

/* Read the winners of the opened layers that this device's target can run. */
moesaic_status index_build(moesaic_context *context, moesaic_text *err);
void index_free(moesaic_context *context);

/* MOESAIC_E_FORK in a forked child. */
moesaic_status context_check(const moesaic_context *context, moesaic_text *err);
/* Take and drop a reference; the last one frees. */
void context_retain(moesaic_context *context);
void context_release(moesaic_context *context);

/* --- problem.c: what is asked for --- */

typedef struct problem {
    const char *family, *pass;
    cJSON *fields; /* complete */
    str key;
} problem;

/* fields become the key's, without what is at its default, and belong to the problem (also on failure). */
moesaic_status problem_make(const char *family, const char *pass, cJSON *fields, problem *out,
                            moesaic_text *err);
void problem_free(problem *p);

/* --- lookup.c: the best record for a problem --- */

/* The best usable record, NULL when none is within reach.  *distance: 0 for a hit. */
record *lookup_best(const moesaic_context *context, const problem *p, double *distance);
/* Say in what the record's problem differs: "tokens 4096, asked 5000". */
void lookup_differs(const record *r, const problem *p, char *text, size_t n);
/* The command that tunes exactly this problem. */
void lookup_tune_command(const problem *p, char *text, size_t n);

/* --- kernels.c: code that is loaded, and how its arguments lie --- */

/* Everything that a kernel of any family may be given; a family uses some. */
typedef enum argument_id {
#define ARGUMENT(name, type) ARGUMENT_##name,
#include "runtime/arguments.def"
#undef ARGUMENT
    N_ARGUMENTS
} argument_id;

typedef struct argument_slot {
    uint8_t id, bytes;
    uint16_t offset;
} argument_slot;

enum { MAX_KERNELS = 4, MAX_ARGUMENT_BYTES = 256 };

typedef struct kernels {
    device_module *module;
    int n_kernels, n_slots;
    device_function functions[MAX_KERNELS];
    device_launch geometry[MAX_KERNELS]; /* without arguments */
    argument_slot slots[N_ARGUMENTS];
    size_t n_argument_bytes;
    int64_t workspace_fixed_bytes, workspace_per_row_bytes;
} kernels;

/* Load code and read how it is launched.  Errors: E_ABI when its arguments are not those that this build passes. */
moesaic_status kernels_load(device *dev, const void *code, size_t n, const char *launch,
                            kernels *out, moesaic_text *err);
void kernels_unload(kernels *k);

/* Enqueue them in their order; values by argument_id. */
moesaic_status kernels_launch(const kernels *k, device *dev, const int64_t values[N_ARGUMENTS],
                              device_stream stream, moesaic_text *err);

/* --- serve.c: a problem becomes loaded kernels --- */

/* Look up, load, count.  info tells what was served, also when nothing was.  Takes the lock. */
moesaic_status serve(moesaic_context *context, const problem *p, kernels *out, moesaic_lookup *info,
                     moesaic_text *err);

/* --- fallback.c: compile the family's default configuration --- */

/* Errors: E_NOTFOUND when there are no templates, E_SHAPE, E_COMPILE ... */
moesaic_status fallback_load(moesaic_context *context, const problem *p, kernels *out, char *config,
                             size_t n_config, moesaic_text *err);

/* --- plan.c: what plans of all families share --- */

typedef enum plan_kind { PLAN_MOE_GEMM, PLAN_ROUTER } plan_kind;

struct moesaic_plan {
    moesaic_context *context;
    kernels kernels;
    moesaic_lookup info;
    plan_kind kind;
    const char *pass; /* for messages */
    int64_t top_k;
    union {
        moesaic_moe_gemm moe_gemm; /* strides filled in; routing is NULL */
        moesaic_router router;     /* the same */
    } shape;
};

/* Serve a problem: a new plan like `like` with the kernels in it.  Frees the problem. */
moesaic_status plan_make(moesaic_context *context, const moesaic_plan *like, problem *p,
                         moesaic_plan **out, moesaic_text *err);

/* E_INPUT for NULL, E_FORK in a forked child. */
moesaic_status plan_check(const moesaic_plan *plan, moesaic_text *err);
/* The same, and E_INPUT for a plan of another family. */
moesaic_status plan_check_kind(const moesaic_plan *plan, plan_kind kind, moesaic_text *err);

/* Is the workspace enough for so many tokens, and as aligned as it must be? */
moesaic_status plan_check_amount(const moesaic_plan *plan, int64_t tokens, const void *workspace,
                                 size_t workspace_bytes, moesaic_text *err);

/* A pointer that an execution brings. */
typedef struct plan_pointer {
    const char *name;
    const void *pointer;
    bool needed;
    size_t alignment;
} plan_pointer;
moesaic_status plan_check_pointers(const moesaic_plan *plan, const plan_pointer *pointers, size_t n,
                                   moesaic_text *err);

/* What an argument's value is when it is a pointer. */
static inline int64_t plan_address(const void *pointer)
{
    return (int64_t)(intptr_t)pointer;
}

/* E_SHAPE unless low <= value <= high. */
moesaic_status check_range(const char *name, int64_t value, int64_t low, int64_t high,
                           moesaic_text *err);

/* Copy a struct that its receiver may know in an older, shorter form. */
moesaic_status copy_sized(const void *from, size_t n, void *to, uint32_t to_bytes);

#endif
