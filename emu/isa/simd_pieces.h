/* emu/isa/simd_pieces.h: chunks whose lanes lie apart, and narrow or masked ones, in vectors.
 *
 * A function returns false to have the chunk go lane by lane; the base level does so for all but whole pieces.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_PIECES_H
#define MOESAIC_EMU_ISA_SIMD_PIECES_H

#include "emu/isa/simd_chunk.h"

/* --- narrow and masked contiguous chunks, gathered dwords --- */

#ifdef __AVX512F__

LANE_INLINE bool load_contiguous_narrow(element e, uint8_t *d, const uint8_t *p)
{
    __m512i *to = (__m512i *)d;
    switch (e) {
    case E_U8:
        *to = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
        return true;
    case E_I8:
        *to = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
        return true;
    case E_U16:
        *to = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
        return true;
    case E_I16:
        *to = _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)p));
        return true;
    default:
        return false;
    }
}

LANE_INLINE bool store_contiguous_narrow(element e, const uint8_t *s, uint8_t *p)
{
    __m512i low = *(const __m512i *)s, high = _mm512_srli_epi32(low, 16);
    switch (e) {
    case E_U8:
        _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(low));
        return true;
    case E_U8_HI:
        _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(high));
        return true;
    case E_U16:
        _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(low));
        return true;
    case E_U16_HI:
        _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(high));
        return true;
    default:
        return false;
    }
}

LANE_INLINE bool load_contiguous_masked(uint8_t *d, uint32_t mask, const uint8_t *p)
{
    __m512i *to = (__m512i *)d;
    *to = _mm512_mask_loadu_epi32(*to, (__mmask16)mask, p);
    return true;
}

LANE_INLINE bool store_contiguous_masked(const uint8_t *s, uint32_t mask, uint8_t *p)
{
    _mm512_mask_storeu_epi32(p, (__mmask16)mask, *(const __m512i *)s);
    return true;
}

LANE_INLINE void gather_words(uint8_t *d, uint32_t mask, chunk_address at)
{
    __m512i *to = (__m512i *)d;
    *to = _mm512_mask_i32gather_epi32(*to, (__mmask16)mask, *(const __m512i *)at.lo,
                                      (const void *)at.base, 1);
}

#elif defined __AVX2__

LANE_INLINE bool load_contiguous_narrow(element e, uint8_t *d, const uint8_t *p)
{
    __m256i *to = (__m256i *)d;
    switch (e) {
    case E_U8:
        *to = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
        return true;
    case E_I8:
        *to = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p));
        return true;
    case E_U16:
        *to = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
        return true;
    case E_I16:
        *to = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p));
        return true;
    default:
        return false;
    }
}

LANE_INLINE bool store_contiguous_narrow(element e, const uint8_t *s, uint8_t *p)
{
    u32v words = *chunk_of(s, 0);
    if (e == E_U16_HI)
        words >>= 16;
    else if (e == E_U16)
        words &= 0xffff;
    else
        return false;
    _mm_storeu_si128((__m128i *)p,
                     _mm_packus_epi32(((__m128i *)&words)[0], ((__m128i *)&words)[1]));
    return true;
}

LANE_INLINE bool load_contiguous_masked(uint8_t *d, uint32_t mask, const uint8_t *p)
{
    u32v lanes = (u32v)lanes_of_bits(mask),
         loaded = (u32v)_mm256_maskload_epi32((const int *)p, (__m256i)lanes);
    *chunk_of(d, 0) = loaded | (*chunk_of(d, 0) & ~lanes);
    return true;
}

LANE_INLINE bool store_contiguous_masked(const uint8_t *s, uint32_t mask, uint8_t *p)
{
    _mm256_maskstore_epi32((int *)p, (__m256i)lanes_of_bits(mask), (__m256i)*chunk_of(s, 0));
    return true;
}

LANE_INLINE void gather_words(uint8_t *d, uint32_t mask, chunk_address at)
{
    __m256i *to = (__m256i *)d;
    *to = _mm256_mask_i32gather_epi32(*to, (const int *)at.base, *(const __m256i *)at.lo,
                                      (__m256i)lanes_of_bits(mask), 1);
}

#else

#define DOES_NOT_APPLY(name, ...)                                                                  \
    LANE_INLINE bool name(__VA_ARGS__)                                                             \
    {                                                                                              \
        return false;                                                                              \
    }
DOES_NOT_APPLY(load_contiguous_narrow, element, uint8_t *, const uint8_t *)
DOES_NOT_APPLY(store_contiguous_narrow, element, const uint8_t *, uint8_t *)
DOES_NOT_APPLY(load_contiguous_masked, uint8_t *, uint32_t, const uint8_t *)
DOES_NOT_APPLY(store_contiguous_masked, const uint8_t *, uint32_t, uint8_t *)
#undef DOES_NOT_APPLY

#endif

/* Offsets below 2^31 only: the host sign-extends them. */
LANE_INLINE bool gather_dwords(uint8_t *d, uint32_t mask, chunk_address at)
{
#ifdef __AVX2__
    if (at.hi || __builtin_popcount(mask) <= 4 ||
        (bits_of_lanes((i32v) * (const u32v *)at.lo < 0) & mask))
        return false;
    gather_words(d, mask, at);
    return true;
#else
    (void)d, (void)mask, (void)at;
    return false;
#endif
}

/* --- pieces of 16 and 8 bytes --- */

/* Pieces of 16 bytes, 128-bit lane b of the result being the one of chunk lane 4b + r. */
LANE_INLINE host_int gather_pieces(chunk_address at, uint32_t r)
{
#define PIECE(b) _mm_loadu_si128((const __m128i *)lane_pointer(at, 4 * (b) + r))
#ifdef __AVX512F__
    __m512i v = _mm512_castsi128_si512(PIECE(0));
    v = _mm512_inserti32x4(v, PIECE(1), 1);
    v = _mm512_inserti32x4(v, PIECE(2), 2);
    return _mm512_inserti32x4(v, PIECE(3), 3);
#elif defined __AVX2__
    return _mm256_inserti128_si256(_mm256_castsi128_si256(PIECE(0)), PIECE(1), 1);
#else
    return PIECE(0);
#endif
#undef PIECE
}

/* In the order of the lanes, because pieces may overlap. */
LANE_INLINE void scatter_pieces(const host_int v[4], chunk_address at)
{
#define PUT(r, b, piece) _mm_storeu_si128((__m128i *)lane_pointer(at, 4 * (b) + (r)), piece)
#define PUT_4(b, piece)                                                                            \
    PUT(0, b, piece(v[0], b)), PUT(1, b, piece(v[1], b)), PUT(2, b, piece(v[2], b)),               \
        PUT(3, b, piece(v[3], b))
#ifdef __AVX512F__
    PUT_4(0, _mm512_extracti32x4_epi32);
    PUT_4(1, _mm512_extracti32x4_epi32);
    PUT_4(2, _mm512_extracti32x4_epi32);
    PUT_4(3, _mm512_extracti32x4_epi32);
#elif defined __AVX2__
    PUT_4(0, _mm256_extracti128_si256);
    PUT_4(1, _mm256_extracti128_si256);
#else
#define WHOLE(v, b) (v)
    PUT_4(0, WHOLE);
#undef WHOLE
#endif
#undef PUT_4
#undef PUT
}

/* Within each 128-bit lane: rows of four words to columns.  Its own inverse. */
LANE_INLINE void transpose_4x4(host_int v[4])
{
    host_int low01 = HOST(unpacklo_epi32)(v[0], v[1]), high01 = HOST(unpackhi_epi32)(v[0], v[1]);
    host_int low23 = HOST(unpacklo_epi32)(v[2], v[3]), high23 = HOST(unpackhi_epi32)(v[2], v[3]);
    v[0] = HOST(unpacklo_epi64)(low01, low23);
    v[1] = HOST(unpackhi_epi64)(low01, low23);
    v[2] = HOST(unpacklo_epi64)(high01, high23);
    v[3] = HOST(unpackhi_epi64)(high01, high23);
}

LANE_INLINE void load_pieces_16(uint8_t *d, chunk_address at)
{
    host_int v[4] = {gather_pieces(at, 0), gather_pieces(at, 1), gather_pieces(at, 2),
                     gather_pieces(at, 3)};
    transpose_4x4(v);
    for (uint32_t j = 0; j < 4; j++)
        *chunk_of(d, j) = (u32v)v[j];
}

LANE_INLINE void store_pieces_16(const uint8_t *s, chunk_address at)
{
    host_int v[4];
    for (uint32_t j = 0; j < 4; j++)
        v[j] = (host_int)*chunk_of(s, j);
    transpose_4x4(v);
    scatter_pieces(v, at);
}

/* The pieces of half the lanes, from `lane` on. */
LANE_INLINE u32v gather_pieces_8(chunk_address at, uint32_t lane)
{
    uint64_t v[HALF_LANES];
    for (uint32_t l = 0; l < HALF_LANES; l++)
        memcpy(&v[l], lane_pointer(at, lane + l), 8);
#ifdef __AVX512F__
    return (u32v)_mm512_set_epi64((long long)v[7], (long long)v[6], (long long)v[5],
                                  (long long)v[4], (long long)v[3], (long long)v[2],
                                  (long long)v[1], (long long)v[0]);
#elif defined __AVX2__
    return (u32v)_mm256_set_epi64x((long long)v[3], (long long)v[2], (long long)v[1],
                                   (long long)v[0]);
#else
    return (u32v)_mm_set_epi64x((long long)v[1], (long long)v[0]);
#endif
}

LANE_INLINE void load_pieces_8(uint8_t *d, chunk_address at)
{
    u32v low = gather_pieces_8(at, 0), high = gather_pieces_8(at, HALF_LANES);
    *chunk_of(d, 0) = __builtin_shuffle(low, high, EACH_LANE(WORD0_OF_2));
    *chunk_of(d, 1) = __builtin_shuffle(low, high, EACH_LANE(WORD1_OF_2));
}

LANE_INLINE void store_pieces_8(const uint8_t *s, chunk_address at)
{
    uint64_t pair[CHUNK_LANES] __attribute__((aligned(64)));
    store_contiguous_2(s, (uint8_t *)pair);
    for (uint32_t l = 0; l < CHUNK_LANES; l++)
        memcpy(lane_pointer(at, l), &pair[l], 8);
}

LANE_INLINE bool load_pieces(element e, uint8_t *d, uint32_t mask, chunk_address at)
{
    if (e == E_D1)
        return gather_dwords(d, mask, at);
    if (mask != ALL_LANES || (e != E_D2 && e != E_D4))
        return false;
    if (e == E_D2)
        load_pieces_8(d, at);
    else
        load_pieces_16(d, at);
    return true;
}

LANE_INLINE bool store_pieces(element e, const uint8_t *s, uint32_t mask, chunk_address at)
{
    if (mask != ALL_LANES || (e != E_D2 && e != E_D4))
        return false;
    if (e == E_D2)
        store_pieces_8(s, at);
    else
        store_pieces_16(s, at);
    return true;
}

#endif
