/* gen/gen_int.h: what the files of gen/ share.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_GEN_GEN_INT_H
#define MOESAIC_GEN_GEN_INT_H

#include "gen/gen.h"

#include <sqlite3.h>

struct gen_family {
    char *name, *folder;
    cJSON *json;
    str source; /* the template with its includes, configuration not filled in */
    hash_hex hash;
};

enum {
    GEN_MAX_COLUMNS = 192,
    GEN_MAX_ROWS = 4000000, /* of a space, while constraints are applied */
    GEN_MAX_EXPRESSION_BYTES = 4000,
    GEN_MAX_LAUNCHES = 16
};
#define GEN_MAX_TOTAL INT64_C(1000000000000000) /* configurations before constraints */

/* --- check.c --- */

/* Lower case letters, digits and _, a letter first. */
bool is_name(const char *s);
/* Is the family's space.json what it must be?  Errors: E_INPUT naming the key, with the remedy. */
moesaic_status check_family(const gen_family *family, moesaic_text *err);

/* --- config.c --- */

/* Is config made of all parameters, each with a listed value?  Errors: E_INPUT naming parameter and values. */
moesaic_status config_check(const gen_family *family, const cJSON *config, moesaic_text *err);

/* --- inline.c --- */

/* Append the file with its quoted includes put in their places, each once. */
moesaic_status inline_source(const char *folder, const char *file, str *out, moesaic_text *err);

/* --- problem.c --- */

/* The integer that stands for a text field's value in the configuration; false: the field has no codes. */
bool problem_code(const gen_family *family, const char *field, const char *value, int64_t *code);

/* --- sql.c: the in-memory connection in which a family's expressions are evaluated --- */

typedef struct evaluator {
    sqlite3 *sql;
    const char *family;
    const char
        *table; /* of the statement that holds an expression of the family; NULL: all is ours */
    void (*on_read)(void *reader, const char *column);
    void *reader;
    int64_t steps_left;
} evaluator;

/* *out must not move afterwards. */
moesaic_status evaluator_open(const char *family, evaluator *out, moesaic_text *err);
void evaluator_close(evaluator *e);

/* SQL of our own, formatted by sqlite3_mprintf: run it, or prepare a query and step through it. */
moesaic_status evaluator_run(evaluator *e, moesaic_text *err, const char *format, ...);
moesaic_status evaluator_query(evaluator *e, sqlite3_stmt **out, moesaic_text *err,
                               const char *format, ...);
moesaic_status evaluator_step(evaluator *e, sqlite3_stmt *statement, bool *row, moesaic_text *err);

/* The family's expressions; where names one in messages. */

/* `"column" = (expression), ...` in all rows; the expressions were accepted by evaluator_reads. */
moesaic_status evaluator_update(evaluator *e, const char *where, const char *table,
                                const char *assignments, moesaic_text *err);
/* column = expression in all rows. */
moesaic_status evaluator_set(evaluator *e, const char *where, const char *table, const char *column,
                             const char *expression, moesaic_text *err);
/* Remove the rows for which expression is false or NULL. */
moesaic_status evaluator_keep(evaluator *e, const char *where, const char *table,
                              const char *expression, int64_t *n_removed, moesaic_text *err);
/* Call on_read for every column that expression reads. */
moesaic_status evaluator_reads(evaluator *e, const char *where, const char *table,
                               const char *expression,
                               void (*on_read)(void *reader, const char *column), void *reader,
                               moesaic_text *err);

/* --- column.c: the columns that expressions may use, and which need which --- */

typedef struct column_set {
    bool has[GEN_MAX_COLUMNS];
} column_set;

typedef enum column_kind {
    COLUMN_FACT, /* of the problem or the device: the same in all configurations */
    COLUMN_PARAMETER,
    COLUMN_DERIVED
} column_kind;

typedef struct space_column {
    const char *name;
    column_kind kind;
    const cJSON *json; /* parameter: its values; derived: its expression */
    column_set needs;  /* derived: the parameters and derived columns that it is made of */
} space_column;

typedef struct column_list {
    space_column c[GEN_MAX_COLUMNS];
    int n;
} column_list;

/* State pass and problem in the one-row table `facts`, and list them. */
moesaic_status columns_facts(const char *pass, const cJSON *problem, evaluator *e, column_list *out,
                             moesaic_text *err);
/* State pass, problem and device in the one-row table `facts`, and list them with the family's parameters and
 * derived columns. */
moesaic_status columns_read(const gen_family *family, const char *pass, const cJSON *problem,
                            const gen_device *device, evaluator *e, column_list *out,
                            moesaic_text *err);
/* What an expression needs, directly and through derived columns. */
moesaic_status columns_needed(const column_list *columns, evaluator *e, const char *where,
                              const char *expression, column_set *out, moesaic_text *err);
/* Add the derived columns of `wanted` that table has not yet. */
moesaic_status columns_derive(const column_list *columns, evaluator *e, const char *table,
                              const column_set *wanted, column_set *have, moesaic_text *err);

/* --- space.c --- */

struct gen_space {
    const gen_family *family;
    gen_device device;
    evaluator eval;
    column_list columns;
    cJSON *excluded;
    int64_t total, legal;
    sqlite3_stmt *config, *estimate;
};

/* --- enumerate.c --- */

/* Make the table `legal`, and count. */
moesaic_status enumerate_legal(gen_space *space, moesaic_text *err);

/* --- require.c --- */

/* What the family requires of every problem.  Errors: E_INPUT with rule, values and reason. */
moesaic_status require_all(const gen_family *family, const char *pass, const cJSON *problem,
                           moesaic_text *err);

/* --- one.c: a single configuration with all its columns, legal or not --- */

/* Fill the one-row table `one`.  Errors: E_INPUT for an unknown or missing parameter or a value that is not listed. */
moesaic_status one_set(gen_space *space, const cJSON *config, moesaic_text *err);
/* The value of an expression for it; NAN for NULL.  E_INPUT when it is a text. */
moesaic_status one_eval(gen_space *space, const char *where, const char *expression, double *out,
                        moesaic_text *err);
/* The value as an integer in [low, high]. */
moesaic_status one_integer(gen_space *space, const char *where, const char *expression, int64_t low,
                           int64_t high, int64_t *out, moesaic_text *err);

#endif
