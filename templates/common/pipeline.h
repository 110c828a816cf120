/* templates/common/pipeline.h: the main loop, from two tiled operands to one tile of sums.
 *
 * Owns the order of loads, LDS buffers, barriers and matrix instructions.  One step is TileK along K:
 *
 *   registers   steps s + ahead .. s + ahead + prefetch - 1   on their way from memory
 *   LDS         steps s .. s + ahead                          in `stages` buffers
 *   fragments   step s, and with three stages the beginning of step s + 1
 *
 *   stages 1: one buffer, two barriers a step
 *   stages 2: two buffers, one barrier
 *   stages 3: the next step lies in LDS a barrier early, so its first fragments are read before that barrier
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
    static_assert(blocks_m >= 1 && panel_blocks >= 1, "a wave has at least one block of each panel");

    typedef TileShare<Config::tile_m, Config::tile_k, Config::vec, threads> ShareM;
    typedef TileShare<panel_rows, Config::tile_k, Config::vec, threads> ShareN;
    typedef LdsTile<Config::tile_k, Config::lds_layout> Lds;
    static constexpr int stage_elems = (Config::tile_m + Config::tile_n) * Lds::pitch;
    static constexpr int ahead = Config::stages == 3 ? 2 : 1;

    typedef WaveResult<mfma, blocks_m, blocks_n> Result;
    typedef Fragments<mfma, blocks_m, blocks_n> Frags;
    static constexpr int reads = Config::tile_k / Mma<mfma>::k_per_read;
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

template <class G, class Config>
__device__ inline void read_fragments(const bf16 *stage, int read, typename G::Frags &f)
{
    const int lane = lane_id();
    const int row = lane % G::mfma;
    const int col = read * Mma<G::mfma>::k_per_read + lane / G::mfma * 8;
    for (int i = 0; i < G::blocks_m; i++) {
        const int at = G::Lds::index(G::wave_row() + i * G::mfma + row, col);
        f.m[i] = *reinterpret_cast<const bf16x8 *>(stage + at);
    }
    for (int j = 0; j < G::blocks_n; j++) {
        const int panel = j / G::panel_blocks, block = j % G::panel_blocks;
        const int first = Config::tile_m + panel * G::panel_rows + block * G::mfma;
        const int at = G::Lds::index(first + G::wave_col() + row, col);
        f.n[j] = *reinterpret_cast<const bf16x8 *>(stage + at);
    }
}

/* sum = the product over `range`.  All threads of the workgroup take part. */
template <class G, class Config, class Ops>
__device__ inline void multiply(const Ops &ops, const StepRange &range, bf16 *lds, typename G::Result &sum)
{
    Step<G, Config> step;
    sum.clear();
    step.fetch_after(ops, range.first, range.lead);
    lds_barrier();
    step.store(lds);
    for (int s = 0; s < range.steps; s++) {
        const bf16 *stage = lds + s % Config::stages * G::stage_elems;
        lds_barrier();
        if (s + 1 < range.steps)
            step.fetch(ops, range.first + (s + 1L) * Config::tile_k);
        for (int read = 0; read < G::reads; read++) {
            typename G::Frags frags;
            read_fragments<G, Config>(stage, read, frags);
            frags.multiply_into(sum);
        }
        if (Config::stages == 1)
            lds_barrier();
        step.store(lds + (s + 1) % Config::stages * G::stage_elems);
    }
}

#endif
