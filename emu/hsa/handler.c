/* emu/hsa/handler.c: calls functions of the program when signals reach a value.
 *
 * A handler may call any HSA function, add handlers, and take long: no lock is held meanwhile, and
 * nothing but other handlers waits for it.  Those of one signal run in the order of their adding.
 * Tested by tests/hsa/test_handler.c.                              SPDX-License-Identifier: MIT
 */
#include "emu/hsa/handler.h"

#include "emu/hsa/signal.h"
#include "emu/hsa/system.h"
#include "emu/hsa/worker.h"

#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>

typedef struct handler {
    emu_task task; /* first */
    hsa_signal_t signal;
    hsa_signal_condition_t condition;
    hsa_signal_value_t reference;
    hsa_amd_signal_handler call;
    void *argument;
} handler;

typedef struct job {
    emu_task task; /* first */
    void (*call)(void *);
    void *argument;
} job;

static emu_worker worker = EMU_WORKER_INIT;

int emu_handlers_start(void)
{
    return emu_worker_start(&worker);
}

void emu_handlers_stop(void)
{
    emu_worker_stop(&worker);
}

/* --- jobs: called soon --- */

static bool job_is_ready(const emu_task *task)
{
    return task != NULL;
}

static void drop_job(emu_task *task)
{
    free(task);
}

static void run_job(emu_task *task)
{
    job *j = (job *)task;
    j->call(j->argument);
    free(j);
}

hsa_status_t emu_handlers_post(void (*call)(void *), void *argument)
{
    job *j = malloc(sizeof *j);
    if (!j)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *j = (job){.task = {.is_ready = job_is_ready, .run = run_job, .drop = drop_job},
               .call = call,
               .argument = argument};
    emu_worker_add(&worker, &j->task);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_async_function(void (*call)(void *), void *argument)
{
    EMU_REQUIRE_OPEN();
    return call ? emu_handlers_post(call, argument) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* --- handlers: called when a signal has a value
 * --------------------------------------------------- */

static bool handler_is_ready(const emu_task *task)
{
    const handler *h = (const handler *)task;
    return emu_signal_holds(h->condition, emu_signal_value(h->signal), h->reference);
}

static void drop_handler(emu_task *task)
{
    emu_signal_watch(((handler *)task)->signal, false);
    free(task);
}

static void run_handler(emu_task *task)
{
    handler *h = (handler *)task;
    if (h->call(emu_signal_value(h->signal), h->argument))
        emu_worker_add(&worker, task);
    else
        drop_handler(task);
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t reference, hsa_amd_signal_handler call,
                                          void *argument)
{
    EMU_REQUIRE_OPEN();
    if (!call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!emu_signal_is_valid(signal))
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    handler *h = malloc(sizeof *h);
    if (!h)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *h = (handler){.task = {.is_ready = handler_is_ready, .run = run_handler, .drop = drop_handler},
                   .signal = signal,
                   .condition = condition,
                   .reference = reference,
                   .call = call,
                   .argument = argument};
    emu_signal_watch(signal, true);
    emu_worker_add(&worker, &h->task);
    return HSA_STATUS_SUCCESS;
}
