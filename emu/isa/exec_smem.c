/* emu/isa/exec_smem.c: scalar loads, stores and atomics, and the two clocks.
 *
 * Addresses ignore their low two bits.  Buffer forms check each dword against the descriptor: out of range reads
 * are 0 and writes are dropped.                     SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "emu/isa/atomic.h"
#include "emu/isa/decode_memory.h"

LANE_INLINE uint64_t scalar_offset(const emu_wave *w, const emu_op *op)
{
    return (uint64_t)w->s[op->a2] + (uint64_t)(int64_t)op->imm;
}

LANE_INLINE uint32_t *scalar_address(const emu_wave *w, const emu_op *op)
{
    return (uint32_t *)(uintptr_t)((emu_s64(w, op->b) + scalar_offset(w, op)) & ~(uint64_t)3);
}

LANE_INLINE const emu_op *scalar_load(emu_wave *w, const emu_op *op, uint32_t n)
{
    w->ip = op;
    memcpy(&w->s[op->d], scalar_address(w, op), 4 * n);
    EMU_NEXT;
}

LANE_INLINE const emu_op *scalar_store(emu_wave *w, const emu_op *op, uint32_t n)
{
    w->ip = op;
    memcpy(scalar_address(w, op), &w->s[op->d], 4 * n);
    EMU_NEXT;
}

/* Bytes that a descriptor covers: records are bytes, or elements of its stride. */
LANE_INLINE uint64_t buffer_bytes(const uint32_t *descriptor)
{
    uint32_t stride = descriptor[1] >> 16 & 0x3fff;
    return (uint64_t)descriptor[2] * (stride ? stride : 1);
}

LANE_INLINE uint8_t *buffer_base(const uint32_t *descriptor)
{
    return (uint8_t *)(uintptr_t)((uint64_t)(descriptor[1] & 0xffff) << 32 | descriptor[0]);
}

LANE_INLINE const emu_op *buffer_load(emu_wave *w, const emu_op *op, uint32_t n)
{
    const uint32_t *descriptor = &w->s[op->b];
    uint64_t bytes = buffer_bytes(descriptor), offset = scalar_offset(w, op) & ~(uint64_t)3;
    const uint8_t *base = buffer_base(descriptor);
    w->ip = op;
    for (uint32_t j = 0; j < n; j++, offset += 4) {
        if (offset + 4 <= bytes)
            memcpy(&w->s[op->d + j], base + offset, 4);
        else
            w->s[op->d + j] = 0;
    }
    EMU_NEXT;
}

LANE_INLINE const emu_op *buffer_store(emu_wave *w, const emu_op *op, uint32_t n)
{
    const uint32_t *descriptor = &w->s[op->b];
    uint64_t bytes = buffer_bytes(descriptor), offset = scalar_offset(w, op) & ~(uint64_t)3;
    w->ip = op;
    for (uint32_t j = 0; j < n; j++, offset += 4)
        if (offset + 4 <= bytes)
            memcpy(buffer_base(descriptor) + offset, &w->s[op->d + j], 4);
    EMU_NEXT;
}

/* cmpswap: data in the first register(s), the comparison behind. */
LANE_INLINE const emu_op *scalar_atomic_32(emu_wave *w, const emu_op *op, atomic_u32 f)
{
    w->ip = op;
    uint32_t old = atomic_change_32(f, scalar_address(w, op), w->s[op->d], w->s[op->d + 1]);
    if (op->flags & EMU_OP_RETURN)
        w->s[op->d] = old;
    EMU_RETURN_NEXT;
}

LANE_INLINE const emu_op *scalar_atomic_64(emu_wave *w, const emu_op *op, atomic_u64 f)
{
    w->ip = op;
    uint64_t old =
        atomic_change_64(f, scalar_address(w, op), emu_s64(w, op->d), emu_s64(w, op->d + 2));
    if (op->flags & EMU_OP_RETURN)
        emu_set_s64(w, op->d, old);
    EMU_RETURN_NEXT;
}

/* Core clocks at 2.1 GHz, and a constant 100 MHz, both from the host's monotonic clock. */
static const emu_op *s_memtime(emu_wave *w, const emu_op *op)
{
    emu_set_s64(w, op->d, clock_monotonic_ns() * 21 / 10);
    EMU_NEXT;
}

static const emu_op *s_memrealtime(emu_wave *w, const emu_op *op)
{
    emu_set_s64(w, op->d, clock_monotonic_ns() / 10);
    EMU_NEXT;
}

#define HANDLER(name, body, what)                                                                  \
    static const emu_op *name(emu_wave *w, const emu_op *op)                                       \
    {                                                                                              \
        return body(w, op, what);                                                                  \
    }                                                                                              \
    static const emu_exec name##_exec[] = {name};
#define LOADS(X)  X(dword, 1) X(dwordx2, 2) X(dwordx4, 4) X(dwordx8, 8) X(dwordx16, 16)
#define STORES(X) X(dword, 1) X(dwordx2, 2) X(dwordx4, 4)
#define ATOMICS(X)                                                                                 \
    X(swap)                                                                                        \
    X(cmpswap) X(add) X(sub) X(smin) X(umin) X(smax) X(umax) X(and) X(or) X(xor) X(inc) X(dec)

#define LOAD(name, n)                                                                              \
    HANDLER(s_load_##name, scalar_load, n)                                                         \
    HANDLER(s_buffer_load_##name, buffer_load, n)
#define STORE(name, n)                                                                             \
    HANDLER(s_store_##name, scalar_store, n)                                                       \
    HANDLER(s_buffer_store_##name, buffer_store, n)
#define ATOMIC(name)                                                                               \
    HANDLER(s_atomic_##name, scalar_atomic_32, atomic_##name##_32)                                 \
    HANDLER(s_atomic_##name##_x2, scalar_atomic_64, atomic_##name##_64)
LOADS(LOAD)
STORES(STORE)
ATOMICS(ATOMIC)
static const emu_exec s_memtime_exec[] = {s_memtime}, s_memrealtime_exec[] = {s_memrealtime};

#define ROW(name, n)       {#name, emu_encode_smem, name##_exec, EMU_UNIT_SMEM, 4, n, 4, 0, 0, NULL},
#define LOAD_ROW(name, n)  ROW(s_load_##name, n) ROW(s_buffer_load_##name, n)
#define STORE_ROW(name, n) ROW(s_store_##name, n) ROW(s_buffer_store_##name, n)
#define ATOMIC_ROW(name)   ROW(s_atomic_##name, 1) ROW(s_atomic_##name##_x2, 2)
#define TIME_ROW(name)                                                                             \
    {#name, emu_encode_smem_time, name##_exec, EMU_UNIT_SMEM, 4, 2, 4, 0, 0, NULL},
#define CACHE_ROW(name)                                                                            \
    {#name, emu_encode_no_value, NULL, EMU_UNIT_SMEM, 4, 0, 0, EMU_EFFECT_NO_VALUE, 0, NULL},
static const emu_row rows[] = {LOADS(LOAD_ROW) STORES(STORE_ROW) ATOMICS(ATOMIC_ROW) TIME_ROW(
    s_memtime) TIME_ROW(s_memrealtime) CACHE_ROW(s_dcache_inv) CACHE_ROW(s_dcache_wb)
                                   CACHE_ROW(s_dcache_inv_vol) CACHE_ROW(s_dcache_wb_vol)
                                       CACHE_ROW(s_dcache_discard) CACHE_ROW(s_dcache_discard_x2)
                                           CACHE_ROW(s_atc_probe) CACHE_ROW(s_atc_probe_buffer)};

const emu_table EMU_LEVEL(emu_table_smem) = {rows, sizeof rows / sizeof *rows};
