/* cli/problem.h: a family and a problem of it, as `FAMILY --problem K=V,...` states them.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_CLI_PROBLEM_H
#define MOESAIC_CLI_PROBLEM_H

#include "cli/cli.h"
#include "gen/gen.h"

typedef struct cli_problem {
    gen_family *family;
    const char *pass; /* "pass" of the fields, else the family's first */
    cJSON *fields;    /* complete, without pass and routing */
    str key;          /* as in the database: routing included */
    cJSON *given;     /* what was stated; owns pass */
} cli_problem;

/* Read the family named by the first argument and the value of --problem (pairs or a JSON object; may be left out
 * where the family has defaults).  Release with cli_problem_free, also on failure. */
moesaic_status cli_problem_read(const cli_call *call, cli_problem *out, moesaic_text *err);
void cli_problem_free(cli_problem *problem);

/* "K=V,K=V" or a JSON object. */
moesaic_status cli_fields(const char *text, const char *name, cJSON **out, moesaic_text *err);

/* The space of the problem on an MI300X. */
moesaic_status cli_problem_space(const cli_problem *problem, gen_space **out, moesaic_text *err);

#endif
