/* tests/tuner/test_operands.c: data follow from the seed, padding is no number.
 * SPDX-License-Identifier: MIT
 */
#include "tests/tuner/support.h"

#include "tuner/bf16.h"

#include <math.h>
#include <string.h>

static void test_a_seed_repeats_and_another_differs(void **state)
{
    (void)state;
    moe_operands a, b, c;
    moe_shape shape = small_shape(false, 1, 64, 32);
    make_operands(&shape, 8, 5, &a);
    make_operands(&shape, 8, 5, &b);
    make_operands(&shape, 8, 6, &c);
    size_t n = (size_t)(moe_x_rows(&shape) * a.ldx) * sizeof *a.x;
    assert_memory_equal(a.x, b.x, n);
    assert_true(memcmp(a.x, c.x, n) != 0);
    operands_free(&a);
    operands_free(&b);
    operands_free(&c);
}

static void test_padding_is_no_number_and_values_have_their_variance(void **state)
{
    (void)state;
    moe_operands o;
    double sum = 0, squares = 0;
    moe_shape shape = small_shape(true, 2, 64, 128);
    make_operands(&shape, 8, 5, &o);
    int64_t rows = moe_x_rows(&shape);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < o.ldx; col++) {
            float v = bf16_to_float(o.x[row * o.ldx + col]);
            assert_int_equal(col >= 128, isnan(v));
            sum += col < 128 ? (double)v : 0;
            squares += col < 128 ? (double)v * (double)v : 0;
        }
    double n = (double)rows * 128;
    assert_true(fabs(sum / n) < 5 / sqrt(n));
    assert_true(fabs(squares / n - 1) < 0.05);
    operands_free(&o);
}

static void test_experts_share_tiles_where_memory_is_short(void **state)
{
    (void)state;
    moesaic_text err;
    moe_operands o;
    routing_table routing;
    int32_t slots[1] = {0};
    moe_shape shape = {.tokens = 1, .hidden = 64, .ffn = 32, .experts = 64, .top_k = 1};
    assert_status(MOESAIC_OK, routing_build(slots, 1, 64, 1, 1, &routing, &err), &err);
    assert_status(MOESAIC_OK, operands_make(&shape, &routing, 0, 100000, 1, &o, &err), &err);
    assert_int_equal(8, o.n_tiles);
    int n_used = 0;
    for (int tile = 0; tile < 8; tile++)
        for (int e = 0; e < 64; e++)
            if (operands_weights(&o, e) == o.w + (ptrdiff_t)tile * 64 * 64) {
                n_used++;
                break;
            }
    assert_int_equal(8, n_used);
    operands_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_seed_repeats_and_another_differs),
        cmocka_unit_test(test_padding_is_no_number_and_values_have_their_variance),
        cmocka_unit_test(test_experts_share_tiles_where_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
