/* examples/moe_forward.c: one mixture-of-experts layer of ZAYA1 through libmoesaic: router, gate_up, down.
 *
 *   moe_forward [TOKENS [DATABASE]]        64 tokens; the databases that moesaic.h describes
 *
 * Everything after the router's logits happens on the device; the host waits once, at the end.  The result of some
 * tokens is compared with a computation in double precision.  On a machine without a GPU: moesaic sim -- moe_forward.
 * SPDX-License-Identifier: MIT
 */
#include <moesaic/moesaic.h>

#include <hip/hip_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ZAYA1 (arXiv 2511.17127). */
enum { HIDDEN = 2048, FFN = 2048, EXPERTS = 16, TOP_K = 1, CHECKED_TOKENS = 8 };

#define HIP(call)                                                                                  \
    do {                                                                                           \
        hipError_t error = (call);                                                                 \
        if (error != hipSuccess)                                                                   \
            stop(#call, hipGetErrorString(error));                                                 \
    } while (0)

#define MOESAIC(call)                                                                              \
    do {                                                                                           \
        if ((call) != MOESAIC_OK)                                                                  \
            stop(#call, err.s);                                                                    \
    } while (0)

static _Noreturn void stop(const char *what, const char *why)
{
    fprintf(stderr, "moe_forward: %.60s: %s\n", what, why);
    exit(1);
}

/* --- numbers --- */

static float from_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Round to nearest even; the values here are finite. */
static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Uniform in [-1, 1), always the same sequence (xorshift64). */
static float draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (float)((double)(*state >> 11) / 4503599627370496.0 - 1);
}

/* --- data --- */

typedef struct layer {
    int64_t tokens;
    uint16_t *x, *w_gate_up, *w_down, *out; /* bf16, on the host */
    float *logits;
    /* on the device */
    void *d_x, *d_w_gate_up, *d_w_down, *d_h, *d_out, *d_workspace;
    float *d_logits, *d_routing_weight;
    int32_t *d_offsets, *d_token_index, *d_row_of_slot;
    size_t workspace_bytes;
} layer;

static void *allocate(size_t n_bytes)
{
    void *memory = malloc(n_bytes);
    if (!memory)
        stop("malloc", "out of memory");
    return memory;
}

static uint16_t *random_bf16(size_t n, float scale, uint64_t seed)
{
    uint16_t *values = allocate(n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = to_bf16(scale * draw(&seed));
    return values;
}

static void *on_device(const void *from, size_t n_bytes)
{
    void *memory;
    HIP(hipMalloc(&memory, n_bytes));
    if (from)
        HIP(hipMemcpy(memory, from, n_bytes, hipMemcpyHostToDevice));
    return memory;
}

static layer make_layer(int64_t tokens)
{
    const size_t n = (size_t)tokens, slots = n * TOP_K, expert = (size_t)FFN * HIDDEN;
    uint64_t seed = 7;
    layer l = {.tokens = tokens};
    l.x = random_bf16(n * HIDDEN, 1, 1);
    l.w_gate_up = random_bf16(EXPERTS * 2 * expert, 0.04f, 2);
    l.w_down = random_bf16(EXPERTS * expert, 0.04f, 3);
    l.out = allocate(n * HIDDEN * sizeof *l.out);
    l.logits = allocate(n * EXPERTS * sizeof *l.logits);
    for (size_t i = 0; i < n * EXPERTS; i++)
        l.logits[i] = 2 * draw(&seed);

    l.d_x = on_device(l.x, n * HIDDEN * 2);
    l.d_w_gate_up = on_device(l.w_gate_up, EXPERTS * 2 * expert * 2);
    l.d_w_down = on_device(l.w_down, EXPERTS * expert * 2);
    l.d_logits = on_device(l.logits, n * EXPERTS * sizeof *l.logits);
    l.d_h = on_device(NULL, slots * FFN * 2);
    l.d_out = on_device(NULL, n * HIDDEN * 2);
    l.d_routing_weight = on_device(NULL, slots * sizeof(float));
    l.d_offsets = on_device(NULL, (EXPERTS + 1) * sizeof(int32_t));
    l.d_token_index = on_device(NULL, slots * sizeof(int32_t));
    l.d_row_of_slot = on_device(NULL, slots * sizeof(int32_t));
    return l;
}

static void free_layer(layer *l)
{
    void *const device[] = {l->d_x,       l->d_w_gate_up,   l->d_w_down,     l->d_h,
                            l->d_out,     l->d_workspace,   l->d_logits,     l->d_routing_weight,
                            l->d_offsets, l->d_token_index, l->d_row_of_slot};
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++)
        HIP(hipFree(device[i]));
    free(l->x);
    free(l->w_gate_up);
    free(l->w_down);
    free(l->out);
    free(l->logits);
}

/* --- the layer on the device --- */

typedef struct plans {
    moesaic_plan *router, *gate_up, *down;
} plans;

static void tell(const char *name, const moesaic_plan *plan)
{
    static const char *const served[] = {"refused", "hit", "near", "default"};
    moesaic_lookup info = {.size_bytes = sizeof info};
    if (moesaic_plan_lookup(plan, &info) != MOESAIC_OK)
        stop(name, "no lookup");
    printf("%-8s %s%s%s%s\n", name, served[info.served], info.time_kind[0] ? ", " : "",
           info.time_kind, info.candidate ? ", a candidate: tuned on another device" : "");
    if (info.served != MOESAIC_SERVED_HIT && info.tune_command[0])
        printf("         to tune it: %s\n", info.tune_command);
}

static plans make_plans(moesaic_context *context, layer *l)
{
    moesaic_text err = {""};
    plans p = {0};
    moesaic_moe_gemm gemm = {.size_bytes = sizeof gemm,
                             .pass = MOESAIC_GATE_UP,
                             .tokens = l->tokens,
                             .hidden = HIDDEN,
                             .ffn = FFN,
                             .experts = EXPERTS,
                             .top_k = TOP_K};
    const moesaic_router router = {
        .size_bytes = sizeof router, .tokens = l->tokens, .experts = EXPERTS, .top_k = TOP_K};
    MOESAIC(moesaic_plan_router(context, &router, &p.router, &err));
    MOESAIC(moesaic_plan_moe_gemm(context, &gemm, &p.gate_up, &err));
    gemm.pass = MOESAIC_DOWN;
    MOESAIC(moesaic_plan_moe_gemm(context, &gemm, &p.down, &err));
    tell("router", p.router);
    tell("gate_up", p.gate_up);
    tell("down", p.down);
    return p;
}

/* One workspace serves all, since they run one after the other. */
static void make_workspace(layer *l, const plans *p)
{
    const moesaic_plan *const all[] = {p->router, p->gate_up, p->down};
    for (int i = 0; i < 3; i++) {
        size_t needed = moesaic_plan_workspace_bytes(all[i], l->tokens);
        if (needed > l->workspace_bytes)
            l->workspace_bytes = needed;
    }
    if (l->workspace_bytes)
        l->d_workspace = on_device(NULL, l->workspace_bytes);
}

static void run_layer(const plans *p, const layer *l, hipStream_t stream)
{
    moesaic_text err = {""};
    const moesaic_router_buffers routing = {.size_bytes = sizeof routing,
                                            .tokens = l->tokens,
                                            .logits = l->d_logits,
                                            .offsets = l->d_offsets,
                                            .token_index = l->d_token_index,
                                            .routing_weight = l->d_routing_weight,
                                            .row_of_slot = l->d_row_of_slot,
                                            .workspace = l->d_workspace,
                                            .workspace_bytes = l->workspace_bytes};
    moesaic_moe_gemm_buffers gemm = {.size_bytes = sizeof gemm,
                                     .tokens = l->tokens,
                                     .x = l->d_x,
                                     .w = l->d_w_gate_up,
                                     .out = l->d_h,
                                     .offsets = l->d_offsets,
                                     .token_index = l->d_token_index,
                                     .routing_weight = l->d_routing_weight,
                                     .row_of_slot = l->d_row_of_slot,
                                     .workspace = l->d_workspace,
                                     .workspace_bytes = l->workspace_bytes};
    MOESAIC(moesaic_router_execute(p->router, &routing, stream, &err));
    MOESAIC(moesaic_moe_gemm_execute(p->gate_up, &gemm, stream, &err));
    gemm.x = l->d_h;
    gemm.w = l->d_w_down;
    gemm.out = l->d_out;
    MOESAIC(moesaic_moe_gemm_execute(p->down, &gemm, stream, &err));
}

static void free_plans(plans *p)
{
    moesaic_plan_free(p->router);
    moesaic_plan_free(p->gate_up);
    moesaic_plan_free(p->down);
}

/* --- the layer on the host --- */

/* top_k = 1: the expert with the largest logit, weighted by its share of the softmax. */
static int expert_of(const float *logits, double *weight)
{
    int best = 0;
    double sum = 0;
    for (int e = 1; e < EXPERTS; e++)
        if (logits[e] > logits[best])
            best = e;
    for (int e = 0; e < EXPERTS; e++)
        sum += exp((double)logits[e] - (double)logits[best]);
    *weight = 1 / sum;
    return best;
}

static double dot(const uint16_t *a, const uint16_t *b, int n, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (int i = 0; i < n; i++) {
        double product = (double)from_bf16(a[i]) * (double)from_bf16(b[i]);
        sum += product;
        *magnitude += fabs(product);
    }
    return sum;
}

static void hidden_of(const layer *l, int64_t token, int expert, uint16_t h[FFN])
{
    const uint16_t *x = l->x + token * HIDDEN;
    const uint16_t *gate = l->w_gate_up + (size_t)expert * 2 * FFN * HIDDEN;
    const uint16_t *up = gate + (size_t)FFN * HIDDEN;
    double unused;
    for (int i = 0; i < FFN; i++) {
        double g = dot(x, gate + (size_t)i * HIDDEN, HIDDEN, &unused);
        double u = dot(x, up + (size_t)i * HIDDEN, HIDDEN, &unused);
        h[i] = to_bf16((float)(g / (1 + exp(-g)) * u));
    }
}

/* Largest error of a token's outputs, as a share of what rounding may cause: either side may have rounded an element
 * of h the other way, 2^-8 of it, and the output is rounded once more. */
static double error_of(const layer *l, int64_t token)
{
    uint16_t h[FFN];
    double weight, magnitude, worst = 0;
    int expert = expert_of(l->logits + token * EXPERTS, &weight);
    hidden_of(l, token, expert, h);
    for (int i = 0; i < HIDDEN; i++) {
        const uint16_t *w = l->w_down + ((size_t)expert * HIDDEN + (size_t)i) * FFN;
        double want = weight * dot(h, w, FFN, &magnitude);
        double got = (double)from_bf16(l->out[token * HIDDEN + i]);
        double error = fabs(got - want) / ((weight * magnitude + fabs(want)) / 256);
        if (!(error <= worst))
            worst = error;
    }
    return worst;
}

static bool check_layer(layer *l)
{
    double worst = 0;
    int64_t n = l->tokens < CHECKED_TOKENS ? l->tokens : CHECKED_TOKENS;
    HIP(hipMemcpy(l->out, l->d_out, (size_t)l->tokens * HIDDEN * 2, hipMemcpyDeviceToHost));
    for (int64_t i = 0; i < n; i++) {
        double error = error_of(l, i * l->tokens / n);
        if (!(error <= worst))
            worst = error;
    }
    printf("%lld of %lld tokens compared with fp64: largest error %.3f of what rounding allows\n",
           (long long)n, (long long)l->tokens, worst);
    return worst <= 1;
}

int main(int argc, char **argv)
{
    moesaic_text err = {""};
    moesaic_context *context;
    const int64_t tokens = argc > 1 ? atoll(argv[1]) : 64;
    const moesaic_options options = {.size_bytes = sizeof options,
                                     .database = argc > 2 ? argv[2] : NULL};
    if (tokens < 1 || tokens > 1 << 20)
        stop("TOKENS", "must be 1 to 1048576");
    layer l = make_layer(tokens);
    MOESAIC(moesaic_open(&options, &context, &err));
    plans p = make_plans(context, &l);
    make_workspace(&l, &p);
    run_layer(&p, &l, NULL);
    HIP(hipDeviceSynchronize());
    bool right = check_layer(&l);
    free_plans(&p);
    moesaic_close(context);
    free_layer(&l);
    puts(right ? "ok" : "WRONG");
    return right ? 0 : 1;
}
