/* tests/emu/test_isa_divide.c: the compilers' division sequences give correctly rounded quotients.
 *
 * The sequences are those of LLVM's expansion of fdiv for f32 and f64 with denormals kept.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

#include <math.h>

/* v0 / v1 to v2. */
static void divide32(machine *m)
{
    static const char *const steps[] = {"v_div_scale_f32 v10, s[4:5], v1, v1, v0",
                                        "v_div_scale_f32 v11, vcc, v0, v1, v0",
                                        "v_rcp_f32_e32 v12, v10",
                                        "v_fma_f32 v13, -v10, v12, 1.0",
                                        "v_fma_f32 v12, v13, v12, v12",
                                        "v_mul_f32_e32 v13, v11, v12",
                                        "v_fma_f32 v14, -v10, v13, v11",
                                        "v_fma_f32 v13, v14, v12, v13",
                                        "v_fma_f32 v10, -v10, v13, v11",
                                        "v_div_fmas_f32 v10, v10, v12, v13",
                                        "v_div_fixup_f32 v2, v10, v1, v0"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        machine_run(m, steps[i]);
}

/* v[0:1] / v[2:3] to v[4:5]. */
static void divide64(machine *m)
{
    static const char *const steps[] = {"v_div_scale_f64 v[10:11], s[4:5], v[2:3], v[2:3], v[0:1]",
                                        "v_rcp_f64_e32 v[12:13], v[10:11]",
                                        "v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0",
                                        "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
                                        "v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0",
                                        "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
                                        "v_div_scale_f64 v[14:15], vcc, v[0:1], v[2:3], v[0:1]",
                                        "v_mul_f64 v[16:17], v[14:15], v[12:13]",
                                        "v_fma_f64 v[10:11], -v[10:11], v[16:17], v[14:15]",
                                        "v_div_fmas_f64 v[10:11], v[10:11], v[12:13], v[16:17]",
                                        "v_div_fixup_f64 v[4:5], v[10:11], v[2:3], v[0:1]"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        machine_run(m, steps[i]);
}

static void check32(machine *m, int lane)
{
    float a = machine_float(machine_lane(m, 0, lane)), b = machine_float(machine_lane(m, 1, lane));
    float want = a / b, got = machine_float(machine_lane(m, 2, lane));
    if (want != want ? got == got : machine_bits(want) != machine_bits(got))
        fail_msg("%a / %a: want %a got %a", (double)a, (double)b, (double)want, (double)got);
}

/* Quotients that are denormal in f64 may be one unit off: they are rounded twice. */
static void check64(machine *m, int lane)
{
    double a = machine_double(machine_lane64(m, 0, lane)),
           b = machine_double(machine_lane64(m, 2, lane));
    double want = a / b, got = machine_double(machine_lane64(m, 4, lane));
    bool is_denormal = fabs(want) < 0x1p-1022 && fabs(got - want) <= 0x1p-1074;
    if (want != want ? got == got : machine_bits64(want) != machine_bits64(got) && !is_denormal)
        fail_msg("%a / %a: want %a got %a", a, b, want, got);
}

static void test_single_quotients(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        machine *m = machine_new(seed);
        divide32(m);
        for (int lane = 0; lane < MACHINE_LANES; lane++)
            check32(m, lane);
        machine_free(m);
    }
}

static void test_double_quotients(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        machine *m = machine_new(seed);
        for (int lane = 0; lane < MACHINE_LANES && seed & 1;
             lane++) { /* every second time of moderate size */
            machine_set_lane64(m, 0, lane, machine_bits64(1.0 + machine_random(m) * 0x1p-33));
            machine_set_lane64(m, 2, lane, machine_bits64(3.0 + machine_random(m) * 0x1p-31));
        }
        divide64(m);
        for (int lane = 0; lane < MACHINE_LANES; lane++)
            check64(m, lane);
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_quotients),
        cmocka_unit_test(test_double_quotients),
    };
    return machine_main("isa divide", tests, sizeof tests / sizeof *tests);
}
