/* cli/tune_progress.c: progress of a tuning on stderr.    SPDX-License-Identifier: MIT */
#include "cli/tune_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_CELLS = 24 };

void tune_progress_start(tune_progress *progress)
{
    const char *kind = getenv("TERM");
    *progress = (tune_progress){0};
    progress->terminal = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
}

static void draw_bar(const tuner_event *e)
{
    int filled = e->n_planned > 0 ? (int)(BAR_CELLS * e->n_done / e->n_planned) : 0;
    char bar[BAR_CELLS + 1];
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_CELLS] = 0;
    fprintf(stderr, "\r\033[K[%d/%d] %s  %s %lld/%lld", e->i_problem + 1, e->n_problems,
            e->problem->label, bar, (long long)e->n_done, (long long)e->n_planned);
    if (e->kind == TUNER_VERIFIES)
        fprintf(stderr, "  verifying");
    else if (e->best_us > 0)
        fprintf(stderr, "  best %.1f us", e->best_us);
    fflush(stderr);
}

static void print_line(const tune_progress *progress, const tuner_event *e)
{
    fprintf(stderr, "%s[%d/%d] %s: ", progress->terminal ? "\r\033[K" : "", e->i_problem + 1,
            e->n_problems, e->problem->label);
    if (e->n_done == 0)
        fprintf(stderr, "in the database\n");
    else
        fprintf(stderr, "%lld trials, %lld failed, best %.1f us\n", (long long)e->n_done,
                (long long)progress->n_failed, e->best_us);
}

void tune_progress_observe(void *user, const tuner_event *e)
{
    tune_progress *progress = user;
    if (e->kind == TUNER_PROBLEM_BEGINS)
        progress->n_failed = 0;
    if (e->kind == TUNER_TRIAL_ENDS && e->status != DB_TRIAL_OK)
        progress->n_failed++;
    if (e->kind == TUNER_PROBLEM_ENDS)
        print_line(progress, e);
    else if (progress->terminal)
        draw_bar(e);
    progress->line_open = progress->terminal && e->kind != TUNER_PROBLEM_ENDS;
}

void tune_progress_end(tune_progress *progress)
{
    if (progress->line_open)
        fputc('\n', stderr);
    progress->line_open = false;
}
