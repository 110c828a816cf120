/* gen/gen.h: kernel families: their spaces of configurations, and one readable HIP file per variant.
 *
 * A family is a folder with a space.json and a template <family>.hip.  Expressions in space.json are SQL; SQLite
 * evaluates them in memory under an authorizer and a step limit.  No clock and no device here.
 *
 * Threads: objects belong to one thread at a time.                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_GEN_GEN_H
#define MOESAIC_GEN_GEN_H

#include "base/hash.h"
#include "base/json.h"
#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

typedef struct gen_family gen_family;
typedef struct gen_space gen_space;

/* Device facts that expressions may use as columns. */
typedef struct gen_device {
    int64_t cu_count, xcd_count, lds_per_cu, clock_mhz;
    double hbm_gbps, mfma_flops_per_clk_per_cu;
} gen_device;

/* An MI300X, for when there is no device to ask.  Source: docs/hardware.md. */
extern const gen_device gen_mi300x;

/* Open a family by name ("moe_gemm": looked up in the templates folder) or by path of its folder.
 * Errors: E_NOTFOUND listing the families that exist; E_INPUT for a bad space.json, with key and reason. */
moesaic_status gen_family_open(const char *name_or_folder, gen_family **out, moesaic_text *err);
void gen_family_free(gen_family *family);
const char *gen_family_name(const gen_family *family);
/* SHA-256 over space.json and the template with its includes: another hash makes stored winners stale. */
const hash_hex *gen_family_hash(const gen_family *family);
/* The whole space.json. */
const cJSON *gen_family_json(const gen_family *family);
bool gen_family_has_pass(const gen_family *family, const char *pass);

/* Check a problem's fields against the family (unknown fields, unknown dtype, sizes out of range, top_k above
 * experts ... are refused with value and remedy) and fill in defaults.  out: a new object. */
moesaic_status gen_problem_complete(const gen_family *family, const char *pass, const cJSON *fields,
                                    cJSON **out, moesaic_text *err);

/* A configuration that states some parameters, the others as in base (NULL: the family's default); a new object.
 * Errors: E_INPUT for an unknown parameter or a value that is not listed.  It need not be legal. */
moesaic_status gen_config_complete(const gen_family *family, const cJSON *base, const cJSON *given,
                                   cJSON **out, moesaic_text *err);

/* The space of one problem on one device.  problem must be complete. */
moesaic_status gen_space_open(const gen_family *family, const char *pass, const cJSON *problem,
                              const gen_device *device, gen_space **out, moesaic_text *err);
void gen_space_free(gen_space *space);

/* Numbers of all and of legal configurations; legal ones are numbered 0 .. legal-1 in a fixed order. */
int64_t gen_space_total(const gen_space *space);
int64_t gen_space_legal(const gen_space *space);
/* {constraint name: configurations that it excludes (first failing constraint counts)}; a new object. */
moesaic_status gen_space_excluded(gen_space *space, cJSON **out, moesaic_text *err);

/* Legal configuration i as {parameter: value}; a new object. */
moesaic_status gen_space_config(gen_space *space, int64_t i, cJSON **out, moesaic_text *err);
/* The analytical estimate for legal configuration i, microseconds; NAN when the family states none. */
moesaic_status gen_space_estimate_us(gen_space *space, int64_t i, double *us, moesaic_text *err);
/* Index of the family's default for this problem: "default" where legal, else the legal configuration that differs
 * from it in the fewest parameters (first in order).  E_NOTFOUND when nothing is legal. */
moesaic_status gen_space_default(gen_space *space, int64_t *i, moesaic_text *err);
/* Index of a configuration; E_NOTFOUND when it is not legal. */
moesaic_status gen_space_find(gen_space *space, const cJSON *config, int64_t *i, moesaic_text *err);
/* Array of {name, reason, sql} that exclude config (empty: legal).  E_INPUT when a parameter or value is unknown. */
moesaic_status gen_space_why(gen_space *space, const cJSON *config, cJSON **out, moesaic_text *err);

/* How a variant is launched, evaluated:
 * {"kernels":[{"kernel":"moe_gemm","block":[256,1,1],"grid":[608,1,1],"lds_bytes":0}, ...],
 *  "arguments":[{"name":"x","type":"ptr"},...],"workspace":{"fixed_bytes":0,"per_row_bytes":8192}}
 * It is stored with every trial: the runtime launches from it without the template. */
moesaic_status gen_space_launch(gen_space *space, const cJSON *config, cJSON **out,
                                moesaic_text *err);

/* One standalone HIP file: includes inlined, configuration filled in, head comment with family, pass, problem and
 * configuration.  The same input gives the same bytes. */
moesaic_status gen_emit(const gen_family *family, const char *pass, const cJSON *problem,
                        const cJSON *config, str *out, moesaic_text *err);

#endif
