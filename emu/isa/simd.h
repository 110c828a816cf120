/* emu/isa/simd.h: lanes in vectors, for arithmetic of every format.
 *
 * A register of 64 lanes is four vectors of 16 words; 64-bit values are eight vectors of 8, put together from the two
 * registers.  A row of a .def table is a function from vectors to a vector; a run_<form>() below applies it to all
 * lanes of EXEC: vectors go straight to the register when EXEC is all ones, else they are merged with what is there.
 * GNU vectors serve both SIMD levels; what they cannot say is a primitive with two versions.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_H
#define MOESAIC_EMU_ISA_SIMD_H

#include "emu/isa/decode.h"
#include "emu/isa/wave.h"

#include <immintrin.h>

#define LANE_INLINE static inline __attribute__((always_inline))
#ifdef __AVX512F__
#define EACH_CHUNK(c, n) _Pragma("GCC unroll 8") for (uint32_t c = 0; c < (n); c++)
#else
#define EACH_CHUNK(c, n) _Pragma("GCC unroll 1") for (uint32_t c = 0; c < (n); c++)
#endif

typedef uint32_t u32x16 __attribute__((vector_size(64), may_alias));
typedef int32_t i32x16 __attribute__((vector_size(64), may_alias));
typedef float f32x16 __attribute__((vector_size(64), may_alias));
typedef uint16_t u16x32 __attribute__((vector_size(64), may_alias));
typedef int16_t i16x32 __attribute__((vector_size(64), may_alias));
typedef uint8_t u8x64 __attribute__((vector_size(64), may_alias));
typedef int8_t i8x64 __attribute__((vector_size(64), may_alias));
typedef uint64_t u64x8 __attribute__((vector_size(64), may_alias));
typedef int64_t i64x8 __attribute__((vector_size(64), may_alias));
typedef double f64x8 __attribute__((vector_size(64), may_alias));
typedef uint32_t u32x8 __attribute__((vector_size(32), may_alias));
typedef float f32x8 __attribute__((vector_size(32), may_alias));

/* a where the mask (all ones or zeros per element) is set, else b. */
#define SELECT(mask, a, b)                                                                         \
    ((__typeof__(a))(((mask) & (__typeof__(mask))(a)) | (~(mask) & (__typeof__(mask))(b))))

LANE_INLINE u32x16 splat32(uint32_t x)
{
    return x - (u32x16){0};
}

LANE_INLINE u64x8 splat64(uint64_t x)
{
    return x - (u64x8){0};
}

LANE_INLINE f32x16 splat_f32(float x)
{
    return x - (f32x16){0};
}

LANE_INLINE f64x8 splat_f64(double x)
{
    return x - (f64x8){0};
}

/* --- masks: bit l of a word is lane l --- */

LANE_INLINE i32x16 lanes_of_bits(uint32_t bits)
{
#ifdef __AVX512F__
    return (i32x16)_mm512_movm_epi32((__mmask16)bits);
#else
    const u32x16 bit = {1,     2,     4,     8,     16,     32,     64,     128,
                        0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000, 0x8000};
    return (splat32(bits) & bit) != 0;
#endif
}

LANE_INLINE i64x8 lanes_of_bits64(uint32_t bits)
{
#ifdef __AVX512F__
    return (i64x8)_mm512_movm_epi64((__mmask8)bits);
#else
    const u64x8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return (splat64(bits) & bit) != 0;
#endif
}

LANE_INLINE uint32_t bits_of_lanes(i32x16 mask)
{
#ifdef __AVX512F__
    return _mm512_movepi32_mask((__m512i)mask);
#else
    const __m128 *part = (const __m128 *)&mask;
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint32_t)_mm_movemask_ps(part[i]) << 4 * i;
    return bits;
#endif
}

LANE_INLINE uint32_t bits_of_lanes64(i64x8 mask)
{
#ifdef __AVX512F__
    return _mm512_movepi64_mask((__m512i)mask);
#else
    const __m128d *part = (const __m128d *)&mask;
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint32_t)_mm_movemask_pd(part[i]) << 2 * i;
    return bits;
#endif
}

/* --- conversions between 8 lanes of 32 and of 64 bits --- */

LANE_INLINE u64x8 widen(u32x8 x)
{
#ifdef __AVX512F__
    return (u64x8)_mm512_cvtepu32_epi64((__m256i)x);
#else
    return __builtin_convertvector(x, u64x8);
#endif
}

LANE_INLINE u32x8 narrow(u64x8 x)
{
#ifdef __AVX512F__
    return (u32x8)_mm512_cvtepi64_epi32((__m512i)x);
#else
    return __builtin_convertvector(x, u32x8);
#endif
}

LANE_INLINE u64x8 join(u32x8 low, u32x8 high)
{
    return widen(low) | widen(high) << 32;
}

/* The two halves of 16 lanes. */
LANE_INLINE u32x8 half_of(u32x16 x, int half)
{
    return ((const u32x8 *)&x)[half];
}

LANE_INLINE u32x16 of_halves(u32x8 low, u32x8 high)
{
    u32x16 x;
    ((u32x8 *)&x)[0] = low;
    ((u32x8 *)&x)[1] = high;
    return x;
}

LANE_INLINE f64x8 to_f64(f32x16 x, int half)
{
#ifdef __AVX512F__
    return (f64x8)_mm512_cvtps_pd((__m256)half_of((u32x16)x, half));
#else
    return __builtin_convertvector((f32x8)half_of((u32x16)x, half), f64x8);
#endif
}

LANE_INLINE u32x8 bits_of_f32(f64x8 x)
{
#ifdef __AVX512F__
    return (u32x8)_mm512_cvtpd_ps((__m512d)x);
#else
    return (u32x8) __builtin_convertvector(x, f32x8);
#endif
}

/* --- arithmetic that GNU vectors have no operator for --- */

#ifdef __AVX512F__
LANE_INLINE f32x16 fma32(f32x16 a, f32x16 b, f32x16 c)
{
    return (f32x16)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

LANE_INLINE f64x8 fma64(f64x8 a, f64x8 b, f64x8 c)
{
    return (f64x8)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

#define UNARY(name, vector, cast, intrinsic, scalar, ...)                                          \
    LANE_INLINE vector name(vector x)                                                              \
    {                                                                                              \
        return (vector)intrinsic((cast)x, ##__VA_ARGS__);                                          \
    }
#else
LANE_INLINE f32x16 fma32(f32x16 a, f32x16 b, f32x16 c)
{
    for (int l = 0; l < 16; l++)
        a[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return a;
}

LANE_INLINE f64x8 fma64(f64x8 a, f64x8 b, f64x8 c)
{
    for (int l = 0; l < 8; l++)
        a[l] = __builtin_fma(a[l], b[l], c[l]);
    return a;
}

#define UNARY(name, vector, cast, intrinsic, scalar, ...)                                          \
    LANE_INLINE vector name(vector x)                                                              \
    {                                                                                              \
        for (uint32_t l = 0; l < sizeof x / sizeof x[0]; l++)                                      \
            x[l] = scalar(x[l]);                                                                   \
        return x;                                                                                  \
    }
#endif
UNARY(sqrt32, f32x16, __m512, _mm512_sqrt_ps, __builtin_sqrtf)
UNARY(sqrt64, f64x8, __m512d, _mm512_sqrt_pd, __builtin_sqrt)
UNARY(floor32, f32x16, __m512, _mm512_roundscale_ps, __builtin_floorf, 9)
UNARY(ceil32, f32x16, __m512, _mm512_roundscale_ps, __builtin_ceilf, 10)
UNARY(trunc32, f32x16, __m512, _mm512_roundscale_ps, __builtin_truncf, 11)
UNARY(rint32, f32x16, __m512, _mm512_roundscale_ps, __builtin_roundevenf, 8)
UNARY(floor64, f64x8, __m512d, _mm512_roundscale_pd, __builtin_floor, 9)
UNARY(ceil64, f64x8, __m512d, _mm512_roundscale_pd, __builtin_ceil, 10)
UNARY(trunc64, f64x8, __m512d, _mm512_roundscale_pd, __builtin_trunc, 11)
UNARY(rint64, f64x8, __m512d, _mm512_roundscale_pd, __builtin_roundeven, 8)
#undef UNARY

LANE_INLINE u32x16 count_bits(u32x16 x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 63;
}

/* Products of the even words. */
LANE_INLINE u64x8 multiply_even(u32x16 a, u32x16 b)
{
#ifdef __AVX512F__
    return (u64x8)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#else
    u64x8 product;
    for (int i = 0; i < 4; i++)
        ((__m128i *)&product)[i] = _mm_mul_epu32(((__m128i *)&a)[i], ((__m128i *)&b)[i]);
    return product;
#endif
}

/* Byte i of each 16-byte piece: byte index[i] & 15 of the same piece. */
LANE_INLINE u8x64 shuffle_bytes(u8x64 bytes, u8x64 index)
{
#ifdef __AVX512F__
    return (u8x64)_mm512_shuffle_epi8((__m512i)bytes, (__m512i)index);
#else
    u8x64 shuffled;
    for (int i = 0; i < 4; i++)
        ((__m128i *)&shuffled)[i] =
            _mm_shuffle_epi8(((__m128i *)&bytes)[i], ((__m128i *)&index)[i]);
    return shuffled;
#endif
}

/* --- running a row --- */

/* One source of an operation: a register, or a scalar for all lanes; then signs: (x & keep) ^ flip. */
typedef struct lane_source {
    const uint8_t *at;
    uint64_t scalar;
    bool is_scalar;
    uint32_t keep, flip;
} lane_source;

LANE_INLINE lane_source source_at(const emu_wave *w, uint32_t at, bool is_scalar)
{
    lane_source s = {.is_scalar = is_scalar};
    if (is_scalar)
        s.scalar = emu_s64(w, at);
    else
        s.at = w->vgprs + at;
    return s;
}

LANE_INLINE u32x16 load32(lane_source s, uint32_t chunk)
{
    return s.is_scalar ? splat32((uint32_t)s.scalar) : *(const u32x16 *)(s.at + 64 * chunk);
}

/* 8 lanes of 64 bits; a 32-bit source is extended with zeros. */
LANE_INLINE u64x8 load64(lane_source s, uint32_t chunk, bool is_wide)
{
    if (s.is_scalar)
        return splat64(is_wide ? s.scalar : (uint32_t)s.scalar);
    const u32x8 *low = (const u32x8 *)(s.at + 32 * chunk);
    return is_wide ? join(*low, *(const u32x8 *)(s.at + 32 * chunk + EMU_VGPR_STRIDE))
                   : widen(*low);
}

LANE_INLINE void store32(uint8_t *d, uint32_t chunk, uint64_t exec, u32x16 r)
{
    u32x16 *to = (u32x16 *)(d + 64 * chunk);
    *to =
        exec == ~0ull ? r : SELECT(lanes_of_bits((uint32_t)(exec >> 16 * chunk) & 0xffff), r, *to);
}

LANE_INLINE void store32x8(uint8_t *d, uint32_t chunk, uint64_t exec, u32x8 r)
{
    u32x8 *to = (u32x8 *)(d + 32 * chunk);
    if (exec != ~0ull) {
        u32x8 mask = narrow((u64x8)lanes_of_bits64((uint32_t)(exec >> 8 * chunk) & 0xff));
        r = (mask & r) | (~mask & *to);
    }
    *to = r;
}

LANE_INLINE void store64(uint8_t *d, uint32_t chunk, uint64_t exec, u64x8 r)
{
    store32x8(d, chunk, exec, narrow(r));
    store32x8(d + EMU_VGPR_STRIDE, chunk, exec, narrow(r >> 32));
}

/* The statement for EXEC as a constant where it is all ones, so that merging costs nothing there. */
#ifdef __AVX512F__
#define WITH_EXEC(w, exec, ...)                                                                    \
    do {                                                                                           \
        if (__builtin_expect(emu_exec_mask(w) == ~0ull, 1)) {                                      \
            const uint64_t exec = ~0ull;                                                           \
            __VA_ARGS__;                                                                           \
        } else {                                                                                   \
            const uint64_t exec = emu_exec_mask(w);                                                \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)
#else
#define WITH_EXEC(w, exec, ...)                                                                    \
    do {                                                                                           \
        const uint64_t exec = emu_exec_mask(w);                                                    \
        __VA_ARGS__;                                                                               \
    } while (0)
#endif

typedef u32x16 lanes32(u32x16 a, u32x16 b, u32x16 c);
typedef u64x8 lanes64(u64x8 a, u64x8 b, u64x8 c);

LANE_INLINE void all_lanes32(uint8_t *d, lane_source a, lane_source b, lane_source c, uint64_t exec,
                             lanes32 *f)
{
    EACH_CHUNK(i, 4)
    store32(d, i, exec, f(load32(a, i), load32(b, i), load32(c, i)));
}

/* 32 bits in, 32 bits out; bit i of `scalar`: source i is scalar. */
LANE_INLINE const emu_op *run32(emu_wave *w, const emu_op *op, uint32_t scalar, lanes32 *f)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    lane_source c = source_at(w, op->c, scalar & 4);
    uint8_t *d = w->vgprs + op->d;
    WITH_EXEC(w, exec, all_lanes32(d, a, b, c, exec, f));
    EMU_NEXT;
}

/* --- single precision with signs and clamp --- */

typedef f32x16 lanes_f32(f32x16 a, f32x16 b, f32x16 c);

/* To [0, 1]; NaN becomes 0, as DX10_CLAMP asks. */
LANE_INLINE f32x16 clamp32(f32x16 x)
{
    x = SELECT(x > 0, x, splat_f32(0));
    return SELECT(x < 1, x, splat_f32(1));
}

LANE_INLINE lane_source signed_source(const emu_wave *w, const emu_op *op, uint32_t at, int source)
{
    lane_source s = source_at(w, at, op->scalar_sources >> source & 1);
    s.keep = op->abs >> source & 1 ? 0x7fffffff : 0xffffffff;
    s.flip = (uint32_t)(op->neg >> source & 1) << 31;
    return s;
}

LANE_INLINE f32x16 load_signed(lane_source s, uint32_t chunk)
{
    return (f32x16)((load32(s, chunk) & s.keep) ^ s.flip);
}

LANE_INLINE void all_lanes_f32(uint8_t *d, lane_source a, lane_source b, lane_source c,
                               uint64_t exec, lanes_f32 *f)
{
    EACH_CHUNK(i, 4)
    store32(d, i, exec,
            (u32x16)f((f32x16)load32(a, i), (f32x16)load32(b, i), (f32x16)load32(c, i)));
}

LANE_INLINE const emu_op *run_f32(emu_wave *w, const emu_op *op, uint32_t scalar, lanes_f32 *f)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    lane_source c = source_at(w, op->c, scalar & 4);
    uint8_t *d = w->vgprs + op->d;
    WITH_EXEC(w, exec, all_lanes_f32(d, a, b, c, exec, f));
    EMU_NEXT;
}

/* The same with neg, abs and clamp as the operation says. */
LANE_INLINE const emu_op *run_f32_modified(emu_wave *w, const emu_op *op, lanes_f32 *f)
{
    lane_source a = signed_source(w, op, op->a, 0), b = signed_source(w, op, op->b, 1);
    lane_source c = signed_source(w, op, op->c, 2);
    uint8_t *d = w->vgprs + op->d;
    uint64_t exec = emu_exec_mask(w);
    bool clamp = op->modifier & 1;
    _Pragma("GCC unroll 1") for (uint32_t i = 0; i < 4; i++)
    {
        f32x16 r = f(load_signed(a, i), load_signed(b, i), load_signed(c, i));
        store32(d, i, exec, (u32x16)(clamp ? clamp32(r) : r));
    }
    EMU_NEXT;
}

LANE_INLINE bool is_wide_type(char type)
{
    return type == 'q' || type == 'l' || type == 'd' || type == 'Q';
}

LANE_INLINE void all_lanes64(uint8_t *d, lane_source a, lane_source b, lane_source c, uint64_t exec,
                             const char *types, lanes64 *f)
{
    EACH_CHUNK(i, 8)
    {
        u64x8 x = load64(a, i, is_wide_type(types[2])), y = {0}, z = {0};
        if (types[3])
            y = load64(b, i, is_wide_type(types[3]));
        if (types[3] && types[4])
            z = load64(c, i, is_wide_type(types[4]) || types[4] == '+');
        u64x8 r = f(x, y, z);
        if (types[0] == 'Q')
            store64(d, i, exec, r);
        else
            store32x8(d, i, exec, narrow(r));
    }
}

/* 64 bits in or out; types: the row's operands, one result. */
LANE_INLINE const emu_op *run64(emu_wave *w, const emu_op *op, uint32_t scalar, const char *types,
                                lanes64 *f)
{
    lane_source a = source_at(w, op->a, scalar & 1), b = source_at(w, op->b, scalar & 2);
    lane_source c = source_at(w, op->c, scalar & 4);
    uint8_t *d = w->vgprs + op->d;
    WITH_EXEC(w, exec, all_lanes64(d, a, b, c, exec, types, f));
    EMU_NEXT;
}

/* --- handlers and rows ---
 *
 * name_0, name_1, ... are the handlers by scalar sources.  The base level, a fallback, has one that finds out. */

#define HANDLER(name) static const emu_op *name(emu_wave *w, const emu_op *op)
#define VARIANT(name, v, run, ...)                                                                 \
    HANDLER(name##_##v)                                                                            \
    {                                                                                              \
        return run(w, op, v, ##__VA_ARGS__);                                                       \
    }
#define HANDLERS_0(name, run, ...) VARIANT(name, 0, run, ##__VA_ARGS__)
#define LIST_0(name)               name##_0
#ifdef __AVX512F__
#define HANDLERS_1(name, run, ...)                                                                 \
    VARIANT(name, 0, run, ##__VA_ARGS__) VARIANT(name, 1, run, ##__VA_ARGS__)
#define HANDLERS_2(name, run, ...)                                                                 \
    HANDLERS_1(name, run, ##__VA_ARGS__)                                                           \
    VARIANT(name, 2, run, ##__VA_ARGS__) VARIANT(name, 3, run, ##__VA_ARGS__)
#define HANDLERS_3(name, run, ...)                                                                 \
    HANDLERS_2(name, run, ##__VA_ARGS__)                                                           \
    VARIANT(name, 4, run, ##__VA_ARGS__)                                                           \
    VARIANT(name, 5, run, ##__VA_ARGS__)                                                           \
    VARIANT(name, 6, run, ##__VA_ARGS__) VARIANT(name, 7, run, ##__VA_ARGS__)
#define LIST_1(name) name##_0, name##_1
#define LIST_2(name) LIST_1(name), name##_2, name##_3
#define LIST_3(name) LIST_2(name), name##_4, name##_5, name##_6, name##_7
#else
#define HANDLERS_ANY(name, run, ...)                                                               \
    HANDLER(name##_any)                                                                            \
    {                                                                                              \
        return run(w, op, op->scalar_sources, ##__VA_ARGS__);                                      \
    }
#define HANDLERS_1   HANDLERS_ANY
#define HANDLERS_2   HANDLERS_ANY
#define HANDLERS_3   HANDLERS_ANY
#define LIST_1(name) [0 ... 1] = name##_any
#define LIST_2(name) [0 ... 3] = name##_any
#define LIST_3(name) [0 ... 7] = name##_any
#endif

/* The array for emu_row.exec; second form: name_modified applies signs and clamp. */
#define VARIANTS(n, name, run, ...)                                                                \
    HANDLERS_##n(name, run, ##__VA_ARGS__) static const emu_exec name##_exec[] = {LIST_##n(name)};
#define VARIANTS_AND_MODIFIED(n, name, run, ...)                                                   \
    HANDLERS_##n(name, run, ##__VA_ARGS__) static const emu_exec name##_exec[] = {                 \
        LIST_##n(name), [(1 << n)...(2 << n) - 1] = name##_modified};

#define VALU_ROW(name, pattern, n, has)                                                            \
    {                                                                                              \
        .mnemonic = #name, .encode = emu_encode_alu, .exec = name##_exec, .unit = EMU_UNIT_VALU,   \
        .cycles = n, .variants = has, .operands = pattern                                          \
    }

/* A row whose only handler has the mnemonic's name. */
#define PLAIN_ROW(name, pattern, n)                                                                \
    {                                                                                              \
        .mnemonic = #name, .encode = emu_encode_alu, .exec = (const emu_exec[]){name},             \
        .unit = EMU_UNIT_VALU, .cycles = n, .operands = pattern                                    \
    }

/* Everything that EMU_LEVEL(emu_table_x) needs once rows[] is there. */
#define DEFINE_TABLE(name)                                                                         \
    extern const emu_table EMU_LEVEL(name);                                                        \
    const emu_table EMU_LEVEL(name) = {rows, sizeof rows / sizeof rows[0]}

#endif
