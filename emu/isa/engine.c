/* emu/isa/engine.c: host threads that execute the workgroups of all active launches.
 *
 * New workgroups are handed out in chunks, in turns between launches, as many at once as the device would hold.  A
 * workgroup that stalls (it waits for another one, another queue or the host) is parked and resumed later by any
 * thread, so that whatever it waits for can run.  All lists lie under one lock, which is held per chunk.
 * Tested by tests/hip.                                                        SPDX-License-Identifier: MIT
 */
#include "emu/engine.h"

#include "base/clock.h"
#include "emu/isa/fault.h"
#include "emu/isa/workgroup.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_THREADS = 256,
    MAX_CHUNK = 64,
    CHUNKS_PER_THREAD = 16, /* small enough to balance, large enough to keep the lock cold */
    SHORTEST_NAP_US = 20,
    LONGEST_NAP_US = 1000,
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    const emu_device_shape *shape;
    const emu_memory_map *map;
    pthread_t threads[MAX_THREADS];
    uint32_t n_threads, n_busy;
    bool stopping;
    emu_run *runs; /* active, in turns from the front */
    emu_workgroup *parked, **last_parked;
    uint32_t n_parked,
        n_fruitless; /* resumed workgroups that stalled again, since anything went on */
    bool resume_next;
    emu_workgroup *spares;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .wake = PTHREAD_COND_INITIALIZER,
            .last_parked = &engine.parked};

/* What a thread does next: go on with a parked workgroup, or begin n workgroups of a run. */
typedef struct work {
    emu_workgroup *resume;
    emu_run *run;
    uint64_t first, n;
} work;

/* --- lists; the lock is held --- */

static void park(emu_workgroup *g)
{
    g->next = NULL;
    *engine.last_parked = g;
    engine.last_parked = &g->next;
    engine.n_parked++;
}

static emu_workgroup *unpark(void)
{
    emu_workgroup *g = engine.parked;
    if (!g)
        return NULL;
    engine.parked = g->next;
    if (!engine.parked)
        engine.last_parked = &engine.parked;
    engine.n_parked--;
    return g;
}

static void append_run(emu_run *run)
{
    emu_run **end = &engine.runs;
    while (*end)
        end = &(*end)->next_run;
    *end = run;
    run->next_run = NULL;
}

static void remove_run(emu_run *run)
{
    emu_run **p = &engine.runs;
    while (*p != run)
        p = &(*p)->next_run;
    *p = run->next_run;
}

static uint32_t n_allowed(const emu_run *run)
{
    uint32_t wanted = run->options.host_threads;
    return wanted && wanted < engine.n_threads ? wanted : engine.n_threads;
}

static bool take_chunk(emu_run *run, work *out)
{
    if (run->next == run->n_workgroups || run->n_resident >= run->resident_limit ||
        engine.n_busy >= n_allowed(run))
        return false;
    uint64_t n = (run->n_workgroups - run->next) / (engine.n_threads * CHUNKS_PER_THREAD);
    n = n < 1 ? 1 : n > MAX_CHUNK ? MAX_CHUNK : n;
    if (n > run->resident_limit - run->n_resident)
        n = run->resident_limit - run->n_resident;
    *out = (work){.run = run, .first = run->next, .n = n};
    run->next += n;
    run->n_resident += n;
    return true;
}

static bool take_new(work *out)
{
    for (emu_run *run = engine.runs; run; run = run->next_run)
        if (take_chunk(run, out)) {
            remove_run(run);
            append_run(run);
            return true;
        }
    return false;
}

static bool take_parked(work *out)
{
    emu_workgroup *g = unpark();
    if (g)
        *out = (work){.resume = g};
    return g != NULL;
}

/* New and parked workgroups take turns, so that neither can starve what it waits for. */
static bool take_work(work *out)
{
    engine.resume_next = !engine.resume_next;
    return engine.resume_next ? take_parked(out) || take_new(out)
                              : take_new(out) || take_parked(out);
}

static emu_workgroup *take_spare(void)
{
    emu_workgroup *g = engine.spares;
    if (g)
        engine.spares = g->next;
    return g;
}

/* --- the end of workgroups and runs --- */

static void fail_run(emu_run *run, moesaic_sim_status status, const char *text)
{
    if (run->result.status != MOESAIC_SIM_OK)
        return;
    run->result.status = status;
    snprintf(run->result.text, sizeof run->result.text, "%s", text);
    run->n_ended += run->n_workgroups - run->next;
    run->next = run->n_workgroups;
}

static bool is_late(const emu_run *run)
{
    return run->deadline_s > 0 && clock_now_s() > run->deadline_s;
}

static void fail_late_run(emu_run *run)
{
    char text[512];
    snprintf(text, sizeof text, "kernel %.160s: stopped after %g s, the limit that was set",
             run->launch->kernel_name ? run->launch->kernel_name : "?", run->options.wall_limit_s);
    fail_run(run, MOESAIC_SIM_TIMEOUT, text);
}

/* n workgroups are over.  Returns the run when it is, too: to be finished without the lock. */
static emu_run *count_ended(emu_run *run, uint64_t n)
{
    run->n_ended += n;
    run->n_resident -= n;
    engine.n_fruitless = 0;
    if (run->n_ended < run->n_workgroups)
        return NULL;
    remove_run(run);
    return run;
}

/* --- execution; the lock is not held --- */

static bool has_failed(emu_run *run)
{
    pthread_mutex_lock(&engine.lock);
    if (is_late(run))
        fail_late_run(run);
    bool failed = run->result.status != MOESAIC_SIM_OK;
    pthread_mutex_unlock(&engine.lock);
    return failed;
}

static void fail(emu_run *run, moesaic_sim_status status, const char *text)
{
    pthread_mutex_lock(&engine.lock);
    fail_run(run, status, text);
    pthread_mutex_unlock(&engine.lock);
}

static emu_workgroup *get_storage(void)
{
    pthread_mutex_lock(&engine.lock);
    emu_workgroup *g = take_spare();
    pthread_mutex_unlock(&engine.lock);
    return g ? g : emu_workgroup_new();
}

static void put_storage(emu_workgroup *g)
{
    pthread_mutex_lock(&engine.lock);
    g->next = engine.spares;
    engine.spares = g;
    pthread_mutex_unlock(&engine.lock);
}

/* Go on with a workgroup; false when it stalled and now waits in the list. */
static bool advance(emu_workgroup *g)
{
    emu_progress progress = emu_workgroup_go(g, engine.map);
    if (progress == EMU_STALLED) {
        pthread_mutex_lock(&engine.lock);
        park(g);
        pthread_mutex_unlock(&engine.lock);
        return false;
    }
    if (progress == EMU_FAILED)
        fail(g->run, g->status, g->text);
    else
        emu_workgroup_end(g);
    return true;
}

static void finish_if_over(emu_run *run, uint64_t n)
{
    pthread_mutex_lock(&engine.lock);
    emu_run *over = count_ended(run, n);
    pthread_mutex_unlock(&engine.lock);
    if (over)
        emu_run_finish(over);
}

/* The workgroups of a dispatch in descending order start from the end of the grid, too. */
static uint64_t grid_index(const emu_run *run, uint64_t position)
{
    return run->options.order == MOESAIC_SIM_DESCENDING ? run->n_workgroups - 1 - position
                                                        : position;
}

static void begin_chunk(const work *w)
{
    emu_run *run = w->run;
    emu_workgroup *g = NULL;
    uint64_t n_ended = 0;
    for (uint64_t i = 0; i < w->n; i++) {
        if (has_failed(run)) {
            n_ended += w->n - i;
            break;
        }
        if (!g)
            g = get_storage();
        if (!g || !emu_workgroup_begin(g, run, grid_index(run, w->first + i))) {
            fail(run, MOESAIC_SIM_TRAP,
                 "the host has too little memory for the kernel's workgroups");
            n_ended += w->n - i;
            break;
        }
        if (advance(g))
            n_ended++;
        else
            g = NULL;
    }
    if (g)
        put_storage(g);
    if (n_ended)
        finish_if_over(run, n_ended);
}

static void nap(void)
{
    uint32_t us = SHORTEST_NAP_US * (1 + engine.n_fruitless / 8);
    struct timespec t = {0, (us < LONGEST_NAP_US ? us : LONGEST_NAP_US) * 1000l};
    nanosleep(&t, NULL);
}

static void resume(emu_workgroup *g)
{
    emu_run *run = g->run;
    if (!has_failed(run) && !advance(g)) {
        pthread_mutex_lock(&engine.lock);
        bool fruitless = ++engine.n_fruitless > 2 * engine.n_parked;
        pthread_mutex_unlock(&engine.lock);
        if (fruitless) /* everybody waits for the host */
            nap();
        return;
    }
    put_storage(g);
    finish_if_over(run, 1);
}

static void do_work(const work *w)
{
    if (w->resume)
        resume(w->resume);
    else
        begin_chunk(w);
}

/* --- threads --- */

static void *worker(void *unused)
{
    (void)unused;
    work w;
    pthread_mutex_lock(&engine.lock);
    while (!engine.stopping) {
        if (!take_work(&w)) {
            pthread_cond_wait(&engine.wake, &engine.lock);
            continue;
        }
        engine.n_busy++;
        pthread_mutex_unlock(&engine.lock);
        do_work(&w);
        pthread_mutex_lock(&engine.lock);
        engine.n_busy--;
        if (engine.runs)
            pthread_cond_signal(&engine.wake);
    }
    pthread_mutex_unlock(&engine.lock);
    return NULL;
}

static uint32_t host_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (uint32_t)n;
}

int emu_engine_start(const emu_device_shape *shape, const emu_memory_map *map)
{
    if (engine.n_threads)
        return 0;
    int error = emu_fault_install();
    if (error)
        return error;
    engine.shape = shape;
    engine.map = map;
    engine.stopping = false;
    for (uint32_t n = host_cores(); engine.n_threads < n && !error;) {
        error = pthread_create(&engine.threads[engine.n_threads], NULL, worker, NULL);
        engine.n_threads += !error;
    }
    return engine.n_threads ? 0 : error;
}

static void fail_launch(emu_launch *launch)
{
    moesaic_sim_result result = {.size_bytes = sizeof result, .status = MOESAIC_SIM_TRAP};
    snprintf(result.text, sizeof result.text,
             "kernel %.160s: the host has too little memory to start it",
             launch->kernel_name ? launch->kernel_name : "?");
    launch->done(launch, &result);
}

void emu_engine_submit(emu_launch *launch)
{
    emu_run *run = emu_run_new(launch, engine.shape);
    if (!run) {
        fail_launch(launch);
        return;
    }
    launch->engine_private = run;
    emu_fault_install(); /* the program may have taken the signals since */
    pthread_mutex_lock(&engine.lock);
    append_run(run);
    pthread_cond_broadcast(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
}

bool emu_engine_help(void)
{
    work w;
    pthread_mutex_lock(&engine.lock);
    bool found = engine.n_busy < engine.n_threads && take_new(&w);
    engine.n_busy += found;
    pthread_mutex_unlock(&engine.lock);
    if (!found)
        return false;
    do_work(&w);
    pthread_mutex_lock(&engine.lock);
    engine.n_busy--;
    if (engine.runs)
        pthread_cond_signal(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
    return true;
}

void emu_engine_stop(void)
{
    pthread_mutex_lock(&engine.lock);
    engine.stopping = true;
    pthread_cond_broadcast(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
    for (uint32_t i = 0; i < engine.n_threads; i++)
        pthread_join(engine.threads[i], NULL);
    engine.n_threads = 0;
    for (emu_workgroup *g = take_spare(); g; g = take_spare())
        emu_workgroup_free(g);
    emu_fault_remove();
}

void emu_engine_forget_code(const void *base, size_t bytes)
{
    emu_program_forget((uintptr_t)base, bytes);
}
