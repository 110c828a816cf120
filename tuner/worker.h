/* tuner/worker.h: a child process that answers requests, so that what kills it costs one answer only.
 *
 * The child is a fork: it sees what its parent knew when it was started.  It dies with its parent, and is started
 * again at the next request after it died or was killed.                      SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_WORKER_H
#define MOESAIC_TUNER_WORKER_H

#include "base/status.h"
#include "base/str.h"

/* Answer one request; runs in the child.  state is kept between the requests of one child (NULL at first). */
typedef moesaic_status (*worker_serve)(void *user, void **state, const void *request,
                                       size_t n_bytes, str *answer, moesaic_text *err);

typedef struct worker worker;

/* Nothing is started yet.  user is handed to serve. */
moesaic_status worker_new(worker_serve serve, void *user, worker **out, moesaic_text *err);
/* End the child and wait for it.  NULL is fine. */
void worker_free(worker *w);

/* Hand over a request; one at a time.  Errors: E_STATE when the child cannot be started. */
moesaic_status worker_send(worker *w, const void *request, size_t n_bytes, moesaic_text *err);

/* Wait for the answer.  Errors: what serve returned; E_TIMEOUT: it took longer than limit_s and was killed;
 * E_LAUNCH: it died, with its last words. */
moesaic_status worker_receive(worker *w, double limit_s, str *answer, moesaic_text *err);

/* End the child: the next request gets a fresh one. */
void worker_stop(worker *w);

#endif
