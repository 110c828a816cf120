/* emu/isa/simd_pieces.h: the chunk forms that need AVX-512; without it each says that it does not apply.
 *
 * A function returns false to have the chunk go lane by lane.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_PIECES_H
#define MOESAIC_EMU_ISA_SIMD_PIECES_H

#include "emu/isa/simd_chunk.h"

#ifdef __AVX512F__

LANE_INLINE bool load_contiguous_narrow(element e, uint8_t *d, const uint8_t *p)
{
    __m512i *to = (__m512i *)d;
    switch (e) {
    case E_U8: *to = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)); return true;
    case E_I8: *to = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)); return true;
    case E_U16: *to = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)); return true;
    case E_I16: *to = _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)p)); return true;
    default: return false;
    }
}

LANE_INLINE bool store_contiguous_narrow(element e, const uint8_t *s, uint8_t *p)
{
    __m512i low = *(const __m512i *)s, high = _mm512_srli_epi32(low, 16);
    switch (e) {
    case E_U8: _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(low)); return true;
    case E_U8_HI: _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(high)); return true;
    case E_U16: _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(low)); return true;
    case E_U16_HI: _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(high)); return true;
    default: return false;
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

/* Four 16-byte pieces, 128-bit lane b of the result being the one of chunk lane 4b + r. */
LANE_INLINE __m512i gather_pieces(chunk_address at, uint32_t r)
{
#define PIECE(b) _mm_loadu_si128((const __m128i *)lane_pointer(at, 4 * (b) + r))
    __m512i v = _mm512_castsi128_si512(PIECE(0));
    v = _mm512_inserti32x4(v, PIECE(1), 1);
    v = _mm512_inserti32x4(v, PIECE(2), 2);
    return _mm512_inserti32x4(v, PIECE(3), 3);
#undef PIECE
}

/* Within each 128-bit lane: rows of four words to columns.  Its own inverse. */
LANE_INLINE void transpose_4x4(__m512i v[4])
{
    __m512i low01 = _mm512_unpacklo_epi32(v[0], v[1]), high01 = _mm512_unpackhi_epi32(v[0], v[1]);
    __m512i low23 = _mm512_unpacklo_epi32(v[2], v[3]), high23 = _mm512_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm512_unpacklo_epi64(low01, low23);
    v[1] = _mm512_unpackhi_epi64(low01, low23);
    v[2] = _mm512_unpacklo_epi64(high01, high23);
    v[3] = _mm512_unpackhi_epi64(high01, high23);
}

LANE_INLINE void load_pieces_16(uint8_t *d, chunk_address at)
{
    __m512i v[4] = {gather_pieces(at, 0), gather_pieces(at, 1), gather_pieces(at, 2),
                    gather_pieces(at, 3)};
    transpose_4x4(v);
    for (uint32_t j = 0; j < 4; j++)
        *chunk_of(d, j) = (chunk_u32)v[j];
}

LANE_INLINE void store_pieces_16(const uint8_t *s, chunk_address at)
{
    __m512i v[4];
    for (uint32_t j = 0; j < 4; j++)
        v[j] = (__m512i)*chunk_of(s, j);
    transpose_4x4(v);
#define PIECE(r, b)                                                                                \
    _mm_storeu_si128((__m128i *)lane_pointer(at, 4 * (b) + (r)), _mm512_extracti32x4_epi32(v[r], b))
#define PIECES(b) PIECE(0, b), PIECE(1, b), PIECE(2, b), PIECE(3, b)
    PIECES(0), PIECES(1), PIECES(2), PIECES(3);
#undef PIECES
#undef PIECE
}

LANE_INLINE long long piece_8(chunk_address at, uint32_t lane)
{
    long long v;
    memcpy(&v, lane_pointer(at, lane), 8);
    return v;
}

LANE_INLINE void load_pieces_8(uint8_t *d, chunk_address at)
{
#define PIECE(l) piece_8(at, l)
    __m512i low = _mm512_set_epi64(PIECE(7), PIECE(6), PIECE(5), PIECE(4), PIECE(3), PIECE(2),
                                   PIECE(1), PIECE(0));
    __m512i high = _mm512_set_epi64(PIECE(15), PIECE(14), PIECE(13), PIECE(12), PIECE(11),
                                    PIECE(10), PIECE(9), PIECE(8));
#undef PIECE
    *chunk_of(d, 0) = __builtin_shuffle((chunk_u32)low, (chunk_u32)high, CHUNK_INDEX(WORD0_OF_2));
    *chunk_of(d, 1) = __builtin_shuffle((chunk_u32)low, (chunk_u32)high, CHUNK_INDEX(WORD1_OF_2));
}

LANE_INLINE void store_pieces_8(const uint8_t *s, chunk_address at)
{
    uint64_t pair[CHUNK_LANES] __attribute__((aligned(64)));
    store_contiguous_2(s, (uint8_t *)pair);
    for (uint32_t l = 0; l < CHUNK_LANES; l++)
        memcpy(lane_pointer(at, l), &pair[l], 8);
}

/* Offsets below 2^31 only: the host sign-extends them. */
LANE_INLINE bool gather_dwords(uint8_t *d, uint32_t mask, chunk_address at)
{
    __m512i offset = *(const __m512i *)at.lo, *to = (__m512i *)d;
    if (at.hi || (_mm512_movepi32_mask(offset) & mask))
        return false;
    *to = _mm512_mask_i32gather_epi32(*to, (__mmask16)mask, offset, (const void *)at.base, 1);
    return true;
}

LANE_INLINE bool load_pieces(element e, uint8_t *d, uint32_t mask, chunk_address at)
{
    if (e == E_D1)
        return __builtin_popcount(mask) > 4 && gather_dwords(d, mask, at);
    if (mask != 0xffff || (e != E_D2 && e != E_D4))
        return false;
    if (e == E_D2)
        load_pieces_8(d, at);
    else
        load_pieces_16(d, at);
    return true;
}

LANE_INLINE bool store_pieces(element e, const uint8_t *s, uint32_t mask, chunk_address at)
{
    if (mask != 0xffff || (e != E_D2 && e != E_D4))
        return false;
    if (e == E_D2)
        store_pieces_8(s, at);
    else
        store_pieces_16(s, at);
    return true;
}

#else

#define DOES_NOT_APPLY(name, ...)                                                                  \
    LANE_INLINE bool name(__VA_ARGS__) { return false; }
DOES_NOT_APPLY(load_contiguous_narrow, element, uint8_t *, const uint8_t *)
DOES_NOT_APPLY(store_contiguous_narrow, element, const uint8_t *, uint8_t *)
DOES_NOT_APPLY(load_contiguous_masked, uint8_t *, uint32_t, const uint8_t *)
DOES_NOT_APPLY(store_contiguous_masked, const uint8_t *, uint32_t, uint8_t *)
DOES_NOT_APPLY(load_pieces, element, uint8_t *, uint32_t, chunk_address)
DOES_NOT_APPLY(store_pieces, element, const uint8_t *, uint32_t, chunk_address)
#undef DOES_NOT_APPLY

#endif
#endif
