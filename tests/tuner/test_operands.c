/* tests/tuner/test_operands.c: data follow from the seed, padding is no number, guards see writes.
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

static device *open_device(void)
{
    moesaic_text err;
    device *dev;
    assert_status(MOESAIC_OK, device_open(0, &dev, &err), &err);
    return dev;
}

static void test_guards_see_a_write_on_either_side(void **state)
{
    (void)state;
    static const int64_t places[] = {-1, -4000, 1000, 4000};
    moesaic_text err;
    guarded g;
    bool intact;
    int64_t where;
    device *dev = open_device();
    assert_status(MOESAIC_OK, guard_alloc(dev, 1000, 2, &g, &err), &err);
    assert_status(MOESAIC_OK, device_fill(dev, guard_data(&g), 0, 1000, &err), &err);
    assert_status(MOESAIC_OK, guard_check(&g, &intact, &where, &err), &err);
    assert_true(intact);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_status(MOESAIC_OK, guard_fill(&g, &err), &err);
        char *at = (char *)guard_data(&g) + places[i];
        assert_status(MOESAIC_OK, device_copy_in(dev, at, "", 1, &err), &err);
        assert_status(MOESAIC_OK, guard_check(&g, &intact, &where, &err), &err);
        assert_false(intact);
        assert_int_equal(places[i], where);
    }
    guard_free(&g);
    device_close(dev);
}

static void test_uploads_arrive_with_odd_bases_where_asked(void **state)
{
    (void)state;
    moesaic_text err;
    moe_operands o;
    uint16_t first;
    device *dev = open_device();
    moe_shape shape = small_shape(false, 1, 65, 33);
    make_operands(&shape, 3, 5, &o);
    assert_status(MOESAIC_OK, operands_upload(&o, dev, 100, &err), &err);
    assert_int_equal(2, (uintptr_t)guard_data(&o.d_x) % 16);
    assert_status(MOESAIC_OK, device_copy_out(dev, &first, guard_data(&o.d_x), 2, &err), &err);
    assert_int_equal(o.x[0], first);
    assert_status(MOESAIC_OK, operands_reserve(&o, 5000, &err), &err);
    assert_int_equal(5000, o.d_workspace.n_bytes);
    operands_free(&o);
    device_close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_seed_repeats_and_another_differs),
        cmocka_unit_test(test_padding_is_no_number_and_values_have_their_variance),
        cmocka_unit_test(test_experts_share_tiles_where_memory_is_short),
        cmocka_unit_test(test_guards_see_a_write_on_either_side),
        cmocka_unit_test(test_uploads_arrive_with_odd_bases_where_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
