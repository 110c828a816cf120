/* tests/emu/test_isa_mfma.c: matrix instructions against sums over elements, whose places are derived lane by lane.
 *
 * Fast numerics are compared with double precision within a bound of rounding errors, silicon numerics bit for
 * bit with the published rules written in floating point.  Joined runs must give what single instructions give.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct variant {
    const char *name;
    type a, b;
    int m, k, blocks;
} variant;

static const variant variants[] = {
    {"f32_32x32x8_bf16", BF16, BF16, 32, 8, 1},    {"f32_16x16x16_bf16", BF16, BF16, 16, 16, 1},
    {"f32_32x32x4_2b_bf16", BF16, BF16, 32, 4, 2}, {"f32_16x16x4_4b_bf16", BF16, BF16, 16, 4, 4},
    {"f32_4x4x4_16b_bf16", BF16, BF16, 4, 4, 16},  {"f32_32x32x8_f16", F16, F16, 32, 8, 1},
    {"f32_16x16x16_f16", F16, F16, 16, 16, 1},     {"f32_32x32x4_2b_f16", F16, F16, 32, 4, 2},
    {"f32_16x16x4_4b_f16", F16, F16, 16, 4, 4},    {"f32_4x4x4_16b_f16", F16, F16, 4, 4, 16},
    {"f32_32x32x2_f32", F32, F32, 32, 2, 1},       {"f32_16x16x4_f32", F32, F32, 16, 4, 1},
    {"f32_32x32x1_2b_f32", F32, F32, 32, 1, 2},    {"f32_16x16x1_4b_f32", F32, F32, 16, 1, 4},
    {"f32_4x4x1_16b_f32", F32, F32, 4, 1, 16},     {"f32_32x32x4_xf32", XF32, XF32, 32, 4, 1},
    {"f32_16x16x8_xf32", XF32, XF32, 16, 8, 1},    {"i32_32x32x16_i8", I8, I8, 32, 16, 1},
    {"i32_16x16x32_i8", I8, I8, 16, 32, 1},        {"i32_32x32x4_2b_i8", I8, I8, 32, 4, 2},
    {"i32_16x16x4_4b_i8", I8, I8, 16, 4, 4},       {"i32_4x4x4_16b_i8", I8, I8, 4, 4, 16},
    {"f32_32x32x16_fp8_fp8", FP8, FP8, 32, 16, 1}, {"f32_32x32x16_fp8_bf8", FP8, BF8, 32, 16, 1},
    {"f32_32x32x16_bf8_fp8", BF8, FP8, 32, 16, 1}, {"f32_32x32x16_bf8_bf8", BF8, BF8, 32, 16, 1},
    {"f32_16x16x32_fp8_fp8", FP8, FP8, 16, 32, 1}, {"f32_16x16x32_fp8_bf8", FP8, BF8, 16, 32, 1},
    {"f32_16x16x32_bf8_fp8", BF8, FP8, 16, 32, 1}, {"f32_16x16x32_bf8_bf8", BF8, BF8, 16, 32, 1},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants, A = 80, B = 88, C = 0, D = 40 };

/* --- places, from the lane's view --- */

static int per_lane(const variant *v)
{
    return v->k * v->m * v->blocks / 64;
}

static void fill(machine *m, const variant *v, type t, int first, int spread)
{
    int per = 32 / formats[t].bits;
    for (int r = 0; r < per_lane(v) / per; r++)
        for (int lane = 0; lane < 64; lane++) {
            uint32_t word = 0;
            for (int p = 0; p < per; p++)
                word |= number(m, t, spread) << formats[t].bits * p;
            machine_set_lane(m, first + r, lane, word);
        }
}

typedef double operand[16][32][32]; /* [block][row or column][k] */

static void gather(const machine *m, const variant *v, type t, int first, operand out)
{
    int bits = formats[t].bits, per = 32 / bits;
    for (int lane = 0; lane < 64; lane++)
        for (int p = 0; p < per_lane(v); p++) {
            uint32_t word = machine_lane(m, first + p / per, lane) >> bits * (p % per);
            int k = lane / (v->m * v->blocks) * per_lane(v) + p;
            out[lane / v->m % v->blocks][lane % v->m][k] =
                decode(t, bits == 32 ? word : word & ((1u << bits) - 1));
        }
}

typedef struct place {
    int block, row, column;
} place;

static place place_of(const variant *v, int reg, int lane)
{
    if (v->m == 32)
        return (place){reg / 16, 8 * (reg % 16 / 4) + 4 * (lane / 32) + reg % 4, lane % 32};
    if (v->m == 16)
        return (place){reg / 4, 4 * (lane / 16) + reg % 4, lane % 16};
    return (place){lane / 4, reg, lane % 4};
}

static int n_results(const variant *v)
{
    return v->m * v->m * v->blocks / 64;
}

static void execute(machine *m, const variant *v, const char *c)
{
    char text[160];
    int per_a = 32 / formats[v->a].bits, last = per_lane(v) / per_a - 1;
    char a[16], b[16];
    snprintf(a, sizeof a, last ? "v[%d:%d]" : "v%d", A, A + last);
    snprintf(b, sizeof b, last ? "v[%d:%d]" : "v%d", B, B + last);
    snprintf(text, sizeof text, "\tv_mfma_%s v[%d:%d], %s, %s, %s", v->name, D,
             D + n_results(v) - 1, a, b, c);
    machine_run(m, text);
}

static const char *range(int first, int n)
{
    static char text[32];
    snprintf(text, sizeof text, "v[%d:%d]", first, first + n - 1);
    return text;
}

/* --- fast --- */

static void check_fast(machine *m, const variant *v)
{
    static operand a, b;
    gather(m, v, v->a, A, a);
    gather(m, v, v->b, B, b);
    execute(m, v, range(C, n_results(v)));
    for (int r = 0; r < n_results(v); r++)
        for (int lane = 0; lane < 64; lane++) {
            place p = place_of(v, r, lane);
            uint32_t got = machine_lane(m, D + r, lane), old = machine_lane(m, C + r, lane);
            if (v->a == I8) {
                uint32_t want = old;
                for (int k = 0; k < v->k; k++)
                    want += (uint32_t)(int32_t)(a[p.block][p.row][k] * b[p.block][p.column][k]);
                assert_int_equal(got, want);
                continue;
            }
            double want = (double)machine_float(old), size = fabs(want);
            for (int k = 0; k < v->k; k++) {
                double product = a[p.block][p.row][k] * b[p.block][p.column][k];
                want += product;
                size += fabs(product);
            }
            /* One rounding of a value no larger than `size` per product, one more to be safe. */
            if (!(fabs((double)machine_float(got) - want) <= (v->k + 1) * 0x1p-24 * size))
                fail_msg("%s v%d lane %d: want %.9g got %.9g", v->name, r, lane, want,
                         (double)machine_float(got));
        }
}

static void test_fast_sums_are_within_rounding(void **state)
{
    (void)state;
    machine *m = machine_new(11);
    for (int i = 0; i < N_VARIANTS; i++)
        for (int masks = 0; masks < 2; masks++) {
            const variant *v = &variants[i];
            fill(m, v, v->a, A, 3);
            fill(m, v, v->b, B, 3);
            for (int r = 0; r < n_results(v); r++)
                for (int lane = 0; lane < 64; lane++)
                    machine_set_lane(m, C + r, lane, number(m, F32, 6));
            machine_set_exec(m, masks ? 0x1234 : ~0ull); /* EXEC does not matter */
            check_fast(m, v);
        }
    machine_free(m);
}

/* --- silicon --- */

static float silicon_f32(const variant *v, const double *a, const double *b, float c)
{
    for (int k = 0; k < v->k; k++)
        c = fmaf((float)a[k], (float)b[k], c);
    return c;
}

static void check_silicon(machine *m, const variant *v, const char *c)
{
    static operand a, b;
    gather(m, v, v->a, A, a);
    gather(m, v, v->b, B, b);
    execute(m, v, c);
    for (int r = 0; r < n_results(v); r++)
        for (int lane = 0; lane < 64; lane++) {
            place p = place_of(v, r, lane);
            float old = *c == 'v' ? machine_float(machine_lane(m, C + r, lane)) : 1.0f;
            const double *row = a[p.block][p.row], *column = b[p.block][p.column];
            float want = v->a == F32 ? silicon_f32(v, row, column, old)
                                     : silicon_dot(v->a, v->b, row, column, v->k, old);
            uint32_t got = machine_lane(m, D + r, lane);
            bool same = isnan(want) ? isnan(machine_float(got)) : got == machine_bits(want);
            if (!same && !(want == 0 && machine_float(got) == 0))
                fail_msg("%s v%d lane %d: want %08x got %08x", v->name, r, lane, machine_bits(want),
                         got);
        }
}

static void test_silicon_rounds_as_published(void **state)
{
    (void)state;
    static const int spreads[] = {2, 6, 14, 0}; /* 0: any bits, infinities and NaN among them */
    machine *m = machine_new(12);
    m->decoder.mfma = MOESAIC_SIM_MFMA_SILICON;
    for (int i = 0; i < N_VARIANTS; i++)
        for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
            const variant *v = &variants[i];
            int limit =
                formats[v->a].bias < formats[v->b].bias ? formats[v->a].bias : formats[v->b].bias;
            int spread = spreads[s] < limit ? spreads[s] : limit - 1;
            if (v->a == I8)
                continue;
            fill(m, v, v->a, A, spread);
            fill(m, v, v->b, B, spread);
            for (int r = 0; r < n_results(v); r++)
                for (int lane = 0; lane < 64; lane++)
                    machine_set_lane(m, C + r, lane, number(m, F32, 2 * spread));
            machine_set_lane(m, A, 3, 0); /* a zero takes part with its own exponent */
            check_silicon(m, v, range(C, n_results(v)));
            check_silicon(m, v, "1.0");
        }
    machine_free(m);
}

/* --- f64 --- */

static void test_f64_is_a_chain_of_fused_sums(void **state)
{
    (void)state;
    machine *m = machine_new(13);
    for (int lane = 0; lane < 64; lane++)
        for (int r = 0; r < 8; r += 2) {
            machine_set_lane64(m, A, lane, machine_bits64(ldexp((int32_t)machine_random(m), -30)));
            machine_set_lane64(m, B, lane, machine_bits64(ldexp((int32_t)machine_random(m), -30)));
            machine_set_lane64(m, C + r, lane,
                               machine_bits64(ldexp((int32_t)machine_random(m), -40)));
        }
    machine_run(m, "\tv_mfma_f64_16x16x4_f64 v[40:47], v[80:81], v[88:89], v[0:7] neg:[1,0,0]");
    for (int lane = 0; lane < 64; lane++)
        for (int r = 0; r < 4; r++) {
            int row = 4 * r + lane / 16, column = lane % 16;
            double want = machine_double(machine_lane64(m, C + 2 * r, lane));
            for (int k = 0; k < 4; k++)
                want = fma(-machine_double(machine_lane64(m, A, 16 * k + row)),
                           machine_double(machine_lane64(m, B, 16 * k + column)), want);
            assert_true(machine_lane64(m, D + 2 * r, lane) == machine_bits64(want));
        }
    machine_run(m, "\tv_mfma_f64_4x4x4_4b_f64 v[40:41], v[80:81], v[88:89], 0.5");
    for (int lane = 0; lane < 64; lane++) {
        int row = lane / 16, block = lane % 16 / 4, column = lane % 4;
        double want = 0.5;
        for (int k = 0; k < 4; k++)
            want = fma(machine_double(machine_lane64(m, A, 16 * k + 4 * block + row)),
                       machine_double(machine_lane64(m, B, 16 * k + 4 * block + column)), want);
        assert_true(machine_lane64(m, D, lane) == machine_bits64(want));
    }
    machine_free(m);
}

/* --- exchanged lanes, overlapping registers --- */

static void test_blgp_exchanges_lanes_of_b(void **state)
{
    (void)state;
    static const int source[8][2] = {{0, 63}, {0, 31},  {32, 63}, {16, 15},
                                     {0, 15}, {16, 31}, {32, 47}, {48, 63}};
    machine *m = machine_new(14);
    for (int blgp = 0; blgp < 8; blgp++) {
        char text[128];
        for (int lane = 0; lane < 64; lane++) {
            machine_set_lane(m, A, lane, machine_bits(1));
            machine_set_lane(m, B, lane, machine_bits((float)lane));
        }
        snprintf(text, sizeof text, "\tv_mfma_f32_4x4x1_16b_f32 v[40:43], v80, v88, 0 blgp:%d",
                 blgp);
        machine_run(m, text);
        assert_int_equal((int)machine_float(machine_lane(m, D, 0)), source[blgp][0]);
        assert_int_equal((int)machine_float(machine_lane(m, D, 63)), source[blgp][1]);
    }
    machine_free(m);
}

static void test_cbsz_broadcasts_a_block_of_a(void **state)
{
    (void)state;
    machine *m = machine_new(15);
    for (int lane = 0; lane < 64; lane++) {
        machine_set_lane(m, A, lane, machine_bits((float)lane));
        machine_set_lane(m, B, lane, machine_bits(1));
    }
    machine_run(m, "\tv_mfma_f32_4x4x1_16b_f32 v[40:43], v80, v88, 0 cbsz:2 abid:3");
    for (int lane = 0; lane < 64; lane++)
        for (int r = 0; r < 4; r++) {
            int block = (lane / 4 & ~3) | 3;
            assert_int_equal((int)machine_float(machine_lane(m, D + r, lane)), 4 * block + r);
        }
    machine_free(m);
}

static void test_results_may_overlap_sources(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"\tv_mfma_f32_16x16x16_bf16 v[40:43], v[80:81], v[88:89], v[20:23]",
         "\tv_mfma_f32_16x16x16_bf16 v[79:82], v[80:81], v[88:89], v[20:23]"},
        {"\tv_mfma_f32_16x16x16_bf16 v[40:43], v[80:81], v[88:89], v[20:23]",
         "\tv_mfma_f32_16x16x16_bf16 v[21:24], v[80:81], v[88:89], v[20:23]"},
    };
    static const int to[] = {79, 21};
    for (int i = 0; i < 2; i++) {
        machine *apart = machine_new(16), *over = machine_new(16);
        machine_run(apart, texts[i][0]);
        machine_run(over, texts[i][1]);
        for (int r = 0; r < 4; r++)
            for (int lane = 0; lane < 64; lane++)
                assert_int_equal(machine_lane(apart, 40 + r, lane),
                                 machine_lane(over, to[i] + r, lane));
        machine_free(apart);
        machine_free(over);
    }
}

/* --- runs --- */

enum { N_SEQUENCE = 24 };

/* Few registers, so that many sequences have dependences that must hold. */
static void random_instruction(machine *m, char text[128])
{
    static const int sums[] = {0, 16, 32, 48, 20};
    unsigned kind = machine_random(m) % 8, x = 64 + machine_random(m) % 6,
             y = machine_random(m) % 94;
    int d = sums[machine_random(m) % 5], wide = machine_random(m) % 4 != 0;
    if (kind < 5 && machine_random(m) % 8)
        snprintf(text, 128, "\tv_mfma_f32_%s v[%d:%d], v[%u:%u], v[%u:%u], v[%d:%d]",
                 wide ? "32x32x8_bf16" : "16x16x16_bf16", d, d + (wide ? 15 : 3), x, x + 1, y,
                 y + 1, d, d + (wide ? 15 : 3));
    else if (kind < 5)
        snprintf(text, 128, "\tv_mfma_f32_16x16x16_bf16 v[%d:%d], v[%u:%u], v[%u:%u], 0", d, d + 3,
                 x, x + 1, y, y + 1);
    else if (kind < 7)
        snprintf(text, 128, "\tv_mov_b32_e32 v%u, v%u", machine_random(m) % 96, y);
    else
        snprintf(text, 128, "\ts_add_u32 s4, s4, s5");
}

static void test_joined_runs_change_no_value(void **state)
{
    (void)state;
    machine *source = machine_new(17);
    for (int round = 0; round < 300; round++) {
        char text[N_SEQUENCE][128];
        const char *lines[N_SEQUENCE];
        machine *plain = machine_new((uint64_t)round), *joined = machine_new((uint64_t)round);
        for (int r = 0; r < MACHINE_VGPRS; r++)
            for (int lane = 0; lane < 64; lane++) {
                uint32_t word = number(source, BF16, 4) | number(source, BF16, 4) << 16;
                machine_set_lane(plain, r, lane, word);
                machine_set_lane(joined, r, lane, word);
            }
        for (int i = 0; i < N_SEQUENCE; i++) {
            random_instruction(source, text[i]);
            lines[i] = text[i];
        }
        machine_run_all(plain, lines, N_SEQUENCE, false);
        machine_run_all(joined, lines, N_SEQUENCE, true);
        for (int r = 0; r < MACHINE_VGPRS; r++)
            for (int lane = 0; lane < 64; lane++)
                if (machine_lane(plain, r, lane) != machine_lane(joined, r, lane))
                    fail_msg("round %d v%d lane %d: want %08x got %08x", round, r, lane,
                             machine_lane(plain, r, lane), machine_lane(joined, r, lane));
        machine_free(plain);
        machine_free(joined);
    }
    machine_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_sums_are_within_rounding),
        cmocka_unit_test(test_silicon_rounds_as_published),
        cmocka_unit_test(test_f64_is_a_chain_of_fused_sums),
        cmocka_unit_test(test_blgp_exchanges_lanes_of_b),
        cmocka_unit_test(test_cbsz_broadcasts_a_block_of_a),
        cmocka_unit_test(test_results_may_overlap_sources),
        cmocka_unit_test(test_joined_runs_change_no_value),
    };
    return machine_main("isa_mfma", tests, sizeof tests / sizeof *tests);
}
