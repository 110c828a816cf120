/* runtime/context.c: opening and closing; the one context of a process, and what a fork does to it.
 *
 * Tested by tests/runtime/test_context.c.    SPDX-License-Identifier: MIT
 */
#include "runtime/runtime_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The process that has a context, 0 for none: HIP and the databases are per process, so contexts are too. */
static _Atomic int owner;

const char *moesaic_status_text(moesaic_status status)
{
    return status_text(status);
}

moesaic_status context_check(const moesaic_context *context, moesaic_text *err)
{
    if (!context)
        return moesaic_fail(err, MOESAIC_E_INPUT, "the context is NULL: moesaic_open gives one");
    if (!atomic_load_explicit(context->alive, memory_order_relaxed))
        return moesaic_fail(err, MOESAIC_E_FORK,
                            "this is the child of a fork: HIP does not survive one; start the "
                            "process anew, or open in the child only");
    return MOESAIC_OK;
}

static moesaic_status claim_process(moesaic_text *err)
{
    int nobody = 0, self = (int)getpid();
    if (atomic_compare_exchange_strong(&owner, &nobody, self))
        return MOESAIC_OK;
    if (nobody == self)
        return moesaic_fail(err, MOESAIC_E_STATE,
                            "this process has a context already: share it, or close it and free "
                            "its plans first");
    return moesaic_fail(err, MOESAIC_E_FORK,
                        "this is the child of a process that has a context: HIP does not survive "
                        "a fork");
}

/* A page that reads as zero in every child. */
static moesaic_status make_fork_page(moesaic_context *context, moesaic_text *err)
{
    size_t n = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a page");
    context->alive = page;
    if (madvise(page, n, MADV_WIPEONFORK) != 0)
        return moesaic_fail(err, MOESAIC_E_DEVICE,
                            "the kernel has no MADV_WIPEONFORK: Linux 4.14 or newer is needed");
    atomic_store(context->alive, 1);
    return MOESAIC_OK;
}

static void destroy(moesaic_context *context)
{
    index_free(context);
    layers_close(context);
    device_close(context->dev);
    if (context->alive)
        munmap(context->alive, (size_t)sysconf(_SC_PAGESIZE));
    pthread_mutex_destroy(&context->lock);
    free(context);
    atomic_store(&owner, 0);
}

void context_retain(moesaic_context *context)
{
    pthread_mutex_lock(&context->lock);
    context->references++;
    pthread_mutex_unlock(&context->lock);
}

void context_release(moesaic_context *context)
{
    pthread_mutex_lock(&context->lock);
    int left = --context->references;
    pthread_mutex_unlock(&context->lock);
    if (!left)
        destroy(context);
}

static moesaic_status read_options(const moesaic_options *given, moesaic_options *out,
                                   moesaic_text *err)
{
    const uint32_t known = MOESAIC_OPEN_REPRODUCIBLE | MOESAIC_OPEN_UNSIGNED;
    *out = (moesaic_options){0};
    if (!given)
        return MOESAIC_OK;
    if (given->size_bytes < sizeof *out)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "options.size_bytes is %u, must be sizeof(moesaic_options), %zu",
                            given->size_bytes, sizeof *out);
    if (given->flags & ~known)
        return moesaic_fail(err, MOESAIC_E_INPUT, "options.flags has unknown bits: 0x%x",
                            given->flags & ~known);
    *out = *given;
    return MOESAIC_OK;
}

static moesaic_status fill(moesaic_context *context, const moesaic_options *options,
                           moesaic_text *err)
{
    moesaic_status status = make_fork_page(context, err);
    if (status == MOESAIC_OK)
        status = layers_open(context, options->database, err);
    if (status == MOESAIC_OK)
        status = device_open(options->device, &context->dev, err);
    if (status == MOESAIC_OK)
        status = index_build(context, err);
    return status;
}

moesaic_status moesaic_open(const moesaic_options *options, moesaic_context **out,
                            moesaic_text *err)
{
    moesaic_options o;
    if (!out)
        return moesaic_fail(err, MOESAIC_E_INPUT, "out is NULL");
    *out = NULL;
    moesaic_status status = read_options(options, &o, err);
    if (status == MOESAIC_OK)
        status = claim_process(err);
    if (status != MOESAIC_OK)
        return status;
    moesaic_context *context = calloc(1, sizeof *context);
    if (!context) {
        atomic_store(&owner, 0);
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a context");
    }
    context->flags = o.flags;
    context->references = 1;
    pthread_mutex_init(&context->lock, NULL);
    status = fill(context, &o, err);
    if (status == MOESAIC_OK)
        *out = context;
    else
        destroy(context);
    return status;
}

void moesaic_close(moesaic_context *context)
{
    if (context_check(context, NULL) == MOESAIC_OK)
        context_release(context);
}

/* --- what a context tells --- */

moesaic_status copy_sized(const void *from, size_t n, void *to, uint32_t to_bytes)
{
    if (to_bytes < sizeof to_bytes)
        return MOESAIC_E_INPUT;
    memcpy(to, from, n < to_bytes ? n : to_bytes);
    memcpy(to, &to_bytes, sizeof to_bytes);
    return MOESAIC_OK;
}

moesaic_status moesaic_layer_info(moesaic_context *context, uint32_t i, moesaic_layer *out)
{
    moesaic_status status = context_check(context, NULL);
    if (status != MOESAIC_OK || !out)
        return status == MOESAIC_OK ? MOESAIC_E_INPUT : status;
    if (i >= context->n_layers)
        return MOESAIC_E_NOTFOUND;
    return copy_sized(&context->layers[i].info, sizeof *out, out, out->size_bytes);
}

moesaic_status moesaic_counters_read(const moesaic_context *context, moesaic_counters *out)
{
    moesaic_status status = context_check(context, NULL);
    if (status != MOESAIC_OK || !out)
        return status == MOESAIC_OK ? MOESAIC_E_INPUT : status;
    const counters *c = &context->counters;
    const moesaic_counters now = {
        .hit = atomic_load(&c->served[MOESAIC_SERVED_HIT]),
        .near = atomic_load(&c->served[MOESAIC_SERVED_NEAR]),
        .by_default = atomic_load(&c->served[MOESAIC_SERVED_DEFAULT]),
        .refused = atomic_load(&c->served[MOESAIC_SERVED_REFUSED]),
        .candidates = atomic_load(&c->candidates),
        .other_stack = atomic_load(&c->other_stack),
        .unusable = atomic_load(&c->unusable),
        .executions = atomic_load(&c->executions),
    };
    return copy_sized(&now, sizeof now, out, out->size_bytes);
}
