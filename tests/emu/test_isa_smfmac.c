/* tests/emu/test_isa_smfmac.c: sparse matrix instructions against sums over A written out with its zeros.
 *
 * The reference expands A by the index registers, lane by lane, then multiplies whole matrices: fast numerics within a
 * bound of rounding errors, silicon numerics bit for bit on the products that are kept.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/matrix.h"

#include <stdio.h>
#include <string.h>

typedef struct variant {
    const char *name;
    type a, b;
    int m, k;
} variant;

static const variant variants[] = {
    {"f32_32x32x16_f16", F16, F16, 32, 16},     {"f32_16x16x32_f16", F16, F16, 16, 32},
    {"f32_32x32x16_bf16", BF16, BF16, 32, 16},  {"f32_16x16x32_bf16", BF16, BF16, 16, 32},
    {"i32_32x32x32_i8", I8, I8, 32, 32},        {"i32_16x16x64_i8", I8, I8, 16, 64},
    {"f32_32x32x32_fp8_fp8", FP8, FP8, 32, 32}, {"f32_32x32x32_fp8_bf8", FP8, BF8, 32, 32},
    {"f32_32x32x32_bf8_fp8", BF8, FP8, 32, 32}, {"f32_32x32x32_bf8_bf8", BF8, BF8, 32, 32},
    {"f32_16x16x64_fp8_fp8", FP8, FP8, 16, 64}, {"f32_16x16x64_fp8_bf8", FP8, BF8, 16, 64},
    {"f32_16x16x64_bf8_fp8", BF8, FP8, 16, 64}, {"f32_16x16x64_bf8_bf8", BF8, BF8, 16, 64},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants, A = 80, B = 84, INDEX = 90, D = 40 };

/* Which index set an instruction takes, by its modifiers; sets of 8 bits, of 16 for types of 8 bits. */
static const struct {
    const char *text;
    int set, set_8_bit;
} modifiers[] = {
    {"", 0, 0},        {" abid:1", 1, 1},        {" abid:2", 2, 0},
    {" abid:3", 3, 1}, {" cbsz:1 abid:3", 0, 0}, {" cbsz:2", 0, 0},
};
enum { N_MODIFIERS = sizeof modifiers / sizeof *modifiers };

static uint32_t element(const machine *m, type t, int first, int lane, int at)
{
    int bits = formats[t].bits, per = 32 / bits;
    return machine_lane(m, first + at / per, lane) >> bits * (at % per) & ((1u << bits) - 1);
}

/* A[row][k] and B[column][k], and where A has kept values: two of each four k, in order of the registers. */
typedef struct operands {
    double a[32][64], b[32][64];
    int kept[32][32];
} operands;

static void gather(const machine *m, const variant *v, int modifier, operands *o)
{
    int per_lane = v->k * v->m / 64;
    int shift =
        formats[v->a].bits == 8 ? 16 * modifiers[modifier].set_8_bit : 8 * modifiers[modifier].set;
    memset(o, 0, sizeof *o);
    for (int lane = 0; lane < 64; lane++) {
        int i = lane % v->m, first_k = lane / v->m * per_lane;
        uint32_t index = machine_lane(m, INDEX, lane) >> shift;
        for (int p = 0; p < per_lane; p++)
            o->b[i][first_k + p] = decode(v->b, element(m, v->b, B, lane, p));
        for (int p = 0; p < per_lane / 2; p++) {
            int k = first_k + p / 2 * 4 + (int)(index >> 2 * p & 3);
            o->a[i][k] = decode(v->a, element(m, v->a, A, lane, p));
            o->kept[i][first_k / 2 + p] = k;
        }
    }
}

static int n_results(const variant *v)
{
    return v->m * v->m / 64;
}

static int row_of(const variant *v, int reg, int lane)
{
    return v->m == 32 ? 8 * (reg / 4) + 4 * (lane / 32) + reg % 4 : 4 * (lane / 16) + reg;
}

static void fill_registers(machine *m, type t, int first, int n, int spread)
{
    int bits = formats[t].bits;
    for (int r = first; r < first + n; r++)
        for (int lane = 0; lane < 64; lane++) {
            uint32_t word = 0;
            for (int at = 0; at < 32; at += bits)
                word |= number(m, t, spread) << at;
            machine_set_lane(m, r, lane, word);
        }
}

static void fill(machine *m, const variant *v, int spread)
{
    static const uint8_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}; /* two k, ascending */
    fill_registers(m, v->a, A, 2, spread);
    fill_registers(m, v->b, B, 4, spread);
    fill_registers(m, F32, D, n_results(v), 2 * spread);
    for (int lane = 0; lane < 64; lane++) {
        uint32_t index = 0;
        for (int at = 0; at < 32; at += 4)
            index |= (uint32_t)pairs[machine_random(m) % 6] << at;
        machine_set_lane(m, INDEX, lane, index);
    }
}

static void execute(machine *m, const variant *v, int modifier)
{
    char text[160];
    snprintf(text, sizeof text, "\tv_smfmac_%s v[%d:%d], v[%d:%d], v[%d:%d], v%d%s", v->name, D,
             D + n_results(v) - 1, A, A + 1, B, B + 3, INDEX, modifiers[modifier].text);
    machine_run(m, text);
}

static void check_fast(machine *m, const variant *v, int modifier)
{
    static operands o;
    uint32_t before[16][64] = {{0}};
    gather(m, v, modifier, &o);
    for (int r = 0; r < n_results(v); r++)
        for (int lane = 0; lane < 64; lane++)
            before[r][lane] = machine_lane(m, D + r, lane);
    execute(m, v, modifier);
    for (int r = 0; r < n_results(v); r++)
        for (int lane = 0; lane < 64; lane++) {
            const double *a = o.a[row_of(v, r, lane)], *b = o.b[lane % v->m];
            uint32_t got = machine_lane(m, D + r, lane), sum = before[r][lane];
            double want = (double)machine_float(sum), size = fabs(want);
            for (int k = 0; k < v->k; k++) {
                want += a[k] * b[k];
                size += fabs(a[k] * b[k]);
                sum += v->a == I8 ? (uint32_t)(int32_t)(a[k] * b[k]) : 0;
            }
            if (v->a == I8 ? got != sum
                           : !(fabs((double)machine_float(got) - want) <= v->k * 0x1p-24 * size))
                fail_msg("%s%s v%d lane %d: got %08x want %.9g or %08x", v->name,
                         modifiers[modifier].text, r, lane, got, want, sum);
        }
}

static void test_fast_sums_are_within_rounding(void **state)
{
    (void)state;
    machine *m = machine_new(21);
    for (int i = 0; i < N_VARIANTS; i++)
        for (int modifier = 0; modifier < N_MODIFIERS; modifier++) {
            fill(m, &variants[i], 3);
            machine_set_exec(m, modifier ? 0x1234 : ~0ull); /* EXEC does not matter */
            check_fast(m, &variants[i], modifier);
        }
    machine_free(m);
}

static void check_silicon(machine *m, const variant *v, int modifier)
{
    static operands o;
    float before[16][64] = {{0}};
    gather(m, v, modifier, &o);
    for (int r = 0; r < n_results(v); r++)
        for (int lane = 0; lane < 64; lane++)
            before[r][lane] = machine_float(machine_lane(m, D + r, lane));
    execute(m, v, modifier);
    for (int r = 0; r < n_results(v); r++)
        for (int lane = 0; lane < 64; lane++) {
            int row = row_of(v, r, lane);
            double a[32], b[32];
            for (int x = 0; x < v->k / 2; x++) {
                a[x] = o.a[row][o.kept[row][x]];
                b[x] = o.b[lane % v->m][o.kept[row][x]];
            }
            float want = silicon_dot(v->a, v->b, a, b, v->k / 2, before[r][lane]);
            float got = machine_float(machine_lane(m, D + r, lane));
            if (!(isnan(want) && isnan(got)) && got != want)
                fail_msg("%s v%d lane %d: want %a got %a", v->name, r, lane, (double)want,
                         (double)got);
        }
}

static void test_silicon_rounds_the_kept_products(void **state)
{
    (void)state;
    static const int spreads[] = {2, 6, 0}; /* 0: any bits, infinities and NaN among them */
    machine *m = machine_new(22);
    m->decoder.mfma = MOESAIC_SIM_MFMA_SILICON;
    for (int i = 0; i < N_VARIANTS; i++)
        for (int s = 0; s < 3; s++) {
            fill(m, &variants[i], spreads[s]);
            if (variants[i].a == I8)
                check_fast(m, &variants[i], s);
            else
                check_silicon(m, &variants[i], s);
        }
    machine_free(m);
}

static void test_result_may_overlap_sources(void **state)
{
    (void)state;
    machine *apart = machine_new(23), *over = machine_new(23);
    fill(apart, &variants[1], 3);
    fill(over, &variants[1], 3);
    for (int r = 0; r < 4; r++)
        for (int lane = 0; lane < 64; lane++)
            machine_set_lane(apart, D + r, lane, machine_lane(apart, A + 1 + r, lane));
    machine_run(apart, "\tv_smfmac_f32_16x16x32_f16 v[40:43], v[80:81], v[84:87], v90 abid:1");
    machine_run(over, "\tv_smfmac_f32_16x16x32_f16 v[81:84], v[80:81], v[84:87], v90 abid:1");
    for (int r = 0; r < 4; r++)
        for (int lane = 0; lane < 64; lane++)
            assert_int_equal(machine_lane(apart, D + r, lane), machine_lane(over, A + 1 + r, lane));
    machine_free(apart);
    machine_free(over);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_sums_are_within_rounding),
        cmocka_unit_test(test_silicon_rounds_the_kept_products),
        cmocka_unit_test(test_result_may_overlap_sources),
    };
    return machine_main("isa_smfmac", tests, sizeof tests / sizeof *tests);
}
