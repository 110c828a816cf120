/* moesaic/moesaic.h: the public face of libmoesaic: tuned kernels for the layers of a mixture-of-experts model.
 *
 *   moesaic_open       layers the databases of tuned kernels, once per process
 *   moesaic_plan_*     chooses and loads the kernels of one pass for one shape; may take milliseconds
 *   moesaic_*_execute  puts them on a stream; microseconds, any thread, inside stream capture too
 *
 * Data.  Matrices are row-major, strides are in elements, sizes are 64 bits wide.  All data lies in device
 * memory that the caller owns; the library allocates none but for code.  bf16 data is passed as void *.
 * The symbols of one layer:
 *
 *   tokens  hidden  ffn  experts  top_k      slots = tokens * top_k; rows = slots that an expert serves
 *   x               bf16 [tokens][hidden]
 *   w_gate_up       bf16 [experts][2 * ffn][hidden], gate rows first, then up rows
 *   w_down          bf16 [experts][hidden][ffn]
 *   logits          fp32 [tokens][experts]
 *   offsets         int32 [experts + 1]: rows of expert e are offsets[e] .. offsets[e + 1] - 1
 *   token_index     int32 [slots]: the token of a row; behind offsets[experts]: of slots without an expert
 *   routing_weight  fp32 [slots]: the weight of a row
 *   row_of_slot     int32 [slots]: the row of slot token * top_k + i, or -1
 *
 * Errors.  Calls return a status; `err` (may be NULL) gets a sentence with the values and the remedy.  No call
 * ends the process.  Structs that the caller fills begin with size_bytes = sizeof the struct, so that they may
 * grow; what isn't set must be zero, and zero always means the default.
 *
 * Processes.  One context per process.  In the child of a fork every call returns MOESAIC_E_FORK at once.
 *
 * HIP is not linked: the library takes the libamdhip64 that is in the process, else opens one.
 *                                                                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_MOESAIC_H
#define MOESAIC_MOESAIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MOESAIC_API __attribute__((visibility("default")))

#ifndef MOESAIC_STATUS_DEFINED
#define MOESAIC_STATUS_DEFINED
typedef enum moesaic_status {
#define MOESAIC_STATUS(name, text) MOESAIC_##name,
#include "moesaic/status.def"
#undef MOESAIC_STATUS
} moesaic_status;

/* Room for one sentence; a longer one is cut. */
typedef struct moesaic_text {
    char s[1024];
} moesaic_text;
#endif

/* HIP's own type, declared here so that this header needs no other. */
typedef struct ihipStream_t *hipStream_t;

typedef struct moesaic_context moesaic_context;
typedef struct moesaic_plan moesaic_plan;

/* What a status means, in a few words.  Never NULL. */
MOESAIC_API const char *moesaic_status_text(moesaic_status status);

/* --- context --------------------------------------------------------------------------------------------------- */

enum {
    /* The same files give the same kernels on every rank: nothing is compiled, loaded or chosen behind the
     * plan's back, and what isn't in a database is refused. */
    MOESAIC_OPEN_REPRODUCIBLE = 1,
    /* Use site and shipped databases that no trusted key has signed.  Databases hold machine code. */
    MOESAIC_OPEN_UNSIGNED = 2,
};

typedef struct moesaic_options {
    uint32_t size_bytes;
    uint32_t flags;
    const char *database; /* first layer, must exist; NULL: $MOESAIC_DB, if that is set */
    int32_t device;       /* HIP's ordinal; -1: the device that is current now */
} moesaic_options;

/* Open the databases: options->database or $MOESAIC_DB, then *.db of the user's folder ($XDG_DATA_HOME/moesaic), of
 * the site's and of the installation's.  The first one that knows a problem answers.
 *
 * options   NULL: no flags, device 0
 * out       new context, or NULL; release with moesaic_close
 *
 * Errors: E_DEVICE (no HIP, no such device), E_IO, E_DB, E_SCHEMA (the first layer; others are passed over and
 * moesaic_layer_info says why), E_STATE (this process has a context), E_FORK, E_INPUT, E_NOMEM.
 */
MOESAIC_API moesaic_status moesaic_open(const moesaic_options *options, moesaic_context **out,
                                        moesaic_text *err);

/* Give the context back.  NULL is fine.  Plans stay usable until they are freed. */
MOESAIC_API void moesaic_close(moesaic_context *context);

/* A database that was found. */
typedef struct moesaic_layer {
    uint32_t size_bytes;
    uint32_t used; /* 0: passed over */
    char path[1024];
    char kind[16];    /* "explicit" "user" "site" "shipped" */
    char reason[256]; /* why it was passed over */
} moesaic_layer;

/* Layer i, first is 0.  Errors: E_NOTFOUND behind the last. */
MOESAIC_API moesaic_status moesaic_layer_info(moesaic_context *context, uint32_t i,
                                              moesaic_layer *out);

/* How plans were served since the context was opened. */
typedef struct moesaic_counters {
    uint32_t size_bytes;
    uint32_t reserved;
    uint64_t hit, near, by_default, refused; /* plans, by what served them */
    uint64_t candidates;  /* of the hits and nears: not verified on this very kind of device */
    uint64_t other_stack; /* of them: measured with another driver, HIP or compiler */
    uint64_t unusable; /* records that were skipped: code gone or damaged, other argument layout */
    uint64_t executions; /* of all plans */
} moesaic_counters;

/* Errors: E_FORK, E_INPUT. */
MOESAIC_API moesaic_status moesaic_counters_read(const moesaic_context *context,
                                                 moesaic_counters *out);

/* --- plans ------------------------------------------------------------------------------------------------------ */

typedef enum moesaic_pass {
    MOESAIC_GATE_UP, /* out[row] = silu(x[token] * gate^T) * (x[token] * up^T) */
    MOESAIC_DOWN, /* out[token] = sum over the token's rows of routing_weight[row] * (x[row] * w_down^T) */
} moesaic_pass;

typedef enum moesaic_dtype {
    MOESAIC_BF16, /* products summed in fp32, outputs rounded to nearest even */
} moesaic_dtype;

/* One GEMM of the experts' layer.  The number of rows of each expert is read on the device: any expert may be
 * empty, there is no capacity and nothing is dropped. */
typedef struct moesaic_moe_gemm {
    uint32_t size_bytes;
    moesaic_pass pass;
    moesaic_dtype dtype;
    uint32_t
        pointer_alignment_bytes; /* of x, w and out at every execution; 0: 16, the fast way; at least 2 */
    int64_t tokens; /* that the kernel is chosen for; an execution may bring more or fewer */
    int64_t hidden, ffn, experts, top_k;
    int64_t ldx, ldw, ldout; /* strides of rows; 0: the length of the row */
    const char *routing;     /* what is expected: "uniform" (NULL), "zipf:1.2", ...; not kept */
} moesaic_moe_gemm;

/* Plan one GEMM.  A tuned kernel is served where a database knows the shape; else that of the nearest tuned
 * neighbour that is legal for it (other tokens, at most a factor of 8; other routing); else the family's default
 * configuration, compiled here and now, which takes seconds and needs the templates ($MOESAIC_DATA/templates, or
 * those of the installation) and hiprtc.  moesaic_plan_lookup says which it was.
 *
 * context, shape   shape is not kept
 * out              new plan, or NULL; release with moesaic_plan_free
 *
 * Errors: E_SHAPE (a size or dtype that the family can't do), E_NOTFOUND (refused: nothing tuned is near, and there
 * is no default; the text names the command that tunes it), E_DEVICE, E_NOMEM, E_INPUT, E_FORK.
 * Threads: takes the context's lock.
 */
MOESAIC_API moesaic_status moesaic_plan_moe_gemm(moesaic_context *context,
                                                 const moesaic_moe_gemm *shape, moesaic_plan **out,
                                                 moesaic_text *err);

/* Choosing each token's experts from its logits, and listing rows by expert, as the GEMMs want them.  A token takes
 * the top_k experts with the largest logits, the lower expert among equals; a logit that is NaN or -inf takes
 * nobody.  The weight of an expert is its share of the softmax over all logits. */
typedef struct moesaic_router {
    uint32_t size_bytes;
    uint32_t normalise; /* 1: the weights of a token sum to 1 */
    int64_t tokens;     /* that the kernels are chosen for */
    int64_t experts;    /* at most 1024 */
    int64_t top_k;      /* at most 16 */
    int64_t ld_logits;  /* stride of a token's logits; 0: experts */
} moesaic_router;

/* Plan one router; as moesaic_plan_moe_gemm. */
MOESAIC_API moesaic_status moesaic_plan_router(moesaic_context *context,
                                               const moesaic_router *shape, moesaic_plan **out,
                                               moesaic_text *err);

/* NULL is fine.  Executions that were put on a stream must have ended: this unloads their code. */
MOESAIC_API void moesaic_plan_free(moesaic_plan *plan);

typedef enum moesaic_served {
    MOESAIC_SERVED_REFUSED,
    MOESAIC_SERVED_HIT,     /* tuned for this problem */
    MOESAIC_SERVED_NEAR,    /* tuned for a neighbour */
    MOESAIC_SERVED_DEFAULT, /* not tuned */
} moesaic_served;

/* What serves a plan, and why nothing better does. */
typedef struct moesaic_lookup {
    uint32_t size_bytes;
    moesaic_served served;
    uint32_t
        candidate; /* 1: was not verified on this kind of device: another one, or the software device */
    uint32_t
        other_stack;    /* 1: measured with another driver, HIP or compiler than this process has */
    int64_t trial;      /* id in the database; 0: none */
    double distance;    /* 0 for a hit; doublings of tokens and penalties for a neighbour */
    double time_us;     /* of the record's own problem; 0: unknown */
    char time_kind[16]; /* "measured" (silicon), "modelled" (software MI300X), "" (none) */
    char model_version[32]; /* of a modelled time */
    char database[1024];    /* the layer that answered */
    char config[1024];      /* the configuration, JSON */
    char differs[256];      /* "tokens 4096, asked 5000" */
    char tune_command
        [1024]; /* what would tune exactly this problem; "": tune doesn't know the family */
} moesaic_lookup;

/* Errors: E_FORK, E_INPUT. */
MOESAIC_API moesaic_status moesaic_plan_lookup(const moesaic_plan *plan, moesaic_lookup *out);

/* Scratch memory that an execution with up to max_tokens tokens needs; 0 for most plans.  Aligned to 16 bytes, not
 * shared by executions that may run at once.  Also 0 for a plan that is NULL or in a forked child. */
MOESAIC_API size_t moesaic_plan_workspace_bytes(const moesaic_plan *plan, int64_t max_tokens);

/* --- executing -------------------------------------------------------------------------------------------------- */

typedef struct moesaic_moe_gemm_buffers {
    uint32_t size_bytes;
    uint32_t reserved;
    int64_t tokens; /* of this execution; slots = tokens * top_k; 0 does nothing */
    const void *x;  /* gate_up: [tokens][hidden]; down: [rows][ffn] */
    const void *w;  /* w_gate_up or w_down */
    void *out; /* gate_up: [slots][ffn], rows without an expert untouched; down: [tokens][hidden] */
    const int32_t *offsets;      /* [experts + 1] */
    const int32_t *token_index;  /* [slots] */
    const float *routing_weight; /* [slots]; down */
    const int32_t *row_of_slot;  /* [slots]; down */
    void *workspace;             /* NULL when the plan needs none */
    size_t workspace_bytes;
} moesaic_moe_gemm_buffers;

/* Put one GEMM on a stream (NULL: the default stream of the plan's device) and return.  Faults of the kernel show
 * when the stream is waited for.
 *
 * Errors: E_INPUT (a NULL or misaligned pointer, a workspace too small: with the sizes), E_LAUNCH, E_DEVICE, E_FORK.
 * Threads: any number of threads may execute one plan; no lock, no allocation, no file.
 */
MOESAIC_API moesaic_status moesaic_moe_gemm_execute(const moesaic_plan *plan,
                                                    const moesaic_moe_gemm_buffers *buffers,
                                                    hipStream_t stream, moesaic_text *err);

typedef struct moesaic_router_buffers {
    uint32_t size_bytes;
    uint32_t reserved;
    int64_t tokens;        /* of this execution; slots = tokens * top_k; 0 writes offsets of zero */
    const float *logits;   /* [tokens][experts] */
    int32_t *offsets;      /* out: [experts + 1] */
    int32_t *token_index;  /* out: [slots] */
    float *routing_weight; /* out: [slots] */
    int32_t *row_of_slot;  /* out: [slots] */
    void *workspace;
    size_t workspace_bytes;
} moesaic_router_buffers;

/* Put one router on a stream; as moesaic_moe_gemm_execute. */
MOESAIC_API moesaic_status moesaic_router_execute(const moesaic_plan *plan,
                                                  const moesaic_router_buffers *buffers,
                                                  hipStream_t stream, moesaic_text *err);

#ifdef __cplusplus
}
#endif

#endif
