/* emu/isa/exec_scratch.c: scratch_* loads and stores: private memory, one piece per lane.
 *
 * Lane l owns scratch_bytes bytes at scratch + l * scratch_bytes.  The hardware interleaves the lanes dword by dword,
 * which no program can see: flat pointers into scratch get the same bytes (memory.c).  Only the time model is
 * told of the interleaved places.
 * Source: CDNA3 ISA guide, "Scratch"; LLVM AMDGPUUsage, "Architected flat scratch".
 * Tested by tests/emu/test_isa_scratch.c.                       SPDX-License-Identifier: MIT
 */
#include "emu/isa/decode_memory.h"
#include "emu/isa/memory.h"
#include "emu/isa/simd_memory.h"

/* Offsets of all lanes within their own pieces, in register layout. */
typedef struct scratch_lanes {
    uint32_t own[64] __attribute__((aligned(64)));    /* from the start of the lane's piece */
    uint32_t offset[64] __attribute__((aligned(64))); /* from the start of the wave's scratch */
} scratch_lanes;

LANE_INLINE void scratch_offsets(const emu_wave *w, const emu_op *op, scratch_lanes *out)
{
    const uint32_t *vaddr = (const uint32_t *)(w->vgprs + op->a);
    uint32_t start = w->s[op->a2] + (uint32_t)op->imm;
    uint32_t use = op->flags & EMU_OP_NO_VADDR ? 0 : ~0u;
    for (uint32_t l = 0; l < 64; l++) {
        out->own[l] = start + (vaddr[l] & use);
        out->offset[l] = l * w->scratch_bytes + out->own[l];
    }
}

/* The first active lane that reaches beyond its piece, or 64. */
LANE_INLINE uint32_t first_outside(const emu_wave *w, const scratch_lanes *lanes, uint32_t bytes)
{
    uint64_t outside = 0;
    for (uint32_t l = 0; l < 64; l++)
        outside |= (uint64_t)((uint64_t)lanes->own[l] + bytes > w->scratch_bytes) << l;
    outside &= emu_exec_mask(w);
    return outside ? (uint32_t)__builtin_ctzll(outside) : 64;
}

/* Find the lanes' places and report them; false after a trap. */
LANE_INLINE bool scratch_access(emu_wave *w, const emu_op *op, element e, bool is_store,
                                scratch_lanes *lanes)
{
    uint32_t bytes = element_bytes(e);
    w->ip = op;
    scratch_offsets(w, op, lanes);
    uint32_t outside = first_outside(w, lanes, bytes);
    if (__builtin_expect(outside < 64, 0)) {
        emu_trap(w, op, MOESAIC_SIM_ILLEGAL_ADDRESS,
                 "lane %u: scratch offset 0x%x lies beyond the lane's %u bytes", outside,
                 lanes->own[outside], w->scratch_bytes);
        return false;
    }
    if (__builtin_expect(w->trace != NULL, 0))
        emu_scratch_report(w, lanes->own, bytes, is_store);
    return true;
}

LANE_INLINE chunk_address scratch_address(const emu_wave *w, const scratch_lanes *lanes)
{
    return (chunk_address){lanes->offset, NULL, (uint64_t)(uintptr_t)w->scratch};
}

LANE_INLINE const emu_op *load(emu_wave *w, const emu_op *op, element e)
{
    scratch_lanes lanes;
    if (!scratch_access(w, op, e, false, &lanes))
        return NULL;
    load_wave(e, w->vgprs + op->d, emu_exec_mask(w), scratch_address(w, &lanes));
    EMU_RETURN_NEXT;
}

LANE_INLINE const emu_op *store(emu_wave *w, const emu_op *op, element e)
{
    scratch_lanes lanes;
    if (!scratch_access(w, op, e, true, &lanes))
        return NULL;
    store_wave(e, w->vgprs + op->c, emu_exec_mask(w), scratch_address(w, &lanes));
    EMU_RETURN_NEXT;
}

LANE_INLINE const emu_op *load_lds(emu_wave *w, const emu_op *op, element e)
{
    uint32_t data[64] __attribute__((aligned(64)));
    scratch_lanes lanes;
    if (!scratch_access(w, op, e, false, &lanes))
        return NULL;
    load_wave(e, (uint8_t *)data, emu_exec_mask(w), scratch_address(w, &lanes));
    emu_lds_fill(w, data, (uint32_t)op->imm, emu_exec_mask(w));
    EMU_RETURN_NEXT;
}

/* --- tables --- */

#define HANDLER(name, body, e)                                                                     \
    static const emu_op *name(emu_wave *w, const emu_op *op)                                       \
    {                                                                                              \
        return body(w, op, e);                                                                     \
    }                                                                                              \
    static const emu_exec name##_exec[] = {name};
#define VMEM_LOAD(name, e)     HANDLER(scratch_load_##name, load, E_##e)
#define VMEM_STORE(name, e)    HANDLER(scratch_store_##name, store, E_##e)
#define VMEM_LOAD_LDS(name, e) HANDLER(scratch_load_lds_##name, load_lds, E_##e)
#include "emu/isa/vmem.def"
#undef VMEM_LOAD
#undef VMEM_STORE
#undef VMEM_LOAD_LDS

static const emu_row rows[] = {
#define VMEM_LOAD(name, e)                                                                         \
    VMEM_LOAD_ROW("scratch_load_" #name, emu_encode_scratch_load, scratch_load_##name##_exec,      \
                  E_##e),
#define VMEM_STORE(name, e)                                                                        \
    VMEM_STORE_ROW("scratch_store_" #name, emu_encode_scratch_store, scratch_store_##name##_exec,  \
                   E_##e),
#define VMEM_LOAD_LDS(name, e)                                                                     \
    VMEM_LOAD_ROW("scratch_load_lds_" #name, emu_encode_scratch_load_lds,                          \
                  scratch_load_lds_##name##_exec, E_##e),
#include "emu/isa/vmem.def"
};

const emu_table EMU_LEVEL(emu_table_scratch) = {rows, sizeof rows / sizeof *rows};
