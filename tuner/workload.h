/* tuner/workload.h: workload files: a model's layers as a list of problems to tune.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TUNER_WORKLOAD_H
#define MOESAIC_TUNER_WORKLOAD_H

#include "gen/gen.h"
#include "tuner/routing.h"

/* One problem: one pass of one entry with one number of tokens and one routing. */
typedef struct tuner_problem {
    const gen_family *family; /* of the workload */
    char *pass;
    char *label;       /* "gate_up tokens=512 uniform": for people, and what --only matches */
    cJSON *fields;     /* the family's fields, complete */
    cJSON *key_fields; /* the same and the routing */
    char *key;         /* db_problem_key of key_fields */
    routing_spec routing;
} tuner_problem;

enum { WORKLOAD_MAX_FAMILIES = 4 };

typedef struct workload {
    char *name, *source;
    gen_family *families[WORKLOAD_MAX_FAMILIES];
    int n_families;
    tuner_problem *problems;
    int n_problems;
} workload;

/* Read and expand a workload file.  Problems come entry by entry, by rising position of tokens, then routing, then
 * pass.  Errors: E_IO; E_INPUT naming file, entry, key and value. */
moesaic_status workload_read(const char *path, workload **out, moesaic_text *err);
void workload_free(workload *w);

/* Keep the problems whose label matches the glob.  Errors: E_INPUT listing the labels when none does. */
moesaic_status workload_select(workload *w, const char *glob, moesaic_text *err);

#endif
