/* emu/isa/exec_mfma_run.c: runs of bf16 matrix instructions, whose sums stay in the host's registers.
 *
 * A GEMM's inner loop multiplies a few rows of A by a few columns of B and adds to the same sums again and again, with
 * LDS reads and address arithmetic in between.  When a kernel has been decoded, emu_fuse_mfma brings such
 * instructions together: it moves each one up over operations that share no register with it, and sorts the run by
 * sums.  The first operation of a run executes all of them.  Values are those of the instructions one by
 * one.  Nothing moves over a place that is jumped to or over an operation that may fault, wait or branch.
 * Tested by tests/emu/test_isa_mfma.c.                          SPDX-License-Identifier: MIT
 */
#include "emu/isa/exec_mfma_run.h"

#include "emu/isa/mfma_amx.h"
#include "emu/isa/mfma_fast.h"
#include "emu/isa/rows.h"

#if MULTIPLIES_BF16_PAIRS

enum {
    MAX_RUN = 32,     /* instructions in one run */
    MAX_SKIPPED = 48, /* operations that a run's instructions move over */
    OPERAND_REGISTERS = 2, /* of A and of B: four bf16 per lane */
};

/* --- execution --- */

/* n operations that add to the same registers. */
LANE_INLINE void add_products(emu_wave *w, const emu_op *op, uint32_t n, mfma_shape s)
{
    mfma_operands o = mfma_operands_of(w, op);
    for (uint32_t i = 0; i < s.m; i += FAST_ROWS) {
        fast_sums sum;
        fast_start(s, o.c, o.constant, 0, i, sum);
        for (uint32_t x = 0; x < n; x++)
            fast_accumulate(BF16, s, OPERAND_REGISTERS, w->vgprs + op[x].a, w->vgprs + op[x].b, 0, i, sum);
        fast_finish(s, o.d, 0, i, sum);
    }
}

/* Operations of a run that follow the one at `op` with the same sums, itself counted. */
LANE_INLINE uint32_t same_sums(const emu_op *op, uint32_t n)
{
    uint32_t same = 1;
    while (same < n && op[same].d == op->d)
        same++;
    return same;
}

LANE_INLINE void run_by_vectors(emu_wave *w, const emu_op *op, mfma_shape pairs)
{
    uint32_t n = op->a2 + 1;
    for (uint32_t i = 0, same; i < n; i += same) {
        same = same_sums(op + i, n - i);
        add_products(w, op + i, same, pairs);
    }
}

/* What was prepared of A and B for the operations of a run; most operands serve several. */
typedef struct prepared {
    uint32_t n_a, n_b;
    uint32_t a_at[MAX_RUN], b_at[MAX_RUN]; /* byte offset of the registers */
    uint8_t a[MAX_RUN][AMX_OPERAND_BYTES] __attribute__((aligned(64)));
    uint8_t b[MAX_RUN][AMX_OPERAND_BYTES] __attribute__((aligned(64)));
} prepared;

/* Where `at` is in the list, or the end of the list. */
LANE_INLINE uint32_t position(const uint32_t *list, uint32_t n, uint32_t at)
{
    uint32_t i = 0;
    while (i < n && list[i] != at)
        i++;
    return i;
}

LANE_INLINE const uint8_t *prepare_a(prepared *p, const emu_wave *w, uint32_t at, uint32_t m)
{
    uint32_t i = position(p->a_at, p->n_a, at);
    if (i < p->n_a)
        return p->a[i];
    p->a_at[p->n_a++] = at;
    if (m == 32)
        amx_prepare_a_32(w->vgprs + at, p->a[i]);
    else
        amx_prepare_a_16(w->vgprs + at, p->a[i]);
    return p->a[i];
}

LANE_INLINE const uint8_t *prepare_b(prepared *p, const emu_wave *w, uint32_t at, uint32_t m)
{
    uint32_t i = position(p->b_at, p->n_b, at);
    if (i < p->n_b)
        return p->b[i];
    p->b_at[p->n_b++] = at;
    if (m == 32)
        amx_prepare_b_32(w->vgprs + at, p->b[i]);
    else
        amx_prepare_b_16(w->vgprs + at, p->b[i]);
    return p->b[i];
}

LANE_INLINE void add_products_by_tiles(emu_wave *w, const emu_op *op, uint32_t n, uint32_t m, prepared *p)
{
    mfma_operands o = mfma_operands_of(w, op);
    if (o.c)
        amx_load_sums(o.c, m);
    else
        amx_splat_sums(o.constant);
    for (uint32_t x = 0; x < n; x++) {
        const uint8_t *a = prepare_a(p, w, op[x].a, m), *b = prepare_b(p, w, op[x].b, m);
        if (m == 32)
            amx_multiply_32(a, b);
        else
            amx_multiply_16(a, b);
    }
    amx_store_sums(o.d, m);
}

LANE_INLINE void run_by_tiles(emu_wave *w, const emu_op *op, uint32_t m)
{
    prepared p;
    uint32_t n = op->a2 + 1;
    p.n_a = p.n_b = 0;
    amx_use(m == 32 ? &amx_32x32x8 : &amx_16x16x16);
    for (uint32_t i = 0, same; i < n; i += same) {
        same = same_sums(op + i, n - i);
        add_products_by_tiles(w, op + i, same, m, &p);
    }
}

const emu_op *EMU_LEVEL(emu_run_f32_32x32x8_bf16)(emu_wave *w, const emu_op *op)
{
    if (emu_rows_tiles())
        run_by_tiles(w, op, 32);
    else
        run_by_vectors(w, op, (mfma_shape){32, 4, 1});
    return op + op->a2 + 1;
}

const emu_op *EMU_LEVEL(emu_run_f32_16x16x16_bf16)(emu_wave *w, const emu_op *op)
{
    if (emu_rows_tiles())
        run_by_tiles(w, op, 16);
    else
        run_by_vectors(w, op, (mfma_shape){16, 8, 1});
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
    return overlap(span(op->a, OPERAND_REGISTERS), r) || overlap(span(op->b, OPERAND_REGISTERS), r);
}

static bool is_runnable(const emu_op *op)
{
    bool known = op->exec == EMU_LEVEL(emu_run_f32_32x32x8_bf16) || op->exec == EMU_LEVEL(emu_run_f32_16x16x16_bf16);
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
    bool quiet = row->unit == EMU_UNIT_SALU || row->unit == EMU_UNIT_VALU || row->unit == EMU_UNIT_LDS;
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
    return !touches(passed, sums_of(op)) && !touches(passed, span(op->a, OPERAND_REGISTERS)) &&
           !touches(passed, span(op->b, OPERAND_REGISTERS));
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
    for (size_t at = 1; at < n && !is_target[at] && members < MAX_RUN && at - members < MAX_SKIPPED; at++) {
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
