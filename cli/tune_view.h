/* cli/tune_view.h: what `moesaic tune` shows while it runs and when it ends.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_CLI_TUNE_VIEW_H
#define MOESAIC_CLI_TUNE_VIEW_H

#include "cli/cli.h"
#include "tuner/tuner.h"

/* Progress on stderr: one line that is written anew on a terminal, else one line for each problem. */
typedef struct tune_progress {
    bool terminal, line_open;
    int64_t n_failed; /* of the problem at hand */
} tune_progress;
void tune_progress_start(tune_progress *progress);
void tune_progress_observe(void *progress, const tuner_event *event);
void tune_progress_end(tune_progress *progress);

/* The table on stdout, with what its figures are. */
int tune_print_table(const tuner_report *report);

/* The contract's object; a new one, or NULL when there is no memory. */
cJSON *tune_json(const cli_call *call, const tuner_report *report);

#endif
