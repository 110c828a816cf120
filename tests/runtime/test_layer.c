/* tests/runtime/test_layer.c: a whole small layer on default configurations, compiled when the plans are made.
 *
 * The reference is computed here in double precision from the same bits.    SPDX-License-Identifier: MIT
 */
#include "tests/runtime/support.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 37, EXPERTS = 5, TOP_K = 2, SLOTS = TOKENS * TOP_K, MAX_WIDTH = 80 };

typedef struct sizes {
    int hidden, ffn;
} sizes;

/* Host data of the layer; bf16 as its bits. */
typedef struct data {
    uint16_t x[TOKENS * MAX_WIDTH], gate_up[EXPERTS * 2 * MAX_WIDTH * MAX_WIDTH],
        down[EXPERTS * MAX_WIDTH * MAX_WIDTH], out[TOKENS * MAX_WIDTH];
    float logits[TOKENS * EXPERTS], weight[SLOTS];
    int32_t offsets[EXPERTS + 1], token_index[SLOTS], row_of_slot[SLOTS];
} data;

static double value_of(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static uint16_t bits_of(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static double draw(uint64_t *seed)
{
    return (double)(hash_next(seed) >> 11) / 0x1p52 - 1;
}

static void fill(uint16_t *to, size_t n, double scale, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        to[i] = bits_of(scale * draw(&seed));
}

/* --- reference --- */

/* Slots of one token, best first; expert 3 never has a chance and stays empty. */
static void choose(const float *logits, int chosen[TOP_K], double weight[TOP_K])
{
    double sum = 0;
    bool taken[EXPERTS] = {false};
    for (int e = 0; e < EXPERTS; e++)
        sum += exp((double)logits[e]);
    for (int slot = 0; slot < TOP_K; slot++) {
        int best = -1;
        for (int e = 0; e < EXPERTS; e++)
            if (!taken[e] && (best < 0 || logits[e] > logits[best]))
                best = e;
        taken[best] = true;
        chosen[slot] = best;
        weight[slot] = exp((double)logits[best]) / sum;
    }
}

static double product(const uint16_t *a, const uint16_t *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += value_of(a[i]) * value_of(b[i]);
    return sum;
}

static void add_expert(const data *d, const sizes *s, int token, int expert, double weight,
                       double *sum, double *scale)
{
    uint16_t h[MAX_WIDTH];
    const uint16_t *x = d->x + token * s->hidden;
    const uint16_t *gate = d->gate_up + (size_t)expert * 2 * (size_t)(s->ffn * s->hidden);
    for (int i = 0; i < s->ffn; i++) {
        double g = product(x, gate + i * s->hidden, s->hidden);
        double u = product(x, gate + (s->ffn + i) * s->hidden, s->hidden);
        h[i] = bits_of(g / (1 + exp(-g)) * u);
    }
    for (int c = 0; c < s->hidden; c++)
        for (int i = 0; i < s->ffn; i++) {
            double part =
                weight * value_of(h[i]) *
                value_of(d->down[((size_t)expert * (size_t)s->hidden + (size_t)c) * (size_t)s->ffn +
                                 (size_t)i]);
            sum[c] += part;
            scale[c] += fabs(part);
        }
}

/* Each side may round an element of h the other way (2^-8 of it), and rounds its sum once (2^-9). */
static void check_token(const data *d, const sizes *s, int token)
{
    double sum[MAX_WIDTH] = {0}, scale[MAX_WIDTH] = {0}, weight[TOP_K];
    int chosen[TOP_K];
    choose(d->logits + token * EXPERTS, chosen, weight);
    for (int slot = 0; slot < TOP_K; slot++)
        add_expert(d, s, token, chosen[slot], weight[slot], sum, scale);
    for (int c = 0; c < s->hidden; c++) {
        double got = value_of(d->out[token * s->hidden + c]);
        double bound = scale[c] * 0x1p-8 + fabs(sum[c]) * 0x1p-8;
        if (!(fabs(got - sum[c]) <= bound))
            print_error("hidden %d ffn %d token %d column %d: want %g got %g\n", s->hidden, s->ffn,
                        token, c, sum[c], got);
        assert_true(fabs(got - sum[c]) <= bound);
    }
}

/* Rows go expert by expert, within an expert by token. */
static void check_routing(const data *d)
{
    int row = 0;
    for (int e = 0; e < EXPERTS; e++) {
        assert_int_equal(d->offsets[e], row);
        for (int token = 0; token < TOKENS; token++) {
            int chosen[TOP_K];
            double weight[TOP_K];
            choose(d->logits + token * EXPERTS, chosen, weight);
            for (int slot = 0; slot < TOP_K; slot++) {
                if (chosen[slot] != e)
                    continue;
                assert_int_equal(d->row_of_slot[token * TOP_K + slot], row);
                assert_int_equal(d->token_index[row], token);
                assert_true(fabs((double)d->weight[row] - weight[slot]) < 1e-6);
                row++;
            }
        }
    }
    assert_int_equal(d->offsets[EXPERTS], SLOTS);
}

/* --- the device --- */

static void *upload(const void *from, size_t n)
{
    moesaic_text err = {""};
    void *memory;
    assert_status(MOESAIC_OK, device_alloc(world_device, n ? n : 1, &memory, &err), &err);
    if (from)
        assert_status(MOESAIC_OK, device_copy_in(world_device, memory, from, n, &err), &err);
    return memory;
}

static void download(void *to, const void *from, size_t n)
{
    moesaic_text err = {""};
    assert_status(MOESAIC_OK, device_copy_out(world_device, to, from, n, &err), &err);
}

static moesaic_plan *plan_gemm(moesaic_context *context, const sizes *s, moesaic_pass pass)
{
    moesaic_text err = {""};
    moesaic_plan *plan;
    moesaic_lookup info = {.size_bytes = sizeof info};
    const moesaic_moe_gemm shape = {.size_bytes = sizeof shape,
                                    .pass = pass,
                                    .tokens = TOKENS,
                                    .hidden = s->hidden,
                                    .ffn = s->ffn,
                                    .experts = EXPERTS,
                                    .top_k = TOP_K};
    assert_status(MOESAIC_OK, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    assert_int_equal(moesaic_plan_lookup(plan, &info), MOESAIC_OK);
    assert_int_equal(info.served, MOESAIC_SERVED_DEFAULT);
    assert_non_null(strstr(info.config, "\"tile_m\":"));
    assert_int_equal(info.trial, 0);
    return plan;
}

static void run_gemm(const moesaic_plan *plan, const moesaic_router_buffers *r, const void *x,
                     const void *w, void *out)
{
    moesaic_text err = {""};
    size_t n = moesaic_plan_workspace_bytes(plan, TOKENS);
    void *workspace = upload(NULL, n);
    const moesaic_moe_gemm_buffers b = {.size_bytes = sizeof b,
                                        .tokens = TOKENS,
                                        .x = x,
                                        .w = w,
                                        .out = out,
                                        .offsets = r->offsets,
                                        .token_index = r->token_index,
                                        .routing_weight = r->routing_weight,
                                        .row_of_slot = r->row_of_slot,
                                        .workspace = workspace,
                                        .workspace_bytes = n};
    assert_status(MOESAIC_OK, moesaic_moe_gemm_execute(plan, &b, NULL, &err), &err);
    assert_status(MOESAIC_OK, device_synchronize(world_device, NULL, &err), &err);
    device_free(world_device, workspace);
}

static moesaic_router_buffers route(moesaic_context *context, data *d)
{
    moesaic_text err = {""};
    moesaic_plan *plan;
    const moesaic_router shape = {
        .size_bytes = sizeof shape, .tokens = TOKENS, .experts = EXPERTS, .top_k = TOP_K};
    assert_status(MOESAIC_OK, moesaic_plan_router(context, &shape, &plan, &err), &err);
    size_t n = moesaic_plan_workspace_bytes(plan, TOKENS);
    const moesaic_router_buffers b = {.size_bytes = sizeof b,
                                      .tokens = TOKENS,
                                      .logits = upload(d->logits, sizeof d->logits),
                                      .offsets = upload(NULL, sizeof d->offsets),
                                      .token_index = upload(NULL, sizeof d->token_index),
                                      .routing_weight = upload(NULL, sizeof d->weight),
                                      .row_of_slot = upload(NULL, sizeof d->row_of_slot),
                                      .workspace = upload(NULL, n),
                                      .workspace_bytes = n};
    assert_status(MOESAIC_OK, moesaic_router_execute(plan, &b, NULL, &err), &err);
    assert_status(MOESAIC_OK, device_synchronize(world_device, NULL, &err), &err);
    download(d->offsets, b.offsets, sizeof d->offsets);
    download(d->token_index, b.token_index, sizeof d->token_index);
    download(d->weight, b.routing_weight, sizeof d->weight);
    download(d->row_of_slot, b.row_of_slot, sizeof d->row_of_slot);
    const moesaic_moe_gemm_buffers other = {.size_bytes = sizeof other, .tokens = 1};
    assert_int_equal(moesaic_moe_gemm_execute(plan, &other, NULL, &err), MOESAIC_E_INPUT);
    moesaic_plan_free(plan);
    return b;
}

static void run_layer(moesaic_context *context, const sizes *s, data *d)
{
    const size_t hidden = (size_t)s->hidden, ffn = (size_t)s->ffn;
    moesaic_router_buffers r = route(context, d);
    void *x = upload(d->x, TOKENS * hidden * 2), *h = upload(NULL, SLOTS * ffn * 2);
    void *gate_up = upload(d->gate_up, EXPERTS * 2 * ffn * hidden * 2);
    void *down = upload(d->down, EXPERTS * ffn * hidden * 2);
    void *out = upload(NULL, TOKENS * hidden * 2);
    moesaic_plan *plans[2] = {plan_gemm(context, s, MOESAIC_GATE_UP),
                              plan_gemm(context, s, MOESAIC_DOWN)};
    run_gemm(plans[0], &r, x, gate_up, h);
    run_gemm(plans[1], &r, h, down, out);
    download(d->out, out, TOKENS * hidden * 2);
    void *const all[] = {x,
                         h,
                         gate_up,
                         down,
                         out,
                         (void *)(uintptr_t)r.logits,
                         r.offsets,
                         r.token_index,
                         r.routing_weight,
                         r.row_of_slot,
                         r.workspace};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        device_free(world_device, all[i]);
    moesaic_plan_free(plans[0]);
    moesaic_plan_free(plans[1]);
}

static void check_layer(const sizes *s)
{
    data *d = calloc(1, sizeof *d);
    uint64_t seed = 11;
    assert_non_null(d);
    fill(d->x, sizeof d->x / 2, 1, 1);
    fill(d->gate_up, sizeof d->gate_up / 2, 0.3, 2);
    fill(d->down, sizeof d->down / 2, 0.3, 3);
    for (int i = 0; i < TOKENS * EXPERTS; i++)
        d->logits[i] = i % EXPERTS == 3 ? -50 : (float)draw(&seed);
    moesaic_context *context = open_or_fail(NULL, 0);
    run_layer(context, s, d);
    moesaic_close(context);
    check_routing(d);
    for (int token = 0; token < TOKENS; token++)
        check_token(d, s, token);
    free(d);
}

static void test_aligned_layer_is_right(void **state)
{
    (void)state;
    check_layer(&(sizes){72, 40});
}

static void test_layer_of_odd_sizes_is_right(void **state)
{
    (void)state;
    check_layer(&(sizes){69, 35});
}

static void test_no_template_is_a_refusal(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_plan *plan;
    const moesaic_moe_gemm shape = usual_shape(MOESAIC_DOWN, 8);
    const char *old = getenv("MOESAIC_DATA");
    char *kept = str_format("%s", old ? old : "");
    setenv("MOESAIC_EXECUTABLE", in_world("moesaic/program"), 1);
    setenv("MOESAIC_DATA", in_world("moesaic"), 1);
    moesaic_context *context = open_or_fail(NULL, 0);
    assert_status(MOESAIC_E_NOTFOUND, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    assert_non_null(strstr(err.s, "moesaic tune"));
    moesaic_counters c = {.size_bytes = sizeof c};
    assert_int_equal(moesaic_counters_read(context, &c), MOESAIC_OK);
    assert_int_equal(c.refused, 1);
    moesaic_close(context);
    if (old)
        setenv("MOESAIC_DATA", kept, 1);
    else
        unsetenv("MOESAIC_DATA");
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aligned_layer_is_right),
        cmocka_unit_test(test_layer_of_odd_sizes_is_right),
        cmocka_unit_test(test_no_template_is_a_refusal),
    };
    return cmocka_run_group_tests(tests, world_make, world_remove);
}
