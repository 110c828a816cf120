/* emu/isa/exec_control.c: branches, calls, barrier, sleep, traps, hardware registers; and internal operations.
 *
 * A backward branch costs loop budget, so that a wave that spins gives way to the wave it waits for.
 * Source: CDNA3 ISA guide, "Program Flow Control", "Hardware Registers".      SPDX-License-Identifier: MIT
 */
#include "emu/isa/decode.h"
#include "emu/isa/mode.h"
#include "emu/isa/program.h"

#define HANDLER(name) static const emu_op *name(emu_wave *w, const emu_op *op)

enum { HWREG_MODE = 1, HWREG_STATUS = 2, HWREG_HW_ID = 4, HWREG_XCC_ID = 20 };

HANDLER(missing)
{
    w->ip = op;
    return emu_trap(w, op, MOESAIC_SIM_ILLEGAL_INSTRUCTION, "instruction not supported");
}

HANDLER(nothing)
{
    EMU_NEXT;
}

HANDLER(block)
{
    w->block_runs[op->imm]++;
    EMU_NEXT;
}

HANDLER(preempt)
{
    if (--w->turn_budget >= 0)
        EMU_NEXT;
    w->ip = op + 1;
    w->state = EMU_WAVE_READY;
    return NULL;
}

HANDLER(exec_restore)
{
    emu_set_s64(w, EMU_S_EXEC, w->saved_exec);
    EMU_NEXT;
}

HANDLER(read_scc)
{
    w->s[EMU_S_SCC] = w->scc;
    w->s[EMU_S_SCC + 1] = 0;
    EMU_NEXT;
}

HANDLER(branch_forward)
{
    EMU_GOTO(op->target);
}

static const emu_op *yield_at(emu_wave *w, const emu_op *to)
{
    w->ip = to;
    w->state = EMU_WAVE_SLEEPING;
    return NULL;
}

HANDLER(s_branch)
{
    if (op->target <= op && --w->loop_budget < 0)
        return yield_at(w, op->target);
    EMU_GOTO(op->target);
}

#define BRANCH_IF(name, condition)                                                                 \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        if (!(condition))                                                                          \
            EMU_NEXT;                                                                              \
        if (op->target <= op && --w->loop_budget < 0)                                              \
            return yield_at(w, op->target);                                                        \
        EMU_GOTO(op->target);                                                                      \
    }
BRANCH_IF(s_cbranch_scc0, !w->scc)
BRANCH_IF(s_cbranch_scc1, w->scc)
BRANCH_IF(s_cbranch_vccz, !emu_s64(w, EMU_S_VCC))
BRANCH_IF(s_cbranch_vccnz, emu_s64(w, EMU_S_VCC))
BRANCH_IF(s_cbranch_execz, !emu_exec_mask(w))
BRANCH_IF(s_cbranch_execnz, emu_exec_mask(w))

HANDLER(s_endpgm)
{
    w->ip = op;
    w->state = EMU_WAVE_ENDED;
    return NULL;
}

HANDLER(s_barrier)
{
    w->ip = op + 1;
    w->state = EMU_WAVE_BARRIER;
    return NULL;
}

HANDLER(s_sleep)
{
    return yield_at(w, op + 1);
}

HANDLER(s_trap)
{
    w->ip = op;
    return emu_trap(w, op, MOESAIC_SIM_TRAP, "s_trap %d (%s)", op->imm,
                    op->imm == 2 ? "abort or failed assertion" : "breakpoint");
}

static const emu_op *go_to_address(emu_wave *w, const emu_op *op, uint64_t address)
{
    w->ip = op;
    const emu_op *to = emu_program_at(w, address);
    if (!to)
        return emu_trap(w, op, MOESAIC_SIM_ILLEGAL_INSTRUCTION, "jump to 0x%llx: out of memory",
                        (unsigned long long)address);
    return --w->loop_budget < 0 ? yield_at(w, to) : to;
}

static void set_next_address(emu_wave *w, const emu_op *op)
{
    w->s[op->d] = (uint32_t)op->imm;
    w->s[op->d + 1] = (uint32_t)op->imm2;
}

HANDLER(s_getpc)
{
    set_next_address(w, op);
    EMU_NEXT;
}

HANDLER(s_setpc)
{
    return go_to_address(w, op, emu_s64(w, op->d));
}

HANDLER(s_swappc)
{
    uint64_t to = emu_s64(w, op->a);
    set_next_address(w, op);
    return go_to_address(w, op, to);
}

HANDLER(s_call)
{
    set_next_address(w, op);
    EMU_GOTO(op->target);
}

/* hwreg operand: id in bits 5:0, first bit in 10:6, width - 1 in 15:11. */
static uint32_t hwreg_mask(const emu_op *op)
{
    uint32_t width = ((uint32_t)op->imm >> 11 & 31) + 1;
    return width == 32 ? ~0u : (1u << width) - 1;
}

HANDLER(s_getreg)
{
    uint32_t id = (uint32_t)op->imm & 63, shift = (uint32_t)op->imm >> 6 & 31, value = 0;
    if (id == HWREG_MODE)
        value = w->mode;
    else if (id == HWREG_STATUS)
        value = (w->scc & 1) | (uint32_t)!emu_exec_mask(w) << 9 |
                (uint32_t)!emu_s64(w, EMU_S_VCC) << 10;
    else if (id == HWREG_HW_ID)
        value = w->hw_id;
    else if (id == HWREG_XCC_ID)
        value = w->xcc_id;
    w->s[op->d] = value >> shift & hwreg_mask(op);
    EMU_NEXT;
}

/* Only MODE can be written to any effect. */
static void set_hwreg(emu_wave *w, const emu_op *op, uint32_t value)
{
    uint32_t shift = (uint32_t)op->imm >> 6 & 31, mask = hwreg_mask(op) << shift;
    if (((uint32_t)op->imm & 63) == HWREG_MODE)
        w->mode = (w->mode & ~mask) | (value << shift & mask);
    emu_mode_enter(w->mode);
}

HANDLER(s_setreg)
{
    set_hwreg(w, op, w->s[op->a]);
    EMU_NEXT;
}

HANDLER(s_setreg_imm32)
{
    set_hwreg(w, op, (uint32_t)op->imm2);
    EMU_NEXT;
}

/* --- VGPR numbers relative to M0: index in bits 7:0, in 15:12 which of src0, src1, src2 and the result --- */

static void set_m0(emu_wave *w, uint32_t mask, uint32_t value)
{
    w->s[EMU_S_M0] = (w->s[EMU_S_M0] & ~mask) | (value & mask);
}

HANDLER(s_set_gpr_idx_on)
{
    set_m0(w, 0xf0ff, (w->s[op->a] & 0xff) | (uint32_t)op->imm << 12);
    EMU_NEXT;
}

HANDLER(s_set_gpr_idx_mode)
{
    set_m0(w, 0xf000, (uint32_t)op->imm << 12);
    EMU_NEXT;
}

HANDLER(s_set_gpr_idx_idx)
{
    set_m0(w, 0xff, w->s[op->a]);
    EMU_NEXT;
}

/* Execute a copy of the operation behind this one, with the registers of this moment; then go back.  It is vector
 * arithmetic, which neither faults nor gives way, so a copy per host thread is enough. */
HANDLER(index_registers)
{
    static _Thread_local emu_op copy[2];
    uint32_t m0 = w->s[EMU_S_M0], which = (uint32_t)op->imm & m0 >> 12;
    uint32_t *const field[] = {&copy[0].a, &copy[0].b, &copy[0].c, &copy[0].d};
    copy[0] = op[1];
    copy[1].exec = branch_forward;
    copy[1].target = op + 2;
    for (int i = 0; i < 4; i++) {
        if (which >> i & 1)
            *field[i] += (m0 & 0xff) * EMU_VGPR_STRIDE;
        if (which >> i & 1 && *field[i] >= (uint32_t)op->imm2 * EMU_VGPR_STRIDE) {
            w->ip = op;
            return emu_trap(w, op, MOESAIC_SIM_ILLEGAL_INSTRUCTION,
                            "v%u by way of M0 is beyond the kernel's %d registers",
                            *field[i] / EMU_VGPR_STRIDE, op->imm2);
        }
    }
    EMU_GOTO(copy);
}

enum {
    EFFECT_NONE = 0,
    EFFECT_END = EMU_EFFECT_END,
    EFFECT_BRANCH = EMU_EFFECT_BRANCH,
    EFFECT_JUMP = EMU_EFFECT_BRANCH | EMU_EFFECT_END,
    EFFECT_PC = EMU_EFFECT_PC,
    EFFECT_CALL = EMU_EFFECT_BRANCH | EMU_EFFECT_PC,
    EFFECT_NO_VALUE = EMU_EFFECT_NO_VALUE,
};

static const emu_row rows[] = {
#define CONTROL(name, encoder, handler, u, n, e)                                                   \
    {.mnemonic = name,                                                                             \
     .encode = emu_encode_##encoder,                                                               \
     .exec = (const emu_exec[]){handler},                                                          \
     .unit = EMU_UNIT_##u,                                                                         \
     .cycles = n,                                                                                  \
     .effect = EFFECT_##e},
#include "emu/isa/control.def"
};

extern const emu_table EMU_LEVEL(emu_table_control);
const emu_table EMU_LEVEL(emu_table_control) = {rows, sizeof rows / sizeof rows[0]};
