/* tuner/replay.h: launching the winners of a workload again from the stored code objects.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TUNER_REPLAY_H
#define MOESAIC_TUNER_REPLAY_H

#include "db/db.h"
#include "tuner/evaluate.h"

/* Workers and device of a replay; one thread. */
typedef struct replay {
    const workload *work;
    db *database;
    worker *compiler, *evaluator;
    device_info device;
} replay;

/* What became of one problem's winner. */
typedef struct replay_result {
    db_trial_row winner; /* trial_id 0: there is none */
    bool other_device;   /* it was found on another device than this one */
    bool compiled;       /* its code had been removed from the database */
    evaluation
        run; /* run.verified_full: the output was compared with the reference, and is right */
} replay_result;

/* Start the workers and ask for the device.  Release with replay_close, also on failure. */
moesaic_status replay_open(const workload *work, db *database, replay *out, moesaic_text *err);
void replay_close(replay *r);

/* Run and verify the winner of problem `index`: this device's, else one of the same target's.  A winner that
 * fails is in out->run.verdict.  Errors: E_NOTFOUND (no winner; or its code is gone and its template is another one
 * now), E_COMPILE, E_DEVICE, the database's.  out is to be freed on failure too. */
moesaic_status replay_winner(replay *r, int index, uint64_t seed, replay_result *out,
                             moesaic_text *err);
void replay_result_free(replay_result *result);

#endif
