/* tests/tuner/test_moe.c: shapes, work and rooflines, worked out by hand.    SPDX-License-Identifier: MIT */
#include "tests/tuner/support.h"

#include "tuner/moe.h"

#include <math.h>

static cJSON *fields_of(const char *pairs)
{
    moesaic_text err;
    cJSON *fields;
    assert_status(MOESAIC_OK, json_from_pairs(pairs, &fields, &err), &err);
    return fields;
}

static void test_a_shape_is_read(void **state)
{
    (void)state;
    moesaic_text err;
    moe_shape s;
    cJSON *fields = fields_of("hidden=64,expert_ffn=48,experts=4,top_k=2,tokens=10,aligned=0");
    assert_status(MOESAIC_OK, moe_shape_of("down", fields, &s, &err), &err);
    assert_true(s.down && !s.aligned);
    assert_int_equal(20, moe_slots(&s));
    assert_int_equal(48, moe_depth(&s));
    assert_int_equal(64, moe_out_cols(&s));
    assert_int_equal(20, moe_x_rows(&s));
    assert_int_equal(10, moe_out_rows(&s));
    cJSON_Delete(fields);
}

static void test_sizes_beyond_the_indices_are_refused(void **state)
{
    static const char *const bad[] = {
        "hidden=64,expert_ffn=48,experts=4,top_k=2,tokens=1073741824",
        "hidden=64,expert_ffn=48,experts=4,top_k=5,tokens=1",
        "hidden=99999999,expert_ffn=48,experts=4,top_k=1,tokens=1",
        "hidden=64,expert_ffn=48,experts=4,top_k=1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        moesaic_text err;
        moe_shape s;
        cJSON *fields = fields_of(bad[i]);
        assert_status(MOESAIC_E_INPUT, moe_shape_of("gate_up", fields, &s, &err), &err);
        cJSON_Delete(fields);
    }
}

/* 3 of 4 experts active: gate_up 2 * rows * 2 * ffn * hidden. */
static void test_work_and_bytes(void **state)
{
    (void)state;
    moesaic_text err;
    routing_table r;
    static const int32_t slots[] = {0, 2, 2, 3, -1};
    moe_shape s = {.tokens = 5, .hidden = 64, .ffn = 48, .experts = 4, .top_k = 1, .aligned = true};
    assert_status(MOESAIC_OK, routing_build(slots, 5, 4, 1, 1, &r, &err), &err);
    assert_true(moe_flops(&s, r.rows) == 2.0 * 4 * 2 * 48 * 64);
    double bytes = 2.0 * (3 * 2 * 48 * 64 + 5 * 64 + 4 * 48);
    assert_true(moe_compulsory_bytes(&s, &r) == bytes);
    assert_true(fabs(moe_roofline_us(&s, &r, 304) - bytes / 4.2e6) < 1e-9);
    routing_free(&r);
}

static void test_a_large_problem_is_bound_by_its_work(void **state)
{
    (void)state;
    moe_shape s = {.tokens = 32768, .hidden = 2048, .ffn = 2048, .experts = 16, .top_k = 1};
    int32_t offsets[17];
    for (int e = 0; e <= 16; e++)
        offsets[e] = e * 2048;
    routing_table r = {
        .tokens = 32768, .rows = 32768, .experts = 16, .top_k = 1, .offsets = offsets};
    double want_us = 2.0 * 32768 * 4096 * 2048 / (304.0 * 2048 * 1207);
    assert_true(fabs(moe_roofline_us(&s, &r, 304) - want_us) < 1e-6 * want_us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_shape_is_read),
        cmocka_unit_test(test_sizes_beyond_the_indices_are_refused),
        cmocka_unit_test(test_work_and_bytes),
        cmocka_unit_test(test_a_large_problem_is_bound_by_its_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
