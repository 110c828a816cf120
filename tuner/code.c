/* tuner/code.c: the variants that were compiled in this run.    SPDX-License-Identifier: MIT */
#include "tuner/tuner_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Behind the comment that opens an emitted file: it names the problem, which the code does not depend on. */
static const char *behind_head(const char *source)
{
    const char *end = strstr(source, "*/");
    return end && !strncmp(source, "/*", 2) ? end + 2 : source;
}

moesaic_status code_hash(const char *source, const moe_shape *shape, hash_hex *out,
                         moesaic_text *err)
{
    str all = {0};
    str_printf(&all, "down=%d aligned=%d many=%d\n%s", shape->down, shape->aligned,
               shape->top_k > 1, behind_head(source));
    moesaic_status status = all.failed
                                ? moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a source")
                                : hash_sha256(all.s, all.n, out, err);
    str_free(&all);
    return status;
}

code *code_find(const code_table *table, const hash_hex *hash)
{
    for (int i = 0; i < table->n; i++)
        if (!strcmp(table->all[i]->hash.s, hash->s))
            return table->all[i];
    return NULL;
}

/* Code that compiles and yet must not run. */
static void judge(code *c)
{
    const device_kernel_info *k = &c->object.kernel;
    if (c->status == MOESAIC_OK && (k->scratch_bytes || k->vgpr_spills))
        snprintf(c->reason, sizeof c->reason, "spills %u registers, %u bytes of scratch a lane",
                 k->vgpr_spills, k->scratch_bytes);
}

code *code_add(code_table *table, const hash_hex *hash, moesaic_status status,
               const moesaic_text *text, compiled *object)
{
    code *c = calloc(1, sizeof *c);
    code **all = realloc(table->all, (size_t)(table->n + 1) * sizeof(code *));
    if (all)
        table->all = all;
    if (!c || !all) {
        free(c);
        return NULL;
    }
    c->hash = *hash;
    c->status = status;
    c->object = *object;
    *object = (compiled){0};
    if (status != MOESAIC_OK)
        snprintf(c->reason, sizeof c->reason, "%.500s", text->s);
    judge(c);
    return table->all[table->n++] = c;
}

void code_table_free(code_table *table)
{
    for (int i = 0; i < table->n; i++) {
        str_free(&table->all[i]->object.elf);
        free(table->all[i]);
    }
    free(table->all);
    *table = (code_table){0};
}
