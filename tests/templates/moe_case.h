/* tests/templates/moe_case.h: one call of moe_gemm: operands, and an fp64 reference.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TESTS_TEMPLATES_MOE_CASE_H
#define MOESAIC_TESTS_TEMPLATES_MOE_CASE_H

#include "tests/templates/support.h"

typedef enum moe_routing {
    ROUTING_MIXED, /* uneven, some experts empty, some slots without an expert */
    ROUTING_ONE,   /* every token's first slot on the same expert */
    ROUTING_NONE,  /* no slot has an expert */
} moe_routing;

typedef struct moe_case {
    bool down, aligned;
    int tokens, hidden, ffn, experts, top_k;
    int pad; /* elements behind each row */
    moe_routing routing;
} moe_case;

/* The problem's fields as "K=V,..." for kernels_open. */
char *moe_problem(const moe_case *c);

/* Run k on operands drawn from the seed; the test fails where an element is off by more than its bound, or where
 * something was written that shouldn't be. */
void moe_check(const moe_case *c, const kernels *k, uint64_t seed);

#endif
