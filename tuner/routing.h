/* tuner/routing.h: which expert serves which token, and the lists that a grouped GEMM reads.
 *
 *   offsets        [experts + 1]      rows of expert e: offsets[e] .. offsets[e + 1]
 *   token_index    [tokens * top_k]   token of a row; behind offsets[experts]: of slots that no expert serves
 *   weight         [tokens * top_k]   routing weight of a row
 *   row_of_slot    [tokens * top_k]   row of slot (token * top_k + i), -1: no expert
 *                                                                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_ROUTING_H
#define MOESAIC_TUNER_ROUTING_H

#include "base/hash.h"
#include "base/status.h"

#include <stdint.h>

typedef enum routing_kind { ROUTING_UNIFORM, ROUTING_ZIPF, ROUTING_FILE } routing_kind;

/* How tokens choose their experts. */
typedef struct routing_spec {
    routing_kind kind;
    double exponent; /* zipf: weight rank^-exponent, ranks in an order that the seed draws */
    char path[1024]; /* file */
    hash_hex hash;   /* of the file */
} routing_spec;

/* Parse "uniform", "zipf:S" or "file:PATH" (relative to folder).  Errors: E_INPUT with the text; E_IO. */
moesaic_status routing_parse(const char *text, const char *folder, routing_spec *out,
                             moesaic_text *err);

/* The text that goes into a problem's key: "uniform", "zipf:1.2", "file:SHA-256". */
void routing_name(const routing_spec *spec, char out[80]);

typedef struct routing_table {
    int64_t tokens, rows; /* rows: served slots, offsets[experts] */
    int experts, top_k;
    int32_t *offsets, *token_index, *row_of_slot;
    float *weight;
} routing_table;

/* The experts of every slot: tokens * top_k numbers, top_k different ones for a token, -1 for none.
 * Errors: E_INPUT for a file with too few or wrong numbers. */
moesaic_status routing_draw(const routing_spec *spec, int64_t tokens, int experts, int top_k,
                            uint64_t seed, int32_t *expert_of_slot, moesaic_text *err);

/* The lists.  Rows of an expert are in the order of their tokens; weights are drawn. */
moesaic_status routing_build(const int32_t *expert_of_slot, int64_t tokens, int experts, int top_k,
                             uint64_t seed, routing_table *out, moesaic_text *err);
void routing_free(routing_table *r);

/* Experts with at least one row, and the rows of the largest. */
int routing_active(const routing_table *r);
int64_t routing_largest(const routing_table *r);

#endif
