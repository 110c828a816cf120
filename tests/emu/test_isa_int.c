/* tests/emu/test_isa_int.c: vector arithmetic on integers against plain C, lane by lane.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t reference(uint32_t a, uint32_t b, uint32_t c);

static uint32_t bit_reverse(uint32_t x)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

static int32_t sign24(uint32_t x)
{
    return (int32_t)(x << 8) >> 8;
}

static uint32_t first_differing(uint32_t x)
{
    for (uint32_t i = 1; i < 32; i++)
        if ((x >> (31 - i) & 1) != x >> 31)
            return i;
    return ~0u;
}

static uint32_t perm(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t data = (uint64_t)a << 32 | b;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t s = selectors >> 8 * i & 255, byte;
        if (s < 8)
            byte = data >> 8 * s & 255;
        else if (s < 12)
            byte = data >> (16 * (s - 8) + 15) & 1 ? 255 : 0;
        else
            byte = s == 12 ? 0 : 255;
        r |= byte << 8 * i;
    }
    return r;
}

static uint32_t sad(uint32_t a, uint32_t b, int width)
{
    uint32_t mask = (1u << width) - 1, sum = 0;
    for (int i = 0; i < 32; i += width) {
        uint32_t x = a >> i & mask, y = b >> i & mask;
        sum += x > y ? x - y : y - x;
    }
    return sum;
}

static int32_t med(int32_t a, int32_t b, int32_t c)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

static uint32_t limit(int64_t x, int64_t low, int64_t high)
{
    return (uint32_t)(x < low ? low : x > high ? high : x);
}

#define ROWS(X)                                                                                    \
    X(v_not_b32, 1, ~a)                                                                            \
    X(v_mov_b32, 1, a)                                                                             \
    X(v_bfrev_b32, 1, bit_reverse(a))                                                              \
    X(v_ffbh_u32, 1, a ? (uint32_t)__builtin_clz(a) : ~0u)                                         \
    X(v_ffbl_b32, 1, a ? (uint32_t)__builtin_ctz(a) : ~0u)                                         \
    X(v_ffbh_i32, 1, first_differing(a))                                                           \
    X(v_bcnt_u32_b32, 2, (uint32_t)__builtin_popcount(a) + b)                                      \
    X(v_add_u32, 2, a + b)                                                                         \
    X(v_sub_u32, 2, a - b)                                                                         \
    X(v_subrev_u32, 2, b - a)                                                                      \
    X(v_and_b32, 2, a &b)                                                                          \
    X(v_or_b32, 2, a | b)                                                                          \
    X(v_xor_b32, 2, a ^ b)                                                                         \
    X(v_xnor_b32, 2, ~(a ^ b))                                                                     \
    X(v_lshlrev_b32, 2, b << (a & 31))                                                             \
    X(v_lshrrev_b32, 2, b >> (a & 31))                                                             \
    X(v_ashrrev_i32, 2, (uint32_t)((int32_t)b >> (a & 31)))                                        \
    X(v_min_i32, 2, (int32_t)a < (int32_t)b ? a : b)                                               \
    X(v_max_i32, 2, (int32_t)a > (int32_t)b ? a : b)                                               \
    X(v_min_u32, 2, a < b ? a : b)                                                                 \
    X(v_max_u32, 2, a > b ? a : b)                                                                 \
    X(v_mul_i32_i24, 2, (uint32_t)((int64_t)sign24(a) * sign24(b)))                                \
    X(v_mul_u32_u24, 2, (a & 0xffffff) * (b & 0xffffff))                                           \
    X(v_mul_hi_i32_i24, 2, (uint32_t)((int64_t)sign24(a) * sign24(b) >> 32))                       \
    X(v_mul_hi_u32_u24, 2, (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 32))            \
    X(v_mul_lo_u32, 2, a *b)                                                                       \
    X(v_mul_hi_u32, 2, (uint32_t)((uint64_t)a * b >> 32))                                          \
    X(v_mul_hi_i32, 2, (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32))                         \
    X(v_mad_i32_i24, 3, (uint32_t)((int64_t)sign24(a) * sign24(b)) + c)                            \
    X(v_mad_u32_u24, 3, (a & 0xffffff) * (b & 0xffffff) + c)                                       \
    X(v_add3_u32, 3, a + b + c)                                                                    \
    X(v_lshl_add_u32, 3, (a << (b & 31)) + c)                                                      \
    X(v_add_lshl_u32, 3, (a + b) << (c & 31))                                                      \
    X(v_lshl_or_b32, 3, a << (b & 31) | c)                                                         \
    X(v_and_or_b32, 3, (a & b) | c)                                                                \
    X(v_or3_b32, 3, a | b | c)                                                                     \
    X(v_xad_u32, 3, (a ^ b) + c)                                                                   \
    X(v_bfe_u32, 3, a >> (b & 31) & ((1u << (c & 31)) - 1))                                        \
    X(v_bfe_i32, 3,                                                                                \
      (c & 31) ? (uint32_t)((int32_t)((a >> (b & 31)) << (32 - (c & 31))) >> (32 - (c & 31))) : 0) \
    X(v_bfi_b32, 3, (a & b) | (~a & c))                                                            \
    X(v_bfm_b32, 2, ((1u << (a & 31)) - 1) << (b & 31))                                            \
    X(v_alignbit_b32, 3, (uint32_t)(((uint64_t)a << 32 | b) >> (c & 31)))                          \
    X(v_alignbyte_b32, 3, (uint32_t)(((uint64_t)a << 32 | b) >> 8 * (c & 3)))                      \
    X(v_perm_b32, 3, perm(a, b, c))                                                                \
    X(v_med3_i32, 3, (uint32_t)med((int32_t)a, (int32_t)b, (int32_t)c))                            \
    X(v_min3_u32, 3, a < b ? (a < c ? a : c) : b < c ? b : c)                                      \
    X(v_max3_i32, 3,                                                                               \
      (int32_t)a > (int32_t)b   ? ((int32_t)a > (int32_t)c ? a : c)                                \
      : (int32_t)b > (int32_t)c ? b                                                                \
                                : c)                                                               \
    X(v_sad_u8, 3, sad(a, b, 8) + c)                                                               \
    X(v_sad_u16, 3, sad(a, b, 16) + c)                                                             \
    X(v_sad_u32, 3, (a > b ? a - b : b - a) + c)                                                   \
    X(v_add_u16, 2, (a + b) & 0xffff)                                                              \
    X(v_sub_u16, 2, (a - b) & 0xffff)                                                              \
    X(v_mul_lo_u16, 2, a *b & 0xffff)                                                              \
    X(v_lshlrev_b16, 2, b << (a & 15) & 0xffff)                                                    \
    X(v_lshrrev_b16, 2, (b & 0xffff) >> (a & 15))                                                  \
    X(v_ashrrev_i16, 2, (uint32_t)((int16_t)b >> (a & 15)) & 0xffff)                               \
    X(v_max_i16, 2, (uint32_t)((int16_t)a > (int16_t)b ? a : b) & 0xffff)                          \
    X(v_min_u16, 2, (uint16_t)a < (uint16_t)b ? a & 0xffff : b & 0xffff)                           \
    X(v_mad_legacy_u16, 3, (a * b + c) & 0xffff)                                                   \
    X(v_pk_add_u16, 2, ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16)                         \
    X(v_pk_mul_lo_u16, 2, (a * b & 0xffff) | (a >> 16) * (b >> 16) << 16)                          \
    X(v_cvt_pk_u16_u32, 2, limit(a, 0, 65535) | limit(b, 0, 65535) << 16)                          \
    X(v_cvt_pk_i16_i32, 2,                                                                         \
      (limit((int32_t)a, -32768, 32767) & 0xffff) | limit((int32_t)b, -32768, 32767) << 16)

#define REFERENCE(name, n, value)                                                                  \
    static uint32_t name(uint32_t a, uint32_t b, uint32_t c)                                       \
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

/* Sources as VGPR, SGPR, inline constant and literal; v0..v2 and s0..s2 are the registers. */
enum { FORM_VGPR, FORM_SGPR, FORM_INLINE, FORM_LITERAL, N_FORMS };

static void print_source(char *to, size_t n, int form, int i)
{
    static const char *const patterns[] = {"v%d", "s%d", "%d", "0x1234567%d"};
    snprintf(to, n, patterns[form], i);
}

static uint32_t source_value(const machine *m, int form, int i, int lane)
{
    return form == FORM_VGPR     ? machine_lane(m, i, lane)
           : form == FORM_SGPR   ? m->wave.s[i]
           : form == FORM_INLINE ? (uint32_t)i
                                 : 0x12345670u + (uint32_t)i;
}

static void check_row(machine *m, size_t r, const int form[3], uint64_t exec)
{
    char text[128], source[3][32];
    uint32_t want[MACHINE_LANES];
    for (int i = 0; i < 3; i++)
        print_source(source[i], sizeof source[i], form[i], i);
    int n = rows[r].n_sources;
    snprintf(text, sizeof text, "%s v3, %s%s%s%s%s", rows[r].mnemonic, source[0], n > 1 ? ", " : "",
             n > 1 ? source[1] : "", n > 2 ? ", " : "", n > 2 ? source[2] : "");
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        want[lane] = exec >> lane & 1 ? rows[r].f(source_value(m, form[0], 0, lane),
                                                  source_value(m, form[1], 1, lane),
                                                  source_value(m, form[2], 2, lane))
                                      : machine_lane(m, 3, lane);
    machine_set_exec(m, exec);
    machine_run(m, text);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        if (machine_lane(m, 3, lane) != want[lane])
            fail_msg("%s: lane %d want 0x%x got 0x%x", text, lane, want[lane],
                     machine_lane(m, 3, lane));
}

static void test_rows_compute_what_c_computes(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int round = 0; round < 64; round++) {
            machine *m = machine_new((uint64_t)round * 1000 + r);
            int form[3] = {round & 3, round >> 2 & 3, round >> 4 & 3};
            check_row(m, r, form, machine_masks[round % machine_n_masks]);
            machine_free(m);
        }
}

/* The ISA guide's v_sad_u8 and v_msad_u8 on bytes n to n + 3 of a pair; in the latter, zeros in b do not count. */
static uint32_t sad_slice(uint64_t a, uint32_t b, int n, bool masked)
{
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) {
        int x = (int)(a >> 8 * (n + i) & 255), y = (int)(b >> 8 * i & 255);
        sum += masked && y == 0 ? 0 : (uint32_t)abs(x - y);
    }
    return sum;
}

static void check_four_sums(machine *m, const machine *before, int lane)
{
    uint64_t a = machine_lane64(before, 0, lane), c = machine_lane64(before, 4, lane);
    uint64_t sums = 0, masked = 0;
    uint32_t b = machine_lane(before, 2, lane);
    for (int n = 0; n < 4; n++) {
        uint16_t half = (uint16_t)(c >> 16 * n);
        sums |= (uint64_t)(uint16_t)(half + sad_slice(a, b, n, false)) << 16 * n;
        masked |= (uint64_t)(uint16_t)(half + sad_slice(a, b, n, true)) << 16 * n;
        assert_int_equal(machine_lane(m, 20 + n, lane),
                         machine_lane(before, 4 + n, lane) + sad_slice(a, b, n, true));
    }
    assert_true(machine_lane64(m, 10, lane) == sums);
    assert_true(machine_lane64(m, 12, lane) == masked);
    assert_true(machine_lane64(m, 14, lane) == machine_lane64(before, 14, lane) || lane % 2);
}

static void test_four_sums_of_differences(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        machine *m = machine_new(seed), *before = machine_new(seed);
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint32_t b = machine_lane(m, 2, lane) & (lane % 3 ? 0xffff00ff : 0xffffffff);
            machine_set_lane(m, 2, lane, b);
            machine_set_lane(before, 2, lane, b);
        }
        machine_run(m, "v_qsad_pk_u16_u8 v[10:11], v[0:1], v2, v[4:5]");
        machine_run(m, "v_mqsad_pk_u16_u8 v[12:13], v[0:1], v2, v[4:5]");
        machine_run(m, "v_mqsad_u32_u8 v[20:23], v[0:1], v2, v[4:7]");
        machine_set_exec(m, 0xaaaaaaaaaaaaaaaa);
        machine_run(m, "v_qsad_pk_u16_u8 v[14:15], s[2:3], 7, v[4:5]");
        for (int lane = 0; lane < MACHINE_LANES; lane++)
            check_four_sums(m, before, lane);
        uint64_t a = (uint64_t)m->wave.s[3] << 32 | m->wave.s[2];
        assert_int_equal(machine_lane(m, 14, 1) & 0xffff,
                         (machine_lane(before, 4, 1) + sad_slice(a, 7, 0, false)) & 0xffff);
        assert_false(machine_decodes(m, "v_mqsad_u32_u8 v[20:23], v[0:1], v2, s[4:7]"));
        machine_free(m);
        machine_free(before);
    }
}

static void test_clamp_saturates(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        machine *m = machine_new(seed);
        machine_run(m, "v_add_u32_e64 v3, v0, v1 clamp");
        machine_run(m, "v_sub_u32_e64 v4, v0, v1 clamp");
        machine_run(m, "v_add_i32 v5, v0, v1 clamp");
        machine_run(m, "v_sub_i32 v6, v0, v1 clamp");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            int64_t a = machine_lane(m, 0, lane), b = machine_lane(m, 1, lane);
            int64_t x = (int32_t)machine_lane(m, 0, lane), y = (int32_t)machine_lane(m, 1, lane);
            assert_int_equal(machine_lane(m, 3, lane), limit(a + b, 0, UINT32_MAX));
            assert_int_equal(machine_lane(m, 4, lane), limit(a - b, 0, UINT32_MAX));
            assert_int_equal(machine_lane(m, 5, lane), limit(x + y, INT32_MIN, INT32_MAX));
            assert_int_equal(machine_lane(m, 6, lane), limit(x - y, INT32_MIN, INT32_MAX));
        }
        machine_free(m);
    }
}

static void test_result_may_be_a_source(void **state)
{
    (void)state;
    machine *m = machine_new(7);
    uint32_t before = machine_lane(m, 0, 5);
    machine_run(m, "v_add_u32_e32 v0, v0, v0");
    assert_int_equal(machine_lane(m, 0, 5), before * 2);
    machine_free(m);
}

static void test_unknown_mnemonic_does_not_decode(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    assert_false(machine_decodes(m, "v_frobnicate_b32 v0, v1"));
    assert_false(machine_decodes(m, "v_add_u32_e32 v0, v1, v200"));
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_compute_what_c_computes),
        cmocka_unit_test(test_four_sums_of_differences),
        cmocka_unit_test(test_clamp_saturates),
        cmocka_unit_test(test_result_may_be_a_source),
        cmocka_unit_test(test_unknown_mnemonic_does_not_decode),
    };
    return machine_main("isa int", tests, sizeof tests / sizeof *tests);
}
