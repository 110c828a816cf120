/* emu/isa/exec_mubuf.c: buffer_* loads, stores, atomics, loads to LDS, and the cache instructions.
 *
 * A descriptor of four scalars gives base, stride and number of records.  A lane looks at
 *
 *   base + soffset + index * stride + voffset + instruction offset
 *
 * Range: with an index and a stride, index < records; with the lane number as the only index, no check; else
 * the bytes from the base must end within `records` bytes, for loads and stores dword by dword.  Out of range loads
 * give 0 (to LDS as well), stores and atomics are dropped: GEMM kernels use this for ragged edges.
 * Source: CDNA3 ISA guide, "Buffer addressing" and "Range checking"; that soffset takes part in the check and
 * that it goes by dword is what AMD's rocjitsu (github ROCm/rocm-systems) reports of gfx950.
 * Tested by tests/emu/test_isa_buffer.c.                        SPDX-License-Identifier: MIT
 */
#include "emu/isa/atomic.h"
#include "emu/isa/decode_memory.h"
#include "emu/isa/memory.h"

/* The fields of a descriptor that addressing needs. */
typedef struct descriptor {
    uint64_t base;
    uint32_t stride_bytes, n_records;
    bool adds_lane, swizzled;
} descriptor;

/* With the lane number in the index, the data format's bits extend the stride. */
LANE_INLINE descriptor descriptor_at(const uint32_t *s)
{
    bool adds_lane = s[3] >> 23 & 1;
    uint32_t more_stride = adds_lane ? (s[3] >> 15 & 15) << 14 : 0;
    return (descriptor){(uint64_t)(s[1] & 0xffff) << 32 | s[0], (s[1] >> 16 & 0x3fff) | more_stride,
                        s[2], adds_lane, s[1] >> 31};
}

/* Where the lanes of one instruction look, and which of them are in range. */
typedef struct buffer_access {
    chunk_address at;
    int64_t room;   /* a lane's bytes are in range when its 32-bit offset + their end <= room */
    uint64_t whole; /* active lanes whose element is wholly in range */
    uint32_t lo[64] __attribute__((aligned(64)));
    uint32_t hi[64] __attribute__((aligned(64)));
} buffer_access;

/* The VGPRs: [index] [offset]. */
LANE_INLINE const uint32_t *offset_register(const emu_wave *w, const emu_op *op)
{
    return (const uint32_t *)(w->vgprs + op->a + (op->flags & EMU_OP_IDXEN ? EMU_VGPR_STRIDE : 0));
}

LANE_INLINE uint64_t lanes_at_most(const uint32_t *lo, int64_t limit)
{
    uint64_t lanes = 0;
    if (limit < 0)
        return 0;
    uint32_t most = limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit;
    for (uint32_t c = 0; c < N_CHUNKS; c++)
        lanes |= (uint64_t)mask_at_most(((const u32v *)lo)[c], most) << CHUNK_LANES * c;
    return lanes;
}

/* No index: offsets as they are in the VGPR. */
LANE_INLINE void raw_access(const emu_wave *w, const emu_op *op, const descriptor *t,
                            uint32_t bytes, buffer_access *out)
{
    uint64_t fixed = (uint64_t)w->s[op->a2] + (uint32_t)op->imm;
    if (op->flags & EMU_OP_OFFEN)
        out->at.lo = offset_register(w, op);
    else
        out->at.lo = memset(out->lo, 0, sizeof out->lo);
    out->at.hi = NULL;
    out->at.base = t->base + fixed;
    out->room = (int64_t)t->n_records - (int64_t)fixed;
    out->whole = emu_exec_mask(w) & lanes_at_most(out->at.lo, out->room - bytes);
}

static __attribute__((noinline)) void indexed_access(const emu_wave *w, const emu_op *op,
                                                     const descriptor *t, buffer_access *out)
{
    bool indexed = op->flags & EMU_OP_IDXEN;
    const uint32_t *index = (const uint32_t *)(w->vgprs + op->a), *offset = offset_register(w, op);
    out->at = (chunk_address){out->lo, out->hi, t->base + w->s[op->a2] + (uint32_t)op->imm};
    out->room = -1;
    out->whole = 0;
    for (uint32_t l = 0; l < 64; l++) {
        uint64_t i = (uint64_t)(indexed ? index[l] : 0) + (t->adds_lane ? l : 0);
        uint64_t from_base = i * t->stride_bytes + (op->flags & EMU_OP_OFFEN ? offset[l] : 0);
        out->lo[l] = (uint32_t)from_base;
        out->hi[l] = (uint32_t)(from_base >> 32);
        out->whole |= (uint64_t)(!indexed || i < t->n_records) << l;
    }
    out->whole &= emu_exec_mask(w);
}

/* Find the lanes' places and report them; false after a trap. */
LANE_INLINE bool buffer_access_of(emu_wave *w, const emu_op *op, uint32_t bytes, bool is_store,
                                  buffer_access *out)
{
    descriptor t = descriptor_at(&w->s[op->b]);
    w->ip = op;
    if (__builtin_expect(t.swizzled, 0)) {
        emu_trap(w, op, MOESAIC_SIM_ILLEGAL_INSTRUCTION,
                 "swizzled buffer descriptors are not implemented");
        return false;
    }
    if (t.adds_lane || (op->flags & EMU_OP_IDXEN && t.stride_bytes))
        indexed_access(w, op, &t, out);
    else
        raw_access(w, op, &t, bytes, out);
    if (__builtin_expect(w->trace != NULL, 0))
        emu_memory_report(w, out->at.lo, out->at.hi, out->at.base, out->whole, bytes, is_store);
    return true;
}

/* --- lanes that are not wholly in range --- */

LANE_INLINE bool dword_in_range(const buffer_access *b, uint32_t lane_offset, uint32_t j)
{
    return (int64_t)lane_offset + 4 * j + 4 <= b->room;
}

static __attribute__((noinline)) void load_partly(element e, uint8_t *d, uint64_t rest,
                                                  const buffer_access *b)
{
    static const uint8_t zeros[16];
    for (; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest), offset = b->at.lo[lane];
        const uint8_t *p = lane_pointer(b->at, lane);
        if (element_bytes(e) < 4)
            load_lane(e, d, lane, zeros);
        else
            for (uint32_t j = 0; j < element_dwords(e); j++)
                load_lane(E_D1, d + (size_t)EMU_VGPR_STRIDE * j, lane,
                          dword_in_range(b, offset, j) ? p + 4 * j : zeros);
    }
}

static __attribute__((noinline)) void store_partly(element e, const uint8_t *s, uint64_t rest,
                                                   const buffer_access *b)
{
    for (; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        uint8_t *p = lane_pointer(b->at, lane);
        for (uint32_t j = 0; element_bytes(e) >= 4 && j < element_dwords(e); j++)
            if (dword_in_range(b, b->at.lo[lane], j))
                store_lane(E_D1, s + (size_t)EMU_VGPR_STRIDE * j, lane, p + 4 * j);
    }
}

/* --- loads and stores --- */

LANE_INLINE const emu_op *load(emu_wave *w, const emu_op *op, element e)
{
    buffer_access b;
    uint32_t to_lds[EMU_VGPR_STRIDE / 4 * ELEMENT_DWORDS(E_D4)] __attribute__((aligned(64)));
    if (!buffer_access_of(w, op, element_bytes(e), false, &b))
        return NULL;
    uint64_t rest = emu_exec_mask(w) & ~b.whole;
    uint8_t *d = op->flags & EMU_OP_TO_LDS ? (uint8_t *)to_lds : w->vgprs + op->d;
    prefetch_stride(w, op, b.at, element_bytes(e));
    if (__builtin_expect(rest != 0, 0))
        load_partly(e, d, rest, &b);
    load_wave(e, d, b.whole, b.at);
    if (op->flags & EMU_OP_TO_LDS)
        emu_lds_fill(w, to_lds, (uint32_t)op->imm, emu_exec_mask(w));
    EMU_RETURN_NEXT;
}

LANE_INLINE const emu_op *store(emu_wave *w, const emu_op *op, element e)
{
    buffer_access b;
    if (!buffer_access_of(w, op, element_bytes(e), true, &b))
        return NULL;
    uint64_t rest = emu_exec_mask(w) & ~b.whole;
    store_wave(e, w->vgprs + op->c, b.whole, b.at);
    if (__builtin_expect(rest != 0, 0))
        store_partly(e, w->vgprs + op->c, rest, &b);
    EMU_RETURN_NEXT;
}

/* --- atomics --- */

#define DEFINE_ATOMIC(bits)                                                                        \
    LANE_INLINE const emu_op *buffer_atomic_##bits(emu_wave *w, const emu_op *op,                  \
                                                   atomic_u##bits f)                               \
    {                                                                                              \
        buffer_access b;                                                                           \
        if (!buffer_access_of(w, op, bits / 8, true, &b))                                          \
            return NULL;                                                                           \
        b.room = -1; /* all or nothing */                                                          \
        uint8_t *data = w->vgprs + op->c, *d = op->flags & EMU_OP_RETURN ? data : NULL;            \
        if (d)                                                                                     \
            load_partly(bits == 32 ? E_D1 : E_D2, d, emu_exec_mask(w) & ~b.whole, &b);             \
        atomic_wave_##bits(f, false,                                                               \
                           (atomic_registers){data, data + EMU_VGPR_STRIDE * bits / 32, d},        \
                           b.whole, b.at);                                                         \
        EMU_RETURN_NEXT;                                                                           \
    }
DEFINE_ATOMIC(32)
DEFINE_ATOMIC(64)
#undef DEFINE_ATOMIC

/* --- tables --- */

#define HANDLER(name, body, what)                                                                  \
    static const emu_op *name(emu_wave *w, const emu_op *op)                                       \
    {                                                                                              \
        return body(w, op, what);                                                                  \
    }                                                                                              \
    static const emu_exec name##_exec[] = {name};
#define VMEM_LOAD(name, e)  HANDLER(buffer_load_##name, load, E_##e)
#define VMEM_STORE(name, e) HANDLER(buffer_store_##name, store, E_##e)
#define VMEM_ATOMIC(name, f, bits)                                                                 \
    HANDLER(buffer_atomic_##name, buffer_atomic_##bits, atomic_##f##_##bits)
#include "emu/isa/vmem.def"
#undef VMEM_LOAD
#undef VMEM_STORE
#undef VMEM_ATOMIC

#define CACHE_ROW(name)                                                                            \
    {                                                                                              \
        name, emu_encode_no_value, NULL, EMU_UNIT_NONE, 4, 0, 0, EMU_EFFECT_NO_VALUE, 0, NULL      \
    }
static const emu_row rows[] = {
#define VMEM_LOAD(name, e)                                                                         \
    VMEM_LOAD_ROW("buffer_load_" #name, emu_encode_buffer, buffer_load_##name##_exec, E_##e),
#define VMEM_STORE(name, e)                                                                        \
    VMEM_STORE_ROW("buffer_store_" #name, emu_encode_buffer, buffer_store_##name##_exec, E_##e),
#define VMEM_ATOMIC(name, f, bits)                                                                 \
    VMEM_ATOMIC_ROW("buffer_atomic_" #name, emu_encode_buffer, buffer_atomic_##name##_exec, bits),
#include "emu/isa/vmem.def"
    CACHE_ROW("buffer_inv"),
    CACHE_ROW("buffer_wbl2"),
};

const emu_table EMU_LEVEL(emu_table_mubuf) = {rows, sizeof rows / sizeof *rows};
