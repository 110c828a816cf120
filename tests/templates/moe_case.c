/* tests/templates/moe_case.c: one call of moe_gemm: operands, and an fp64 reference.
 *
 * Bounds: a sum of k products in fp32, in any order, is off by at most k 2^-23 sum |a||b| (2^-24 to the nearest;
 * twice that where a matrix instruction truncates); bf16 rounds by at most 2^-8 of the value (2^-9 by half an ulp,
 * twice for values at the lower end of a binade).                              SPDX-License-Identifier: MIT
 */
#include "tests/templates/moe_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of bf16; the padding of each row is NaN. */
typedef struct matrix {
    int64_t rows;
    int cols, ld;
    uint16_t *host;
    guarded device;
} matrix;

typedef struct operands {
    const moe_case *c;
    int slots, served;
    matrix x, w, out;
    int *offsets, *token_index, *row_of_slot, *expert_of_row;
    float *routing_weight;
    guarded d_offsets, d_token_index, d_row_of_slot, d_routing_weight, workspace;
} operands;

/* As templates/moe_gemm/moe_gemm.hip declares it. */
typedef struct moe_gemm_args {
    void *x, *w, *out, *offsets, *token_index, *routing_weight, *row_of_slot, *workspace;
    int64_t ldx, ldw, ldout, tokens;
    int32_t hidden, ffn, experts, top_k;
} moe_gemm_args;

char *moe_problem(const moe_case *c)
{
    return str_format("hidden=%d,expert_ffn=%d,experts=%d,top_k=%d,tokens=%d,aligned=%d", c->hidden,
                      c->ffn, c->experts, c->top_k, c->tokens, c->aligned);
}

static void *zeros(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    assert_non_null(p);
    return p;
}

static matrix matrix_new(int64_t rows, int cols, int pad, uint64_t *seed)
{
    matrix m = {.rows = rows, .cols = cols, .ld = cols + pad};
    size_t n = (size_t)rows * (size_t)m.ld;
    m.host = zeros(n, sizeof *m.host);
    memset(m.host, 0xff, n * sizeof *m.host);
    for (int64_t r = 0; seed && r < rows; r++)
        for (int c = 0; c < cols; c++)
            m.host[r * m.ld + c] = bf16_of(random_normal(seed));
    return m;
}

static void upload(matrix *m, bool aligned)
{
    size_t n = (size_t)m->rows * (size_t)m->ld * sizeof *m->host;
    m->device = to_device(m->host, n, aligned ? 0 : sizeof *m->host);
}

static void matrix_free(matrix *m)
{
    free(m->host);
    guard_free(&m->device);
}

static double at(const matrix *m, int64_t row, int64_t col)
{
    return bf16_value(m->host[row * m->ld + col]);
}

/* Experts of one token: top_k different ones, or -1.  Odd experts above 2 stay empty when routing is mixed. */
static void draw_experts(const moe_case *c, int token, int *expert, uint64_t *seed)
{
    bool leave_out = c->routing == ROUTING_NONE || (c->routing == ROUTING_MIXED && token % 7 == 3);
    int first = (int)(random_bits(seed) % (uint64_t)c->experts);
    for (int i = 0; i < c->top_k; i++) {
        int e = c->routing == ROUTING_ONE ? i : (first + i) % c->experts;
        bool empty = c->routing == ROUTING_MIXED && c->top_k == 1 && e > 2 && e % 2;
        expert[i] = leave_out ? -1 : empty ? 2 : e;
    }
}

static void route(operands *o, uint64_t *seed)
{
    const moe_case *c = o->c;
    int *expert = zeros((size_t)o->slots, sizeof *expert), row = 0;
    for (int t = 0; t < c->tokens; t++)
        draw_experts(c, t, expert + t * c->top_k, seed);
    for (int e = 0; e <= c->experts; e++) {
        o->offsets[e] = row;
        for (int s = 0; s < o->slots; s++) {
            if (expert[s] != (e < c->experts ? e : -1))
                continue;
            o->row_of_slot[s] = e < c->experts ? row : -1;
            o->token_index[row] = s / c->top_k;
            o->expert_of_row[row] = e;
            o->routing_weight[row++] = (float)(random_bits(seed) % 1000) / 1000;
        }
    }
    o->served = o->offsets[c->experts];
    free(expert);
}

static void make(operands *o, const moe_case *c, uint64_t seed)
{
    *o = (operands){.c = c, .slots = c->tokens * c->top_k};
    size_t slots = (size_t)o->slots, experts = (size_t)c->experts;
    o->offsets = zeros(experts + 1, sizeof *o->offsets);
    o->token_index = zeros(slots, sizeof *o->token_index);
    o->row_of_slot = zeros(slots, sizeof *o->row_of_slot);
    o->expert_of_row = zeros(slots, sizeof *o->expert_of_row);
    o->routing_weight = zeros(slots, sizeof *o->routing_weight);
    route(o, &seed);
    o->x = matrix_new(c->down ? o->slots : c->tokens, c->down ? c->ffn : c->hidden, c->pad, &seed);
    o->w = matrix_new((int64_t)c->experts * (c->down ? c->hidden : 2 * c->ffn),
                      c->down ? c->ffn : c->hidden, c->pad, &seed);
    o->out = matrix_new(c->down ? c->tokens : o->slots, c->down ? c->hidden : c->ffn, c->pad, NULL);
}

static void send(operands *o, const kernels *k)
{
    bool aligned = o->c->aligned;
    size_t slots = (size_t)o->slots, word = sizeof(int);
    const cJSON *workspace = cJSON_GetObjectItemCaseSensitive(k->launch, "workspace");
    double per_row = cJSON_GetObjectItemCaseSensitive(workspace, "per_row_bytes")->valuedouble;
    upload(&o->x, aligned);
    upload(&o->w, aligned);
    upload(&o->out, aligned);
    o->d_offsets = to_device(o->offsets, ((size_t)o->c->experts + 1) * word, 0);
    o->d_token_index = to_device(o->token_index, slots * word, 0);
    o->d_row_of_slot = to_device(o->row_of_slot, slots * word, 0);
    o->d_routing_weight = to_device(o->routing_weight, slots * word, 0);
    o->workspace = to_device(NULL, slots * (size_t)per_row, 0);
}

static void forget(operands *o)
{
    guarded *inputs[] = {&o->d_offsets, &o->d_token_index, &o->d_row_of_slot, &o->d_routing_weight};
    for (size_t i = 0; i < 4; i++)
        guard_free(inputs[i]);
    free(to_host(&o->workspace, "workspace"));
    guard_free(&o->workspace);
    matrix_free(&o->x);
    matrix_free(&o->w);
    matrix_free(&o->out);
    free(o->offsets);
    free(o->token_index);
    free(o->row_of_slot);
    free(o->expert_of_row);
    free(o->routing_weight);
}

static void launch(const operands *o, const kernels *k)
{
    const moe_case *c = o->c;
    moe_gemm_args args = {
        .x = guard_data(&o->x.device),
        .w = guard_data(&o->w.device),
        .out = guard_data(&o->out.device),
        .offsets = guard_data(&o->d_offsets),
        .token_index = guard_data(&o->d_token_index),
        .routing_weight = guard_data(&o->d_routing_weight),
        .row_of_slot = guard_data(&o->d_row_of_slot),
        .workspace = guard_data(&o->workspace),
        .ldx = o->x.ld,
        .ldw = o->w.ld,
        .ldout = o->out.ld,
        .tokens = c->tokens,
        .hidden = c->hidden,
        .ffn = c->ffn,
        .experts = c->experts,
        .top_k = c->top_k,
    };
    kernels_run(k, &args, sizeof args);
}

/* A value, and how far off it may be. */
typedef struct bounded {
    double value, bound;
} bounded;

static bounded dot(const matrix *a, int64_t row_a, const matrix *b, int64_t row_b)
{
    bounded sum = {0};
    for (int i = 0; i < a->cols; i++) {
        double product = at(a, row_a, i) * at(b, row_b, i);
        sum.value += product;
        sum.bound += fabs(product);
    }
    sum.bound *= (a->cols + 1) * 0x1p-23;
    return sum;
}

static bounded rounded(bounded v)
{
    return (bounded){v.value, v.bound * (1 + 0x1p-8) + fabs(v.value) * 0x1p-8 + 0x1p-120};
}

/* |silu'| is below 1.1; silu itself is computed to about 8 ulp. */
static bounded gate_up(const operands *o, int64_t row, int64_t col)
{
    int ffn = o->c->ffn;
    int64_t first = (int64_t)o->expert_of_row[row] * 2 * ffn;
    bounded gate = dot(&o->x, o->token_index[row], &o->w, first + col);
    bounded up = dot(&o->x, o->token_index[row], &o->w, first + ffn + col);
    double silu = gate.value / (1 + exp(-gate.value));
    double bound = 1.1 * gate.bound * (fabs(up.value) + up.bound) + fabs(silu) * up.bound;
    return rounded((bounded){silu * up.value, bound + fabs(silu * up.value) * 0x1p-20});
}

static bounded down(const operands *o, int64_t token, int64_t col)
{
    bounded sum = {0};
    int top_k = o->c->top_k;
    for (int i = 0; i < top_k; i++) {
        int row = o->row_of_slot[token * top_k + i];
        if (row < 0)
            continue;
        bounded part = dot(&o->x, row, &o->w, (int64_t)o->expert_of_row[row] * o->c->hidden + col);
        double weight = (double)o->routing_weight[row];
        sum.value += weight * part.value;
        sum.bound += weight * (part.bound + fabs(part.value) * (top_k + 1) * 0x1p-23);
    }
    return rounded(sum);
}

static void compare(const operands *o, const kernels *k, const uint16_t *got, int64_t row, int col)
{
    const moe_case *c = o->c;
    uint16_t bits = got[row * o->out.ld + col];
    if (!c->down && row >= o->served) {
        assert_int_equal(bits, 0xffff);
        return;
    }
    bounded want = c->down ? down(o, row, col) : gate_up(o, row, col);
    if (!(fabs(bf16_value(bits) - want.value) <= want.bound))
        fail_msg("want %.9g +- %.3g, got %.9g at row %lld, column %d (tokens %d, hidden %d, ffn "
                 "%d, experts %d, "
                 "top_k %d, routing %d; %s)",
                 want.value, want.bound, bf16_value(bits), (long long)row, col, c->tokens,
                 c->hidden, c->ffn, c->experts, c->top_k, c->routing, k->config);
}

void moe_check(const moe_case *c, const kernels *k, uint64_t seed)
{
    operands o;
    make(&o, c, seed);
    send(&o, k);
    launch(&o, k);
    uint16_t *got = to_host(&o.out.device, "out");
    for (int64_t row = 0; row < o.out.rows; row++) {
        for (int col = 0; col < o.out.cols; col++)
            compare(&o, k, got, row, col);
        for (int col = o.out.cols; col < o.out.ld; col++)
            assert_int_equal(got[row * o.out.ld + col], 0xffff);
    }
    free(got);
    forget(&o);
}
