/* tuner/evaluate.c: running variants in a worker: verification, timing, and what both are done with.
 *
 * Tested by tests/tuner/test_planted.c and tests/cli/test_tune.sh.    SPDX-License-Identifier: MIT
 */
#include "tuner/evaluate.h"

#include "tuner/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A modelled reference is exact up to here; above, BLAS in fp32 is precise enough and much faster. */
#define FP64_FLOPS 2e8

/* Silicon's L2 and Infinity Cache hold 256 MiB and more; writing this much leaves nothing of the operands. */
enum { FLUSH_BYTES = 512 << 20 };

/* The worker's memory between requests. */
typedef struct evaluator {
    device *dev;
    int problem; /* whose operands and reference these are; -1: none */
    uint64_t seed;
    moe_operands operands;
    moe_reference reference; /* value NULL: not made yet */
    void *flush;
} evaluator;

static moesaic_status open_evaluator(void **state, evaluator **out, moesaic_text *err)
{
    *out = *state;
    if (*out)
        return MOESAIC_OK;
    evaluator *e = calloc(1, sizeof *e);
    if (!e)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a device");
    e->problem = -1;
    moesaic_status status = device_open(0, &e->dev, err);
    if (status != MOESAIC_OK) {
        free(e);
        return status;
    }
    *state = *out = e;
    return MOESAIC_OK;
}

/* --- operands and reference of the problem at hand --- */

moesaic_status evaluate_routing(const tuner_problem *p, const moe_shape *shape, uint64_t seed,
                                routing_table *out, moesaic_text *err)
{
    int32_t *experts = malloc((size_t)moe_slots(shape) * sizeof *experts);
    *out = (routing_table){0};
    if (!experts)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for the routing of %lld tokens",
                            (long long)shape->tokens);
    moesaic_status status =
        routing_draw(&p->routing, shape->tokens, shape->experts, shape->top_k, seed, experts, err);
    if (status == MOESAIC_OK)
        status =
            routing_build(experts, shape->tokens, shape->experts, shape->top_k, seed, out, err);
    free(experts);
    return status;
}

static void forget_problem(evaluator *e)
{
    operands_free(&e->operands);
    reference_free(&e->reference);
    e->problem = -1;
}

static double host_memory_bytes(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Software devices keep their memory on the host. */
static moesaic_status check_memory(const evaluator *e, const moe_shape *shape, moesaic_text *err)
{
    const device_info *info = device_get_info(e->dev);
    double has = (double)info->memory_bytes, needs = moe_operand_bytes(shape);
    if (info->kind != DEVICE_SILICON && host_memory_bytes() < has)
        has = host_memory_bytes();
    if (needs <= 0.45 * has)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_SHAPE,
                        "operands of %.1f GB, twice, do not fit in %.1f GB of memory", needs / 1e9,
                        has / 1e9);
}

static moesaic_status make_problem(evaluator *e, const tuner_problem *p, uint64_t seed,
                                   moesaic_text *err)
{
    moe_shape shape;
    routing_table routing = {0};
    double quarter = (double)device_get_info(e->dev)->memory_bytes / 4;
    if (host_memory_bytes() / 4 < quarter)
        quarter = host_memory_bytes() / 4;
    moesaic_status status = moe_shape_of(p->pass, p->fields, &shape, err);
    if (status == MOESAIC_OK)
        status = check_memory(e, &shape, err);
    if (status == MOESAIC_OK)
        status = evaluate_routing(p, &shape, seed, &routing, err);
    if (status == MOESAIC_OK)
        status = operands_make(&shape, &routing, 0, quarter, seed, &e->operands, err);
    if (status == MOESAIC_OK)
        status = operands_upload(&e->operands, e->dev, 0, err);
    return status;
}

static moesaic_status want_problem(evaluator *e, const workload *w, const evaluation_request *q,
                                   moesaic_text *err)
{
    if (e->problem == q->problem && e->seed == q->seed)
        return MOESAIC_OK;
    forget_problem(e);
    moesaic_status status = make_problem(e, &w->problems[q->problem], q->seed, err);
    if (status != MOESAIC_OK) {
        forget_problem(e);
        return status;
    }
    e->problem = q->problem;
    e->seed = q->seed;
    return MOESAIC_OK;
}

static moesaic_status want_reference(evaluator *e, moesaic_text *err)
{
    bool small = moe_flops(&e->operands.shape, e->operands.routing.rows) <= FP64_FLOPS;
    if (e->reference.value)
        return MOESAIC_OK;
    return reference_make(&e->operands, small ? REFERENCE_FP64 : REFERENCE_FP32, &e->reference,
                          err);
}

/* --- timing --- */

typedef struct timed_run {
    evaluator *e;
    const variant *code;
    device_event *start, *stop;
} timed_run;

/* The modelled device starts every kernel with empty caches; others are made to. */
static moesaic_status flush_caches(evaluator *e, moesaic_text *err)
{
    if (device_get_info(e->dev)->kind == DEVICE_SOFTWARE)
        return MOESAIC_OK;
    moesaic_status status =
        e->flush ? MOESAIC_OK : device_alloc(e->dev, FLUSH_BYTES, &e->flush, err);
    return status == MOESAIC_OK ? device_fill(e->dev, e->flush, 0, FLUSH_BYTES, err) : status;
}

static moesaic_status sample(void *user, double *us, moesaic_text *err)
{
    timed_run *run = user;
    moesaic_status status = flush_caches(run->e, err);
    if (status == MOESAIC_OK)
        status = device_event_record(run->start, NULL, err);
    if (status == MOESAIC_OK)
        status = variant_run(run->code, &run->e->operands, err);
    if (status == MOESAIC_OK)
        status = device_event_record(run->stop, NULL, err);
    if (status == MOESAIC_OK)
        status = device_synchronize(run->e->dev, NULL, err);
    return status == MOESAIC_OK ? device_event_elapsed_us(run->start, run->stop, us, err) : status;
}

static moesaic_status time_variant(evaluator *e, const variant *code, time_result *out,
                                   moesaic_text *err)
{
    timed_run run = {.e = e, .code = code};
    bool modelled = device_get_info(e->dev)->kind == DEVICE_SOFTWARE;
    moesaic_status status = device_event_create(e->dev, &run.start, err);
    if (status == MOESAIC_OK)
        status = device_event_create(e->dev, &run.stop, err);
    verify_set_mode(e->dev, MOESAIC_SIM_TIMED, MOESAIC_SIM_ASCENDING, e->operands.seed,
                    &e->operands);
    if (status == MOESAIC_OK)
        status = time_measure(modelled ? &time_modelled : &time_measured, sample, &run, out, err);
    device_event_free(run.start);
    device_event_free(run.stop);
    return status;
}

/* --- a request --- */

static moesaic_status do_reduced(evaluator *e, const variant *code, const moe_shape *shape,
                                 const evaluation_request *q, evaluation *out, moesaic_text *err)
{
    moesaic_status status = verify_reduced(code, shape, &q->tile, q->seed, &out->verdict, err);
    (void)e;
    out->reduced = out->verdict;
    out->verified = status == MOESAIC_OK && out->verdict.status == DB_TRIAL_OK;
    return status;
}

static moesaic_status do_time(evaluator *e, const variant *code, evaluation *out, moesaic_text *err)
{
    time_result time = {0};
    moesaic_sim_result last = {.size_bytes = sizeof last};
    moe_operands *o = &e->operands;
    moesaic_status status =
        operands_reserve(o, variant_workspace_bytes(code, moe_slots(&o->shape)), err);
    if (status == MOESAIC_OK)
        status = guard_fill(&o->d_out, err);
    if (status == MOESAIC_OK) {
        status = time_variant(e, code, &time, err);
        status = verify_blame(e->dev, status, &out->verdict, err);
    }
    if (status != MOESAIC_OK || out->verdict.status != DB_TRIAL_OK)
        return status;
    out->time_us = time.median_us;
    out->spread_pct = time.spread_pct;
    if (device_sim_last(e->dev, &last)) {
        memcpy(out->limiter, last.limiter, sizeof out->limiter);
        out->waves_per_simd = last.waves_per_simd;
    }
    return MOESAIC_OK;
}

static void take_full(const verdict *full, evaluation *out)
{
    double before = out->verdict.max_error;
    out->verdict = *full;
    if (full->status != DB_TRIAL_OK)
        return;
    out->verified_full = true;
    out->verdict.max_error = full->max_error > before ? full->max_error : before;
}

static moesaic_status do_full(evaluator *e, const variant *code, const evaluation_request *q,
                              evaluation *out, moesaic_text *err)
{
    verdict full;
    bool timed = q->parts & EVALUATE_TIME;
    if (timed && !(out->time_us < q->verify_below_us))
        return MOESAIC_OK;
    moesaic_status status = want_reference(e, err);
    if (status == MOESAIC_OK)
        status = timed ? verify_output(&e->operands, &e->reference, &full, err)
                       : verify_full(code, &e->operands, &e->reference, &full, err);
    if (status == MOESAIC_OK)
        take_full(&full, out);
    return status;
}

static moesaic_status do_parts(evaluator *e, const workload *w, const variant *code,
                               const evaluation_request *q, evaluation *out, moesaic_text *err)
{
    moe_shape shape;
    const tuner_problem *p = &w->problems[q->problem];
    moesaic_status status = moe_shape_of(p->pass, p->fields, &shape, err);
    if (status == MOESAIC_OK && q->parts & EVALUATE_REDUCED)
        status = do_reduced(e, code, &shape, q, out, err);
    if (status != MOESAIC_OK || out->verdict.status != DB_TRIAL_OK ||
        !(q->parts & (EVALUATE_TIME | EVALUATE_FULL)))
        return status;
    status = want_problem(e, w, q, err);
    if (status == MOESAIC_OK && q->parts & EVALUATE_TIME)
        status = do_time(e, code, out, err);
    if (status == MOESAIC_OK && out->verdict.status == DB_TRIAL_OK && q->parts & EVALUATE_FULL)
        status = do_full(e, code, q, out, err);
    return status;
}

/* request: evaluation_request | launch, with its NUL | ELF; or nothing: the device's description. */
moesaic_status evaluate_serve(void *user, void **state, const void *request, size_t n_bytes,
                              str *answer, moesaic_text *err)
{
    evaluator *e;
    variant code = {0};
    evaluation out = {.verdict = {.status = DB_TRIAL_OK}};
    moesaic_status status = open_evaluator(state, &e, err);
    if (status != MOESAIC_OK)
        return status;
    if (n_bytes == 0) {
        str_add_bytes(answer, device_get_info(e->dev), sizeof(device_info));
        return MOESAIC_OK;
    }
    const evaluation_request *q = request;
    const char *launch = (const char *)(q + 1), *elf = launch + strlen(launch) + 1;
    size_t n_elf = n_bytes - (size_t)(elf - (const char *)request);
    status = variant_open(e->dev, elf, n_elf, launch, &code, err);
    if (status == MOESAIC_OK)
        status = do_parts(e, user, &code, q, &out, err);
    variant_close(&code);
    str_add_bytes(answer, &out, sizeof out);
    return status;
}

/* --- the parent's side --- */

moesaic_status evaluate_device(worker *w, device_info *out, moesaic_text *err)
{
    str answer = {0};
    moesaic_status status = worker_send(w, "", 0, err);
    if (status == MOESAIC_OK)
        status = worker_receive(w, 120, &answer, err);
    if (status == MOESAIC_OK)
        memcpy(out, answer.s, sizeof *out);
    else if (status == MOESAIC_E_LAUNCH || status == MOESAIC_E_TIMEOUT)
        status = moesaic_fail_in(err, MOESAIC_E_DEVICE, "the device does not start");
    str_free(&answer);
    return status;
}

static moesaic_status send_request(worker *w, const evaluation_request *q, const str *elf,
                                   const char *launch, moesaic_text *err)
{
    str request = {0};
    str_add_bytes(&request, q, sizeof *q);
    str_add_bytes(&request, launch, strlen(launch) + 1);
    str_add_bytes(&request, elf->s, elf->n);
    moesaic_status status = request.failed
                                ? moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a request")
                                : worker_send(w, request.s, request.n, err);
    str_free(&request);
    return status;
}

moesaic_status evaluate(worker *w, const evaluation_request *q, const str *elf, const char *launch,
                        double limit_s, evaluation *out, moesaic_text *err)
{
    str answer = {0};
    *out = (evaluation){0};
    moesaic_status status = send_request(w, q, elf, launch, err);
    if (status != MOESAIC_OK)
        return status;
    status = worker_receive(w, limit_s, &answer, err);
    if (status == MOESAIC_OK)
        memcpy(out, answer.s, sizeof *out);
    str_free(&answer);
    if (status == MOESAIC_E_LAUNCH || status == MOESAIC_E_TIMEOUT) {
        out->verdict =
            (verdict){.status = status == MOESAIC_E_TIMEOUT ? DB_TRIAL_TIMEOUT : DB_TRIAL_FAULT};
        snprintf(out->verdict.reason, sizeof out->verdict.reason, "%.250s", err->s);
        status = MOESAIC_OK;
    }
    if (out->verdict.status == DB_TRIAL_FAULT || out->verdict.status == DB_TRIAL_TIMEOUT)
        worker_stop(w); /* its HIP may be unusable now */
    return status;
}
