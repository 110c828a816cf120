/* tests/emu/test_isa_f16.c: half precision against long double, rounded once.    SPDX-License-Identifier: MIT */
#include "tests/emu/half.h"
#include "tests/emu/machine.h"

#include <stdio.h>
#include <string.h>

/* Value of the result for the values a, b, c. */
typedef long double reference(long double a, long double b, long double c);

static long double smaller(long double a, long double b)
{
    if (a != a || b != b)
        return a != a ? b : a;
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

static long double larger(long double a, long double b)
{
    return -smaller(-a, -b);
}

#define ROWS(X)                                                                                    \
    X(v_add_f16, 2, a + b)                                                                         \
    X(v_sub_f16, 2, a - b)                                                                         \
    X(v_subrev_f16, 2, b - a)                                                                      \
    X(v_mul_f16, 2, a *b)                                                                          \
    X(v_min_f16, 2, smaller(a, b))                                                                 \
    X(v_max_f16, 2, larger(a, b))                                                                  \
    X(v_fma_legacy_f16, 3, a *b + c)                                                               \
    X(v_floor_f16, 1, floorl(a))                                                                   \
    X(v_ceil_f16, 1, ceill(a))                                                                     \
    X(v_trunc_f16, 1, truncl(a))                                                                   \
    X(v_rndne_f16, 1, nearbyintl(a))                                                               \
    X(v_rcp_f16, 1, 1 / a)                                                                         \
    X(v_sqrt_f16, 1, sqrtl(a))

#define REFERENCE(name, n, value)                                                                  \
    static long double name(long double a, long double b, long double c)                           \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    }
ROWS(REFERENCE)

static const struct {
    const char *mnemonic;
    int n_sources;
    reference *f;
} rows[] = {
#define ROW(name, n, value) {#name, n, name},
    ROWS(ROW)};

/* Registers whose halves are mostly numbers of moderate size, no signalling NaN. */
static machine *machine_of_halves(uint64_t seed)
{
    static const uint16_t special[] = {0,      0x8000, 1,      0x3ff,  0x400,
                                       0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
    machine *m = machine_new(seed);
    for (int v = 0; v < 4; v++)
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint32_t x = machine_random(m), low = x & 0xffff, high = x >> 16;
            if (lane % 4 == 1)
                low = special[high % 10], high = special[low % 10];
            low = (low & 0x7c00) == 0x7c00 ? low & 0xfe00 : low;
            high = (high & 0x7c00) == 0x7c00 ? high & 0xfe00 : high;
            machine_set_lane(m, v, lane, low | high << 16);
        }
    return m;
}

static bool same(uint32_t want, uint32_t got)
{
    bool is_nan = (want & 0x7fff) > 0x7c00;
    return is_nan ? (got & 0x7fff) > 0x7c00 : want == got;
}

static void check_row(machine *m, size_t r)
{
    static const char *const operands[] = {"v4, v0", "v4, v0, v1", "v4, v0, v1, v2"};
    char text[64];
    snprintf(text, sizeof text, "%s %s", rows[r].mnemonic, operands[rows[r].n_sources - 1]);
    machine_run(m, text);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        double a = half_value(machine_lane(m, 0, lane)), b = half_value(machine_lane(m, 1, lane));
        double c = half_value(machine_lane(m, 2, lane));
        uint32_t want = half_of(rows[r].f(a, b, c), false), got = machine_lane(m, 4, lane);
        if (!same(want, got))
            fail_msg("%s of %a %a %a: want 0x%x got 0x%x", text, a, b, c, want, got);
    }
}

static void test_rows_round_once(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint64_t seed = 0; seed < 100; seed++) {
            machine *m = machine_of_halves(seed);
            check_row(m, r);
            machine_free(m);
        }
}

static void test_packed_rows_do_both_halves(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        machine *m = machine_of_halves(seed);
        machine_run(m, "v_pk_add_f16 v4, v0, v1");
        machine_run(m, "v_pk_mul_f16 v5, v0, v1 op_sel:[1,0] op_sel_hi:[0,1]");
        machine_run(m, "v_pk_fma_f16 v6, v0, v1, v2 neg_lo:[0,1,0] neg_hi:[1,0,1]");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint32_t a = machine_lane(m, 0, lane), b = machine_lane(m, 1, lane),
                     c = machine_lane(m, 2, lane);
            double al = half_value(a), ah = half_value(a >> 16), bl = half_value(b),
                   bh = half_value(b >> 16);
            double cl = half_value(c), ch = half_value(c >> 16);
            uint32_t sum = machine_lane(m, 4, lane), product = machine_lane(m, 5, lane);
            uint32_t fma = machine_lane(m, 6, lane);
            assert_true(same(half_of(al + bl, false), sum & 0xffff) &&
                        same(half_of(ah + bh, false), sum >> 16));
            assert_true(same(half_of(ah * bl, false), product & 0xffff));
            assert_true(same(half_of(al * bh, false), product >> 16));
            assert_true(same(half_of((long double)al * -bl + cl, false), fma & 0xffff));
            assert_true(same(half_of((long double)-ah * bh - ch, false), fma >> 16));
        }
        machine_free(m);
    }
}

static void test_new_forms_keep_the_other_half(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    machine_set_lane(m, 0, 2, 0x4000), machine_set_lane(m, 1, 2, 0x42000000),
        machine_set_lane(m, 2, 2, 0x3c00);
    machine_set_lane(m, 3, 2, 0x12345678);
    machine_run(m, "v_fma_f16 v3, v0, v1, v2 op_sel:[0,1,0,1]");
    assert_int_equal(machine_lane(m, 3, 2), 0x47005678); /* 2 * 3 + 1 */
    machine_run(m, "v_fma_f16 v3, v0, v1, v2 op_sel:[0,1,0,0] clamp");
    assert_int_equal(machine_lane(m, 3, 2), 0x47003c00);
    machine_run(m, "v_add_f16_sdwa v3, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
                   "src0_sel:WORD_0 src1_sel:WORD_1");
    assert_int_equal(machine_lane(m, 3, 2), 0x45003c00);
    machine_run(m, "v_add_f16_e64 v3, -v0, 4.0");
    assert_int_equal(machine_lane(m, 3, 2), 0x4000);
    machine_free(m);
}

static void test_dots_accumulate_in_single_precision(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    machine_set_lane(m, 0, 2, 0x40003c00),
        machine_set_lane(m, 1, 2, 0x44004200); /* (1, 2) . (3, 4) */
    machine_set_lane(m, 2, 2, machine_bits(0.5f));
    machine_run(m, "v_dot2_f32_f16 v3, v0, v1, v2");
    assert_int_equal(machine_lane(m, 3, 2), machine_bits(11.5f));
    machine_run(m, "v_dot2c_f32_f16_e32 v2, v0, v1");
    assert_int_equal(machine_lane(m, 2, 2), machine_bits(11.5f));
    machine_free(m);
}

/* Every half, once. */
static void test_parts_of_all_halves(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    for (uint32_t first = 0; first < 0x10000; first += MACHINE_LANES) {
        for (int lane = 0; lane < MACHINE_LANES; lane++)
            machine_set_lane(m, 0, lane, first + (uint32_t)lane);
        machine_run(m, "v_frexp_mant_f16_e32 v1, v0");
        machine_run(m, "v_frexp_exp_i16_f16_e32 v2, v0");
        machine_run(m, "v_cvt_f32_f16_e32 v3, v0");
        machine_run(m, "v_ldexp_f16_e64 v4, v0, -3");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            double x = half_value(first + (uint32_t)lane);
            int exponent = 0;
            double mantissa = frexp(x, &exponent);
            assert_true(same(half_of(mantissa, false), machine_lane(m, 1, lane)));
            assert_int_equal((int16_t)machine_lane(m, 2, lane), isfinite(x) ? exponent : 0);
            assert_true(x != x || machine_bits((float)x) == machine_lane(m, 3, lane));
            assert_true(same(half_of(x / 8, false), machine_lane(m, 4, lane)));
        }
    }
    machine_free(m);
}

/* Two roundings: the product's and the sum's.  The constant 0x3555 is near 1/3; only its low half counts. */
static void test_mad_rounds_twice(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        machine *m = machine_of_halves(seed), *before = machine_of_halves(seed);
        machine_run(m, "v_mad_legacy_f16 v3, v0, v1, v2");
        machine_run(m, "v_madmk_f16 v4, v0, 0x76543555, v1");
        machine_run(m, "v_madak_f16 v5, v0, v1, 0x3555");
        machine_run(m, "v_mac_f16_e32 v2, v0, v1");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            double a = half_value(machine_lane(m, 0, lane));
            double b = half_value(machine_lane(m, 1, lane)), third = half_value(0x3555);
            double c = half_value(machine_lane(before, 2, lane));
            double ab = half_value(half_of(a * b, false));
            double scaled = half_value(half_of(a * third, false));
            assert_true(same(half_of(ab + c, false), machine_lane(m, 3, lane)));
            assert_true(same(half_of(ab + c, false), machine_lane(m, 2, lane)));
            assert_true(same(half_of(scaled + b, false), machine_lane(m, 4, lane)));
            assert_true(same(half_of(ab + third, false), machine_lane(m, 5, lane)));
        }
        machine_free(m);
        machine_free(before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_round_once),
        cmocka_unit_test(test_packed_rows_do_both_halves),
        cmocka_unit_test(test_mad_rounds_twice),
        cmocka_unit_test(test_new_forms_keep_the_other_half),
        cmocka_unit_test(test_dots_accumulate_in_single_precision),
        cmocka_unit_test(test_parts_of_all_halves),
    };
    return machine_main("isa f16", tests, sizeof tests / sizeof *tests);
}
