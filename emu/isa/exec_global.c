/* emu/isa/exec_global.c: global_* and flat_* loads, stores, atomics, and loads to LDS.
 *
 * Device addresses are host addresses.  A global address is a VGPR pair, or an SGPR pair plus an unsigned 32-bit VGPR;
 * a flat one is a VGPR pair that may also lie in the aperture of LDS or scratch, as its high half tells.
 * Each row of vmem.def becomes one handler per form.
 * Tested by tests/emu/test_exec_global.c.                       SPDX-License-Identifier: MIT
 */
#include "emu/isa/atomic.h"
#include "emu/isa/decode_memory.h"
#include "emu/isa/memory.h"

typedef enum address_form { VADDR, SADDR, FLAT } address_form;

/* All lanes' addresses in register layout. */
LANE_INLINE chunk_address address_of(const emu_wave *w, const emu_op *op, address_form form)
{
    const uint32_t *lo = (const uint32_t *)(w->vgprs + op->a);
    uint64_t offset = (uint64_t)(int64_t)op->imm;
    if (form == SADDR)
        return (chunk_address){lo, NULL, emu_s64(w, op->b) + offset};
    return (chunk_address){lo, lo + EMU_VGPR_STRIDE / 4, offset};
}

LANE_INLINE void report(emu_wave *w, chunk_address at, uint32_t bytes, bool is_store)
{
    if (__builtin_expect(w->trace != NULL, 0))
        emu_memory_report(w, at.lo, at.hi, at.base, emu_exec_mask(w), bytes, is_store);
}

/* Does an active lane's flat address lie in an aperture? */
LANE_INLINE bool leaves_global(const emu_wave *w, const emu_op *op)
{
    const uint8_t *hi = w->vgprs + op->a + EMU_VGPR_STRIDE;
    u32v shared = splat32((uint32_t)(w->shared_aperture >> 32));
    u32v private = splat32((uint32_t)(w->private_aperture >> 32));
    uint64_t exec = emu_exec_mask(w);
    uint32_t found = 0;
    for (uint32_t c = 0; c < N_CHUNKS; c++) {
        u32v high = *chunk_of(hi + CHUNK_BYTES * c, 0);
        uint32_t global = mask_differs(high, shared) & mask_differs(high, private);
        found |= ~global & chunk_mask(exec, c);
    }
    return found != 0;
}

/* --- loads and stores --- */

static __attribute__((noinline)) const emu_op *flat_load_translated(emu_wave *w, const emu_op *op,
                                                                    element e)
{
    emu_flat_address host;
    if (!emu_flat_translate(w, op, element_bytes(e), &host))
        return NULL;
    load_wave(e, w->vgprs + op->d, emu_exec_mask(w), (chunk_address){host.lo, host.hi, 0});
    EMU_RETURN_NEXT;
}

static __attribute__((noinline)) const emu_op *flat_store_translated(emu_wave *w, const emu_op *op,
                                                                     element e)
{
    emu_flat_address host;
    if (!emu_flat_translate(w, op, element_bytes(e), &host))
        return NULL;
    store_wave(e, w->vgprs + op->c, emu_exec_mask(w), (chunk_address){host.lo, host.hi, 0});
    EMU_RETURN_NEXT;
}

LANE_INLINE const emu_op *load(emu_wave *w, const emu_op *op, element e, address_form form)
{
    w->ip = op;
    if (form == FLAT && __builtin_expect(leaves_global(w, op), 0))
        return flat_load_translated(w, op, e);
    chunk_address at = address_of(w, op, form);
    report(w, at, element_bytes(e), false);
    prefetch_stride(w, op, at, element_bytes(e));
    load_wave(e, w->vgprs + op->d, emu_exec_mask(w), at);
    EMU_NEXT;
}

LANE_INLINE const emu_op *store(emu_wave *w, const emu_op *op, element e, address_form form)
{
    w->ip = op;
    if (form == FLAT && __builtin_expect(leaves_global(w, op), 0))
        return flat_store_translated(w, op, e);
    chunk_address at = address_of(w, op, form);
    report(w, at, element_bytes(e), true);
    prefetch_stride(w, op, at, element_bytes(e));
    store_wave(e, w->vgprs + op->c, emu_exec_mask(w), at);
    EMU_NEXT;
}

/* --- loads to LDS --- */

LANE_INLINE const emu_op *load_lds(emu_wave *w, const emu_op *op, element e, address_form form)
{
    uint32_t data[EMU_VGPR_STRIDE / 4] __attribute__((aligned(64)));
    w->ip = op;
    chunk_address at = address_of(w, op, form);
    report(w, at, element_bytes(e), false);
    load_wave(e, (uint8_t *)data, emu_exec_mask(w), at);
    emu_lds_fill(w, data, (uint32_t)op->imm, emu_exec_mask(w));
    EMU_RETURN_NEXT;
}

/* --- atomics --- */

#define DEFINE_ATOMIC(bits)                                                                        \
    LANE_INLINE atomic_registers atomic_operands_##bits(const emu_wave *w, const emu_op *op)       \
    {                                                                                              \
        const uint8_t *data = w->vgprs + op->c;                                                    \
        uint8_t *returned = op->flags & EMU_OP_RETURN ? w->vgprs + op->d : NULL;                   \
        return (atomic_registers){data, data + EMU_VGPR_STRIDE * bits / 32, returned};             \
    }                                                                                              \
    static __attribute__((noinline))                                                               \
    const emu_op *flat_atomic_translated_##bits(emu_wave *w, const emu_op *op, atomic_u##bits f)   \
    {                                                                                              \
        emu_flat_address host;                                                                     \
        if (!emu_flat_translate(w, op, bits / 8, &host))                                           \
            return NULL;                                                                           \
        atomic_wave_##bits(f, false, atomic_operands_##bits(w, op), emu_exec_mask(w),              \
                           (chunk_address){host.lo, host.hi, 0});                                  \
        EMU_RETURN_NEXT;                                                                           \
    }                                                                                              \
    LANE_INLINE const emu_op *atomic_##bits(emu_wave *w, const emu_op *op, atomic_u##bits f,       \
                                            address_form form)                                     \
    {                                                                                              \
        w->ip = op;                                                                                \
        if (form == FLAT && __builtin_expect(leaves_global(w, op), 0))                             \
            return flat_atomic_translated_##bits(w, op, f);                                        \
        chunk_address at = address_of(w, op, form);                                                \
        report(w, at, bits / 8, true);                                                             \
        atomic_wave_##bits(f, false, atomic_operands_##bits(w, op), emu_exec_mask(w), at);         \
        EMU_RETURN_NEXT;                                                                           \
    }
DEFINE_ATOMIC(32)
DEFINE_ATOMIC(64)
#undef DEFINE_ATOMIC

/* --- tables --- */

#define HANDLER(name, call)                                                                        \
    static const emu_op *name(emu_wave *w, const emu_op *op)                                       \
    {                                                                                              \
        return call;                                                                               \
    }
#define FORMS(name, body, what)                                                                    \
    HANDLER(name##_vaddr, body(w, op, what, VADDR))                                                \
    HANDLER(name##_saddr, body(w, op, what, SADDR))                                                \
    HANDLER(name##_flat, body(w, op, what, FLAT))                                                  \
    static const emu_exec global_##name[EMU_N_GLOBAL] = {name##_vaddr, name##_saddr};              \
    static const emu_exec flat_##name[] = {name##_flat};

#define VMEM_LOAD(name, e)         FORMS(load_##name, load, E_##e)
#define VMEM_STORE(name, e)        FORMS(store_##name, store, E_##e)
#define VMEM_ATOMIC(name, f, bits) FORMS(atomic_##name, atomic_##bits, atomic_##f##_##bits)
#define VMEM_LOAD_LDS(name, e)                                                                     \
    HANDLER(load_lds_##name##_vaddr, load_lds(w, op, E_##e, VADDR))                                \
    HANDLER(load_lds_##name##_saddr, load_lds(w, op, E_##e, SADDR))                                \
    static const emu_exec global_load_lds_##name[] = {load_lds_##name##_vaddr,                     \
                                                      load_lds_##name##_saddr};
#include "emu/isa/vmem.def"
#undef VMEM_LOAD
#undef VMEM_STORE
#undef VMEM_ATOMIC
#undef VMEM_LOAD_LDS

static const emu_row rows[] = {
#define VMEM_LOAD(name, e)                                                                         \
    VMEM_LOAD_ROW("global_load_" #name, emu_encode_global_load, global_load_##name, E_##e),        \
        VMEM_LOAD_ROW("flat_load_" #name, emu_encode_global_load, flat_load_##name, E_##e),
#define VMEM_STORE(name, e)                                                                        \
    VMEM_STORE_ROW("global_store_" #name, emu_encode_global_store, global_store_##name, E_##e),    \
        VMEM_STORE_ROW("flat_store_" #name, emu_encode_global_store, flat_store_##name, E_##e),
#define VMEM_ATOMIC(name, f, bits)                                                                 \
    VMEM_ATOMIC_ROW("global_atomic_" #name, emu_encode_global_atomic, global_atomic_##name, bits), \
        VMEM_ATOMIC_ROW("flat_atomic_" #name, emu_encode_global_atomic, flat_atomic_##name, bits),
#define VMEM_LOAD_LDS(name, e)                                                                     \
    VMEM_LOAD_ROW("global_load_lds_" #name, emu_encode_global_load_lds, global_load_lds_##name,    \
                  E_##e),
#include "emu/isa/vmem.def"
};

const emu_table EMU_LEVEL(emu_table_global) = {rows, sizeof rows / sizeof *rows};
