/* tests/templates/test_router.c: router against a sort on the host.
 *
 * Rows, offsets and indices must be equal; weights may differ by what fp32's exp and sums allow.
 * SPDX-License-Identifier: MIT
 */
#include "tests/templates/support.h"

#include <math.h>
#include <stdlib.h>

typedef struct router_case {
    int tokens, experts, top_k, pad;
    bool normalise;
    bool odd_values; /* ties, NaN and infinities among the logits */
} router_case;

/* As templates/router/router.hip declares it. */
typedef struct router_args {
    void *logits, *offsets, *token_index, *routing_weight, *row_of_slot, *workspace;
    int64_t ld_logits, tokens;
    int32_t experts, top_k;
} router_args;

/* What the device wrote, or should have. */
typedef struct routing {
    int *offsets, *token_index, *row_of_slot;
    float *weight;
} routing;

static void *zeros(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    assert_non_null(p);
    return p;
}

static float draw(const router_case *c, uint64_t *seed)
{
    static const float odd[] = {NAN, -INFINITY, INFINITY, 0, -0.0f, 1, 1};
    if (c->odd_values && random_bits(seed) % 3)
        return odd[random_bits(seed) % 7];
    return (float)(3 * random_normal(seed));
}

/* Rows padded with infinities, which nobody may see. */
static float *logits_of(const router_case *c, uint64_t seed)
{
    int ld = c->experts + c->pad;
    float *logits = zeros((size_t)c->tokens * (size_t)ld, sizeof *logits);
    for (int i = 0; i < c->tokens * ld; i++)
        logits[i] = i % ld < c->experts ? draw(c, &seed) : INFINITY;
    return logits;
}

static bool selectable(float logit)
{
    return !isnan(logit) && logit > -INFINITY;
}

/* The best expert that isn't taken, or -1. */
static int best_expert(const float *logits, int experts, const bool *taken)
{
    int best = -1;
    for (int e = 0; e < experts; e++)
        if (!taken[e] && selectable(logits[e]) && (best < 0 || logits[e] > logits[best]))
            best = e;
    return best;
}

static double exp_below(float logit, float largest)
{
    return logit == largest ? 1 : exp((double)logit - (double)largest);
}

/* Experts and weights of one token's slots. */
static void select_experts(const router_case *c, const float *logits, int *expert, double *weight)
{
    bool *taken = zeros((size_t)c->experts, sizeof *taken);
    double all = 0, selected = 0;
    int first = best_expert(logits, c->experts, taken);
    float largest = first < 0 ? 0 : logits[first];
    for (int e = 0; e < c->experts; e++)
        all += selectable(logits[e]) ? exp_below(logits[e], largest) : 0;
    for (int i = 0; i < c->top_k; i++) {
        expert[i] = best_expert(logits, c->experts, taken);
        weight[i] = expert[i] < 0 ? 0 : exp_below(logits[expert[i]], largest);
        selected += weight[i];
        if (expert[i] >= 0)
            taken[expert[i]] = true;
    }
    for (int i = 0; i < c->top_k; i++)
        weight[i] = expert[i] < 0 ? 0 : weight[i] / (c->normalise ? selected : all);
    free(taken);
}

static void compare_slot(const router_case *c, const routing *got, int slot, int row, bool served,
                         double weight)
{
    if (got->row_of_slot[slot] != (served ? row : -1) || got->token_index[row] != slot / c->top_k)
        fail_msg(
            "slot %d: want row %d, got %d; the row's token is %d (tokens %d, experts %d, top_k %d)",
            slot, served ? row : -1, got->row_of_slot[slot], got->token_index[row], c->tokens,
            c->experts, c->top_k);
    double off = fabs((double)got->weight[row] - weight);
    if (!(off <= weight * (c->experts + 32) * 0x1p-23 + 0x1p-126))
        fail_msg("slot %d: want weight %.9g, got %.9g (tokens %d, experts %d, top_k %d)", slot,
                 weight, (double)got->weight[row], c->tokens, c->experts, c->top_k);
}

static void compare(const router_case *c, const float *logits, const routing *got)
{
    size_t slots = (size_t)c->tokens * (size_t)c->top_k;
    int *expert = zeros(slots, sizeof *expert), row = 0;
    double *weight = zeros(slots, sizeof *weight);
    for (int t = 0; t < c->tokens; t++)
        select_experts(c, logits + (int64_t)t * (c->experts + c->pad), expert + t * c->top_k,
                       weight + t * c->top_k);
    for (int e = 0; e <= c->experts; e++) {
        assert_int_equal(got->offsets[e], row);
        for (int s = 0; s < (int)slots; s++)
            if (expert[s] == (e < c->experts ? e : -1))
                compare_slot(c, got, s, row++, e < c->experts, weight[s]);
    }
    free(expert);
    free(weight);
}

static double workspace_bytes(const kernels *k, double slots)
{
    const cJSON *workspace = cJSON_GetObjectItemCaseSensitive(k->launch, "workspace");
    return cJSON_GetObjectItemCaseSensitive(workspace, "fixed_bytes")->valuedouble +
           slots * cJSON_GetObjectItemCaseSensitive(workspace, "per_row_bytes")->valuedouble;
}

static void check(const router_case *c, const kernels *k, uint64_t seed)
{
    size_t slots = (size_t)c->tokens * (size_t)c->top_k, ld = (size_t)c->experts + (size_t)c->pad;
    float *logits = logits_of(c, seed);
    guarded in = to_device(logits, (size_t)c->tokens * ld * sizeof *logits, 0);
    guarded out[] = {to_device(NULL, ((size_t)c->experts + 1) * sizeof(int), 0),
                     to_device(NULL, slots * sizeof(int), 0),
                     to_device(NULL, slots * sizeof(int), 0),
                     to_device(NULL, slots * sizeof(float), 0),
                     to_device(NULL, (size_t)workspace_bytes(k, (double)slots), 0)};
    router_args args = {guard_data(&in),     guard_data(&out[0]),
                        guard_data(&out[1]), guard_data(&out[3]),
                        guard_data(&out[2]), guard_data(&out[4]),
                        (int64_t)ld,         c->tokens,
                        c->experts,          c->top_k};
    kernels_run(k, &args, sizeof args);
    routing got = {to_host(&out[0], "offsets"), to_host(&out[1], "token_index"),
                   to_host(&out[2], "row_of_slot"), to_host(&out[3], "routing_weight")};
    compare(c, logits, &got);
    free(to_host(&out[4], "workspace"));
    free(got.offsets);
    free(got.token_index);
    free(got.row_of_slot);
    free(got.weight);
    for (size_t i = 0; i < 5; i++)
        guard_free(&out[i]);
    guard_free(&in);
    free(logits);
}

/* Each case with a variant of its own. */
static void check_all(const router_case *cases, int n, const char *config)
{
    for (int i = 0; i < n; i++) {
        const router_case *c = &cases[i];
        kernels k;
        char *problem = str_format("experts=%d,top_k=%d,tokens=%d,normalise=%d", c->experts,
                                   c->top_k, c->tokens, c->normalise);
        kernels_open("router", "topk", problem, config, &k);
        check(c, &k, (uint64_t)i + 1);
        kernels_close(&k);
        free(problem);
    }
}

static void test_rows_are_grouped_by_expert_in_token_order(void **state)
{
    static const router_case cases[] = {
        {.tokens = 1500, .experts = 16, .top_k = 1},
        {.tokens = 700, .experts = 60, .top_k = 4, .pad = 4},
        {.tokens = 200, .experts = 256, .top_k = 8, .normalise = true},
        {.tokens = 40, .experts = 1024, .top_k = 16, .pad = 1},
        {.tokens = 5, .experts = 1, .top_k = 1},
    };
    (void)state;
    check_all(cases, 5, "units=304");
}

static void test_few_lanes_share_a_token(void **state)
{
    static const router_case cases[] = {
        {.tokens = 1003, .experts = 16, .top_k = 1},
        {.tokens = 77, .experts = 128, .top_k = 16, .normalise = true, .odd_values = true},
    };
    (void)state;
    check_all(&cases[0], 1, "lanes=16,per_lane=1,waves=1,units=304");
    check_all(&cases[1], 1, "lanes=16,per_lane=8,units=608");
}

static void test_odd_logits_select_nobody(void **state)
{
    static const router_case cases[] = {
        {.tokens = 300, .experts = 3, .top_k = 2, .odd_values = true},
        {.tokens = 100, .experts = 70, .top_k = 6, .odd_values = true, .normalise = true},
    };
    (void)state;
    check_all(cases, 2, "lanes=32,per_lane=4");
}

static void test_no_tokens_give_empty_experts(void **state)
{
    static const router_case none = {.tokens = 0, .experts = 33, .top_k = 3};
    (void)state;
    check_all(&none, 1, "lanes=64,per_lane=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_grouped_by_expert_in_token_order),
        cmocka_unit_test(test_few_lanes_share_a_token),
        cmocka_unit_test(test_odd_logits_select_nobody),
        cmocka_unit_test(test_no_tokens_give_empty_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
