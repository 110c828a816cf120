/* tuner/verify.c: the reduced problem, wave orders, guards, and the comparison with the reference.
 *
 * Three orders of waves make races show: in ascending order a wave sees what lower waves wrote, in descending order
 * what higher ones did, and with seeded switching instructions of all waves interleave.  A race of a few instructions
 * hides from some seeds: that of test_planted.c from one verification in 24 when there is one switching run for each
 * reduced problem, so there are four.  A kernel without races and without float atomics gives the same bits each time.
 * Tested by tests/tuner/test_verify.c and tests/tuner/test_planted.c.    SPDX-License-Identifier: MIT
 */
#include "tuner/verify.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VARIATIONS = 3,
    ORDERS = 3,
    SWITCHING_RUNS = 4,
    RUNS = ORDERS - 1 + SWITCHING_RUNS,
    REDUCED_EXPERTS = 5,
};

static const struct {
    moesaic_sim_order order;
    const char *name;
} orders[ORDERS] = {
    {MOESAIC_SIM_ASCENDING, "ascending"},
    {MOESAIC_SIM_DESCENDING, "descending"},
    {MOESAIC_SIM_SWITCHING, "switching"},
};

/* Workgroups that share the reduced problem: few, so that each takes several tiles in turn; 3 is no multiple of
 * the XCDs. */
static const uint32_t few_workgroups[VARIATIONS] = {8, 3, 16};

/* Whole tiles along K of each part: two, and more, so that a main loop which is unrolled and has loads in flight
 * comes round twice, with even and odd numbers of steps. */
static const int depth_tiles[VARIATIONS] = {2, 5, 3};

/* --- the reduced problem --- */

moesaic_status verify_tile_of(const cJSON *config, verify_tile *out, moesaic_text *err)
{
    int64_t m = 0, n = 0, k = 0, split_k = 0, one = 1;
    moesaic_status status = json_int(config, "tile_m", "configuration", 1, 4096, NULL, &m, err);
    if (status == MOESAIC_OK)
        status = json_int(config, "tile_n", "configuration", 1, 4096, NULL, &n, err);
    if (status == MOESAIC_OK)
        status = json_int(config, "tile_k", "configuration", 1, 4096, NULL, &k, err);
    if (status == MOESAIC_OK)
        status = json_int(config, "split_k", "configuration", 1, 64, &one, &split_k, err);
    *out = (verify_tile){(int)m, (int)n, (int)k, (int)split_k};
    return status;
}

/* A remainder below `tile`: of any parity, or a multiple of 8 where sizes are. */
static int remainder_below(int tile, bool aligned, int variation)
{
    static const int any[VARIATIONS] = {1, 13, 30}, eighths[VARIATIONS] = {8, 24, 40};
    int rest = aligned ? eighths[variation] : any[variation];
    return rest < tile ? rest : aligned ? 8 : tile - 1;
}

/* Rows of each expert, whatever top_k is: the first has two tiles and a remainder, the second none, the last one
 * row. */
static void count_rows(const verify_tile *tile, int variation, int rows[REDUCED_EXPERTS])
{
    int rest = remainder_below(tile->m, false, variation);
    const int all[REDUCED_EXPERTS] = {2 * tile->m + rest, 0, rest + 4, tile->m, 1};
    memcpy(rows, all, sizeof all);
}

/* How many of the first expert's rows are second slots of the third's and fourth's tokens. */
static int count_shared(const int rows[REDUCED_EXPERTS], int top_k)
{
    int most = rows[2] + rows[3];
    return top_k == 1 ? 0 : most < rows[0] ? most : rows[0];
}

static void swap_tokens(int32_t *expert_of_slot, int top_k, int64_t a, int64_t b)
{
    for (int i = 0; i < top_k; i++) {
        int32_t expert = expert_of_slot[a * top_k + i];
        expert_of_slot[a * top_k + i] = expert_of_slot[b * top_k + i];
        expert_of_slot[b * top_k + i] = expert;
    }
}

/* Experts of the slots by the counts, tokens in a drawn order.  The first `n_shared` tokens of experts behind the
 * first have the first, too: in slot 0 or slot 1. */
static void assign_experts(const int rows[REDUCED_EXPERTS], int n_shared, int64_t tokens, int top_k,
                           uint64_t seed, int32_t *expert_of_slot)
{
    uint64_t state = hash_mix(seed);
    int64_t t = 0;
    for (int64_t i = 0; i < tokens * top_k; i++)
        expert_of_slot[i] = -1;
    for (int e = 1; e < REDUCED_EXPERTS; e++)
        for (int i = 0; i < rows[e]; i++, t++) {
            int slot = t < n_shared && t % 3 == 0;
            expert_of_slot[t * top_k + slot] = e;
            if (t < n_shared)
                expert_of_slot[t * top_k + 1 - slot] = 0;
        }
    for (int i = n_shared; i < rows[0]; i++)
        expert_of_slot[t++ * top_k] = 0;
    for (t = tokens - 1; t > 0; t--)
        swap_tokens(expert_of_slot, top_k, t, (int64_t)(hash_next(&state) % (uint64_t)(t + 1)));
}

moesaic_status verify_reduced_shape(const moe_shape *full, const verify_tile *tile, int variation,
                                    moe_shape *shape, routing_table *routing, moesaic_text *err)
{
    int rows[REDUCED_EXPERTS], panel = tile->n / moe_panels(full);
    int cols = 2 * panel + remainder_below(panel, full->aligned, variation);
    int depth = depth_tiles[variation] * tile->k * tile->split_k +
                remainder_below(tile->k, full->aligned, variation);
    *shape = (moe_shape){.down = full->down,
                         .aligned = full->aligned,
                         .hidden = full->down ? cols : depth,
                         .ffn = full->down ? depth : cols,
                         .experts = REDUCED_EXPERTS,
                         .top_k = full->top_k > 1 ? 2 : 1};
    count_rows(tile, variation, rows);
    int n_shared = count_shared(rows, shape->top_k);
    shape->tokens = 3 - n_shared; /* three are without an expert */
    for (int e = 0; e < REDUCED_EXPERTS; e++)
        shape->tokens += rows[e];
    int32_t *experts = malloc((size_t)moe_slots(shape) * sizeof *experts);
    if (!experts)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a reduced problem");
    assign_experts(rows, n_shared, shape->tokens, shape->top_k, (uint64_t)variation, experts);
    moesaic_status status = routing_build(experts, shape->tokens, shape->experts, shape->top_k,
                                          (uint64_t)variation, routing, err);
    free(experts);
    return status;
}

/* --- running --- */

moesaic_status verify_blame(device *dev, moesaic_status status, verdict *out, moesaic_text *err)
{
    moesaic_sim_result last = {.size_bytes = sizeof last};
    if (status != MOESAIC_E_TIMEOUT && status != MOESAIC_E_LAUNCH)
        return status;
    bool told = device_sim_last(dev, &last) && last.text[0];
    out->status = status == MOESAIC_E_TIMEOUT ? DB_TRIAL_TIMEOUT : DB_TRIAL_FAULT;
    snprintf(out->reason, sizeof out->reason, "%.250s", told ? last.text : err->s);
    return MOESAIC_OK;
}

void verify_set_mode(device *dev, moesaic_sim_mode mode, moesaic_sim_order order, uint64_t seed,
                     const moe_operands *o)
{
    moesaic_sim_options options = {.size_bytes = sizeof options};
    if (!device_sim_get(dev, &options))
        return;
    options.mode = mode;
    options.mfma = MOESAIC_SIM_MFMA_FAST;
    options.order = order;
    options.seed = seed;
    options.wall_limit_s = VERIFY_LIMIT_S(moe_flops(&o->shape, o->routing.rows));
    device_sim_set(dev, &options);
}

/* Run for values only, in this order of waves where the device knows orders. */
static moesaic_status run_exact(const variant *code, const moe_operands *o, moesaic_sim_order order,
                                uint64_t seed, verdict *out, moesaic_text *err)
{
    verify_set_mode(code->dev, MOESAIC_SIM_EXACT, order, seed, o);
    moesaic_status status = variant_run(code, o, err);
    if (status == MOESAIC_OK)
        status = device_synchronize(code->dev, NULL, err);
    return verify_blame(code->dev, status, out, err);
}

/* --- looking at the output --- */

static void set_wrong(verdict *out, double max_error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void set_wrong(verdict *out, double max_error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->reason, sizeof out->reason, format, arguments);
    va_end(arguments);
    out->status = DB_TRIAL_WRONG;
    out->max_error = max_error;
}

static moesaic_status check_guard(const guarded *g, const char *name, verdict *out,
                                  moesaic_text *err)
{
    bool intact;
    int64_t where;
    moesaic_status status = g->base ? guard_check(g, &intact, &where, err) : MOESAIC_OK;
    if (status == MOESAIC_OK && g->base && !intact)
        set_wrong(out, INFINITY, "wrote outside %s, at byte %lld of %zu", name, (long long)where,
                  g->n_bytes);
    return status;
}

/* Padding of rows, and rows that no expert serves, stay as they were filled. */
static void check_untouched(const moe_operands *o, const uint16_t *out, verdict *v)
{
    int cols = moe_out_cols(&o->shape);
    int64_t served = o->shape.down ? o->shape.tokens : o->routing.rows;
    for (int64_t row = 0; row < moe_out_rows(&o->shape); row++)
        for (int64_t col = row < served ? cols : 0; col < o->ldout; col++)
            if (out[row * o->ldout + col] != 0xffff) {
                set_wrong(v, INFINITY, "wrote to row %lld, column %lld: the output has %lld x %d",
                          (long long)row, (long long)col, (long long)served, cols);
                return;
            }
}

static void check_values(const moe_operands *o, const moe_reference *r, const uint16_t *out,
                         verdict *v)
{
    reference_error worst = reference_compare(r, o, out);
    v->error_bound = r->bound;
    if (worst.max_error <= r->bound)
        v->max_error = worst.max_error > v->max_error ? worst.max_error : v->max_error;
    else
        set_wrong(v, worst.max_error,
                  "row %lld, column %d of tokens=%lld hidden=%d ffn=%d: want %.6g, got %.6g",
                  (long long)worst.row, worst.col, (long long)o->shape.tokens, o->shape.hidden,
                  o->shape.ffn, (double)worst.want, (double)worst.got);
}

static moesaic_status read_output(const moe_operands *o, uint16_t **out, moesaic_text *err)
{
    size_t n_bytes = o->d_out.n_bytes;
    *out = malloc(n_bytes ? n_bytes : 1);
    if (!*out)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no host memory for an output of %zu bytes",
                            n_bytes);
    return device_copy_out(o->d_out.dev, *out, guard_data(&o->d_out), n_bytes, err);
}

static moesaic_status check_output(const moe_operands *o, const moe_reference *r,
                                   const uint16_t *values, verdict *v, moesaic_text *err)
{
    check_values(o, r, values, v);
    if (v->status == DB_TRIAL_OK)
        check_untouched(o, values, v);
    moesaic_status status = MOESAIC_OK;
    if (v->status == DB_TRIAL_OK)
        status = check_guard(&o->d_out, "the output", v, err);
    if (status == MOESAIC_OK && v->status == DB_TRIAL_OK)
        status = check_guard(&o->d_workspace, "the workspace", v, err);
    return status;
}

moesaic_status verify_output(const moe_operands *o, const moe_reference *r, verdict *out,
                             moesaic_text *err)
{
    uint16_t *values = NULL;
    *out = (verdict){.status = DB_TRIAL_OK, .error_bound = r->bound};
    moesaic_status status = read_output(o, &values, err);
    if (status == MOESAIC_OK)
        status = check_output(o, r, values, out, err);
    free(values);
    return status;
}

moesaic_status verify_full(const variant *code, moe_operands *o, const moe_reference *r,
                           verdict *out, moesaic_text *err)
{
    *out = (verdict){.status = DB_TRIAL_OK, .error_bound = r->bound};
    moesaic_status status =
        operands_reserve(o, variant_workspace_bytes(code, moe_slots(&o->shape)), err);
    if (status == MOESAIC_OK)
        status = guard_fill(&o->d_out, err);
    if (status == MOESAIC_OK)
        status = run_exact(code, o, MOESAIC_SIM_ASCENDING, o->seed, out, err);
    if (status == MOESAIC_OK && out->status == DB_TRIAL_OK)
        status = verify_output(o, r, out, err);
    return status;
}

/* --- three orders --- */

static void compare_orders(const moe_operands *o, const uint16_t *first, const uint16_t *other,
                           const char *order, verdict *v)
{
    size_t n = o->d_out.n_bytes / sizeof *first, i = 0;
    while (i < n && first[i] == other[i])
        i++;
    if (i == n)
        return;
    set_wrong(v, v->max_error,
              "a race: row %lld, column %lld differs between ascending and %s order of waves",
              (long long)i / o->ldout, (long long)i % o->ldout, order);
    v->status = DB_TRIAL_RACE;
}

/* Orders until one shows something: the first is compared with the reference, the others with the first. */
static moesaic_status run_orders(const variant *code, moe_operands *o, const moe_reference *r,
                                 verdict *v, moesaic_text *err)
{
    uint16_t *first = NULL, *other = NULL;
    moesaic_status status = MOESAIC_OK;
    for (int i = 0; i < RUNS && status == MOESAIC_OK && v->status == DB_TRIAL_OK; i++) {
        int order = i < ORDERS ? i : ORDERS - 1;
        status = guard_fill(&o->d_out, err);
        if (status == MOESAIC_OK)
            status = guard_fill(&o->d_workspace, err);
        if (status == MOESAIC_OK)
            status =
                run_exact(code, o, orders[order].order, hash_mix(o->seed + (uint64_t)i), v, err);
        if (status != MOESAIC_OK || v->status != DB_TRIAL_OK)
            break;
        status = read_output(o, i ? &other : &first, err);
        if (status == MOESAIC_OK && i == 0)
            status = check_output(o, r, first, v, err);
        else if (status == MOESAIC_OK)
            compare_orders(o, first, other, orders[order].name, v);
        free(other);
        other = NULL;
    }
    free(first);
    return status;
}

/* Workspace is proportional to the row's width; the launch states it for the full problem's. */
static size_t reduced_workspace(const variant *code, const moe_shape *full,
                                const moe_shape *reduced)
{
    size_t bytes = variant_workspace_bytes(code, moe_slots(reduced));
    size_t width = (size_t)full->hidden;
    return reduced->hidden > full->hidden ? (bytes / width + 1) * (size_t)reduced->hidden : bytes;
}

static moesaic_status run_variation(const variant *code, const moe_shape *full,
                                    const verify_tile *tile, int variation, uint64_t seed,
                                    verdict *out, moesaic_text *err)
{
    moe_shape shape;
    routing_table routing = {0};
    moe_operands o = {0};
    moe_reference r = {0};
    variant few = *code;
    for (int i = 0; i < few.n_kernels; i++)
        if (few.geometry[i].workgroups[0] > few_workgroups[variation])
            few.geometry[i].workgroups[0] = few_workgroups[variation];
    moesaic_status status = verify_reduced_shape(full, tile, variation, &shape, &routing, err);
    if (status == MOESAIC_OK)
        status = operands_make(&shape, &routing, shape.aligned ? 8 : 3, 0, seed, &o, err);
    if (status == MOESAIC_OK)
        status = operands_upload(&o, code->dev, reduced_workspace(code, full, &shape), err);
    if (status == MOESAIC_OK)
        status = reference_make(&o, REFERENCE_FP64, &r, err);
    if (status == MOESAIC_OK)
        status = run_orders(&few, &o, &r, out, err);
    reference_free(&r);
    operands_free(&o);
    return status;
}

moesaic_status verify_reduced(const variant *code, const moe_shape *full, const verify_tile *tile,
                              uint64_t seed, verdict *out, moesaic_text *err)
{
    moesaic_status status = MOESAIC_OK;
    *out = (verdict){.status = DB_TRIAL_OK};
    for (int v = 0; v < VARIATIONS && status == MOESAIC_OK && out->status == DB_TRIAL_OK; v++)
        status = run_variation(code, full, tile, v, hash_mix(seed + (uint64_t)v), out, err);
    return status;
}
