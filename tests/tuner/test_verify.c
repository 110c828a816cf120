/* tests/tuner/test_verify.c: what reduced problems look like.  How they find bugs: test_planted.c.
 * SPDX-License-Identifier: MIT
 */
#include "tests/tuner/support.h"

#include "tuner/verify.h"

#include <string.h>

typedef struct reduced {
    moe_shape shape;
    routing_table routing;
} reduced;

static reduced reduce(bool down, int top_k, bool aligned, const verify_tile *tile, int variation)
{
    moesaic_text err;
    reduced r;
    moe_shape full = {.down = down,
                      .aligned = aligned,
                      .tokens = 4096,
                      .hidden = 2048,
                      .ffn = 1024,
                      .experts = 16,
                      .top_k = top_k};
    assert_status(MOESAIC_OK,
                  verify_reduced_shape(&full, tile, variation, &r.shape, &r.routing, &err), &err);
    return r;
}

/* Along K three, six and four steps: a loop of two unrolled steps with two in flight comes round twice. */
static const int depth_tiles[] = {2, 5, 3};

static void test_each_dimension_has_two_tiles_and_a_remainder(void **state)
{
    (void)state;
    static const verify_tile tiles[] = {
        {16, 32, 32, 1}, {128, 128, 64, 1}, {256, 64, 128, 8}, {32, 256, 32, 4}};
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        for (int k = 0; k < 24; k++) {
            const verify_tile *t = &tiles[i];
            reduced r = reduce(k & 1, k & 2 ? 2 : 1, k & 4, t, k / 8);
            int panel = t->n / moe_panels(&r.shape);
            assert_in_range(moe_out_cols(&r.shape), 2 * panel + 1, 3 * panel - 1);
            int whole = depth_tiles[k / 8] * t->split_k;
            assert_in_range(moe_depth(&r.shape), whole * t->k + 1, (whole + 1) * t->k - 1);
            assert_in_range(routing_largest(&r.routing), 2 * t->m + 1, 3 * t->m - 1);
            if (r.shape.aligned)
                assert_int_equal(0, (r.shape.hidden | r.shape.ffn) % 8);
            routing_free(&r.routing);
        }
}

static void test_experts_are_uneven_and_some_tokens_have_none(void **state)
{
    (void)state;
    verify_tile tile = {64, 64, 32, 1};
    for (int top_k = 1; top_k <= 2; top_k++) {
        reduced r = reduce(true, top_k, true, &tile, 0);
        const int32_t *o = r.routing.offsets;
        assert_int_equal(2 * 64 + 1, o[1] - o[0]);
        assert_int_equal(0, o[2] - o[1]);
        assert_int_equal(1, o[5] - o[4]);
        assert_true(r.routing.rows <= (r.shape.tokens - 3) * top_k);
        assert_true(r.routing.rows > (r.shape.tokens - 3) * (top_k - 1));
        routing_free(&r.routing);
    }
}

static void test_variations_differ(void **state)
{
    (void)state;
    verify_tile tile = {64, 128, 64, 1};
    reduced a = reduce(false, 1, false, &tile, 0), b = reduce(false, 1, false, &tile, 1);
    assert_int_not_equal(moe_out_cols(&a.shape) % 64, moe_out_cols(&b.shape) % 64);
    assert_int_not_equal(moe_depth(&a.shape) % 64, moe_depth(&b.shape) % 64);
    assert_int_not_equal(a.shape.tokens, b.shape.tokens);
    routing_free(&a.routing);
    routing_free(&b.routing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_dimension_has_two_tiles_and_a_remainder),
        cmocka_unit_test(test_experts_are_uneven_and_some_tokens_have_none),
        cmocka_unit_test(test_variations_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
