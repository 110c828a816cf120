/* emu/isa/simd_chunk.h: a chunk of lanes: elements, addresses, masks, and the form whose lanes are contiguous.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_CHUNK_H
#define MOESAIC_EMU_ISA_SIMD_CHUNK_H

#include "emu/isa/vector.h"
#include "emu/isa/wave.h"

typedef uint32_t chunk_unaligned __attribute__((vector_size(CHUNK_BYTES), may_alias, aligned(1)));

/* What one lane moves; the low five bits are its bytes.  _LO and _HI fill one half of the register and leave the other
 * alone (d16 forms); in a store they say which half goes out. */
typedef enum element {
    E_U8 = 1,
    E_U16 = 2,
    E_D1 = 4,
    E_D2 = 8,
    E_D3 = 12,
    E_D4 = 16,
    E_SIGNED = 32,
    E_LO = 64,
    E_HI = 128,
    E_I8 = E_SIGNED | E_U8,
    E_I16 = E_SIGNED | E_U16,
    E_U8_LO = E_LO | E_U8,
    E_U8_HI = E_HI | E_U8,
    E_I8_LO = E_LO | E_I8,
    E_I8_HI = E_HI | E_I8,
    E_U16_LO = E_LO | E_U16,
    E_U16_HI = E_HI | E_U16,
} element;

#define ELEMENT_BYTES(e)  ((e)&31)
#define ELEMENT_DWORDS(e) ((ELEMENT_BYTES(e) + 3) / 4)

LANE_INLINE uint32_t element_bytes(element e)
{
    return ELEMENT_BYTES((uint32_t)e);
}

LANE_INLINE uint32_t element_dwords(element e)
{
    return ELEMENT_DWORDS((uint32_t)e);
}

/* The addresses of one chunk. */
typedef struct chunk_address {
    const uint32_t *lo, *hi; /* CHUNK_LANES words each; hi NULL: lo is an unsigned 32-bit offset */
    uint64_t base;
} chunk_address;

LANE_INLINE uint8_t *lane_pointer(chunk_address at, uint32_t lane)
{
    uint64_t high = at.hi ? (uint64_t)at.hi[lane] << 32 : 0;
    return (uint8_t *)(at.base + (high | at.lo[lane]));
}

/* The lanes of a chunk at `registers`, `dword` registers further on. */
LANE_INLINE u32v *chunk_of(const uint8_t *registers, uint32_t dword)
{
    return (u32v *)(uintptr_t)(registers + (size_t)EMU_VGPR_STRIDE * dword);
}

/* --- masks of lanes --- */

LANE_INLINE uint32_t mask_differs(u32v a, u32v b)
{
#ifdef __AVX512F__
    return _mm512_cmpneq_epi32_mask((__m512i)a, (__m512i)b);
#else
    return bits_of_lanes(a != b);
#endif
}

LANE_INLINE uint32_t mask_at_most(u32v a, uint32_t limit)
{
#ifdef __AVX512F__
    return _mm512_cmple_epu32_mask((__m512i)a, (__m512i)splat32(limit));
#else
    return bits_of_lanes(a <= splat32(limit));
#endif
}

/* --- contiguous chunks --- */

/* Where lane 0's element lies when the active lanes are contiguous, else NULL. */
LANE_INLINE uint8_t *contiguous(chunk_address at, uint32_t mask, uint32_t bytes)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask);
    uint32_t start = at.lo[first] - first * bytes;
    uint32_t differs = mask_differs(*(const u32v *)at.lo, EACH_LANE(LANE_NUMBER) * bytes + start);
    if (at.hi)
        differs |= mask_differs(*(const u32v *)at.hi, splat32(at.hi[first]));
    bool wraps = at.lo[first] > UINT32_MAX - CHUNK_LANES * bytes || at.lo[first] < first * bytes;
    return (differs & mask) || wraps ? NULL : lane_pointer(at, first) - first * bytes;
}

/* Word i of n-word elements: which of the first two vectors holds it, and then whether the third does. */
#define WORD0_OF_2(i)       (2 * (i))
#define WORD1_OF_2(i)       (2 * (i) + 1)
#define INTERLEAVED_LOW(i)  ((i) / 2 + CHUNK_LANES * ((i) % 2))
#define INTERLEAVED_HIGH(i) (CHUNK_LANES / 2 + (i) / 2 + CHUNK_LANES * ((i) % 2))

LANE_INLINE void load_contiguous_2(uint8_t *d, const uint8_t *p)
{
    u32v a = ((const chunk_unaligned *)p)[0], b = ((const chunk_unaligned *)p)[1];
    *chunk_of(d, 0) = __builtin_shuffle(a, b, EACH_LANE(WORD0_OF_2));
    *chunk_of(d, 1) = __builtin_shuffle(a, b, EACH_LANE(WORD1_OF_2));
}

LANE_INLINE void store_contiguous_2(const uint8_t *s, uint8_t *p)
{
    u32v a = *chunk_of(s, 0), b = *chunk_of(s, 1);
    ((chunk_unaligned *)p)[0] = __builtin_shuffle(a, b, EACH_LANE(INTERLEAVED_LOW));
    ((chunk_unaligned *)p)[1] = __builtin_shuffle(a, b, EACH_LANE(INTERLEAVED_HIGH));
}

/* Four dwords a lane: pair the even and the odd words of two halves, twice. */
LANE_INLINE void load_contiguous_4(uint8_t *d, const uint8_t *p)
{
    const chunk_unaligned *v = (const chunk_unaligned *)p;
    u32v even_low = __builtin_shuffle(v[0], v[1], EACH_LANE(WORD0_OF_2));
    u32v odd_low = __builtin_shuffle(v[0], v[1], EACH_LANE(WORD1_OF_2));
    u32v even_high = __builtin_shuffle(v[2], v[3], EACH_LANE(WORD0_OF_2));
    u32v odd_high = __builtin_shuffle(v[2], v[3], EACH_LANE(WORD1_OF_2));
    *chunk_of(d, 0) = __builtin_shuffle(even_low, even_high, EACH_LANE(WORD0_OF_2));
    *chunk_of(d, 1) = __builtin_shuffle(odd_low, odd_high, EACH_LANE(WORD0_OF_2));
    *chunk_of(d, 2) = __builtin_shuffle(even_low, even_high, EACH_LANE(WORD1_OF_2));
    *chunk_of(d, 3) = __builtin_shuffle(odd_low, odd_high, EACH_LANE(WORD1_OF_2));
}

LANE_INLINE void store_contiguous_4(const uint8_t *s, uint8_t *p)
{
    u32v s0 = *chunk_of(s, 0), s1 = *chunk_of(s, 1), s2 = *chunk_of(s, 2), s3 = *chunk_of(s, 3);
    u32v even_low = __builtin_shuffle(s0, s2, EACH_LANE(INTERLEAVED_LOW));
    u32v even_high = __builtin_shuffle(s0, s2, EACH_LANE(INTERLEAVED_HIGH));
    u32v odd_low = __builtin_shuffle(s1, s3, EACH_LANE(INTERLEAVED_LOW));
    u32v odd_high = __builtin_shuffle(s1, s3, EACH_LANE(INTERLEAVED_HIGH));
    chunk_unaligned *v = (chunk_unaligned *)p;
    v[0] = __builtin_shuffle(even_low, odd_low, EACH_LANE(INTERLEAVED_LOW));
    v[1] = __builtin_shuffle(even_low, odd_low, EACH_LANE(INTERLEAVED_HIGH));
    v[2] = __builtin_shuffle(even_high, odd_high, EACH_LANE(INTERLEAVED_LOW));
    v[3] = __builtin_shuffle(even_high, odd_high, EACH_LANE(INTERLEAVED_HIGH));
}

#endif
