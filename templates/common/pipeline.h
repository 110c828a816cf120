/* templates/common/pipeline.h: the main loop, from two tiled operands to one tile of sums.
 *
 * Owns the order of loads, LDS buffers, barriers and matrix instructions.  One step is TileK along K.  While
 * step s is multiplied,
 *
 *   registers   steps s + 1 .. s + prefetch   are on their way from memory
 *   LDS         steps s and s + 1             lie in `stages` buffers
 *
 *   stages 1: one buffer, two barriers a step;   stages 2: two buffers, one barrier
 *
 * Turns are unrolled until registers and buffers repeat, so that both have fixed places.
 *                                                                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_COMMON_PIPELINE_H
#define MOESAIC_COMMON_PIPELINE_H

#include "common/load.h"
#include "common/mma.h"
#include "common/wave.h"

/* Everything that follows from a configuration's tile and its waves.  Panels: parts of the weight tile that
 * lie apart in memory (gate and up); a wave takes its columns from each. */
template <class Config, int Panels> struct Geometry {
    static constexpr int panels = Panels;
    static constexpr int mfma = Config::mfma;
    static constexpr int waves_n = Config::waves / Config::waves_m;
    static constexpr int threads = Config::waves * wave_lanes;
    static constexpr int panel_rows = Config::tile_n / Panels;
    static constexpr int wave_rows = Config::tile_m / Config::waves_m;
    static constexpr int wave_cols = panel_rows / waves_n; /* of each panel */
    static constexpr int blocks_m = wave_rows / mfma;
    static constexpr int panel_blocks = wave_cols / mfma;
    static constexpr int blocks_n = panel_blocks * Panels;
    static_assert(blocks_m >= 1 && panel_blocks >= 1,
                  "a wave has at least one block of each panel");

    typedef TileShare<Config::tile_m, Config::tile_k, Config::vec, threads> ShareM;
    typedef TileShare<panel_rows, Config::tile_k, Config::vec, threads> ShareN;
    typedef LdsTile<Config::tile_k, Config::lds_layout> Lds;
    static constexpr int stage_elems = (Config::tile_m + Config::tile_n) * Lds::pitch;
    static constexpr int turns =
        Config::prefetch > Config::stages ? Config::prefetch : Config::stages;
    static_assert(turns % Config::prefetch == 0 && turns % Config::stages == 0, "turns repeat");

    typedef WaveResult<mfma, blocks_m, blocks_n> Result;
    static constexpr int reads = Config::tile_k / Mma<mfma>::k_per_read; /* fragments of a step */
    static_assert(reads >= 1, "a step holds at least one fragment");

    __device__ static int wave_row() { return wave_id() / waves_n * wave_rows; }
    __device__ static int wave_col() { return wave_id() % waves_n * wave_cols; }
};

/* A range of K as the main loop walks it: `steps` steps of tile_k, the first one with `lead` columns missing;
 * step i starts at element first + i * tile_k. */
struct StepRange {
    int steps;
    int lead;
    long first;
};

/* Part `part` of `parts` of K.  A part without any step becomes one step of zeros. */
__device__ inline StepRange steps_of_part(int k, int tile_k, int part, int parts)
{
    const int all = (k + tile_k - 1) / tile_k;
    const int lead = all * tile_k - k;
    const int begin = static_cast<int>(static_cast<long>(all) * part / parts);
    const int end = static_cast<int>(static_cast<long>(all) * (part + 1) / parts);
    const long first = static_cast<long>(begin) * tile_k - lead;
    if (begin == end)
        return {1, tile_k, first};
    return {end - begin, begin == 0 ? lead : 0, first};
}

template <class G, class RowsM> struct Operands {
    RowsM m;
    PanelRows<typename G::ShareN> n[G::panels];
};

template <class G, class Config> struct Step {
    StepRegisters<typename G::ShareM, Config::vec, Config::aligned> m;
    StepRegisters<typename G::ShareN, Config::vec, Config::aligned> n[G::panels];

    template <class Ops> __device__ void fetch(const Ops &ops, long k)
    {
        m.fetch(ops.m, k);
        for (int p = 0; p < G::panels; p++)
            n[p].fetch(ops.n[p], k);
    }
    template <class Ops> __device__ void fetch_after(const Ops &ops, long k, int lead)
    {
        m.fetch_after(ops.m, k, lead);
        for (int p = 0; p < G::panels; p++)
            n[p].fetch_after(ops.n[p], k, lead);
    }
    __device__ void store(bf16 *stage) const
    {
        m.template store<typename G::Lds>(stage, 0);
        for (int p = 0; p < G::panels; p++)
            n[p].template store<typename G::Lds>(stage, Config::tile_m + p * G::panel_rows);
    }
};

/* Where a lane finds its fragments in a stage: rows of both operands, and the column of each read, which the
 * blocks share because a block's first row does not change the swizzle. */
template <class G, class Config> struct FragmentReader {
    int row_m, row_n[G::panels], col[G::reads];

    __device__ FragmentReader()
    {
        const int row = lane_id() % G::mfma, k = lane_id() / G::mfma * 8;
        row_m = (G::wave_row() + row) * G::Lds::pitch;
        for (int p = 0; p < G::panels; p++)
            row_n[p] = (Config::tile_m + p * G::panel_rows + G::wave_col() + row) * G::Lds::pitch;
        for (int read = 0; read < G::reads; read++)
            col[read] =
                G::Lds::index(row, read * Mma<G::mfma>::k_per_read + k) - row * G::Lds::pitch;
    }
    __device__ void read(const bf16 *stage, int read,
                         Fragments<G::mfma, G::blocks_m, G::blocks_n> &f) const
    {
        const int block = G::mfma * G::Lds::pitch;
        for (int i = 0; i < G::blocks_m; i++)
            f.m[i] = *reinterpret_cast<const bf16x8 *>(stage + row_m + col[read] + i * block);
        for (int j = 0; j < G::blocks_n; j++)
            f.n[j] = *reinterpret_cast<const bf16x8 *>(stage + row_n[j / G::panel_blocks] +
                                                       col[read] + j % G::panel_blocks * block);
    }
};

/* The compiler moves no instruction across. */
__device__ inline void keep_order()
{
    __builtin_amdgcn_sched_barrier(0);
}

/* One tile on its way through the pipeline. */
template <class G, class Config, class Ops> struct Pipeline {
    const Ops &ops;
    const StepRange &range;
    bf16 *lds;
    FragmentReader<G, Config> reader;
    Step<G, Config> ahead[Config::prefetch]; /* step s in ahead[s % prefetch], until it is stored */
    typename G::Result &sum;

    __device__ bf16 *stage(int turn) const { return lds + turn % Config::stages * G::stage_elems; }
    __device__ long first_of(int s) const
    {
        return range.first + static_cast<long>(s) * Config::tile_k;
    }

    __device__ void start()
    {
        sum.clear();
        ahead[0].fetch_after(ops, range.first, range.lead);
        for (int s = 1; s < Config::prefetch; s++)
            if (s < range.steps)
                ahead[s].fetch(ops, first_of(s));
        lds_barrier(); /* of the tile before this one */
        ahead[0].store(stage(0));
    }
    __device__ void multiply_step(const bf16 *from)
    {
        for (int read = 0; read < G::reads; read++) {
            Fragments<G::mfma, G::blocks_m, G::blocks_n> fragments;
            reader.read(from, read, fragments);
            fragments.multiply_into(sum);
        }
    }
    /* Step s, turn = s % turns.  Fetch and store: there are steps s + prefetch and s + 1. */
    __device__ void take(int s, int turn, bool fetch, bool store)
    {
        lds_barrier();
        if (fetch)
            ahead[turn % Config::prefetch].fetch(ops, first_of(s + Config::prefetch));
        keep_order(); /* loads first, what waits for them last */
        multiply_step(stage(turn));
        keep_order();
        if (Config::stages == 1)
            lds_barrier();
        if (store)
            ahead[(turn + 1) % Config::prefetch].store(stage(turn + 1));
    }
    __device__ void run()
    {
        start();
        int s = 0;
        for (; s + G::turns + Config::prefetch <= range.steps; s += G::turns)
            for (int turn = 0; turn < G::turns; turn++)
                take(s + turn, turn, true, true);
        for (; s < range.steps; s += G::turns)
            for (int turn = 0; turn < G::turns; turn++)
                if (s + turn < range.steps)
                    take(s + turn, turn, s + turn + Config::prefetch < range.steps,
                         s + turn + 1 < range.steps);
    }
};

/* sum = the product over `range`.  All threads of the workgroup take part. */
template <class G, class Config, class Ops>
__device__ inline void multiply(const Ops &ops, const StepRange &range, bf16 *lds,
                                typename G::Result &sum)
{
    Pipeline<G, Config, Ops> pipeline = {ops, range, lds, {}, {}, sum};
    pipeline.run();
}

#endif
