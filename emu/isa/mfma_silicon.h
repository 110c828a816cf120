/* emu/isa/mfma_silicon.h: products of planes, rounded bit for bit as CDNA3's matrix cores do.
 *
 * k is taken in groups; a group is added to the running value c in four steps:
 *
 *   1  each product is exact; its exponent is the sum of its factors' exponents (0: -126; subnormals: their lowest)
 *   2  products are aligned to the largest exponent e, cut toward zero at 24 fractional bits, and added
 *   3  with E = max(e, exponent of c), the sum is cut downward at 31 fractional bits, c at 24
 *   4  both are added and rounded to the nearest even f32
 *
 * 8-bit floats make two sums in step 2, of even and of odd k, which are brought together at the larger exponent,
 * cut downward at 24 bits; c counts as 0 when it lies more than 25 bits below E.  f32, f64 and integers are no matter
 * of this file: they are fused multiply-adds and exact sums.
 * Source: "Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units" (arXiv 2511.10909), which compared its
 * model with silicon; payloads of NaN are not specified there.                 SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MFMA_SILICON_H
#define MOESAIC_EMU_ISA_MFMA_SILICON_H

#include "emu/isa/mfma_planes.h"

#include <math.h>

enum {
    MFMA_ZERO_EXPONENT = -126,
    MFMA_SAFE_EXPONENT = 120, /* below it no product and no sum reaches the end of f32's range */
    MFMA_MAX_GROUP = 16,
};

LANE_INLINE int32_t lowest_exponent(mfma_type t)
{
    return t == F16 ? -14 : t == FP8 ? -7 : t == BF8 ? -15 : -126;
}

LANE_INLINE int32_t mantissa_bits(mfma_type t)
{
    return t == BF16 ? 7 : t == FP8 ? 3 : t == BF8 ? 2 : 10;
}

LANE_INLINE bool is_8_bit(mfma_type t)
{
    return t == FP8 || t == BF8;
}

LANE_INLINE uint32_t group_size(mfma_type t, mfma_shape s)
{
    uint32_t most = t == XF32 ? 4 : is_8_bit(t) ? 16 : 8;
    return s.k < most ? s.k : most;
}

/* value = significand * 2^(exponent - mantissa_bits) */
typedef struct mfma_number {
    int32_t exponent, significand;
} mfma_number;

/* Split finite f32 bits that came from type t.  The bits cut off are zeros. */
LANE_INLINE mfma_number split(mfma_type t, uint32_t bits)
{
    int32_t field = (int32_t)(bits >> 23 & 0xff), magnitude = (int32_t)(bits & 0x7fffff);
    int32_t exponent = field ? field - 127 : -126, below;
    magnitude |= field ? 0x800000 : 0;
    below = lowest_exponent(t) - exponent;
    below = below < 0 ? 0 : below > 31 ? 31 : below;
    exponent = magnitude ? exponent + below : MFMA_ZERO_EXPONENT;
    magnitude = magnitude >> below >> (23 - mantissa_bits(t));
    return (mfma_number){exponent, bits >> 31 ? -magnitude : magnitude};
}

/* --- one group, for 16 columns --- */

/* Exponents and significands of a plane's lanes, in place of their values. */
typedef struct silicon_planes {
    mfma_planes exponent, significand;
} silicon_planes;

static __attribute__((noinline)) void split_planes(mfma_type t, uint32_t n_planes,
                                                   const uint8_t *values, silicon_planes *out)
{
    for (uint32_t p = 0; p < n_planes; p++) {
        size_t at = (size_t)EMU_VGPR_STRIDE * p;
        const uint32_t *bits = (const uint32_t *)(values + at);
        int32_t *exponent = (int32_t *)(out->exponent.bytes + at);
        int32_t *significand = (int32_t *)(out->significand.bytes + at);
        for (uint32_t l = 0; l < 64; l++) {
            mfma_number x = split(t, bits[l]);
            exponent[l] = x.exponent;
            significand[l] = x.significand;
        }
    }
}

/* A sum of aligned products with 24 fractional bits, and its exponent. */
typedef struct silicon_sum {
    i32v significand, exponent;
} silicon_sum;

LANE_INLINE i32v larger(i32v a, i32v b)
{
    i32v is_larger = a > b;
    return (a & is_larger) | (b & ~is_larger);
}

LANE_INLINE i32v at_most_31(i32v a)
{
    i32v is_less = a < 31;
    return (a & is_less) | (31 & ~is_less);
}

/* Toward zero. */
LANE_INLINE i32v shift_out(i32v a, i32v n)
{
    i32v sign = a >> 31;
    return (((a ^ sign) - sign) >> at_most_31(n) ^ sign) - sign;
}

typedef struct silicon_factors {
    const silicon_planes *a, *b;
    int32_t fraction_bits; /* of a product */
} silicon_factors;

LANE_INLINE i32v plane_chunk(const mfma_planes *planes, size_t at)
{
    return (i32v)*chunk_of(planes->bytes + at, 0);
}

LANE_INLINE i32v plane_splat(const mfma_planes *planes, size_t at)
{
    int32_t value;
    memcpy(&value, planes->bytes + at, 4);
    return value - (i32v){0};
}

/* Step 2: n products, k = first, first + stride, ...; a_at and b_at are the elements' offsets by k. */
static silicon_sum aligned_sum(const silicon_factors *f, uint32_t n, uint32_t first,
                               uint32_t stride, const size_t *a_at, const size_t *b_at)
{
    i32v exponent[MFMA_MAX_GROUP];
    silicon_sum sum = {{0}, {0}};
    for (uint32_t x = 0, k = first; x < n; x++, k += stride) {
        exponent[x] = plane_splat(&f->a->exponent, a_at[k]) + plane_chunk(&f->b->exponent, b_at[k]);
        sum.exponent = x ? larger(sum.exponent, exponent[x]) : exponent[x];
    }
    for (uint32_t x = 0, k = first; x < n; x++, k += stride) {
        i32v product =
            plane_splat(&f->a->significand, a_at[k]) * plane_chunk(&f->b->significand, b_at[k]);
        sum.significand +=
            shift_out(product << (24 - f->fraction_bits), sum.exponent - exponent[x]);
    }
    return sum;
}

/* Even and odd k of 8-bit floats, downward at the larger exponent. */
LANE_INLINE silicon_sum joined(silicon_sum a, silicon_sum b)
{
    i32v exponent = larger(a.exponent, b.exponent);
    return (silicon_sum){(a.significand >> at_most_31(exponent - a.exponent)) +
                             (b.significand >> at_most_31(exponent - b.exponent)),
                         exponent};
}

/* Steps 3 and 4 for one column: `total` is exact in a double, and so is its scaling. */
LANE_INLINE float add_to(float c, int32_t significand, int32_t exponent, bool drops_small)
{
    mfma_number x;
    uint32_t bits;
    memcpy(&bits, &c, 4);
    int32_t field = (int32_t)(bits >> 23 & 0xff),
            magnitude = (int32_t)(bits & 0x7fffff) | (field ? 0x800000 : 0);
    x.exponent = !magnitude ? MFMA_ZERO_EXPONENT : field ? field - 127 : -126;
    x.significand = bits >> 31 ? -magnitude : magnitude;
    int32_t most = exponent > x.exponent ? exponent : x.exponent;
    int32_t down = most - exponent, c_down = most - x.exponent;
    int64_t sum = ((int64_t)significand * 128) >> (down > 63 ? 63 : down);
    int64_t old = (int64_t)(x.significand * 2 >> (c_down > 31 ? 31 : c_down));
    if (drops_small && c_down > 25)
        old = 0;
    uint64_t scale_bits = (uint64_t)(most - 31 + 1023) << 52;
    double scale;
    memcpy(&scale, &scale_bits, 8);
    return (float)((double)(sum + old * 128) * scale);
}

static f32v add_columns(f32v c, silicon_sum sum, bool drops_small)
{
    for (uint32_t l = 0; l < CHUNK_LANES; l++)
        c[l] = add_to(c[l], sum.significand[l], sum.exponent[l], drops_small);
    return c;
}

/* Row i of block b, 16 columns from `column` on. */
static void silicon_columns(const silicon_factors *f, bool is_8, uint32_t group, mfma_shape s,
                            uint32_t per_lane, const mfma_operands *o, uint32_t b, uint32_t i,
                            uint32_t column)
{
    size_t at = row_offset(s, b, i) + 4 * column;
    u32v old = o->c ? *chunk_of(o->c + at, 0) : splat32(o->constant);
    f32v c = (f32v)old;
    for (uint32_t first = 0; first < s.k; first += group) {
        size_t a_at[MFMA_MAX_GROUP], b_at[MFMA_MAX_GROUP];
        for (uint32_t x = 0; x < group; x++) {
            a_at[x] = element_offset(s, per_lane, b, i, first + x);
            b_at[x] = element_offset(s, per_lane, b, column, first + x);
        }
        silicon_sum sum = is_8 ? joined(aligned_sum(f, group / 2, 0, 2, a_at, b_at),
                                        aligned_sum(f, group / 2, 1, 2, a_at, b_at))
                               : aligned_sum(f, group, 0, 1, a_at, b_at);
        c = add_columns(c, sum, is_8);
    }
    *chunk_of(o->d + at, 0) = (u32v)c;
}

/* --- elements one by one: infinities, NaN, the end of the range, and 4x4 blocks --- */

/* What infinities and NaN among the inputs make of a group; 0 when all is finite. */
LANE_INLINE double special_sum(const float *a, const float *b, uint32_t n, float c)
{
    double sum = c, huge = 0;
    for (uint32_t k = 0; k < n; k++) {
        double product = (double)a[k] * (double)b[k];
        sum += product;
        if (fabs(product) >= 0x1p128)
            huge += product > 0 ? (double)INFINITY : -(double)INFINITY;
    }
    return isfinite(sum) ? huge : sum;
}

static float add_group(mfma_type ta, mfma_type tb, const float *a, const float *b, uint32_t n,
                       float c)
{
    uint32_t n_sums = is_8_bit(ta) ? 2 : 1;
    int32_t significand[2] = {0}, exponent[2] = {0};
    double special = special_sum(a, b, n, c);
    if (special != 0)
        return (float)special;
    for (uint32_t parity = 0; parity < n_sums; parity++) {
        int32_t product[MFMA_MAX_GROUP], e[MFMA_MAX_GROUP], most = INT32_MIN;
        for (uint32_t k = parity; k < n; k += n_sums) {
            uint32_t a_bits, b_bits;
            memcpy(&a_bits, &a[k], 4);
            memcpy(&b_bits, &b[k], 4);
            mfma_number x = split(ta, a_bits), y = split(tb, b_bits);
            product[k] =
                x.significand * y.significand * (1 << (24 - mantissa_bits(ta) - mantissa_bits(tb)));
            e[k] = x.exponent + y.exponent;
            most = e[k] > most ? e[k] : most;
        }
        for (uint32_t k = parity; k < n; k += n_sums)
            significand[parity] += most - e[k] > 30 ? 0 : product[k] / (1 << (most - e[k]));
        exponent[parity] = most;
    }
    if (n_sums == 2) {
        int32_t most = exponent[0] > exponent[1] ? exponent[0] : exponent[1];
        for (uint32_t parity = 0; parity < 2; parity++) {
            int32_t down = most - exponent[parity];
            significand[parity] >>= down > 31 ? 31 : down;
        }
        significand[0] += significand[1];
        exponent[0] = most;
    }
    return add_to(c, significand[0], exponent[0], is_8_bit(ta));
}

LANE_INLINE float plane_value(const uint8_t *planes, size_t at)
{
    float value;
    memcpy(&value, planes + at, 4);
    return value;
}

/* Bytes from the first result register to element [i][j] of block b. */
LANE_INLINE size_t result_offset(mfma_shape s, uint32_t b, uint32_t i, uint32_t j)
{
    return s.m == 4 ? (size_t)EMU_VGPR_STRIDE * i + 4 * (4 * b + j) : row_offset(s, b, i) + 4 * j;
}

static void silicon_element(mfma_type ta, mfma_type tb, mfma_shape s, uint32_t per_lane,
                            const mfma_operands *o, uint32_t b, uint32_t i, uint32_t j)
{
    size_t at = result_offset(s, b, i, j);
    float sum, a[MFMA_MAX_GROUP], column[MFMA_MAX_GROUP];
    uint32_t group = group_size(ta, s);
    memcpy(&sum, o->c ? o->c + at : (const uint8_t *)&o->constant, 4);
    for (uint32_t first = 0; first < s.k; first += group) {
        for (uint32_t x = 0; x < group; x++) {
            a[x] = plane_value(o->a, element_offset(s, per_lane, b, i, first + x));
            column[x] = plane_value(o->b, element_offset(s, per_lane, b, j, first + x));
        }
        sum = add_group(ta, tb, a, column, group, sum);
    }
    memcpy(o->d + at, &sum, 4);
}

/* --- a whole instruction --- */

/* Largest exponent field of n registers. */
LANE_INLINE int32_t largest_exponent(const uint8_t *registers, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t l = 0; l < 64; l++) {
            uint32_t field =
                ((const uint32_t *)(registers + (size_t)EMU_VGPR_STRIDE * r))[l] >> 23 & 0xff;
            most = field > most ? field : most;
        }
    return (int32_t)most - 127;
}

LANE_INLINE bool stays_in_range(mfma_shape s, uint32_t per_lane, const mfma_operands *o)
{
    int32_t c = o->c ? largest_exponent(o->c, result_registers(s))
                     : (int32_t)(o->constant >> 23 & 0xff) - 127;
    int32_t a = largest_exponent(o->a, per_lane), b = largest_exponent(o->b, per_lane);
    return a < 128 && b < 128 && c < MFMA_SAFE_EXPONENT && a + b < MFMA_SAFE_EXPONENT;
}

/* o->a and o->b are planes of values. */
static __attribute__((noinline, unused)) void
silicon_product(mfma_type ta, mfma_type tb, mfma_shape s, uint32_t per_lane, const mfma_operands *o)
{
    silicon_planes a, b;
    bool by_columns = s.m != 4 && stays_in_range(s, per_lane, o);
    silicon_factors f = {&a, &b, mantissa_bits(ta) + mantissa_bits(tb)};
    if (by_columns) {
        split_planes(ta, per_lane, o->a, &a);
        split_planes(tb, per_lane, o->b, &b);
    }
    for (uint32_t block = 0; block < s.blocks; block++)
        for (uint32_t i = 0; i < s.m; i++)
            for (uint32_t j = 0; j < s.m; j += by_columns ? CHUNK_LANES : 1)
                if (by_columns)
                    silicon_columns(&f, is_8_bit(ta), group_size(ta, s), s, per_lane, o, block, i,
                                    j);
                else
                    silicon_element(ta, tb, s, per_lane, o, block, i, j);
}

#endif
