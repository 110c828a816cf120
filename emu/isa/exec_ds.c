/* emu/isa/exec_ds.c: LDS reads, writes and atomics, and the lane permutations that use the LDS crossbar.
 *
 * An address out of the workgroup's LDS reads 0 and drops writes; the check is one vector compare per chunk.  Chunks
 * in range go straight through simd_memory.h with the LDS as base.  A workgroup runs on one host thread, so
 * atomics are plain.  Source: CDNA3 ISA guide, "LDS".
 * Tested by tests/emu/test_isa_ds.c.                           SPDX-License-Identifier: MIT
 */
#include "emu/isa/atomic.h"
#include "emu/isa/decode_memory.h"
#include "emu/isa/memory.h"

LANE_INLINE void report(emu_wave *w, const emu_op *op, int32_t offset, uint32_t bytes,
                        bool is_store)
{
    if (__builtin_expect(w->trace != NULL, 0)) {
        w->ip = op; /* the trace remembers patterns by operation */
        emu_lds_report(w, (const uint32_t *)(w->vgprs + op->a), (uint32_t)offset, emu_exec_mask(w),
                       bytes, is_store);
    }
}

/* Lanes of a chunk whose element lies inside the LDS. */
LANE_INLINE uint32_t mask_in_range(const emu_wave *w, const uint32_t *lo, int32_t offset,
                                   uint32_t bytes)
{
    uint32_t reach = (uint32_t)offset + bytes;
    return reach > w->lds_bytes ? 0 : mask_at_most(*(const u32v *)lo, w->lds_bytes - reach);
}

LANE_INLINE chunk_address lds_address(const emu_wave *w, const emu_op *op, int32_t offset,
                                      uint32_t chunk)
{
    const uint32_t *lo = (const uint32_t *)(w->vgprs + op->a) + CHUNK_LANES * chunk;
    return (chunk_address){lo, NULL, (uint64_t)(uintptr_t)w->lds + (uint32_t)offset};
}

/* Destination and address may overlap, so the range is decided before the load. */
LANE_INLINE void read_chunk(emu_wave *w, element e, uint8_t *d, uint32_t mask, chunk_address at,
                            int32_t offset)
{
    uint32_t in = mask & mask_in_range(w, at.lo, offset, element_bytes(e));
    if (in)
        load_chunk(e, d, in, at);
    if (__builtin_expect(in != mask, 0))
        zero_lanes(e, d, mask & ~in);
}

LANE_INLINE const emu_op *ds_read(emu_wave *w, const emu_op *op, element e)
{
    uint64_t exec = emu_exec_mask(w);
    report(w, op, op->imm, element_bytes(e), false);
    for (uint32_t c = 0; c < N_CHUNKS; c++)
        if (chunk_mask(exec, c))
            read_chunk(w, e, w->vgprs + op->d + CHUNK_BYTES * c, chunk_mask(exec, c),
                       lds_address(w, op, op->imm, c), op->imm);
    EMU_NEXT;
}

/* Two elements: the addresses are copied, because the first result may overwrite them. */
LANE_INLINE const emu_op *ds_read2(emu_wave *w, const emu_op *op, element e)
{
    uint64_t exec = emu_exec_mask(w);
    size_t second = (size_t)EMU_VGPR_STRIDE * element_dwords(e);
    report(w, op, op->imm, element_bytes(e), false);
    report(w, op, op->imm2, element_bytes(e), false);
    for (uint32_t c = 0; c < N_CHUNKS; c++) {
        uint32_t mask = chunk_mask(exec, c);
        if (!mask)
            continue;
        uint8_t *d = w->vgprs + op->d + CHUNK_BYTES * c;
        chunk_address at = lds_address(w, op, op->imm, c);
        u32v addresses = *(const u32v *)at.lo;
        read_chunk(w, e, d, mask, at, op->imm);
        at = lds_address(w, op, op->imm2, c);
        at.lo = (const uint32_t *)&addresses;
        read_chunk(w, e, d + second, mask, at, op->imm2);
    }
    EMU_RETURN_NEXT;
}

LANE_INLINE void write_all(emu_wave *w, const emu_op *op, element e, uint32_t data, int32_t offset)
{
    uint64_t exec = emu_exec_mask(w);
    report(w, op, offset, element_bytes(e), true);
    for (uint32_t c = 0; c < N_CHUNKS; c++) {
        chunk_address at = lds_address(w, op, offset, c);
        uint32_t mask = chunk_mask(exec, c) & mask_in_range(w, at.lo, offset, element_bytes(e));
        if (mask)
            store_chunk(e, w->vgprs + data + CHUNK_BYTES * c, mask, at);
    }
}

LANE_INLINE const emu_op *ds_write(emu_wave *w, const emu_op *op, element e)
{
    write_all(w, op, e, op->c, op->imm);
    EMU_NEXT;
}

LANE_INLINE const emu_op *ds_write2(emu_wave *w, const emu_op *op, element e)
{
    write_all(w, op, e, op->c, op->imm);
    write_all(w, op, e, op->c2, op->imm2);
    EMU_NEXT;
}

/* Registers of results to where they belong. */
LANE_INLINE void copy_lanes(emu_wave *w, uint32_t d, const uint8_t *from, uint32_t n, uint64_t exec)
{
    for (uint32_t r = 0; r < n; r++)
        for (uint64_t left = exec; left; left &= left - 1) {
            size_t at = (size_t)EMU_VGPR_STRIDE * r + 4 * (size_t)__builtin_ctzll(left);
            memcpy(w->vgprs + d + at, from + at, 4);
        }
}

/* --- atomics --- */

/* Lanes out of range get 0 back.  cmpst prints the comparison first and the new value second. */
#define DEFINE_ATOMIC(bits)                                                                        \
    LANE_INLINE const emu_op *ds_atomic_##bits(emu_wave *w, const emu_op *op, atomic_u##bits f,    \
                                               bool swapped)                                       \
    {                                                                                              \
        uint64_t exec = emu_exec_mask(w);                                                          \
        bool returns = op->flags & EMU_OP_RETURN;                                                  \
        report(w, op, op->imm, bits / 8, true);                                                    \
        for (uint32_t c = 0; c < N_CHUNKS; c++) {                                                  \
            chunk_address at = lds_address(w, op, op->imm, c);                                     \
            uint32_t mask = chunk_mask(exec, c);                                                   \
            uint32_t in = mask & mask_in_range(w, at.lo, op->imm, bits / 8);                       \
            const uint8_t *first = w->vgprs + op->c + CHUNK_BYTES * c;                             \
            const uint8_t *second = w->vgprs + op->c2 + CHUNK_BYTES * c;                           \
            uint8_t *d = w->vgprs + op->d + CHUNK_BYTES * c;                                       \
            atomic_registers r = {swapped ? second : first, swapped ? first : second,              \
                                  returns ? d : NULL};                                             \
            atomic_chunk_##bits(f, true, r, in, at);                                               \
            if (returns)                                                                           \
                zero_lanes(bits == 32 ? E_D1 : E_D2, d, mask & ~in);                               \
        }                                                                                          \
        EMU_RETURN_NEXT;                                                                           \
    }
DEFINE_ATOMIC(32)
DEFINE_ATOMIC(64)
#undef DEFINE_ATOMIC

/* An element in the LDS; NULL when it is not wholly inside. */
LANE_INLINE uint8_t *element_in_lds(const emu_wave *w, uint32_t address, int32_t offset,
                                    uint32_t bytes)
{
    uint64_t at = (uint64_t)address + (uint32_t)offset;
    return at + bytes <= w->lds_bytes ? w->lds + at : NULL;
}

/* Two elements of each lane: both are read before either is written, should they be the same. */
LANE_INLINE const emu_op *ds_exchange2(emu_wave *w, const emu_op *op, element e)
{
    uint8_t old[4 * EMU_VGPR_STRIDE] = {0};
    const uint32_t *address = (const uint32_t *)(w->vgprs + op->a);
    const uint8_t *data[] = {w->vgprs + op->c, w->vgprs + op->c2};
    const int32_t offset[] = {op->imm, op->imm2};
    for (int i = 0; i < 2; i++)
        report(w, op, offset[i], element_bytes(e), true);
    for (uint64_t left = emu_exec_mask(w); left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(left);
        uint8_t *p[2];
        for (uint32_t i = 0; i < 2; i++) {
            p[i] = element_in_lds(w, address[lane], offset[i], element_bytes(e));
            if (p[i])
                load_lane(e, old + (size_t)EMU_VGPR_STRIDE * element_dwords(e) * i, lane, p[i]);
        }
        for (int i = 0; i < 2; i++)
            if (p[i])
                store_lane(e, data[i], lane, p[i]);
    }
    copy_lanes(w, op->d, old, 2 * element_dwords(e), emu_exec_mask(w));
    EMU_RETURN_NEXT;
}

static const emu_op *ds_wrxchg2_b32(emu_wave *w, const emu_op *op)
{
    return ds_exchange2(w, op, E_D1);
}

static const emu_op *ds_wrxchg2_b64(emu_wave *w, const emu_op *op)
{
    return ds_exchange2(w, op, E_D2);
}

/* Two neighbouring words at an address of which bits 15:3 count; each is exchanged for the data without its top bit
 * if that bit is set. */
static const emu_op *ds_condxchg32(emu_wave *w, const emu_op *op)
{
    uint8_t old[2 * EMU_VGPR_STRIDE] = {0};
    const uint32_t *address = (const uint32_t *)(w->vgprs + op->a);
    report(w, op, op->imm, 8, true);
    for (uint64_t left = emu_exec_mask(w); left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(left), data;
        uint8_t *p = element_in_lds(w, (address[lane] + (uint32_t)op->imm) & 0xfff8, 0, 8);
        if (!p)
            continue;
        load_lane(E_D2, old, lane, p);
        for (uint32_t i = 0; i < 2; i++) {
            memcpy(&data, w->vgprs + op->c + (size_t)EMU_VGPR_STRIDE * i + 4 * lane, 4);
            if (data >> 31)
                memcpy(p + 4 * i, &(uint32_t){data & 0x7fffffff}, 4);
        }
    }
    copy_lanes(w, op->d, old, 2, emu_exec_mask(w));
    EMU_RETURN_NEXT;
}

/* --- a word per lane, behind M0[15:0] + offset --- */

LANE_INLINE const emu_op *ds_addtid(emu_wave *w, const emu_op *op, bool is_store)
{
    uint32_t address[64];
    uint64_t exec = emu_exec_mask(w);
    for (uint32_t l = 0; l < 64; l++)
        address[l] = (w->s[EMU_S_M0] & 0xffff) + 4 * l;
    if (__builtin_expect(w->trace != NULL, 0)) {
        w->ip = op;
        emu_lds_report(w, address, (uint32_t)op->imm, exec, 4, is_store);
    }
    for (; exec; exec &= exec - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(exec);
        uint8_t *p = element_in_lds(w, address[lane], op->imm, 4);
        if (is_store && p)
            store_lane(E_D1, w->vgprs + op->a, lane, p);
        else if (!is_store)
            load_lane(E_D1, w->vgprs + op->d, lane, p ? p : (const uint8_t[4]){0});
    }
    EMU_RETURN_NEXT;
}

static const emu_op *ds_read_addtid(emu_wave *w, const emu_op *op)
{
    return ds_addtid(w, op, false);
}

static const emu_op *ds_write_addtid(emu_wave *w, const emu_op *op)
{
    return ds_addtid(w, op, true);
}

/* --- lane permutations --- */

/* Lane l gets the value of lane (address[l] + offset) / 4 mod 64; 0 from a lane that is off. */
static const emu_op *ds_bpermute(emu_wave *w, const emu_op *op)
{
    const uint32_t *from = (const uint32_t *)(w->vgprs + op->c);
    const uint32_t *address = (const uint32_t *)(w->vgprs + op->a);
    uint32_t *d = (uint32_t *)(w->vgprs + op->d), result[64];
    uint64_t exec = emu_exec_mask(w);
    for (uint32_t l = 0; l < 64; l++) {
        uint32_t source = (address[l] + (uint32_t)op->imm) / 4 % 64;
        result[l] = exec >> source & 1 ? from[source] : 0;
    }
    for (uint32_t l = 0; l < 64; l++)
        d[l] = exec >> l & 1 ? result[l] : d[l];
    EMU_RETURN_NEXT;
}

/* Lane l sends its value to lane (address[l] + offset) / 4 mod 64; the highest sender wins, others get 0. */
static const emu_op *ds_permute(emu_wave *w, const emu_op *op)
{
    const uint32_t *from = (const uint32_t *)(w->vgprs + op->c);
    const uint32_t *address = (const uint32_t *)(w->vgprs + op->a);
    uint32_t *d = (uint32_t *)(w->vgprs + op->d), result[64] = {0};
    uint64_t exec = emu_exec_mask(w);
    for (uint32_t l = 0; l < 64; l++)
        if (exec >> l & 1)
            result[(address[l] + (uint32_t)op->imm) / 4 % 64] = from[l];
    for (uint32_t l = 0; l < 64; l++)
        d[l] = exec >> l & 1 ? result[l] : d[l];
    EMU_RETURN_NEXT;
}

/* Lane of the butterfly order: the low five bits reversed, then as many kept in place as the mask says. */
LANE_INLINE uint32_t fft_source(uint32_t mask, uint32_t lane)
{
    uint32_t reversed = 0;
    for (uint32_t bit = 0; bit < 5; bit++)
        reversed |= (lane >> bit & 1) << (4 - bit);
    return (lane & 32) | reversed >> __builtin_popcount(mask) | (lane & mask);
}

/* From 0xe000 the order of an FFT, from 0xc000 a rotation, from 0x8000 a quad permutation by bits 7:0; below that
 * and, or, xor masks within 32 lanes. */
LANE_INLINE uint32_t swizzle_source(uint32_t pattern, uint32_t lane)
{
    uint32_t half = lane & 32, in_half = lane & 31;
    if (pattern >= 0xe000)
        return fft_source(pattern & 31, lane);
    if (pattern >= 0xc000) {
        uint32_t mask = pattern & 31, amount = pattern >> 5 & 31;
        uint32_t moved = pattern >> 10 & 1 ? in_half - amount : in_half + amount;
        return half | (in_half & mask) | (moved & ~mask & 31);
    }
    if (pattern & 0x8000)
        return (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
    return half | (((in_half & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
}

static const emu_op *ds_swizzle(emu_wave *w, const emu_op *op)
{
    const uint32_t *from = (const uint32_t *)(w->vgprs + op->a);
    uint32_t *d = (uint32_t *)(w->vgprs + op->d), result[64];
    uint64_t exec = emu_exec_mask(w);
    for (uint32_t l = 0; l < 64; l++) {
        uint32_t source = swizzle_source((uint32_t)op->imm, l);
        result[l] = exec >> source & 1 ? from[source] : 0;
    }
    for (uint32_t l = 0; l < 64; l++)
        d[l] = exec >> l & 1 ? result[l] : d[l];
    EMU_RETURN_NEXT;
}

/* --- tables --- */

#define DS_READ(name, e)                                                                           \
    static const emu_op *ds_read_##name(emu_wave *w, const emu_op *op)                             \
    {                                                                                              \
        return ds_read(w, op, E_##e);                                                              \
    }                                                                                              \
    static const emu_exec ds_read_##name##_exec[] = {ds_read_##name};
#define DS_WRITE(name, e)                                                                          \
    static const emu_op *ds_write_##name(emu_wave *w, const emu_op *op)                            \
    {                                                                                              \
        return ds_write(w, op, E_##e);                                                             \
    }                                                                                              \
    static const emu_exec ds_write_##name##_exec[] = {ds_write_##name};
#define DS_TWO(name, e)                                                                            \
    static const emu_op *ds_read2_##name(emu_wave *w, const emu_op *op)                            \
    {                                                                                              \
        return ds_read2(w, op, E_##e);                                                             \
    }                                                                                              \
    static const emu_op *ds_write2_##name(emu_wave *w, const emu_op *op)                           \
    {                                                                                              \
        return ds_write2(w, op, E_##e);                                                            \
    }                                                                                              \
    static const emu_exec ds_read2_##name##_exec[] = {ds_read2_##name};                            \
    static const emu_exec ds_write2_##name##_exec[] = {ds_write2_##name};
#define DS_ATOMIC(name, type, f, bits, swapped)                                                    \
    static const emu_op *ds_##name##_##type(emu_wave *w, const emu_op *op)                         \
    {                                                                                              \
        return ds_atomic_##bits(w, op, atomic_##f##_##bits, swapped);                              \
    }                                                                                              \
    static const emu_exec ds_##name##_##type##_exec[] = {ds_##name##_##type};
#define DS_ROW(name, encode, handler, dwords, bytes)
#include "emu/isa/ds.def"
#undef DS_READ
#undef DS_WRITE
#undef DS_TWO
#undef DS_ATOMIC
#undef DS_ROW

#define ROW(name, encode, handlers, dwords, bytes)                                                 \
    {name, encode, handlers, EMU_UNIT_LDS, 4 * (dwords), dwords, bytes, 0, 0, NULL},
#define ELEMENT_ROW(name, encode, handlers, e)                                                     \
    ROW(name, encode, handlers, ELEMENT_DWORDS(e), ELEMENT_BYTES(e))
static const emu_row rows[] = {
#define DS_READ(name, e)                                                                           \
    ELEMENT_ROW("ds_read_" #name, emu_encode_ds_return, ds_read_##name##_exec, E_##e)
#define DS_WRITE(name, e)                                                                          \
    ELEMENT_ROW("ds_write_" #name, emu_encode_ds, ds_write_##name##_exec, E_##e)
#define DS_TWO(name, e)                                                                            \
    ROW("ds_read2_" #name, emu_encode_ds_return, ds_read2_##name##_exec,                           \
        2 * ELEMENT_DWORDS(E_##e), ELEMENT_BYTES(E_##e))                                           \
    ROW("ds_read2st64_" #name, emu_encode_ds_return, ds_read2_##name##_exec,                       \
        2 * ELEMENT_DWORDS(E_##e), ELEMENT_BYTES(E_##e))                                           \
    ROW("ds_write2_" #name, emu_encode_ds, ds_write2_##name##_exec, 2 * ELEMENT_DWORDS(E_##e),     \
        ELEMENT_BYTES(E_##e))                                                                      \
    ROW("ds_write2st64_" #name, emu_encode_ds, ds_write2_##name##_exec, 2 * ELEMENT_DWORDS(E_##e), \
        ELEMENT_BYTES(E_##e))
#define DS_ATOMIC(name, type, f, bits, swapped)                                                    \
    ROW("ds_" #name "_" #type, emu_encode_ds, ds_##name##_##type##_exec, 2 * (bits) / 32,          \
        (bits) / 8)                                                                                \
    ROW("ds_" #name "_rtn_" #type, emu_encode_ds_return, ds_##name##_##type##_exec,                \
        2 * (bits) / 32, (bits) / 8)
#define DS_ROW(name, encode, handler, dwords, bytes)                                               \
    ROW(#name, emu_encode_##encode, (const emu_exec[]){handler}, dwords, bytes)
#include "emu/isa/ds.def"
};

const emu_table EMU_LEVEL(emu_table_ds) = {rows, sizeof rows / sizeof *rows};
