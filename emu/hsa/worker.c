/* emu/hsa/worker.c: one thread and its list of tasks (see worker.h).
 *
 * Used three times: handlers of the program, copies, and queues whose head packet waits for
 * signals.  They are apart because a handler may wait for a queue, and a copy takes long.
 * Tested by tests/hsa/test_handler.c.                              SPDX-License-Identifier: MIT
 */
#include "emu/hsa/worker.h"

#include "emu/hsa/event.h"

#include <stddef.h>
#include <stdint.h>

void emu_worker_add(emu_worker *w, emu_task *task)
{
    task->next = NULL;
    pthread_mutex_lock(&w->lock);
    if (w->last)
        w->last->next = task;
    else
        w->first = task;
    w->last = task;
    pthread_mutex_unlock(&w->lock);
    emu_event_kick(&emu_changes);
}

static void unlink_task(emu_worker *w, emu_task *before, emu_task *task)
{
    if (before)
        before->next = task->next;
    else
        w->first = task->next;
    if (w->last == task)
        w->last = before;
}

/* Unlink the first task that is ready; NULL when none is. */
static emu_task *take_ready(emu_worker *w, bool *is_empty)
{
    pthread_mutex_lock(&w->lock);
    emu_task *before = NULL, *task = w->first;
    while (task && !task->is_ready(task)) {
        before = task;
        task = task->next;
    }
    if (task)
        unlink_task(w, before, task);
    *is_empty = w->first == NULL;
    pthread_mutex_unlock(&w->lock);
    return task;
}

static bool is_stopping(const emu_worker *w)
{
    return __atomic_load_n(&w->stopping, __ATOMIC_ACQUIRE);
}

static void *serve(void *argument)
{
    emu_worker *w = argument;
    while (!is_stopping(w)) {
        uint32_t seen = emu_event_sequence(&emu_changes);
        bool is_empty;
        emu_task *task = take_ready(w, &is_empty);
        if (task)
            task->run(task);
        else if (!is_stopping(w))
            emu_event_sleep(&emu_changes, seen, is_empty ? EMU_FOREVER : emu_poll_ns());
    }
    return NULL;
}

int emu_worker_start(emu_worker *w)
{
    w->stopping = false;
    return pthread_create(&w->thread, NULL, serve, w);
}

void emu_worker_stop(emu_worker *w)
{
    __atomic_store_n(&w->stopping, true, __ATOMIC_SEQ_CST);
    emu_event_kick(&emu_changes);
    if (pthread_equal(w->thread, pthread_self()))
        pthread_detach(w->thread);
    else
        pthread_join(w->thread, NULL);
    for (emu_task *task = w->first, *next; task; task = next) {
        next = task->next;
        task->drop(task);
    }
    w->first = w->last = NULL;
}
