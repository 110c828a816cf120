/* tests/emu/test_isa_f64.c: double precision and 64-bit integers against the host's arithmetic, lane by lane.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A function of v[0:1], v[2:3], v[4:5] to v[6:7]; operands follow the mnemonic as the pattern says. */
typedef uint64_t reference(uint64_t a, uint64_t b, uint64_t c);

#define X(u) machine_double(u)

static uint64_t smaller(uint64_t a, uint64_t b)
{
    bool snan_a = X(a) != X(a) && !(a >> 51 & 1), snan_b = X(b) != X(b) && !(b >> 51 & 1);
    if (snan_a || snan_b)
        return 0x7ff8000000000000ull;
    if (X(a) != X(a) || X(b) != X(b))
        return X(a) != X(a) ? b : a;
    if (X(a) == X(b))
        return a | b;
    return X(a) < X(b) ? a : b;
}

#define FLOATS(R)                                                                                  \
    R(1, "v_add_f64 v[6:7], v[0:1], v[2:3]", X(a) + X(b))                                          \
    R(2, "v_add_f64 v[6:7], -|v[0:1]|, v[2:3]", -fabs(X(a)) + X(b))                                \
    R(3, "v_mul_f64 v[6:7], v[0:1], v[2:3]", X(a) * X(b))                                          \
    R(4, "v_mul_f64 v[6:7], v[0:1], 2.0", X(a) * 2)                                                \
    R(5, "v_mul_f64 v[6:7], v[0:1], 0x40590000", X(a) * 100)                                       \
    R(6, "v_min_f64 v[6:7], v[0:1], v[2:3]", X(smaller(a, b)))                                     \
    R(7, "v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]", fma(X(a), X(b), X(c)))                        \
    R(8, "v_fma_f64 v[6:7], v[0:1], -v[2:3], 1.0", fma(X(a), -X(b), 1))                            \
    R(9, "v_floor_f64 v[6:7], v[0:1]", floor(X(a)))                                                \
    R(10, "v_ceil_f64 v[6:7], v[0:1]", ceil(X(a)))                                                 \
    R(11, "v_trunc_f64 v[6:7], v[0:1]", trunc(X(a)))                                               \
    R(12, "v_rndne_f64 v[6:7], v[0:1]", nearbyint(X(a)))                                           \
    R(13, "v_fract_f64 v[6:7], v[0:1]", X(a) - floor(X(a)))                                        \
    R(14, "v_rcp_f64 v[6:7], v[0:1]", 1 / X(a))                                                    \
    R(15, "v_sqrt_f64 v[6:7], v[0:1]", sqrt(X(a)))                                                 \
    R(16, "v_rsq_f64 v[6:7], v[0:1]", 1 / sqrt(X(a)))                                              \
    R(17, "v_ldexp_f64 v[6:7], v[0:1], v2", ldexp(X(a), (int)(uint32_t)b))                         \
    R(18, "v_cvt_f64_f32 v[6:7], v0", (double)machine_float((uint32_t)a))                          \
    R(19, "v_cvt_f64_f32 v[6:7], -v0", (double)-machine_float((uint32_t)a))                        \
    R(20, "v_cvt_f64_i32 v[6:7], v0", (double)(int32_t)a)                                          \
    R(21, "v_cvt_f64_u32 v[6:7], v0", (double)(uint32_t)a)

#define INTEGERS(R)                                                                                \
    R(22, "v_mov_b64 v[6:7], v[0:1]", a)                                                           \
    R(23, "v_mov_b64 v[6:7], -3", (uint64_t)-3)                                                    \
    R(24, "v_lshlrev_b64 v[6:7], v4, v[0:1]", a << (c & 63))                                       \
    R(25, "v_lshlrev_b64 v[6:7], 2, v[0:1]", a << 2)                                               \
    R(26, "v_lshrrev_b64 v[6:7], v4, v[0:1]", a >> (c & 63))                                       \
    R(27, "v_ashrrev_i64 v[6:7], v4, v[0:1]", (uint64_t)((int64_t)a >> (c & 63)))                  \
    R(28, "v_lshl_add_u64 v[6:7], v[0:1], 3, v[2:3]", (a << 3) + b)                                \
    R(29, "v_mad_u64_u32 v[6:7], s[8:9], v0, v2, v[4:5]", (uint64_t)(uint32_t)a *(uint32_t)b + c)  \
    R(30, "v_mad_u64_u32 v[6:7], vcc, v0, 5, 0", (uint64_t)(uint32_t)a * 5)                        \
    R(31, "v_mad_i64_i32 v[6:7], s[8:9], v0, v2, v[4:5]",                                          \
      (uint64_t)((int64_t)(int32_t)a * (int32_t)b) + c)

static bool same(uint64_t want, uint64_t got, bool is_float)
{
    return is_float && X(want) != X(want) ? X(got) != X(got) : want == got;
}

#define REAL(n, text, value)                                                                       \
    static uint64_t row_##n(uint64_t a, uint64_t b, uint64_t c)                                    \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return machine_bits64(value);                                                              \
    }
#define INTEGER(n, text, value)                                                                    \
    static uint64_t row_##n(uint64_t a, uint64_t b, uint64_t c)                                    \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    }
FLOATS(REAL)
INTEGERS(INTEGER)

typedef struct row {
    const char *text;
    bool is_float;
    reference *f;
} row;

static void check(const row *r, uint64_t seed)
{
    machine *m = machine_new(seed);
    uint64_t exec = machine_masks[seed % (uint64_t)machine_n_masks], want[MACHINE_LANES];
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        want[lane] = exec >> lane & 1 ? r->f(machine_lane64(m, 0, lane), machine_lane64(m, 2, lane),
                                             machine_lane64(m, 4, lane))
                                      : machine_lane64(m, 6, lane);
    machine_set_exec(m, exec);
    machine_run(m, r->text);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint64_t got = machine_lane64(m, 6, lane);
        bool is_active = exec >> lane & 1;
        if (!same(want[lane], got, r->is_float && is_active))
            fail_msg("%s: lane %d want %llx got %llx", r->text, lane,
                     (unsigned long long)want[lane], (unsigned long long)got);
    }
    machine_free(m);
}

static const row rows[] = {
#define REAL_ROW(n, text, value)    {text, true, row_##n},
#define INTEGER_ROW(n, text, value) {text, false, row_##n},
    FLOATS(REAL_ROW) INTEGERS(INTEGER_ROW)};

static void test_rows_compute_what_c_computes(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint64_t seed = 0; seed < 70; seed++)
            check(&rows[r], seed * 100 + r);
}

static void test_to_32_bits(void **state)
{
    (void)state;
    static const double numbers[] = {
        0, 1.75, -1.75, 1e10, -1e10, 2147483647.5, -2147483648.9, (double)NAN, 0x1.ffffffp3};
    static const uint32_t to_i32[] = {0, 1, ~0u, INT32_MAX, 1u << 31, INT32_MAX, 1u << 31, 0, 15};
    static const uint32_t to_u32[] = {0, 1, 0, UINT32_MAX, 0, 2147483647, 0, 0, 15};
    machine *m = machine_new(1);
    for (int lane = 0; lane < 9; lane++)
        machine_set_lane64(m, 0, lane, machine_bits64(numbers[lane]));
    machine_run(m, "v_cvt_i32_f64_e32 v3, v[0:1]");
    machine_run(m, "v_cvt_u32_f64_e32 v4, v[0:1]");
    machine_run(m, "v_cvt_f32_f64_e32 v5, v[0:1]");
    for (int lane = 0; lane < 9; lane++) {
        assert_int_equal(machine_lane(m, 3, lane), to_i32[lane]);
        assert_int_equal(machine_lane(m, 4, lane), to_u32[lane]);
        assert_true(numbers[lane] != numbers[lane] ||
                    machine_bits((float)numbers[lane]) == machine_lane(m, 5, lane));
    }
    machine_free(m);
}

static void test_fraction_and_exponent(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        machine *m = machine_new(seed);
        machine_run(m, "v_frexp_mant_f64_e32 v[4:5], v[0:1]");
        machine_run(m, "v_frexp_exp_i32_f64_e32 v6, v[0:1]");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            double x = X(machine_lane64(m, 0, lane));
            int exponent = 0;
            double mantissa = frexp(x, &exponent);
            assert_true(same(machine_bits64(mantissa), machine_lane64(m, 4, lane), true));
            assert_int_equal((int)machine_lane(m, 6, lane), isfinite(x) ? exponent : 0);
        }
        machine_free(m);
    }
}

static void test_fmac_accumulates(void **state)
{
    (void)state;
    machine *m = machine_new(3);
    machine_set_lane64(m, 0, 40, machine_bits64(3)),
        machine_set_lane64(m, 2, 40, machine_bits64(5));
    machine_set_lane64(m, 4, 40, machine_bits64(7));
    machine_run(m, "v_fmac_f64_e32 v[4:5], v[0:1], v[2:3]");
    assert_true(X(machine_lane64(m, 4, 40)) == 22);
    machine_free(m);
}

/* Segments of 2/pi add up to it. */
static void test_two_over_pi(void **state)
{
    (void)state;
    machine *m = machine_new(3);
    machine_set_lane64(m, 0, 0, machine_bits64(1e6));
    machine_run(m, "v_trig_preop_f64 v[2:3], v[0:1], 0");
    machine_run(m, "v_trig_preop_f64 v[4:5], v[0:1], 1");
    long double sum =
        (long double)X(machine_lane64(m, 2, 0)) + (long double)X(machine_lane64(m, 4, 0));
    assert_true(fabsl(sum - 0.636619772367581343075535053490057448L) < 0x1p-63L);
    machine_free(m);
}

/* {carry, sum} of 64-bit additions in two halves, and subtraction with borrows. */
static void test_carries(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        machine *m = machine_new(seed);
        uint64_t exec = machine_masks[seed % (uint64_t)machine_n_masks];
        machine_set_exec(m, exec);
        machine_run(m, "v_add_co_u32_e32 v4, vcc, v0, v2");
        machine_run(m, "v_addc_co_u32_e32 v5, vcc, v1, v3, vcc");
        machine_run(m, "v_sub_co_u32_e64 v6, s[8:9], v0, v2");
        machine_run(m, "v_subb_co_u32_e64 v7, s[8:9], v1, v3, s[8:9]");
        machine_run(m, "v_subrev_co_u32_e64 v8, s[10:11], v0, v2");
        machine_run(m, "v_subbrev_co_u32_e64 v9, s[10:11], v1, v3, s[10:11]");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint64_t a = machine_lane64(m, 0, lane), b = machine_lane64(m, 2, lane),
                     bit = exec >> lane & 1;
            assert_int_equal(emu_s64(&m->wave, EMU_S_VCC) >> lane & 1, bit & (a + b < a));
            assert_int_equal(emu_s64(&m->wave, 8) >> lane & 1, bit & (a < b));
            assert_int_equal(emu_s64(&m->wave, 10) >> lane & 1, bit & (b < a));
            assert_true(!bit || machine_lane64(m, 4, lane) == a + b);
            assert_true(!bit || machine_lane64(m, 6, lane) == a - b);
            assert_true(!bit || machine_lane64(m, 8, lane) == b - a);
        }
        machine_free(m);
    }
}

static void test_mad_carries_out(void **state)
{
    (void)state;
    machine *m = machine_new(9);
    machine_run(m, "v_mad_u64_u32 v[6:7], s[8:9], v0, v2, v[4:5]");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint64_t c = machine_lane64(m, 4, lane);
        assert_int_equal(emu_s64(&m->wave, 8) >> lane & 1, machine_lane64(m, 6, lane) < c);
    }
    machine_free(m);
}

/* v[2:3] from v[1:2]: a chunk's sources are read before its result is written. */
static void test_overlap_by_one_register(void **state)
{
    (void)state;
    machine *m = machine_new(5);
    uint64_t before = machine_lane64(m, 1, 50);
    machine_run(m, "v_lshl_add_u64 v[2:3], v[1:2], 1, 0");
    assert_true(machine_lane64(m, 2, 50) == before * 2);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_compute_what_c_computes),
        cmocka_unit_test(test_to_32_bits),
        cmocka_unit_test(test_fraction_and_exponent),
        cmocka_unit_test(test_fmac_accumulates),
        cmocka_unit_test(test_two_over_pi),
        cmocka_unit_test(test_carries),
        cmocka_unit_test(test_mad_carries_out),
        cmocka_unit_test(test_overlap_by_one_register),
    };
    return machine_main("isa f64", tests, sizeof tests / sizeof *tests);
}
