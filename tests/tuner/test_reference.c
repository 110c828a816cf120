/* tests/tuner/test_reference.c: the reference against loops in fp64, and what a comparison finds.
 *
 * The loops below share nothing with the reference but the operands.    SPDX-License-Identifier: MIT
 */
#include "tests/tuner/support.h"

#include "tuner/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double value_of(uint16_t bits)
{
    int exponent = (bits >> 7 & 0xff) - 127,
        fraction = (bits & 0x7f) | (exponent > -127 ? 0x80 : 0);
    double magnitude = ldexp(fraction, (exponent > -127 ? exponent : -126) - 7);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* Nearest bf16 by trying: the candidates around a truncation. */
static uint16_t nearest(double value)
{
    float f = (float)value;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    uint16_t best = (uint16_t)(word >> 16), next = (uint16_t)(best + 1);
    return fabs(value_of(next) - value) < fabs(value_of(best) - value) ? next : best;
}

static double dot(const uint16_t *a, const uint16_t *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += value_of(a[i]) * value_of(b[i]);
    return sum;
}

static double naive(const moe_operands *o, const int32_t *expert_of_row, int64_t row, int col)
{
    const moe_shape *s = &o->shape;
    int depth = s->down ? s->ffn : s->hidden, rows_of_w = s->down ? s->hidden : 2 * s->ffn;
    if (!s->down) {
        const uint16_t *w = o->w + (int64_t)expert_of_row[row] * rows_of_w * o->ldw;
        const uint16_t *x = o->x + o->routing.token_index[row] * o->ldx;
        double gate = dot(x, w + col * o->ldw, depth);
        double up = dot(x, w + (s->ffn + col) * o->ldw, depth);
        return gate / (1 + exp(-gate)) * up;
    }
    double sum = 0;
    for (int i = 0; i < s->top_k; i++) {
        int32_t in = o->routing.row_of_slot[row * s->top_k + i];
        if (in < 0)
            continue;
        const uint16_t *w = o->w + (int64_t)expert_of_row[in] * rows_of_w * o->ldw;
        sum += (double)o->routing.weight[in] * dot(o->x + in * o->ldx, w + col * o->ldw, depth);
    }
    return sum;
}

typedef struct setting {
    moe_operands o;
    moe_reference r;
    uint16_t *out; /* right results */
} setting;

static void set_up(setting *s, bool down, int top_k, reference_kind kind)
{
    moesaic_text err;
    int32_t expert_of_row[74];
    moe_shape shape = small_shape(down, top_k, 72, 40);
    make_operands(&shape, 8, 11, &s->o);
    for (int e = 0; e < 5; e++)
        for (int32_t r = s->o.routing.offsets[e]; r < s->o.routing.offsets[e + 1]; r++)
            expert_of_row[r] = e;
    assert_status(MOESAIC_OK, reference_make(&s->o, kind, &s->r, &err), &err);
    int64_t rows = moe_out_rows(&shape), served = down ? rows : s->o.routing.rows;
    s->out = malloc((size_t)(rows * s->o.ldout) * sizeof *s->out);
    memset(s->out, 0xff, (size_t)(rows * s->o.ldout) * sizeof *s->out);
    for (int64_t row = 0; row < served; row++)
        for (int col = 0; col < moe_out_cols(&shape); col++)
            s->out[row * s->o.ldout + col] = nearest(naive(&s->o, expert_of_row, row, col));
}

static void tear_down(setting *s)
{
    operands_free(&s->o);
    reference_free(&s->r);
    free(s->out);
}

static const struct {
    bool down;
    int top_k;
    reference_kind kind;
} cases[] = {
    {false, 1, REFERENCE_FP64}, {false, 2, REFERENCE_FP64}, {true, 1, REFERENCE_FP64},
    {true, 2, REFERENCE_FP64},  {false, 2, REFERENCE_FP32}, {true, 2, REFERENCE_FP32},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static void test_right_results_have_no_error(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        setting s;
        set_up(&s, cases[i].down, cases[i].top_k, cases[i].kind);
        reference_error e = reference_compare(&s.r, &s.o, s.out);
        if (!(e.max_error <= s.r.bound))
            fail_msg("case %d: row %lld, column %d: want %g, got %g, error %g", i, (long long)e.row,
                     e.col, (double)e.want, (double)e.got, e.max_error);
        tear_down(&s);
    }
}

/* Leaving out one product of 72 (or 40) is far above the bound. */
static void test_a_missing_product_is_found(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        setting s;
        set_up(&s, cases[i].down, cases[i].top_k, cases[i].kind);
        for (int64_t row = 0; row < moe_x_rows(&s.o.shape); row++)
            s.o.x[row * s.o.ldx + moe_depth(&s.o.shape) - 1] = 0;
        moesaic_text err;
        moe_reference less;
        assert_status(MOESAIC_OK, reference_make(&s.o, cases[i].kind, &less, &err), &err);
        reference_error e = reference_compare(&less, &s.o, s.out);
        assert_true(e.max_error > 50 * less.bound);
        reference_free(&less);
        tear_down(&s);
    }
}

static void test_one_wrong_element_is_named(void **state)
{
    (void)state;
    setting s;
    set_up(&s, false, 1, REFERENCE_FP64);
    s.out[7 * s.o.ldout + 5] ^= 0x4; /* four units in the last place */
    reference_error e = reference_compare(&s.r, &s.o, s.out);
    assert_true(e.max_error > s.r.bound);
    assert_int_equal(7, e.row);
    assert_int_equal(5, e.col);
    tear_down(&s);
}

static void test_an_untouched_output_is_infinitely_wrong(void **state)
{
    (void)state;
    setting s;
    set_up(&s, true, 2, REFERENCE_FP64);
    s.out[3] = 0xffff;
    assert_true(isinf(reference_compare(&s.r, &s.o, s.out).max_error));
    tear_down(&s);
}

/* A token without any expert is zero exactly. */
static void test_a_token_without_experts_is_zero(void **state)
{
    (void)state;
    setting s;
    set_up(&s, true, 1, REFERENCE_FP64);
    int64_t token = 0;
    while (token < 37 && s.o.routing.row_of_slot[token] >= 0)
        token++;
    assert_true(token < 37);
    s.out[token * s.o.ldout] = 0x0001; /* the smallest number there is */
    assert_true(isinf(reference_compare(&s.r, &s.o, s.out).max_error));
    tear_down(&s);
}

static void test_the_bound_is_gamma_of_k(void **state)
{
    (void)state;
    moe_shape shape = small_shape(false, 1, 2048, 512);
    double n = 2048 + 1 + 24, u = 0x1p-23;
    assert_true(fabs(reference_bound(&shape, REFERENCE_FP64) - n * u / (1 - n * u)) < 1e-12);
    assert_true(reference_bound(&shape, REFERENCE_FP32) > reference_bound(&shape, REFERENCE_FP64));
    shape.down = true;
    assert_true(reference_bound(&shape, REFERENCE_FP64) < 600 * u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_results_have_no_error),
        cmocka_unit_test(test_a_missing_product_is_found),
        cmocka_unit_test(test_one_wrong_element_is_named),
        cmocka_unit_test(test_an_untouched_output_is_infinitely_wrong),
        cmocka_unit_test(test_a_token_without_experts_is_zero),
        cmocka_unit_test(test_the_bound_is_gamma_of_k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
