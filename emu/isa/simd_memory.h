/* emu/isa/simd_memory.h: one chunk of lanes between registers and memory, for every memory format.
 *
 * A vector memory instruction runs chunk by chunk.  Lane l of a chunk looks at base + hi[l]:lo[l] (hi may be absent).  A
 * chunk whose active lanes are contiguous is a few vector loads or stores and a transposition; other full chunks of
 * 8 or 16 bytes a lane move in whole pieces, strided dwords are gathered (simd_pieces.h); anything else goes lane by
 * lane.  All addresses of a chunk are read before a load writes its destination, because the two may overlap; chunks
 * never disturb each other.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_SIMD_MEMORY_H
#define MOESAIC_EMU_ISA_SIMD_MEMORY_H

#include "emu/isa/simd_pieces.h"

/* --- single lanes --- */

LANE_INLINE uint32_t narrow_value(element e, const uint8_t *p)
{
    int16_t half;
    if (element_bytes(e) == 1)
        return e & E_SIGNED ? (uint32_t)(int8_t)*p : *p;
    memcpy(&half, p, 2);
    return e & E_SIGNED ? (uint32_t)half : (uint16_t)half;
}

LANE_INLINE void load_lane(element e, uint8_t *d, uint32_t lane, const uint8_t *p)
{
    uint8_t *word = d + 4 * lane;
    if (element_bytes(e) < 4) {
        uint32_t value = narrow_value(e, p);
        memcpy(word + (e & E_HI ? 2 : 0), &value, e & (E_LO | E_HI) ? 2 : 4);
        return;
    }
    for (uint32_t j = 0; j < element_dwords(e); j++)
        memcpy(word + (size_t)EMU_VGPR_STRIDE * j, p + 4 * j, 4);
}

LANE_INLINE void store_lane(element e, const uint8_t *s, uint32_t lane, uint8_t *p)
{
    const uint8_t *word = s + 4 * lane;
    if (element_bytes(e) < 4) {
        memcpy(p, word + (e & E_HI ? 2 : 0), element_bytes(e));
        return;
    }
    for (uint32_t j = 0; j < element_dwords(e); j++)
        memcpy(p + 4 * j, word + (size_t)EMU_VGPR_STRIDE * j, 4);
}

LANE_INLINE void load_lanes(element e, uint8_t *d, uint32_t mask, chunk_address at)
{
    uint8_t *p[CHUNK_LANES];
    for (uint32_t l = 0; l < CHUNK_LANES; l++)
        p[l] = lane_pointer(at, l);
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        load_lane(e, d, lane, p[lane]);
    }
}

LANE_INLINE void store_lanes(element e, const uint8_t *s, uint32_t mask, chunk_address at)
{
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        store_lane(e, s, lane, lane_pointer(at, lane));
    }
}

/* --- a chunk --- */

/* All lanes of the chunk, contiguous at p; false when the element has no vector form. */
LANE_INLINE bool load_contiguous(element e, uint8_t *d, const uint8_t *p)
{
    switch (e) {
    case E_D1:
        *chunk_of(d, 0) = *(const chunk_unaligned *)p;
        return true;
    case E_D2:
        load_contiguous_2(d, p);
        return true;
    case E_D4:
        load_contiguous_4(d, p);
        return true;
    default:
        return load_contiguous_narrow(e, d, p);
    }
}

LANE_INLINE bool store_contiguous(element e, const uint8_t *s, uint8_t *p)
{
    switch (e) {
    case E_D1:
        *(chunk_unaligned *)p = *chunk_of(s, 0);
        return true;
    case E_D2:
        store_contiguous_2(s, p);
        return true;
    case E_D4:
        store_contiguous_4(s, p);
        return true;
    default:
        return store_contiguous_narrow(e, s, p);
    }
}

/* In narrow vectors, pieces of 16 bytes are as good as contiguous lanes, and nobody has to look whether they are. */
LANE_INLINE bool by_pieces(element e, uint32_t mask)
{
    return e == E_D4 && mask == ALL_LANES && CHUNK_BYTES < 64;
}

/* Load or store the lanes of `mask` (not 0) of one chunk; d and s point at its lane 0. */
LANE_INLINE void load_chunk(element e, uint8_t *d, uint32_t mask, chunk_address at)
{
    if (by_pieces(e, mask)) {
        load_pieces_16(d, at);
        return;
    }
    const uint8_t *p = contiguous(at, mask, element_bytes(e));
    if (p && mask == ALL_LANES && load_contiguous(e, d, p))
        return;
    if (p && e == E_D1 && load_contiguous_masked(d, mask, p))
        return;
    if (!load_pieces(e, d, mask, at))
        load_lanes(e, d, mask, at);
}

LANE_INLINE void store_chunk(element e, const uint8_t *s, uint32_t mask, chunk_address at)
{
    if (by_pieces(e, mask)) {
        store_pieces_16(s, at);
        return;
    }
    uint8_t *p = contiguous(at, mask, element_bytes(e));
    if (p && mask == ALL_LANES && store_contiguous(e, s, p))
        return;
    if (p && e == E_D1 && store_contiguous_masked(s, mask, p))
        return;
    if (!store_pieces(e, s, mask, at))
        store_lanes(e, s, mask, at);
}

/* Zero the destination in the lanes of mask: what an out of range load returns. */
LANE_INLINE void zero_lanes(element e, uint8_t *d, uint32_t mask)
{
    static const uint8_t zeros[16];
    for (; mask; mask &= mask - 1)
        load_lane(e, d, (uint32_t)__builtin_ctz(mask), zeros);
}

/* --- a wave --- */

/* Chunk c's addresses when `at` holds those of all lanes in register layout. */
LANE_INLINE chunk_address chunk_address_of(chunk_address at, uint32_t chunk)
{
    at.lo += CHUNK_LANES * chunk;
    if (at.hi)
        at.hi += CHUNK_LANES * chunk;
    return at;
}

LANE_INLINE void load_wave(element e, uint8_t *d, uint64_t exec, chunk_address at)
{
    for (uint32_t c = 0; c < N_CHUNKS; c++) {
        uint32_t mask = chunk_mask(exec, c);
        if (mask)
            load_chunk(e, d + CHUNK_BYTES * c, mask, chunk_address_of(at, c));
    }
}

LANE_INLINE void store_wave(element e, const uint8_t *s, uint64_t exec, chunk_address at)
{
    for (uint32_t c = 0; c < N_CHUNKS; c++) {
        uint32_t mask = chunk_mask(exec, c);
        if (mask)
            store_chunk(e, s + CHUNK_BYTES * c, mask, chunk_address_of(at, c));
    }
}

/* Most operations in loops stride: fetch what lies as far ahead as this operation moved since it last ran.  The state
 * is the wave's, one slot per operation up to collisions; an address of 0 means "not yet". */
LANE_INLINE void prefetch_stride(emu_wave *w, const emu_op *op, chunk_address at, uint32_t bytes)
{
    uint64_t *slot = &w->prefetch[(uintptr_t)op / sizeof *op % 64];
    uint64_t last = *slot, here = (uint64_t)(uintptr_t)lane_pointer(at, 0);
    *slot = here;
    if (last == 0 || last == here)
        return;
    for (uint32_t line = 0; line < bytes; line++)
        __builtin_prefetch((const void *)(uintptr_t)(2 * here - last + 64 * line), 0, 3);
}

#endif
