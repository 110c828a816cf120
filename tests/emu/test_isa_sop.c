/* tests/emu/test_isa_sop.c: scalar arithmetic and SCC against plain C.    SPDX-License-Identifier: MIT */
#include "tests/emu/machine.h"

#include <stdio.h>
#include <string.h>

/* One computation: a, b are the sources, d the old destination, scc the flag; both results are set. */
typedef struct scalars {
    uint64_t a, b, d;
    uint32_t scc;
} scalars;

typedef uint64_t reference(scalars in, uint32_t *scc);

#define A  ((uint32_t)in.a)
#define B  ((uint32_t)in.b)
#define SA ((int32_t)in.a)
#define SB ((int32_t)in.b)

static uint64_t nonzero32(uint64_t x, uint32_t *scc)
{
    *scc = (uint32_t)x != 0;
    return (uint32_t)x;
}

static uint64_t nonzero64(uint64_t x, uint32_t *scc)
{
    *scc = x != 0;
    return x;
}

/* Bit by bit: bits above the number and the field are copies of the sign, or zero. */
static uint64_t field(uint64_t x, unsigned bits, unsigned shift, unsigned width, bool is_signed)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 64 && width; i++) {
        unsigned from = shift + (i < width ? i : width - 1);
        bool beyond = from >= bits, bit = x >> (beyond ? bits - 1 : from) & 1;
        r |= (uint64_t)(bit && (is_signed || (!beyond && i < width))) << i;
    }
    return r;
}

static int64_t signed_sum(int64_t x, uint32_t *scc)
{
    *scc = x < INT32_MIN || x > INT32_MAX;
    return x;
}

/* id, text (s[4:5] = a, s[6:7] = b, s[8:9] = destination), bits of the result, value. */
#define ROWS(X)                                                                                    \
    X(1, "s_add_u32 s8, s4, s6", 32, (*scc = (uint64_t)A + B > UINT32_MAX, A + B))                 \
    X(2, "s_sub_u32 s8, s4, s6", 32, (*scc = B > A, A - B))                                        \
    X(3, "s_add_i32 s8, s4, s6", 32, signed_sum((int64_t)SA + SB, scc))                            \
    X(4, "s_sub_i32 s8, s4, s6", 32, signed_sum((int64_t)SA - SB, scc))                            \
    X(5, "s_addc_u32 s8, s4, s6", 32,                                                              \
      (*scc = (uint64_t)A + B + in.scc > UINT32_MAX, A + B + in.scc))                              \
    X(6, "s_subb_u32 s8, s4, s6", 32, (*scc = (uint64_t)B + in.scc > A, A - B - in.scc))           \
    X(7, "s_min_i32 s8, s4, s6", 32, (*scc = SA < SB, SA < SB ? A : B))                            \
    X(8, "s_max_u32 s8, s4, s6", 32, (*scc = A >= B, A >= B ? A : B))                              \
    X(9, "s_cselect_b32 s8, s4, s6", 32, in.scc ? A : B)                                           \
    X(10, "s_cselect_b64 s[8:9], s[4:5], s[6:7]", 64, in.scc ? in.a : in.b)                        \
    X(11, "s_and_b32 s8, s4, s6", 32, nonzero32(A &B, scc))                                        \
    X(12, "s_andn2_b64 s[8:9], s[4:5], s[6:7]", 64, nonzero64(in.a & ~in.b, scc))                  \
    X(13, "s_orn2_b64 s[8:9], s[4:5], s[6:7]", 64, nonzero64(in.a | ~in.b, scc))                   \
    X(14, "s_nor_b64 s[8:9], s[4:5], s[6:7]", 64, nonzero64(~(in.a | in.b), scc))                  \
    X(15, "s_xnor_b32 s8, s4, s6", 32, nonzero32(~(A ^ B), scc))                                   \
    X(16, "s_lshl_b32 s8, s4, s6", 32, nonzero32(A << (B & 31), scc))                              \
    X(17, "s_ashr_i32 s8, s4, s6", 32, nonzero32((uint32_t)(SA >> (B & 31)), scc))                 \
    X(18, "s_lshr_b64 s[8:9], s[4:5], s6", 64, nonzero64(in.a >> (B & 63), scc))                   \
    X(19, "s_ashr_i64 s[8:9], s[4:5], s6", 64,                                                     \
      nonzero64((uint64_t)((int64_t)in.a >> (B & 63)), scc))                                       \
    X(20, "s_bfm_b32 s8, s4, s6", 32, ((1u << (A & 31)) - 1) << (B & 31))                          \
    X(21, "s_bfm_b64 s[8:9], s4, s6", 64, ((1ull << (A & 63)) - 1) << (B & 63))                    \
    X(22, "s_mul_i32 s8, s4, s6", 32, A *B)                                                        \
    X(23, "s_mul_hi_u32 s8, s4, s6", 32, (uint64_t)A *B >> 32)                                     \
    X(24, "s_mul_hi_i32 s8, s4, s6", 32, (uint64_t)((int64_t)SA * SB >> 32))                       \
    X(25, "s_bfe_u32 s8, s4, s6", 32, nonzero32(field(A, 32, B & 31, B >> 16 & 127, false), scc))  \
    X(26, "s_bfe_i32 s8, s4, s6", 32, nonzero32(field(A, 32, B & 31, B >> 16 & 127, true), scc))   \
    X(27, "s_bfe_u64 s[8:9], s[4:5], s6", 64,                                                      \
      nonzero64(field(in.a, 64, B & 63, B >> 16 & 127, false), scc))                               \
    X(28, "s_bfe_i64 s[8:9], s[4:5], s6", 64,                                                      \
      nonzero64(field(in.a, 64, B & 63, B >> 16 & 127, true), scc))                                \
    X(29, "s_absdiff_i32 s8, s4, s6", 32, nonzero32((int32_t)(A - B) < 0 ? B - A : A - B, scc))    \
    X(30, "s_lshl3_add_u32 s8, s4, s6", 32,                                                        \
      (*scc = ((uint64_t)A << 3) + B > UINT32_MAX, (A << 3) + B))                                  \
    X(31, "s_pack_lh_b32_b16 s8, s4, s6", 32, (A & 0xffff) | (B & 0xffff0000))                     \
    X(32, "s_not_b64 s[8:9], s[4:5]", 64, nonzero64(~in.a, scc))                                   \
    X(33, "s_bcnt1_i32_b64 s8, s[4:5]", 32, nonzero32((uint32_t)__builtin_popcountll(in.a), scc))  \
    X(34, "s_bcnt0_i32_b32 s8, s4", 32, nonzero32(32u - (uint32_t)__builtin_popcount(A), scc))     \
    X(35, "s_ff1_i32_b32 s8, s4", 32, A ? (uint32_t)__builtin_ctz(A) : ~0u)                        \
    X(36, "s_flbit_i32_b64 s8, s[4:5]", 32, in.a ? (uint32_t)__builtin_clzll(in.a) : ~0u)          \
    X(37, "s_sext_i32_i8 s8, s4", 32, (uint32_t)(int8_t)A)                                         \
    X(38, "s_bitset1_b32 s8, s4", 32, (uint32_t)in.d | 1u << (A & 31))                             \
    X(39, "s_abs_i32 s8, s4", 32, nonzero32(SA < 0 ? 0 - A : A, scc))                              \
    X(40, "s_movk_i32 s8, 0x8001", 32, 0xffff8001)                                                 \
    X(41, "s_addk_i32 s8, 0xfff0", 32, signed_sum((int64_t)(int32_t)in.d - 16, scc))               \
    X(42, "s_mulk_i32 s8, 0x7", 32, (uint32_t)in.d * 7)                                            \
    X(43, "s_cmov_b32 s8, s4", 32, in.scc ? A : (uint32_t)in.d)                                    \
    X(44, "s_mov_b64 s[8:9], -5", 64, (uint64_t)-5)                                                \
    X(45, "s_mov_b32 s8, 0xdeadbeef", 32, 0xdeadbeef)                                              \
    X(46, "s_mov_b32 s8, 1.0", 32, 0x3f800000)                                                     \
    X(47, "s_mov_b64 s[8:9], 0xdeadbeef", 64, 0xdeadbeef)

#define REFERENCE(id, text, bits, value)                                                           \
    static uint64_t row_##id(scalars in, uint32_t *scc)                                            \
    {                                                                                              \
        (void)in, (void)scc;                                                                       \
        return (uint64_t)(value);                                                                  \
    }
ROWS(REFERENCE)

static const struct {
    const char *text;
    int bits;
    reference *f;
} rows[] = {
#define ROW(id, text, bits, value) {text, bits, row_##id},
    ROWS(ROW)};

static void check_row(machine *m, size_t r)
{
    scalars in = {emu_s64(&m->wave, 4), emu_s64(&m->wave, 6), emu_s64(&m->wave, 8),
                  machine_random(m) & 1};
    uint32_t scc = in.scc;
    uint64_t want = rows[r].f(in, &scc), mask = rows[r].bits == 64 ? ~0ull : UINT32_MAX;
    m->wave.scc = in.scc;
    machine_run(m, rows[r].text);
    uint64_t got = emu_s64(&m->wave, 8);
    if (((want ^ got) & mask) || (in.d ^ got) & ~mask || m->wave.scc != scc)
        fail_msg("%s of %llx %llx: want %llx scc %u got %llx scc %u", rows[r].text,
                 (unsigned long long)in.a, (unsigned long long)in.b, (unsigned long long)want, scc,
                 (unsigned long long)got, m->wave.scc);
}

static void test_rows_compute_what_c_computes(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint64_t seed = 0; seed < 300; seed++) {
            machine *m = machine_new(seed * 77 + r);
            check_row(m, r);
            machine_free(m);
        }
}

static void test_compares_set_scc(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t a, b, want;
    } cases[] = {{"s_cmp_eq_u32 s4, s6", 3, 3, 1},         {"s_cmp_lg_i32 s4, s6", 3, 3, 0},
                 {"s_cmp_lt_i32 s4, s6", ~0u, 0, 1},       {"s_cmp_lt_u32 s4, s6", ~0u, 0, 0},
                 {"s_cmp_ge_u32 s4, s6", 5, 5, 1},         {"s_cmp_gt_i32 s4, 0", ~0u, 0, 0},
                 {"s_cmpk_eq_i32 s4, 0xffff", ~0u, 0, 1},  {"s_cmpk_eq_u32 s4, 0xffff", ~0u, 0, 0},
                 {"s_cmpk_lt_i32 s4, 0x10", ~0u, 0, 1},    {"s_cmpk_gt_u32 s4, 0x10", 17, 0, 1},
                 {"s_bitcmp1_b32 s4, s6", 8, 35, 1},       {"s_bitcmp0_b32 s4, s6", 8, 3, 0},
                 {"s_cmp_eq_u64 s[4:5], s[6:7]", 9, 9, 1}, {"s_cmp_lg_u64 s[4:5], 0", 0, 0, 0},
                 {"s_bitcmp1_b64 s[4:5], s6", 8, 67, 1},   {"s_bitcmp0_b64 s[4:5], s6", 8, 35, 1},
                 {"s_bitcmp0_b64 s[4:5], 3", 8, 0, 0},     {"s_bitcmp1_b64 -1, s6", 0, 63, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine *m = machine_new(i);
        m->wave.s[4] = cases[i].a, m->wave.s[6] = cases[i].b, m->wave.s[5] = m->wave.s[7] = 0;
        m->wave.scc = !cases[i].want;
        machine_run(m, cases[i].text);
        if (m->wave.scc != cases[i].want)
            fail_msg("%s of 0x%x 0x%x: want %u", cases[i].text, cases[i].a, cases[i].b,
                     cases[i].want);
        machine_free(m);
    }
}

static void test_saveexec(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    uint64_t exec = 0xff00ff00ff00ff00ull, vcc = 0x0ff00ff00ff00ff0ull;
    machine_set_exec(m, exec);
    emu_set_s64(&m->wave, EMU_S_VCC, vcc);
    machine_run(m, "s_and_saveexec_b64 s[8:9], vcc");
    assert_true(emu_s64(&m->wave, 8) == exec && emu_exec_mask(&m->wave) == (exec & vcc) &&
                m->wave.scc == 1);
    machine_run(m, "s_andn2_saveexec_b64 s[8:9], s[8:9]");
    assert_true(emu_exec_mask(&m->wave) == (exec & ~(exec & vcc)));
    machine_run(m, "s_xor_b64 exec, exec, exec");
    assert_true(emu_exec_mask(&m->wave) == 0 && m->wave.scc == 0);
    machine_free(m);
}

static void test_scc_as_an_operand(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    m->wave.scc = 1;
    machine_run(m, "s_add_u32 s8, src_scc, 4");
    assert_int_equal(m->wave.s[8], 5);
    machine_free(m);
}

static void test_relative_moves(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    m->wave.s[EMU_S_M0] = 3;
    machine_run(m, "s_movrels_b32 s20, s4");
    assert_int_equal(m->wave.s[20], m->wave.s[7]);
    uint32_t before = m->wave.s[30];
    machine_run(m, "s_movreld_b32 s30, s4");
    assert_int_equal(m->wave.s[33], m->wave.s[4]);
    assert_int_equal(m->wave.s[30], before);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_compute_what_c_computes),
        cmocka_unit_test(test_compares_set_scc),
        cmocka_unit_test(test_saveexec),
        cmocka_unit_test(test_scc_as_an_operand),
        cmocka_unit_test(test_relative_moves),
    };
    return machine_main("isa sop", tests, sizeof tests / sizeof *tests);
}
