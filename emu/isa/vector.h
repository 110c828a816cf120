/* emu/isa/vector.h: vectors as wide as the host's registers, and how the 64 lanes of a register lie in them.
 *
 * A register of 64 lanes is N_CHUNKS chunks of CHUNK_LANES words; 64-bit values take two vectors for a chunk, each of
 * HALF_LANES lanes.  Code says what happens to a vector and never how wide it is, so one text serves all
 * SIMD levels.                                                                 SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_VECTOR_H
#define MOESAIC_EMU_ISA_VECTOR_H

#include <immintrin.h>
#include <stdint.h>

#define LANE_INLINE static inline __attribute__((always_inline))

#ifdef __AVX512F__
#define CHUNK_BYTES 64
#elif defined __AVX2__
#define CHUNK_BYTES 32
#else
#define CHUNK_BYTES 16
#endif
#define HALF_BYTES (CHUNK_BYTES / 2)

enum {
    CHUNK_LANES = CHUNK_BYTES / 4,
    HALF_LANES = CHUNK_LANES / 2,
    N_CHUNKS = 64 / CHUNK_LANES,
    ALL_LANES = (1 << CHUNK_LANES) - 1, /* the mask of a chunk */
};

#define VECTOR(type, name, bytes) typedef type name __attribute__((vector_size(bytes), may_alias));
VECTOR(uint32_t, u32v, CHUNK_BYTES)
VECTOR(int32_t, i32v, CHUNK_BYTES)
VECTOR(float, f32v, CHUNK_BYTES)
VECTOR(uint16_t, u16v, CHUNK_BYTES)
VECTOR(int16_t, i16v, CHUNK_BYTES)
VECTOR(uint8_t, u8v, CHUNK_BYTES)
VECTOR(int8_t, i8v, CHUNK_BYTES)
VECTOR(uint64_t, u64v, CHUNK_BYTES)
VECTOR(int64_t, i64v, CHUNK_BYTES)
VECTOR(double, f64v, CHUNK_BYTES)
VECTOR(uint32_t, u32h, HALF_BYTES)
VECTOR(float, f32h, HALF_BYTES)
#undef VECTOR

/* The host's intrinsics of this width. */
#ifdef __AVX512F__
#define HOST(name)         _mm512_##name
#define ROUND(x, type, to) _mm512_roundscale_##type(x, to)
typedef __m512 host_f32;
typedef __m512d host_f64;
typedef __m512i host_int;
#elif defined __AVX2__
#define HOST(name)         _mm256_##name
#define ROUND(x, type, to) _mm256_round_##type(x, to)
typedef __m256 host_f32;
typedef __m256d host_f64;
typedef __m256i host_int;
#else
#define HOST(name)         _mm_##name
#define ROUND(x, type, to) _mm_round_##type(x, to)
typedef __m128 host_f32;
typedef __m128d host_f64;
typedef __m128i host_int;
#endif

/* Statements for each chunk of words, and of 64-bit values.  Unrolled where that pays. */
#ifdef __AVX2__
#define EACH_CHUNK(c) _Pragma("GCC unroll 8") for (uint32_t c = 0; c < N_CHUNKS; c++)
#define EACH_HALF(c)  _Pragma("GCC unroll 8") for (uint32_t c = 0; c < 2 * N_CHUNKS; c++)
#else
#define EACH_CHUNK(c) _Pragma("GCC unroll 1") for (uint32_t c = 0; c < N_CHUNKS; c++)
#define EACH_HALF(c)  _Pragma("GCC unroll 1") for (uint32_t c = 0; c < 2 * N_CHUNKS; c++)
#endif

/* A vector of words whose element i is f(i), for instance the index of a shuffle. */
#if CHUNK_BYTES == 64
#define EACH_LANE(f)                                                                               \
    ((u32v){f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12),       \
            f(13), f(14), f(15)})
#elif CHUNK_BYTES == 32
#define EACH_LANE(f) ((u32v){f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)})
#else
#define EACH_LANE(f) ((u32v){f(0), f(1), f(2), f(3)})
#endif
#define LANE_NUMBER(i) (i)

/* The bits of a 64-lane mask that belong to a chunk, and to a vector of 64-bit values. */
LANE_INLINE uint32_t chunk_mask(uint64_t lanes, uint32_t chunk)
{
    return (uint32_t)(lanes >> CHUNK_LANES * chunk) & ALL_LANES;
}

LANE_INLINE uint32_t half_mask(uint64_t lanes, uint32_t half)
{
    return (uint32_t)(lanes >> HALF_LANES * half) & ((1u << HALF_LANES) - 1);
}

LANE_INLINE u32v splat32(uint32_t x)
{
    return x - (u32v){0};
}

/* --- masks: bit l of a word is lane l, which is all ones or zeros in a vector --- */

LANE_INLINE i32v lanes_of_bits(uint32_t bits)
{
#ifdef __AVX512F__
    return (i32v)_mm512_movm_epi32((__mmask16)bits);
#else
#define BIT(i) (1u << (i))
    return (splat32(bits) & EACH_LANE(BIT)) != 0;
#undef BIT
#endif
}

LANE_INLINE uint32_t bits_of_lanes(i32v mask)
{
#ifdef __AVX512F__
    return _mm512_movepi32_mask((__m512i)mask);
#else
    return (uint32_t)HOST(movemask_ps)((host_f32)mask);
#endif
}

#endif
