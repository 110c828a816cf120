/* emu/hsa/worker.h: threads that run tasks as soon as what these wait for has happened.
 * SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_HSA_WORKER_H
#define MOESAIC_EMU_HSA_WORKER_H

#include <pthread.h>
#include <stdbool.h>

typedef struct emu_task emu_task;
struct emu_task {
    bool (*is_ready)(const emu_task *task); /* called often, with the worker's lock held */
    void (*run)(emu_task *task);            /* ends the task; may add it, or others, again */
    void (*drop)(emu_task *task);           /* ends the task without running it */
    emu_task *next;                         /* the worker's */
};

typedef struct emu_worker {
    pthread_mutex_t lock;
    emu_task *first, *last;
    bool stopping; /* atomic */
    pthread_t thread;
} emu_worker;

#define EMU_WORKER_INIT                                                                            \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Start the thread: 0 or an errno value. */
int emu_worker_start(emu_worker *worker);

/* End the thread, and wait for that unless it is the caller.  Tasks that are not ready yet are
 * dropped. */
void emu_worker_stop(emu_worker *worker);

/* A task that is ready overtakes one that is not.  What makes it ready must kick emu_changes. */
void emu_worker_add(emu_worker *worker, emu_task *task);

#endif
