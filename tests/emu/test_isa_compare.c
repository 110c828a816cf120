/* tests/emu/test_isa_compare.c: vector compares of every type against C's operators.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/half.h"
#include "tests/emu/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* less, equal, greater, unordered: which of them make a condition true. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static const struct {
    const char *name;
    int truth;
} integer_conditions[] =
    {{"f", 0},        {"lt", LESS},           {"eq", EQUAL},           {"le", LESS | EQUAL},
     {"gt", GREATER}, {"ne", LESS | GREATER}, {"ge", GREATER | EQUAL}, {"t", 7}},
  float_conditions[] = {{"f", 0},
                        {"lt", LESS},
                        {"eq", EQUAL},
                        {"le", LESS | EQUAL},
                        {"gt", GREATER},
                        {"lg", LESS | GREATER},
                        {"ge", GREATER | EQUAL},
                        {"o", 7},
                        {"u", UNORDERED},
                        {"nge", UNORDERED | LESS},
                        {"nlg", UNORDERED | EQUAL},
                        {"ngt", UNORDERED | LESS | EQUAL},
                        {"nle", UNORDERED | GREATER},
                        {"neq", UNORDERED | LESS | GREATER},
                        {"nlt", UNORDERED | EQUAL | GREATER},
                        {"tru", 15}};

#define RELATION(a, b) ((a) < (b) ? LESS : (a) > (b) ? GREATER : (a) == (b) ? EQUAL : UNORDERED)

static int relation(const char *type, uint64_t a, uint64_t b)
{
    if (!strcmp(type, "i32"))
        return RELATION((int32_t)a, (int32_t)b);
    if (!strcmp(type, "u32"))
        return RELATION((uint32_t)a, (uint32_t)b);
    if (!strcmp(type, "i16"))
        return RELATION((int16_t)a, (int16_t)b);
    if (!strcmp(type, "u16"))
        return RELATION((uint16_t)a, (uint16_t)b);
    if (!strcmp(type, "i64"))
        return RELATION((int64_t)a, (int64_t)b);
    if (!strcmp(type, "u64"))
        return RELATION(a, b);
    if (!strcmp(type, "f32"))
        return RELATION(machine_float((uint32_t)a), machine_float((uint32_t)b));
    if (!strcmp(type, "f64"))
        return RELATION(machine_double(a), machine_double(b));
    return RELATION(half_value((uint32_t)a), half_value((uint32_t)b));
}

/* Random registers v0..v3 of which a third of the lanes are equal. */
static machine *machine_with_pairs(uint64_t seed)
{
    machine *m = machine_new(seed);
    for (int lane = 0; lane < MACHINE_LANES; lane += 3)
        machine_set_lane64(m, 2, lane, machine_lane64(m, 0, lane));
    return m;
}

static void check(const char *condition, const char *type, int truth, uint64_t seed, bool is_cmpx)
{
    machine *m = machine_with_pairs(seed);
    bool is_wide = strstr(type, "64") != NULL, is_scalar = seed & 1;
    uint64_t exec = machine_masks[seed % (uint64_t)machine_n_masks], want = 0;
    char text[96];
    const char *first = is_wide ? (is_scalar ? "s[4:5]" : "v[0:1]") : (is_scalar ? "s4" : "v0");
    snprintf(text, sizeof text, "v_cmp%s_%s_%s_e64 s[20:21], %s, %s", is_cmpx ? "x" : "", condition,
             type, first, is_wide ? "v[2:3]" : "v2");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint64_t a = is_scalar ? emu_s64(&m->wave, 4) : machine_lane64(m, 0, lane);
        bool holds = truth & relation(type, a, machine_lane64(m, 2, lane));
        want |= (uint64_t)(holds && exec >> lane & 1) << lane;
    }
    machine_set_exec(m, exec);
    machine_run(m, text);
    if (emu_s64(&m->wave, 20) != want)
        fail_msg("%s (seed %llu): want %llx got %llx", text, (unsigned long long)seed,
                 (unsigned long long)want, (unsigned long long)emu_s64(&m->wave, 20));
    assert_true(emu_exec_mask(&m->wave) == (is_cmpx ? want : exec));
    machine_free(m);
}

static void test_integers(void **state)
{
    (void)state;
    static const char *const types[] = {"i32", "u32", "i16", "u16", "i64", "u64"};
    for (size_t c = 0; c < sizeof integer_conditions / sizeof *integer_conditions; c++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (uint64_t seed = 0; seed < 28; seed++)
                check(integer_conditions[c].name, types[t], integer_conditions[c].truth, seed,
                      seed & 2);
}

static void test_floats(void **state)
{
    (void)state;
    static const char *const types[] = {"f32", "f16", "f64"};
    for (size_t c = 0; c < sizeof float_conditions / sizeof *float_conditions; c++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (uint64_t seed = 0; seed < 28; seed++)
                check(float_conditions[c].name, types[t], float_conditions[c].truth, seed,
                      seed & 2);
}

static void test_short_form_writes_vcc(void **state)
{
    (void)state;
    machine *m = machine_new(4);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, 0, lane, (uint32_t)lane);
    machine_run(m, "v_cmp_gt_u32_e32 vcc, 10, v0");
    assert_int_equal(emu_s64(&m->wave, EMU_S_VCC), 0x3ff);
    machine_run(m, "v_cmp_lt_f32_e64 vcc, |v0|, -v0");
    assert_int_equal(emu_s64(&m->wave, EMU_S_VCC), 0);
    machine_free(m);
}

/* The class bit of a number, from C's classification. */
static uint32_t class_bit(int kind, bool negative, bool quiet)
{
    switch (kind) {
    case FP_NAN:
        return quiet ? 2 : 1;
    case FP_INFINITE:
        return negative ? 4 : 512;
    case FP_NORMAL:
        return negative ? 8 : 256;
    case FP_SUBNORMAL:
        return negative ? 16 : 128;
    default:
        return negative ? 32 : 64;
    }
}

static void test_classes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        machine *m = machine_new(seed);
        machine_run(m, "v_cmp_class_f32_e64 s[20:21], v0, v2");
        machine_run(m, "v_cmp_class_f64_e64 s[22:23], v[0:1], v2");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint32_t bits = machine_lane(m, 0, lane), wanted = machine_lane(m, 2, lane);
            uint64_t bits64 = machine_lane64(m, 0, lane);
            float x = machine_float(bits);
            double y = machine_double(bits64);
            uint32_t is = class_bit(fpclassify(x), bits >> 31, bits & 0x400000);
            uint32_t is64 = class_bit(fpclassify(y), bits64 >> 63, bits64 & 0x8000000000000);
            assert_int_equal(emu_s64(&m->wave, 20) >> lane & 1, (wanted & is) != 0);
            assert_int_equal(emu_s64(&m->wave, 22) >> lane & 1, (wanted & is64) != 0);
        }
        machine_free(m);
    }
}

static void test_half_classes(void **state)
{
    (void)state;
    static const uint16_t numbers[] = {0x7c01, 0x7e00, 0xfc00, 0xc000, 0x8001,
                                       0x8000, 0,      1,      0x3c00, 0x7c00};
    machine *m = machine_new(2);
    for (int kind = 0; kind < 10; kind++)
        machine_set_lane(m, 0, kind, 0xabcd0000u | numbers[kind]),
            machine_set_lane(m, 1, kind, 1u << kind);
    machine_run(m, "v_cmp_class_f16_e32 vcc, v0, v1");
    assert_int_equal(emu_s64(&m->wave, EMU_S_VCC) & 0x3ff, 0x3ff);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_short_form_writes_vcc),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_half_classes),
    };
    return machine_main("isa compare", tests, sizeof tests / sizeof *tests);
}
