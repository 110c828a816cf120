/* emu/isa/simd.h: lanes in vectors, for arithmetic of every format.
 *
 * Vectors are as wide as the host's (vector.h); those of 64-bit values are put together from two registers.  A row of a
 * .def table is a function from vectors to a vector; a run_<form>() below applies it to all lanes of EXEC: vectors go
 * straight to the register when EXEC is all ones, else they are merged with what is there.  GNU vectors serve all
 * SIMD levels; what they cannot say is a primitive with a version per level.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_H
#define MOESAIC_EMU_ISA_SIMD_H

#include "emu/isa/decode.h"
#include "emu/isa/vector.h"
#include "emu/isa/wave.h"

/* a where the mask (all ones or zeros per element) is set, else b. */
#define SELECT(mask, a, b)                                                                         \
    ((__typeof__(a))(((mask) & (__typeof__(mask))(a)) | (~(mask) & (__typeof__(mask))(b))))

LANE_INLINE u64v splat64(uint64_t x)
{
    return x - (u64v){0};
}

LANE_INLINE f32v splat_f32(float x)
{
    return x - (f32v){0};
}

LANE_INLINE f64v splat_f64(double x)
{
    return x - (f64v){0};
}

/* --- masks of 64-bit lanes; those of words are vector.h's --- */

LANE_INLINE i64v lanes_of_bits64(uint32_t bits)
{
#ifdef __AVX512F__
    return (i64v)_mm512_movm_epi64((__mmask8)bits);
#else
#ifdef __AVX2__
    const u64v bit = {1, 2, 4, 8};
#else
    const u64v bit = {1, 2};
#endif
    return (splat64(bits) & bit) != 0;
#endif
}

LANE_INLINE uint32_t bits_of_lanes64(i64v mask)
{
#ifdef __AVX512F__
    return _mm512_movepi64_mask((__m512i)mask);
#else
    return (uint32_t)HOST(movemask_pd)((host_f64)mask);
#endif
}

/* --- conversions between 8 lanes of 32 and of 64 bits --- */

LANE_INLINE u64v widen(u32h x)
{
#ifdef __AVX512F__
    return (u64v)_mm512_cvtepu32_epi64((__m256i)x);
#elif defined __AVX2__
    return (u64v)_mm256_cvtepu32_epi64((__m128i)x);
#else
    return __builtin_convertvector(x, u64v);
#endif
}

LANE_INLINE u32h narrow(u64v x)
{
#ifdef __AVX512F__
    return (u32h)_mm512_cvtepi64_epi32((__m512i)x);
#elif defined __AVX2__
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    return (u32h)_mm256_castsi256_si128(_mm256_permutevar8x32_epi32((__m256i)x, even));
#else
    return __builtin_convertvector(x, u32h);
#endif
}

LANE_INLINE u64v join(u32h low, u32h high)
{
    return widen(low) | widen(high) << 32;
}

/* The two halves of a vector. */
LANE_INLINE u32h half_of(u32v x, int half)
{
    return ((const u32h *)&x)[half];
}

LANE_INLINE u32v of_halves(u32h low, u32h high)
{
    u32v x;
    ((u32h *)&x)[0] = low;
    ((u32h *)&x)[1] = high;
    return x;
}

LANE_INLINE f64v to_f64(f32v x, int half)
{
#ifdef __AVX512F__
    return (f64v)_mm512_cvtps_pd((__m256)half_of((u32v)x, half));
#elif defined __AVX2__
    return (f64v)_mm256_cvtps_pd((__m128)half_of((u32v)x, half));
#else
    return __builtin_convertvector((f32h)half_of((u32v)x, half), f64v);
#endif
}

LANE_INLINE u32h bits_of_f32(f64v x)
{
#ifdef __AVX512F__
    return (u32h)_mm512_cvtpd_ps((__m512d)x);
#elif defined __AVX2__
    return (u32h)_mm256_cvtpd_ps((__m256d)x);
#else
    return (u32h) __builtin_convertvector(x, f32h);
#endif
}

/* --- arithmetic that GNU vectors have no operator for --- */

LANE_INLINE f32v fma32(f32v a, f32v b, f32v c)
{
#ifdef __AVX2__
    return (f32v)HOST(fmadd_ps)((host_f32)a, (host_f32)b, (host_f32)c);
#else
    for (uint32_t l = 0; l < CHUNK_LANES; l++)
        a[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return a;
#endif
}

LANE_INLINE f64v fma64(f64v a, f64v b, f64v c)
{
#ifdef __AVX2__
    return (f64v)HOST(fmadd_pd)((host_f64)a, (host_f64)b, (host_f64)c);
#else
    for (uint32_t l = 0; l < HALF_LANES; l++)
        a[l] = __builtin_fma(a[l], b[l], c[l]);
    return a;
#endif
}

LANE_INLINE f32v sqrt32(f32v x)
{
    return (f32v)HOST(sqrt_ps)((host_f32)x);
}

LANE_INLINE f64v sqrt64(f64v x)
{
    return (f64v)HOST(sqrt_pd)((host_f64)x);
}

#define ROUNDED(name, to)                                                                          \
    LANE_INLINE f32v name##32(f32v x)                                                              \
    {                                                                                              \
        return (f32v)ROUND((host_f32)x, ps, (to) | _MM_FROUND_NO_EXC);                             \
    }                                                                                              \
    LANE_INLINE f64v name##64(f64v x)                                                              \
    {                                                                                              \
        return (f64v)ROUND((host_f64)x, pd, (to) | _MM_FROUND_NO_EXC);                             \
    }
ROUNDED(floor, _MM_FROUND_TO_NEG_INF)
ROUNDED(ceil, _MM_FROUND_TO_POS_INF)
ROUNDED(trunc, _MM_FROUND_TO_ZERO)
ROUNDED(rint, _MM_FROUND_TO_NEAREST_INT)
#undef ROUNDED

LANE_INLINE u32v count_bits(u32v x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 63;
}

/* Products of the even words. */
LANE_INLINE u64v multiply_even(u32v a, u32v b)
{
    return (u64v)HOST(mul_epu32)((host_int)a, (host_int)b);
}

/* Byte i of each 16-byte piece: byte index[i] & 15 of the same piece. */
LANE_INLINE u8v shuffle_bytes(u8v bytes, u8v index)
{
    return (u8v)HOST(shuffle_epi8)((host_int)bytes, (host_int)index);
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

LANE_INLINE u32v load32(lane_source s, uint32_t chunk)
{
    return s.is_scalar ? splat32((uint32_t)s.scalar) : *(const u32v *)(s.at + CHUNK_BYTES * chunk);
}

/* 8 lanes of 64 bits; a 32-bit source is extended with zeros. */
LANE_INLINE u64v load64(lane_source s, uint32_t chunk, bool is_wide)
{
    if (s.is_scalar)
        return splat64(is_wide ? s.scalar : (uint32_t)s.scalar);
    const u32h *low = (const u32h *)(s.at + HALF_BYTES * chunk);
    return is_wide ? join(*low, *(const u32h *)(s.at + HALF_BYTES * chunk + EMU_VGPR_STRIDE))
                   : widen(*low);
}

LANE_INLINE void store32(uint8_t *d, uint32_t chunk, uint64_t exec, u32v r)
{
    u32v *to = (u32v *)(d + CHUNK_BYTES * chunk);
    *to = exec == ~0ull ? r : SELECT(lanes_of_bits(chunk_mask(exec, chunk)), r, *to);
}

LANE_INLINE void store_half(uint8_t *d, uint32_t chunk, uint64_t exec, u32h r)
{
    u32h *to = (u32h *)(d + HALF_BYTES * chunk);
    if (exec != ~0ull) {
        u32h mask = narrow((u64v)lanes_of_bits64(half_mask(exec, chunk)));
        r = (mask & r) | (~mask & *to);
    }
    *to = r;
}

LANE_INLINE void store64(uint8_t *d, uint32_t chunk, uint64_t exec, u64v r)
{
    store_half(d, chunk, exec, narrow(r));
    store_half(d + EMU_VGPR_STRIDE, chunk, exec, narrow(r >> 32));
}

/* The statement for EXEC as a constant where it is all ones, so that merging costs nothing there. */
#ifdef __AVX2__
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

typedef u32v lanes32(u32v a, u32v b, u32v c);
typedef u64v lanes64(u64v a, u64v b, u64v c);

LANE_INLINE void all_lanes32(uint8_t *d, lane_source a, lane_source b, lane_source c, uint64_t exec,
                             lanes32 *f)
{
    EACH_CHUNK(i)
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

typedef f32v lanes_f32(f32v a, f32v b, f32v c);

/* To [0, 1]; NaN becomes 0, as DX10_CLAMP asks. */
LANE_INLINE f32v clamp32(f32v x)
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

LANE_INLINE f32v load_signed(lane_source s, uint32_t chunk)
{
    return (f32v)((load32(s, chunk) & s.keep) ^ s.flip);
}

LANE_INLINE void all_lanes_f32(uint8_t *d, lane_source a, lane_source b, lane_source c,
                               uint64_t exec, lanes_f32 *f)
{
    EACH_CHUNK(i)
    store32(d, i, exec, (u32v)f((f32v)load32(a, i), (f32v)load32(b, i), (f32v)load32(c, i)));
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
    _Pragma("GCC unroll 1") for (uint32_t i = 0; i < N_CHUNKS; i++)
    {
        f32v r = f(load_signed(a, i), load_signed(b, i), load_signed(c, i));
        store32(d, i, exec, (u32v)(clamp ? clamp32(r) : r));
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
    EACH_HALF(i)
    {
        u64v x = load64(a, i, is_wide_type(types[2])), y = {0}, z = {0};
        if (types[3])
            y = load64(b, i, is_wide_type(types[3]));
        if (types[3] && types[4])
            z = load64(c, i, is_wide_type(types[4]) || types[4] == '+');
        u64v r = f(x, y, z);
        if (types[0] == 'Q')
            store64(d, i, exec, r);
        else
            store_half(d, i, exec, narrow(r));
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
#ifdef __AVX2__
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
