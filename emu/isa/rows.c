/* emu/isa/rows.c: all instruction rows of the SIMD level that this host runs, by mnemonic.
 *
 * Every exec_<name>.c brings one table per level; EMU_TABLES lists them.  The level is the best that the
 * host has, or what MOESAIC_EMU_SIMD says (amx is avx512 with matrix tiles).
 * SPDX-License-Identifier: MIT
 */
#include "emu/isa/rows.h"

#include "emu/isa/tiles.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EMU_TABLES(X, level)                                                                       \
    X(control, level)                                                                              \
    X(sop, level)                                                                                  \
    X(vop_int, level)                                                                              \
    X(vop_wide, level)                                                                             \
    X(vop_float, level)                                                                            \
    X(vop_f64, level)                                                                              \
    X(vop_f16, level)                                                                              \
    X(vop_convert, level)                                                                          \
    X(vop_divide, level)                                                                           \
    X(vop_compare, level)                                                                          \
    X(vop_cross, level)                                                                            \
    X(smem, level)                                                                                 \
    X(global, level)                                                                               \
    X(scratch, level)                                                                              \
    X(mubuf, level)                                                                                \
    X(ds, level)                                                                                   \
    X(mfma, level)                                                                                 \
    X(smfmac, level)

/* SIMD levels, the best last. */
#define EMU_LEVELS(X) X(base) X(avx2) X(avx512)

typedef void emu_fuse(emu_op *ops, size_t n, const bool *is_target);

#define DECLARE(name, level) extern const emu_table emu_table_##name##_##level;
#define ADDRESS(name, level) &emu_table_##name##_##level,
#define DECLARE_LEVEL(level)                                                                       \
    EMU_TABLES(DECLARE, level)                                                                     \
    emu_fuse emu_fuse_mfma_##level;                                                                \
    static const emu_table *const level##_tables[] = {EMU_TABLES(ADDRESS, level)};
EMU_LEVELS(DECLARE_LEVEL)

static bool has_base(void)
{
    return true;
}

/* Hosts with BMI2 have F16C and LZCNT, too. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bf16");
}

static const struct level {
    const char *name;
    bool (*host_has)(void);
    const emu_table *const *tables;
    emu_fuse *fuse;
} levels[] = {
#define LEVEL(level) {#level, has_##level, level##_tables, emu_fuse_mfma_##level},
    EMU_LEVELS(LEVEL)
#undef LEVEL
};

enum {
    N_TABLES = sizeof base_tables / sizeof *base_tables,
    MAX_ROWS = 4096,
    N_SLOTS = 4 * MAX_ROWS, /* power of two, sparsely filled */
};

static struct {
    const emu_row *rows[MAX_ROWS];
    uint16_t n_rows;
    uint16_t slot[N_SLOTS]; /* row + 1; 0: empty */
    const struct level *level;
    bool has_tiles;
} all;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

/* The level that the environment asks for or else the best, of those that the host has. */
static const struct level *choose_level(const char *wish)
{
    const struct level *best = levels;
    for (size_t i = 1; i < sizeof levels / sizeof *levels; i++)
        if (levels[i].host_has() && (!wish || strcmp(best->name, wish) != 0))
            best = &levels[i];
    return best;
}

static void add_table(const emu_table *table)
{
    for (size_t i = 0; i < table->n && all.n_rows < MAX_ROWS; i++) {
        uint32_t h = hash(table->rows[i].mnemonic) % N_SLOTS;
        while (all.slot[h])
            h = (h + 1) % N_SLOTS;
        all.rows[all.n_rows++] = &table->rows[i];
        all.slot[h] = all.n_rows;
    }
}

static void build(void)
{
    const char *wish = getenv("MOESAIC_EMU_SIMD");
    all.level = choose_level(wish);
    all.has_tiles = all.level->tables == avx512_tables && (!wish || !strcmp(wish, "amx")) &&
                    emu_tiles_request();
    for (size_t i = 0; i < N_TABLES; i++)
        add_table(all.level->tables[i]);
}

const emu_row *emu_rows_find(const char *mnemonic)
{
    pthread_once(&once, build);
    for (uint32_t h = hash(mnemonic) % N_SLOTS; all.slot[h]; h = (h + 1) % N_SLOTS)
        if (!strcmp(all.rows[all.slot[h] - 1]->mnemonic, mnemonic))
            return all.rows[all.slot[h] - 1];
    return NULL;
}

uint16_t emu_rows_index(const emu_row *row)
{
    uint32_t h = hash(row->mnemonic) % N_SLOTS;
    while (all.rows[all.slot[h] - 1] != row)
        h = (h + 1) % N_SLOTS;
    return (uint16_t)(all.slot[h] - 1);
}

const emu_row *emu_rows_at(uint16_t index)
{
    return all.rows[index];
}

size_t emu_rows_count(void)
{
    pthread_once(&once, build);
    return all.n_rows;
}

const char *emu_rows_level(void)
{
    pthread_once(&once, build);
    return all.has_tiles ? "amx" : all.level->name;
}

bool emu_rows_wide(void)
{
    return all.level != levels;
}

bool emu_rows_tiles(void)
{
    return all.has_tiles;
}

void emu_rows_fuse(emu_op *ops, size_t n, const bool *is_target)
{
    all.level->fuse(ops, n, is_target);
}
