/* emu/isa/wave.h: the state of one wave, as handlers see it.
 *
 * Nothing written at run time lives in operations (they are shared by host threads); all of it lives here.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_WAVE_H
#define MOESAIC_EMU_ISA_WAVE_H

#include "emu/isa/op.h"
#include "emu/sim.h"

#include <string.h>

typedef struct emu_workgroup emu_workgroup; /* emu/isa/workgroup.h: LDS, barrier, waves */
typedef struct emu_program emu_program;     /* emu/isa/program.h: decoded kernel */
typedef struct emu_trace emu_trace; /* emu/timing: what a timed run records; NULL otherwise */

typedef enum emu_wave_state {
    EMU_WAVE_READY,
    EMU_WAVE_BARRIER,  /* waits for the others of its workgroup */
    EMU_WAVE_SLEEPING, /* s_sleep or too long in a loop: let others run */
    EMU_WAVE_ENDED,
    EMU_WAVE_TRAPPED, /* trap_status and trap_text of the workgroup say why */
} emu_wave_state;

struct emu_wave {
    uint8_t *vgprs; /* register r of lane l: vgprs + r * EMU_VGPR_STRIDE + 4 * l */
    /* Where to go on.  A handler stores its own op here before it touches memory of the program, so that a fault
     * can be told apart: a fault handler unwinds to the run loop. */
    const emu_op *ip;
    uint8_t *lds; /* the workgroup's, lds_bytes long with slack behind */
    uint32_t lds_bytes;
    uint32_t scc;
    uint32_t mode; /* MODE register */
    uint32_t state;
    uint32_t n_constants; /* constants present in s[] */
    uint32_t index;       /* within the workgroup */
    int32_t loop_budget;  /* backward branches until a yield */
    int32_t turn_budget;  /* wave order "switching": instructions until another wave's turn */
    uint64_t random;      /* state of the generator behind turn_budget */
    uint64_t saved_exec;  /* EXEC while an operation with a narrower one runs (DPP) */
    uint64_t shared_aperture, private_aperture; /* flat addresses: LDS, scratch */
    uint32_t gpr_index;                         /* s_set_gpr_idx state */
    uint32_t hw_id, xcc_id; /* what s_getreg_b32 reads, set when the wave starts */
    uint32_t vskip;         /* s_setvskip: vector instructions do nothing */
    uint8_t *scratch;       /* lane l: scratch + l * scratch_bytes */
    uint32_t scratch_bytes;
    emu_workgroup *workgroup;
    const emu_program *program;
    emu_trace *trace;     /* timed runs: memory handlers report to it */
    uint64_t *block_runs; /* timed runs: executions per basic block */
    uint32_t n_block_runs;
    uint64_t prefetch[64]; /* last address per memory operation, for stride prefetch */
    uint32_t s[EMU_S_MAX] __attribute__((aligned(64)));
};

static inline uint64_t emu_s64(const emu_wave *w, uint32_t i)
{
    uint64_t v;
    memcpy(&v, &w->s[i], 8);
    return v;
}

static inline void emu_set_s64(emu_wave *w, uint32_t i, uint64_t v)
{
    memcpy(&w->s[i], &v, 8);
}

static inline uint64_t emu_exec_mask(const emu_wave *w)
{
    return emu_s64(w, EMU_S_EXEC);
}

/* Stop the wave's dispatch with a status and a text; returns NULL for the handler to return. */
const emu_op *emu_trap(emu_wave *w, const emu_op *op, moesaic_sim_status status, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* Handlers end with EMU_NEXT: a tail call to the following operation.  Handlers whose locals have their address taken
 * end with EMU_RETURN_NEXT and let the run loop make the call (gcc makes no tail call then). */
#define EMU_NEXT        return op[1].exec(w, op + 1)
#define EMU_RETURN_NEXT return op + 1
#define EMU_GOTO(t)                                                                                \
    do {                                                                                           \
        const emu_op *to_ = (t);                                                                   \
        return to_->exec(w, to_);                                                                  \
    } while (0)

#endif
