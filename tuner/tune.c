/* tuner/tune.c: a whole run: workers, identity of the device, one problem after the other.
 *
 * Tested by tests/tuner/test_planted.c and tests/cli/test_tune.sh.    SPDX-License-Identifier: MIT
 */
#include "tuner/tuner_int.h"

#include "base/clock.h"

#include <stdlib.h>

/* docs/hardware.md: data sheet bandwidth, and bf16 FLOPs a clock of a CU. */
#define HBM_GBPS             5300.0
#define FLOPS_PER_CLK_PER_CU 2048.0

void tuner_device_facts(const device_info *info, gen_device *out)
{
    *out = (gen_device){.cu_count = info->cu_count,
                        .xcd_count = info->xcd_count,
                        .lds_per_cu = info->lds_per_cu_bytes,
                        .clock_mhz = info->clock_mhz,
                        .hbm_gbps = HBM_GBPS,
                        .mfma_flops_per_clk_per_cu = FLOPS_PER_CLK_PER_CU};
}

moesaic_status tuner_launch_abi(const cJSON *launch, hash_hex *out, moesaic_text *err)
{
    str text = {0};
    json_canonical(cJSON_GetObjectItemCaseSensitive(launch, "arguments"), &text);
    moesaic_status status = text.failed
                                ? moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a launch")
                                : hash_sha256(text.s, text.n, out, err);
    str_free(&text);
    return status;
}

bool tuning_stopped(const tuning *t)
{
    return t->options->stop && *t->options->stop;
}

static moesaic_status identify(tuning *t, moesaic_text *err)
{
    device_info *info = &t->report->device;
    moesaic_status status = evaluate_device(t->evaluator, info, err);
    if (status != MOESAIC_OK)
        return status;
    tuner_device_facts(info, &t->facts);
    db_device row = {.kind = device_kind_name(info->kind),
                     .target = info->target,
                     .partition = info->partition,
                     .driver = info->driver,
                     .hip_version = info->hip_version,
                     .compiler = info->compiler,
                     .model_version = info->model_version,
                     .pci_device_id = info->pci_device_id,
                     .cu_count = info->cu_count,
                     .memory_bytes = (int64_t)info->memory_bytes};
    return db_device_put(t->database, &row, &t->device_id, err);
}

static moesaic_status begin_run(tuning *t, moesaic_text *err)
{
    const tuner_options *o = t->options;
    char *text = str_format("{\"budget_s\":%g,\"budget_trials\":%lld,\"seed\":%llu,"
                            "\"strategy\":\"%s\"}",
                            o->budget_s, (long long)o->budget_trials, (unsigned long long)o->seed,
                            o->strategy);
    if (!text)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a run");
    moesaic_status status =
        db_run_begin(t->database, o->command ? o->command : "", text, &t->run_id, err);
    free(text);
    return status;
}

static moesaic_status tune_all(tuning *t, moesaic_text *err)
{
    moesaic_status status = identify(t, err);
    if (status == MOESAIC_OK)
        status = begin_run(t, err);
    if (status != MOESAIC_OK)
        return status;
    for (int i = 0; i < t->work->n_problems && status == MOESAIC_OK; i++)
        status = problem_tune(t, i, err);
    const char *how = status == MOESAIC_OK              ? "complete"
                      : status == MOESAIC_E_INTERRUPTED ? "interrupted"
                                                        : err->s;
    moesaic_text late;
    moesaic_status ended = db_run_end(t->database, t->run_id, how, &late);
    if (status == MOESAIC_OK && ended != MOESAIC_OK)
        *err = late;
    return status == MOESAIC_OK ? ended : status;
}

moesaic_status tuner_run(const workload *work, db *database, const tuner_options *options,
                         tuner_report *out, moesaic_text *err)
{
    double start_s = clock_now_s();
    *out = (tuner_report){0};
    tuning t = {.work = work, .database = database, .options = options, .report = out};
    if (options->budget_s > 0)
        t.deadline_s = start_s + options->budget_s;
    moesaic_status status = strategy_check(options->strategy, err);
    if (status != MOESAIC_OK)
        return status;
    out->results = calloc((size_t)work->n_problems + 1, sizeof *out->results);
    if (!out->results)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %d problems", work->n_problems);
    status = worker_new(compile_serve, NULL, &t.compiler, err);
    if (status == MOESAIC_OK)
        status = worker_new(evaluate_serve, (void *)(uintptr_t)work, &t.evaluator, err);
    if (status == MOESAIC_OK)
        status = tune_all(&t, err);
    worker_free(t.compiler);
    worker_free(t.evaluator);
    code_table_free(&t.codes);
    out->wall_s = clock_now_s() - start_s;
    return status;
}

void tuner_report_free(tuner_report *report)
{
    for (int i = 0; i < report->n_results; i++)
        report_result_free(&report->results[i]);
    free(report->results);
    *report = (tuner_report){0};
}
