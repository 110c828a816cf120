/* tests/emu/test_isa_convert.c: conversions against plain arithmetic; 8-bit floats code by code.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/half.h"
#include "tests/emu/machine.h"

#include <stdio.h>
#include <string.h>

typedef uint32_t reference(uint32_t a, uint32_t b);

static float F(uint32_t bits)
{
    return machine_float(bits);
}

static uint32_t clip(double x, double low, double high)
{
    return x != x ? 0 : (uint32_t)(int64_t)(x < low ? low : x > high ? high : x);
}

static uint32_t bits(double x)
{
    return machine_bits((float)x);
}

#define ROWS(X)                                                                                    \
    X(1, "v_cvt_f32_i32 v3, v0", bits((int32_t)a))                                                 \
    X(2, "v_cvt_f32_u32 v3, v0", bits(a))                                                          \
    X(3, "v_cvt_i32_f32 v3, v0", clip((double)F(a), INT32_MIN, INT32_MAX))                         \
    X(4, "v_cvt_u32_f32 v3, v0", clip((double)F(a), 0, UINT32_MAX))                                \
    X(5, "v_cvt_i32_f32 v3, -|v0|", clip(-fabs((double)F(a)), INT32_MIN, INT32_MAX))               \
    X(6, "v_cvt_flr_i32_f32 v3, v0", clip(floor((double)F(a)), INT32_MIN, INT32_MAX))              \
    X(7, "v_cvt_rpi_i32_f32 v3, v0", clip((double)floorf(F(a) + 0.5f), INT32_MIN, INT32_MAX))      \
    X(8, "v_cvt_f32_ubyte0 v3, v0", bits(a & 255))                                                 \
    X(9, "v_cvt_f32_ubyte3 v3, v0", bits(a >> 24))                                                 \
    X(10, "v_cvt_off_f32_i4 v3, v0", bits(((int32_t)(a << 28) >> 28) / 16.0))                      \
    X(11, "v_cvt_f32_i32_sdwa v3, sext(v0) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2",   \
      bits((int8_t)(a >> 16)))                                                                     \
    X(12, "v_cvt_f16_u16 v3, v0", half_of(a & 0xffff, false))                                      \
    X(13, "v_cvt_f16_i16 v3, v0", half_of((int16_t)a, false))                                      \
    X(14, "v_cvt_u16_f16 v3, v0", clip(half_value(a), 0, 65535))                                   \
    X(15, "v_cvt_i16_f16 v3, v0", clip(half_value(a), -32768, 32767) & 0xffff)                     \
    X(16, "v_cvt_pk_u8_f32 v3, v0, 2, v1",                                                         \
      (b & 0xff00ffff) | clip(nearbyint((double)F(a)), 0, 255) << 16)                              \
    X(17, "v_cvt_pknorm_u16_f32 v3, v0, 0.5",                                                      \
      clip(nearbyint((double)(F(a) * 65535)), 0, 65535) | 32768u << 16)

#define REFERENCE(id, text, value)                                                                 \
    static uint32_t row_##id(uint32_t a, uint32_t b)                                               \
    {                                                                                              \
        (void)b;                                                                                   \
        return value;                                                                              \
    }
ROWS(REFERENCE)

static const struct {
    const char *text;
    reference *f;
} rows[] = {
#define ROW(id, text, value) {text, row_##id},
    ROWS(ROW)};

static void test_rows_compute_what_c_computes(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint64_t seed = 0; seed < 60; seed++) {
            machine *m = machine_new(seed * 31 + r);
            for (int lane = 0; lane < MACHINE_LANES && seed & 1;
                 lane++) /* every second time of moderate size */
                machine_set_lane(
                    m, 0, lane,
                    machine_bits(ldexpf((float)machine_random(m), (int)(seed % 40) - 40)));
            machine_run(m, rows[r].text);
            for (int lane = 0; lane < MACHINE_LANES; lane++) {
                uint32_t a = machine_lane(m, 0, lane),
                         want = rows[r].f(a, machine_lane(m, 1, lane));
                if (machine_lane(m, 3, lane) != want)
                    fail_msg("%s of 0x%x: want 0x%x got 0x%x", rows[r].text, a, want,
                             machine_lane(m, 3, lane));
            }
            machine_free(m);
        }
}

/* One byte of the result register is replaced. */
static void test_pkaccum_keeps_three_bytes(void **state)
{
    (void)state;
    machine *m = machine_new(77), *before = machine_new(77);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, 0, lane, machine_bits(4.75f * (float)lane - 20));
    machine_run(m, "v_cvt_pkaccum_u8_f32 v3, v0, v1");
    machine_run(m, "v_cvt_pkaccum_u8_f32 v4, |v0|, 6");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        int shift = 8 * (int)(machine_lane(m, 1, lane) & 3);
        double x = (double)F(machine_lane(m, 0, lane));
        assert_int_equal(machine_lane(m, 3, lane),
                         (machine_lane(before, 3, lane) & ~(255u << shift)) |
                             clip(nearbyint(x), 0, 255) << shift);
        assert_int_equal(machine_lane(m, 4, lane), (machine_lane(before, 4, lane) & 0xff00ffff) |
                                                       clip(nearbyint(fabs(x)), 0, 255) << 16);
    }
    machine_free(m);
    machine_free(before);
}

static bool same_half(uint32_t want, uint32_t got)
{
    return (want & 0x7fff) > 0x7c00 ? (got & 0x7fff) > 0x7c00 && got <= 0xffff : want == got;
}

static void test_to_half_precision(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        machine *m = machine_new(seed);
        for (int lane = 0; lane < MACHINE_LANES && seed & 3;
             lane++) /* around the range of f16, ties included */
            machine_set_lane(
                m, 0, lane,
                machine_bits(ldexpf((float)(int32_t)machine_random(m), (int)(seed % 48) - 58)) &
                    (seed & 1 ? ~0u : 0xfffff000u));
        machine_run(m, "v_cvt_f16_f32_e32 v3, v0");
        machine_run(m, "v_cvt_pkrtz_f16_f32 v4, v0, -v0");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            float x = F(machine_lane(m, 0, lane));
            uint32_t packed = machine_lane(m, 4, lane);
            if (!same_half(half_of((long double)x, false), machine_lane(m, 3, lane)))
                fail_msg("%a: want 0x%x got 0x%x", (double)x, half_of((long double)x, false),
                         machine_lane(m, 3, lane));
            assert_true(same_half(half_of((long double)x, true), packed & 0xffff));
            assert_true(same_half(half_of((long double)-x, true), packed >> 16));
        }
        machine_free(m);
    }
}

/* MODE's rounding: 1 up, 2 down, 3 to zero; bits 1:0 for f32, 3:2 for f16. */
static void test_rounding_modes(void **state)
{
    (void)state;
    static const uint32_t want_half[] = {0x3c00, 0x3c01, 0x3c00, 0x3c00},
                          want_minus[] = {0xbc00, 0xbc00, 0xbc01, 0xbc00};
    static const uint32_t want_sum[] = {0x3f800000, 0x3f800001, 0x3f800000, 0x3f800000};
    for (uint32_t rounding = 0; rounding < 4; rounding++) {
        machine *m = machine_new(1);
        char text[64];
        machine_set_lane(m, 0, 5, machine_bits(1 + 0x1p-13f));
        machine_set_lane(m, 1, 5, machine_bits(0x1p-30f));
        snprintf(text, sizeof text, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0x%x",
                 rounding * 5);
        machine_run_words(m, text, 0xba000000u | 3u << 11 | 1, rounding * 5);
        machine_run(m, "v_cvt_f16_f32_e32 v3, v0");
        machine_run(m, "v_cvt_f16_f32_e64 v4, -v0");
        machine_run(m, "v_add_f32_e32 v5, 1.0, v1");
        machine_run_words(m, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
                          0xba000000u | 3u << 11 | 1, 0);
        assert_int_equal(machine_lane(m, 3, 5), want_half[rounding]);
        assert_int_equal(machine_lane(m, 4, 5), want_minus[rounding]);
        assert_int_equal(machine_lane(m, 5, 5), want_sum[rounding]);
        machine_free(m);
    }
}

/* --- 8-bit floats: value of a code; the nearest code by trying all --- */

typedef struct format {
    const char *name;
    int mantissa_bits, bias;
} format;

static const format fp8 = {"fp8", 3, 8}, bf8 = {"bf8", 2, 16};

static double code_value(const format *f, uint32_t code)
{
    uint32_t magnitude = code & 0x7f, exponent = magnitude >> f->mantissa_bits;
    uint32_t mantissa = magnitude & ((1u << f->mantissa_bits) - 1);
    if (code == 0x80)
        return (double)NAN;
    double x = exponent ? ldexp(1 + ldexp(mantissa, -f->mantissa_bits), (int)exponent - f->bias)
                        : ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
    return code & 0x80 ? -x : x;
}

/* Ties go to the even code; half a step beyond the largest number is out of range. */
static uint32_t nearest_code(const format *f, float x, bool saturate)
{
    double size = fabs((double)x), best = (double)INFINITY,
           beyond = 2 * code_value(f, 0x7f) - code_value(f, 0x7e);
    uint32_t code = 0, sign = signbit(x) ? 0x80 : 0;
    if (!isfinite(x))
        return 0x80;
    for (uint32_t c = 0; c < 0x80; c++) {
        double distance = fabs(code_value(f, c) - size);
        if (distance < best || (distance == best && !(c & 1)))
            best = distance, code = c;
    }
    if (fabs(beyond - size) <= best) /* beyond is even */
        return saturate ? sign | 0x7f : 0x80;
    return code ? code | sign : 0;
}

static void check_codes(const format *f)
{
    machine *m = machine_new(1);
    char text[128];
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, 0, lane,
                         (uint32_t)lane | (uint32_t)(lane + 64) << 8 |
                             (uint32_t)(lane + 128) << 16 | (uint32_t)(lane + 192) << 24);
    for (int byte = 0; byte < 4; byte++) {
        snprintf(text, sizeof text,
                 "v_cvt_f32_%s_sdwa v3, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_%d",
                 f->name, byte);
        machine_run(m, text);
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            float want = (float)code_value(f, (uint32_t)(lane + 64 * byte)),
                  got = F(machine_lane(m, 3, lane));
            assert_true(want != want ? got != got : machine_bits(want) == machine_bits(got));
        }
    }
    snprintf(text, sizeof text,
             "v_cvt_pk_f32_%s_sdwa v[4:5], v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
             f->name);
    machine_run(m, text);
    assert_int_equal(machine_lane(m, 4, 5), bits(code_value(f, 133)));
    assert_int_equal(machine_lane(m, 5, 5), bits(code_value(f, 197)));
    machine_free(m);
}

static void test_every_code_of_8_bits(void **state)
{
    (void)state;
    check_codes(&fp8);
    check_codes(&bf8);
}

static void check_rounding(const format *f, uint64_t seed, bool saturate)
{
    machine *m = machine_new(seed);
    char text[96];
    m->wave.mode |= saturate ? 1u << 23 : 0;
    for (int lane = 0; lane < MACHINE_LANES && seed % 4; lane++) { /* codes, ties, and neighbours */
        double x = code_value(f, machine_random(m) & 0x7f),
               y = code_value(f, machine_random(m) & 0x7f);
        machine_set_lane(m, 0, lane, bits(seed % 4 == 1 ? x : (x + y) / 2));
        machine_set_lane(m, 1, lane, bits(seed % 4 == 3 ? -x * 1.01 : -ldexp(x, 1)));
    }
    machine_set_lane(m, 3, 0, 0xabcd1234);
    snprintf(text, sizeof text, "v_cvt_pk_%s_f32 v3, v0, v1", f->name);
    machine_run(m, text);
    assert_int_equal(machine_lane(m, 3, 0) >> 16, 0xabcd);
    snprintf(text, sizeof text, "v_cvt_pk_%s_f32 v3, v1, v0 op_sel:[0,0,1]", f->name);
    machine_run(m, text);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        float x = F(machine_lane(m, 0, lane)), y = F(machine_lane(m, 1, lane));
        uint32_t cx = nearest_code(f, x, saturate), cy = nearest_code(f, y, saturate);
        if (machine_lane(m, 3, lane) != (cx | cy << 8 | cy << 16 | cx << 24))
            fail_msg("%s of %a %a: want %x %x got %x", f->name, (double)x, (double)y, cx, cy,
                     machine_lane(m, 3, lane));
    }
    machine_free(m);
}

static void test_rounding_to_8_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 80; seed++) {
        check_rounding(&fp8, seed, seed & 4);
        check_rounding(&bf8, seed, seed & 4);
    }
}

/* Random rounding gives one of the two neighbours, and the lower one for a zero seed. */
static void test_random_rounding(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    machine_set_lane(m, 0, 0, bits(1.0625)); /* fp8: half way between 1 and 1.125 */
    machine_set_lane(m, 1, 0, 0), machine_set_lane(m, 2, 0, 0x80000000u);
    machine_set_lane(m, 3, 0, 0);
    machine_run(m, "v_cvt_sr_fp8_f32 v3, v0, v1");
    assert_int_equal(machine_lane(m, 3, 0), 0x40);
    machine_run(m, "v_cvt_sr_fp8_f32 v3, v0, v2 op_sel:[0,0,1,0]");
    assert_int_equal(machine_lane(m, 3, 0), 0x4140);
    machine_run(m, "v_cvt_sr_bf8_f32 v3, v0, v1 op_sel:[0,0,1,1]");
    assert_int_equal(machine_lane(m, 3, 0), 0x40004140u);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_compute_what_c_computes),
        cmocka_unit_test(test_pkaccum_keeps_three_bytes),
        cmocka_unit_test(test_to_half_precision),
        cmocka_unit_test(test_every_code_of_8_bits),
        cmocka_unit_test(test_rounding_to_8_bits),
        cmocka_unit_test(test_random_rounding),
        cmocka_unit_test(test_rounding_modes),
    };
    return machine_main("isa convert", tests, sizeof tests / sizeof *tests);
}
