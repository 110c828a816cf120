/* emu/isa/memory.c: the rare paths of memory instructions, once for all SIMD levels.
 *
 * Handlers come here only for timed runs, for flat addresses in an aperture, and for loads that go to LDS.
 * Source: CDNA3 ISA guide, "Flat instructions" and "LDS".        SPDX-License-Identifier: MIT
 */
#include "emu/isa/memory.h"

#include "emu/isa/rows.h"
#include "emu/timing/trace.h"

static uint64_t join(uint32_t lo, uint32_t hi)
{
    return (uint64_t)hi << 32 | lo;
}

/* Handlers leave the upper halves of host registers dirty, which makes the SSE code of reports wait for them. */
__attribute__((target("avx"))) static void clear_upper_halves(void)
{
    if (emu_rows_wide())
        __builtin_ia32_vzeroupper();
}

void emu_memory_report(emu_wave *w, const uint32_t *lo, const uint32_t *hi, uint64_t base,
                       uint64_t exec, uint32_t bytes_per_lane, bool is_store)
{
    uint64_t address[64];
    clear_upper_halves();
    for (uint32_t l = 0; l < 64; l++)
        address[l] = base + join(lo[l], hi ? hi[l] : 0);
    emu_trace_vmem(w, address, exec, bytes_per_lane, is_store);
}

void emu_lds_report(emu_wave *w, const uint32_t *address, uint32_t offset, uint64_t exec,
                    uint32_t bytes_per_lane, bool is_store)
{
    uint32_t at[64];
    clear_upper_halves();
    for (uint32_t l = 0; l < 64; l++)
        at[l] = address[l] + offset;
    emu_trace_lds(w, at, exec, bytes_per_lane, is_store);
}

void emu_scratch_report(emu_wave *w, const uint32_t own[64], uint32_t bytes_per_lane, bool is_store)
{
    uint64_t address[64];
    clear_upper_halves();
    for (uint32_t l = 0; l < 64; l++)
        address[l] =
            (uint64_t)(uintptr_t)w->scratch + (uint64_t)own[l] * 64 + (uint64_t)l * bytes_per_lane;
    emu_trace_vmem(w, address, emu_exec_mask(w), bytes_per_lane, is_store);
}

static const uint32_t *flat_register(const emu_wave *w, const emu_op *op, uint32_t half)
{
    return (const uint32_t *)(w->vgprs + op->a + (size_t)EMU_VGPR_STRIDE * half);
}

static bool in_aperture(uint64_t address, uint64_t aperture)
{
    return address >> 32 == aperture >> 32;
}

/* The host address of one lane, or 0 when it is out of the range of LDS or scratch. */
static uint64_t flat_host_address(const emu_wave *w, uint32_t lane, uint64_t address,
                                  uint32_t bytes)
{
    uint64_t offset = (uint32_t)address;
    if (in_aperture(address, w->shared_aperture))
        return offset + bytes <= w->lds_bytes ? (uint64_t)(uintptr_t)w->lds + offset : 0;
    if (in_aperture(address, w->private_aperture)) {
        uint64_t start = (uint64_t)(uintptr_t)w->scratch + (uint64_t)lane * w->scratch_bytes;
        return offset + bytes <= w->scratch_bytes ? start + offset : 0;
    }
    return address;
}

bool emu_flat_translate(emu_wave *w, const emu_op *op, uint32_t bytes_per_lane,
                        emu_flat_address *out)
{
    const uint32_t *lo = flat_register(w, op, 0), *hi = flat_register(w, op, 1);
    for (uint64_t rest = emu_exec_mask(w); rest; rest &= rest - 1) {
        uint32_t l = (uint32_t)__builtin_ctzll(rest);
        uint64_t flat = join(lo[l], hi[l]) + (uint64_t)(int64_t)op->imm;
        uint64_t host = flat_host_address(w, l, flat, bytes_per_lane);
        if (!host) {
            emu_trap(w, op, MOESAIC_SIM_ILLEGAL_ADDRESS,
                     "lane %u: flat address 0x%llx lies beyond %s", l, (unsigned long long)flat,
                     in_aperture(flat, w->shared_aperture) ? "the workgroup's LDS"
                                                           : "the lane's scratch");
            return false;
        }
        out->lo[l] = (uint32_t)host;
        out->hi[l] = (uint32_t)(host >> 32);
    }
    return true;
}

void emu_lds_fill(emu_wave *w, const uint32_t data[64], uint32_t offset, uint64_t exec)
{
    uint32_t start = (w->s[EMU_S_M0] & 0xffff) + offset;
    for (; exec; exec &= exec - 1) {
        uint32_t l = (uint32_t)__builtin_ctzll(exec);
        uint64_t at = (uint64_t)start + 4 * l;
        if (at + 4 <= w->lds_bytes)
            memcpy(w->lds + at, &data[l], 4);
    }
}
