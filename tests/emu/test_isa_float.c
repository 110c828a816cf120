/* tests/emu/test_isa_float.c: single precision against the host's arithmetic and long double, lane by lane.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef float reference(float a, float b, float c);

static bool is_nan(float x)
{
    return x != x;
}

static bool is_signalling(float x)
{
    return is_nan(x) && !(machine_bits(x) & 0x400000);
}

/* Of two operands with a NaN between them: IEEE mode returns a signalling one, quiet, else the other operand. */
static float with_nan(float a, float b)
{
    if (is_signalling(a) || is_signalling(b))
        return machine_float(0x7fc00000);
    return is_nan(a) ? b : a;
}

static float smaller(float a, float b)
{
    if (is_nan(a) || is_nan(b))
        return with_nan(a, b);
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

static float larger(float a, float b)
{
    if (is_nan(a) || is_nan(b))
        return with_nan(a, b);
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static float middle(float a, float b, float c)
{
    if (is_nan(a) || is_nan(b) || is_nan(c))
        return smaller(smaller(a, b), c);
    if (a >= b && a >= c)
        return larger(b, c);
    return b >= a && b >= c ? larger(a, c) : larger(a, b);
}

#define ROWS(X)                                                                                    \
    X(v_add_f32, 2, a + b)                                                                         \
    X(v_sub_f32, 2, a - b)                                                                         \
    X(v_subrev_f32, 2, b - a)                                                                      \
    X(v_mul_f32, 2, a *b)                                                                          \
    X(v_min_f32, 2, smaller(a, b))                                                                 \
    X(v_max_f32, 2, larger(a, b))                                                                  \
    X(v_fma_f32, 3, fmaf(a, b, c))                                                                 \
    X(v_min3_f32, 3, smaller(smaller(a, b), c))                                                    \
    X(v_max3_f32, 3, larger(larger(a, b), c))                                                      \
    X(v_med3_f32, 3, middle(a, b, c))                                                              \
    X(v_floor_f32, 1, floorf(a))                                                                   \
    X(v_ceil_f32, 1, ceilf(a))                                                                     \
    X(v_trunc_f32, 1, truncf(a))                                                                   \
    X(v_rndne_f32, 1, nearbyintf(a))                                                               \
    X(v_fract_f32, 1, a - floorf(a))                                                               \
    X(v_mul_legacy_f32, 2, a == 0 || b == 0 ? 0 : a * b)                                           \
    X(v_sqrt_f32, 1, sqrtf(a))

#define REFERENCE(name, n, value)                                                                  \
    static float name(float a, float b, float c)                                                   \
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

/* Bits of sign, abs per source; -|x| is abs, then neg. */
static float with_signs(float x, int neg, int abs)
{
    x = abs ? fabsf(x) : x;
    return neg ? -x : x;
}

static bool same(float want, float got)
{
    return is_nan(want) ? is_nan(got) : machine_bits(want) == machine_bits(got);
}

typedef struct form {
    bool is_scalar[3], neg[3], abs[3], clamp;
} form;

static void print(char *text, size_t size, size_t r, const form *f)
{
    int at = snprintf(text, size, "%s v3", rows[r].mnemonic);
    for (int i = 0; i < rows[r].n_sources; i++)
        at += snprintf(text + at, size - (size_t)at, ", %s%s%c%d%s", f->neg[i] ? "-" : "",
                       f->abs[i] ? "|" : "", f->is_scalar[i] ? 's' : 'v', i, f->abs[i] ? "|" : "");
    snprintf(text + at, size - (size_t)at, "%s", f->clamp ? " clamp" : "");
}

static float source(const machine *m, const form *f, int i, int lane)
{
    uint32_t bits = f->is_scalar[i] ? m->wave.s[i] : machine_lane(m, i, lane);
    return with_signs(machine_float(bits), f->neg[i], f->abs[i]);
}

static void check_row(machine *m, size_t r, const form *f, uint64_t exec)
{
    char text[128];
    float want[MACHINE_LANES];
    print(text, sizeof text, r, f);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        want[lane] = rows[r].f(source(m, f, 0, lane), source(m, f, 1, lane), source(m, f, 2, lane));
        if (f->clamp)
            want[lane] = want[lane] > 0 ? fminf(want[lane], 1) : 0;
        if (!(exec >> lane & 1))
            want[lane] = machine_float(machine_lane(m, 3, lane));
    }
    machine_set_exec(m, exec);
    machine_run(m, text);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        if (!same(want[lane], machine_float(machine_lane(m, 3, lane))))
            fail_msg("%s: lane %d of %a %a %a want %a got %a", text, lane,
                     (double)source(m, f, 0, lane), (double)source(m, f, 1, lane),
                     (double)source(m, f, 2, lane), (double)want[lane],
                     (double)machine_float(machine_lane(m, 3, lane)));
}

static void test_rows_compute_what_c_computes(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint32_t round = 0; round < 128; round++) {
            machine *m = machine_new(round * 1000 + r);
            form f = {.clamp = round % 5 == 4};
            for (int i = 0; i < 3; i++) {
                f.is_scalar[i] = round >> i & 1;
                f.neg[i] = round & 64 && machine_random(m) & 1;
                f.abs[i] = round & 64 && machine_random(m) & 1;
            }
            check_row(m, r, &f, machine_masks[round % (uint32_t)machine_n_masks]);
            machine_free(m);
        }
}

static void test_signalling_nan_comes_out_quiet(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    machine_set_lane(m, 0, 0, 0x7f800001);
    machine_set_lane(m, 1, 0, 0x3f800000);
    machine_run(m, "v_max_f32_e32 v2, v0, v1");
    assert_int_equal(machine_lane(m, 2, 0), 0x7fc00001);
    machine_run(m, "v_max_f32_e32 v2, v0, v0");
    assert_int_equal(machine_lane(m, 2, 0), 0x7fc00001);
    machine_free(m);
}

/* Difference in units of the last place of the exact value. */
static double ulps(long double want, float got)
{
    int exponent;
    if (want == 0 || isinf(want) || isnan(want))
        return (isnan(want) && is_nan(got)) || (float)want == got ? 0 : 1e9;
    frexpl(want, &exponent);
    exponent = exponent < -125 ? -125 : exponent;
    return (double)fabsl(((long double)got - want) / ldexpl(1, exponent - 24));
}

static long double flushed(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignl(0, x) : (long double)x;
}

static long double want_rcp(float x)
{
    return 1 / flushed(x);
}
static long double want_rsq(float x)
{
    return 1 / sqrtl(flushed(x));
}
static long double want_exp(float x)
{
    return exp2l(x);
}
static long double want_log(float x)
{
    return log2l(flushed(x));
}

static const struct {
    const char *text;
    long double (*want)(float);
} transcendental[] = {
    {"v_rcp_f32_e32 v3, v0", want_rcp}, {"v_rcp_iflag_f32_e32 v3, v0", want_rcp},
    {"v_rsq_f32_e32 v3, v0", want_rsq}, {"v_exp_f32_e32 v3, v0", want_exp},
    {"v_log_f32_e32 v3, v0", want_log},
};

static void check_transcendental(machine *m, size_t k, int lane)
{
    float x = machine_float(machine_lane(m, 0, lane)),
          got = machine_float(machine_lane(m, 3, lane));
    long double want = transcendental[k].want(x);
    bool is_tiny = fabsl(want) < 0x1.000002p-126L && want != 0;
    bool overflows = fabsl(want) > 0x1.fffffefp127L && !isnan(want);
    if (is_tiny && fabsf(got) <= 0x1p-126f)
        return; /* flushed */
    if (overflows && isinf(got))
        return;
    if (ulps(want, got) > 1)
        fail_msg("%s: %a want %La got %a", transcendental[k].text, (double)x, want, (double)got);
}

static void test_transcendental_is_within_one_ulp(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof transcendental / sizeof *transcendental; k++)
        for (uint64_t seed = 0; seed < 100; seed++) {
            machine *m = machine_new(seed);
            for (int lane = 0; lane < MACHINE_LANES && seed & 1;
                 lane++) /* every second time of moderate size */
                machine_set_lane(m, 0, lane, machine_bits(ldexpf((float)machine_random(m), -25)));
            machine_run(m, transcendental[k].text);
            for (int lane = 0; lane < MACHINE_LANES; lane++)
                check_transcendental(m, k, lane);
            machine_free(m);
        }
}

static void test_sine_and_cosine_take_turns(void **state)
{
    (void)state;
    machine *m = machine_new(3);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, 0, lane, machine_bits((float)(lane - 32) * 0.123f));
    machine_run(m, "v_sin_f32_e32 v3, v0");
    machine_run(m, "v_cos_f32_e32 v4, v0");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        double x = (double)machine_float(machine_lane(m, 0, lane)) * 2 * M_PI;
        assert_true(fabs((double)machine_float(machine_lane(m, 3, lane)) - sin(x)) < 1e-7);
        assert_true(fabs((double)machine_float(machine_lane(m, 4, lane)) - cos(x)) < 1e-7);
    }
    machine_free(m);
}

static void test_powers_of_two(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        machine *m = machine_new(seed);
        for (int lane = 0; lane < MACHINE_LANES; lane++)
            machine_set_lane(m, 1, lane, machine_random(m) % 600 - 300);
        machine_run(m, "v_ldexp_f32 v3, v0, v1");
        machine_run(m, "v_frexp_mant_f32_e32 v4, v0");
        machine_run(m, "v_frexp_exp_i32_f32_e32 v5, v0");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            float x = machine_float(machine_lane(m, 0, lane));
            int exponent = 0, n = (int)machine_lane(m, 1, lane);
            float mantissa = frexpf(x, &exponent);
            exponent = isfinite(x) ? exponent : 0;
            assert_true(same(ldexpf(x, n), machine_float(machine_lane(m, 3, lane))));
            assert_true(same(mantissa, machine_float(machine_lane(m, 4, lane))));
            assert_int_equal(exponent, (int)machine_lane(m, 5, lane));
        }
        machine_free(m);
    }
}

static void test_fmac_and_constants(void **state)
{
    (void)state;
    machine *m = machine_new(11);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        for (int v = 0; v < 4; v++)
            machine_set_lane(m, v, lane, machine_bits((float)(machine_random(m) & 0xffff) * 0.37f));
    float a = machine_float(machine_lane(m, 0, 9)), b = machine_float(machine_lane(m, 1, 9));
    float d = machine_float(machine_lane(m, 2, 9));
    machine_run(m, "v_fmac_f32_e32 v2, v0, v1");
    assert_true(same(fmaf(a, b, d), machine_float(machine_lane(m, 2, 9))));
    machine_run(m, "v_fmac_f32_e64 v2, -v0, |v1|");
    assert_true(same(fmaf(-a, fabsf(b), fmaf(a, b, d)), machine_float(machine_lane(m, 2, 9))));
    machine_run(m, "v_fmamk_f32 v3, v0, 0x40490fdb, v1");
    assert_true(same(fmaf(a, machine_float(0x40490fdb), b), machine_float(machine_lane(m, 3, 9))));
    machine_run(m, "v_fmaak_f32 v3, 2.0, v1, 0x40490fdb");
    assert_true(same(fmaf(2, b, machine_float(0x40490fdb)), machine_float(machine_lane(m, 3, 9))));
    machine_run(m, "v_mul_f32_e32 v3, 0.15915494, v0");
    assert_true(same(machine_float(0x3e22f983) * a, machine_float(machine_lane(m, 3, 9))));
    machine_free(m);
}

static void test_packed_pairs(void **state)
{
    (void)state;
    machine *m = machine_new(5);
    m->wave.s[4] = machine_bits(3), m->wave.s[5] = machine_bits(5);
    for (int v = 0; v < 6; v++)
        machine_set_lane(m, v, 33, machine_bits((float)v + 1));
    machine_run(m, "v_pk_fma_f32 v[8:9], v[0:1], s[4:5], v[2:3]");
    assert_true(same(1 * 3 + 3, machine_float(machine_lane(m, 8, 33))));
    assert_true(same(2 * 5 + 4, machine_float(machine_lane(m, 9, 33))));
    machine_run(m, "v_pk_mul_f32 v[8:9], v[0:1], v[2:3] op_sel:[0,1] op_sel_hi:[1,0]");
    assert_true(same(1 * 4, machine_float(machine_lane(m, 8, 33))));
    assert_true(same(2 * 3, machine_float(machine_lane(m, 9, 33))));
    machine_run(m, "v_pk_add_f32 v[8:9], v[0:1], v[2:3] neg_lo:[0,1] neg_hi:[1,0]");
    assert_true(same(1 - 3, machine_float(machine_lane(m, 8, 33))));
    assert_true(same(-2 + 4, machine_float(machine_lane(m, 9, 33))));
    machine_run(m, "v_pk_mul_f32 v[0:1], v[0:1], s[4:5] op_sel_hi:[1,0]");
    assert_true(same(1 * 3, machine_float(machine_lane(m, 0, 33))));
    assert_true(same(2 * 3, machine_float(machine_lane(m, 1, 33))));
    machine_free(m);
}

static void test_mix_takes_halves(void **state)
{
    (void)state;
    machine *m = machine_new(5);
    machine_set_lane(m, 0, 7, 0x40003c00); /* f16 2, 1 */
    machine_set_lane(m, 1, 7, machine_bits(5));
    machine_set_lane(m, 2, 7, machine_bits(0.5f));
    machine_set_lane(m, 3, 7, 0x12345678);
    machine_run(m, "v_fma_mix_f32 v4, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,0,0]");
    assert_true(same(10.5f, machine_float(machine_lane(m, 4, 7))));
    machine_run(m, "v_fma_mix_f32 v4, -v0, |v1|, v2 op_sel_hi:[1,0,0]");
    assert_true(same(-4.5f, machine_float(machine_lane(m, 4, 7))));
    machine_run(m, "v_fma_mixhi_f16 v3, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,0,0]");
    assert_int_equal(machine_lane(m, 3, 7), 0x49405678); /* 10.5 */
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_compute_what_c_computes),
        cmocka_unit_test(test_signalling_nan_comes_out_quiet),
        cmocka_unit_test(test_transcendental_is_within_one_ulp),
        cmocka_unit_test(test_sine_and_cosine_take_turns),
        cmocka_unit_test(test_powers_of_two),
        cmocka_unit_test(test_fmac_and_constants),
        cmocka_unit_test(test_packed_pairs),
        cmocka_unit_test(test_mix_takes_halves),
    };
    return machine_main("isa float", tests, sizeof tests / sizeof *tests);
}
