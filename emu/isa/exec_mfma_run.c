/* emu/isa/exec_mfma_run.c: runs of bf16 matrix instructions, whose sums stay in the host's registers.
 *
 * A GEMM's inner loop multiplies a few rows of A by a few columns of B and adds to the same sums again and again, with
 * LDS reads and address arithmetic in between.  When a kernel has been decoded, emu_fuse_mfma brings such
 * instructions together: it moves each one up over operations that share no register with it, and sorts the run by
 * sums.  The first operation of a run executes all of them (mfma_run.h).  Values are those of the instructions one
 * by one.  Nothing moves over a place that is jumped to or over an operation that may fault, wait or branch.
 * Tested by tests/emu/test_isa_mfma.c.                          SPDX-License-Identifier: MIT
 */
#include "emu/isa/exec_mfma_run.h"

#include "emu/isa/mfma_run.h"
#include "emu/isa/rows.h"

#if JOINS_BF16_RUNS

enum { MAX_SKIPPED = 48 /* operations that a run's instructions move over */ };

const emu_op *EMU_LEVEL(emu_run_f32_32x32x8_bf16)(emu_wave *w, const emu_op *op)
{
    run_bf16(w, op, 32);
    return op + op->a2 + 1;
}

const emu_op *EMU_LEVEL(emu_run_f32_16x16x16_bf16)(emu_wave *w, const emu_op *op)
{
    run_bf16(w, op, 16);
    return op + op->a2 + 1;
}

/* --- joining --- */

/* Registers by byte offset, [first, end). */
typedef struct registers {
    uint32_t first, end;
} registers;

static registers span(uint32_t first, uint32_t n)
{
    return (registers){first, first + n * EMU_VGPR_STRIDE};
}

static bool overlap(registers a, registers b)
{
    return a.first < b.end && b.first < a.end;
}

static registers sums_of(const emu_op *op)
{
    return span(op->d, op->exec == EMU_LEVEL(emu_run_f32_32x32x8_bf16) ? 16 : 4);
}

static bool reads(const emu_op *op, registers r)
{
    return overlap(span(op->a, RUN_OPERAND_REGISTERS), r) ||
           overlap(span(op->b, RUN_OPERAND_REGISTERS), r);
}

static bool is_runnable(const emu_op *op)
{
    bool known = op->exec == EMU_LEVEL(emu_run_f32_32x32x8_bf16) ||
                 op->exec == EMU_LEVEL(emu_run_f32_16x16x16_bf16);
    bool in_place = op->scalar_sources & 4 || op->c == op->d;
    return known && in_place;
}

/* May `op` follow `earlier` in a run whose order between different sums changes? */
static bool agrees(const emu_op *earlier, const emu_op *op)
{
    if (earlier->exec != op->exec || reads(op, sums_of(earlier)) || reads(earlier, sums_of(op)))
        return false;
    if (earlier->d == op->d)
        return !(op->scalar_sources & 4); /* a constant would start the sums again */
    return !overlap(sums_of(earlier), sums_of(op));
}

/* May a matrix operation be moved over this one, registers apart?  Those that may not end the search. */
static bool can_be_passed(const emu_op *op)
{
    const emu_row *row = emu_rows_at(op->row);
    bool quiet =
        row->unit == EMU_UNIT_SALU || row->unit == EMU_UNIT_VALU || row->unit == EMU_UNIT_LDS;
    return quiet && !row->effect;
}

/* Does the operation touch these registers?  Vector arithmetic names pairs at most.  Fields may also be scalars, which
 * look like low registers then: to stay behind without need does no harm. */
static bool touches(const emu_op *op, registers r)
{
    const uint32_t field[] = {op->d, op->a, op->b, op->c, op->a2, op->b2, op->c2};
    uint32_t n = emu_rows_at(op->row)->n_dwords;
    for (size_t f = 0; f < sizeof field / sizeof *field; f++)
        if (overlap(span(field[f], n > 2 ? n : 2), r))
            return true;
    return false;
}

static bool is_apart(const emu_op *passed, const emu_op *op)
{
    return !touches(passed, sums_of(op)) && !touches(passed, span(op->a, RUN_OPERAND_REGISTERS)) &&
           !touches(passed, span(op->b, RUN_OPERAND_REGISTERS));
}

/* Can ops[at] join the n operations at ops[0], all of ops[n .. at - 1] having been passed over? */
static bool can_join(const emu_op *ops, size_t n, size_t at)
{
    for (size_t i = 0; i < n; i++)
        if (!agrees(&ops[i], &ops[at]))
            return false;
    for (size_t i = n; i < at; i++)
        if (!is_apart(&ops[i], &ops[at]))
            return false;
    return true;
}

/* Take ops[from] out and put it in at ops[to], to <= from. */
static void move_up(emu_op *ops, size_t from, size_t to)
{
    emu_op moved = ops[from];
    memmove(&ops[to + 1], &ops[to], (from - to) * sizeof *ops);
    ops[to] = moved;
}

/* Operations with the same sums side by side, in their order. */
static void sort_by_sums(emu_op *ops, size_t n)
{
    for (size_t done = 1; done < n; done++)
        for (size_t i = done; i < n; i++)
            if (ops[i].d == ops[done - 1].d) {
                move_up(ops, i, done);
                break;
            }
}

/* Collect a run at ops[0]; returns its length. */
static size_t gather(emu_op *ops, size_t n, const bool *is_target)
{
    size_t members = 1;
    for (size_t at = 1; at < n && !is_target[at] && members < MAX_RUN && at - members < MAX_SKIPPED;
         at++) {
        if (is_runnable(&ops[at]) && can_join(ops, members, at))
            move_up(ops, at, members++);
        else if (!can_be_passed(&ops[at]))
            break;
    }
    return members;
}

void EMU_LEVEL(emu_fuse_mfma)(emu_op *ops, size_t n, const bool *is_target)
{
    for (size_t i = 0, members; i < n; i += members) {
        members = 1;
        if (!is_runnable(&ops[i]))
            continue;
        members = gather(ops + i, n - i, is_target + i);
        sort_by_sums(ops + i, members);
        ops[i].a2 = (uint32_t)members - 1;
    }
}

#else

/* Without wide host registers the sums would not stay in them. */
void EMU_LEVEL(emu_fuse_mfma)(emu_op *ops, size_t n, const bool *is_target)
{
    (void)ops, (void)n, (void)is_target;
}

#endif
