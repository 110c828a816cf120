/* templates/moe_gemm/moe_gemm.hip: the two GEMMs of a mixture-of-experts layer, rows grouped by expert.
 *
 *   gate_up   out[r] = swiglu(x[token_index[r]] * w[e]^T)                  rows r of expert e
 *   down      out[token] = sum over its slots of weight * (x[r] * w[e]^T)
 *
 * offsets[e] .. offsets[e + 1] are the rows of expert e; they are read on the device, so any expert may be
 * empty and the grid doesn't depend on the number of tokens.  Persistent workgroups walk the tiles.
 * Sums are fp32, order fixed by the configuration, without atomics; outputs round to nearest even.
 *                                                                             SPDX-License-Identifier: MIT
 */
#include "common/epilogue.h"
#include "common/load.h"
#include "common/mma.h"
#include "common/pipeline.h"
#include "common/schedule.h"
#include "common/wave.h"

// moesaic:config
struct Config {
    static constexpr int pass = 0;       // 0 gate_up, 1 down
    static constexpr int dtype = 0;      // 0 bf16
    static constexpr int activation = 0; // 0 swiglu
    static constexpr int aligned = 1;    // 1: bases on 16 bytes, sizes and strides multiples of 8
    static constexpr int tile_m = 128;   // rows of a tile
    static constexpr int tile_n = 128;   // weight rows of a tile; gate_up: half gate, half up
    static constexpr int tile_k = 32;    // K of a step
    static constexpr int waves = 4;      // in a workgroup
    static constexpr int waves_m = 2;    // of them along the rows
    static constexpr int mfma = 32;      // 32: 32x32x8, 16: 16x16x16
    static constexpr int stages = 2;     // LDS buffers
    static constexpr int prefetch = 1;   // steps in registers, on their way from memory
    static constexpr int lds_layout = 1; // 0 padded, 1 swizzled
    static constexpr int vec = 8;        // elements of a load from memory
    static constexpr int xcd_order = 1;  // 1: an XCD takes consecutive tiles
    static constexpr int group_m = 4;    // row tiles that share a sweep over the columns
    static constexpr int split_k = 1;    // parts of K, down only
    static constexpr int combine = 0;    // down: 0 direct, 1 through the workspace
    static constexpr int wgs_per_cu = 2; // workgroups that a CU must hold at once
};
// moesaic:end

struct moe_gemm_args {
    const bf16 *x;          /* gate_up [tokens][hidden]; down [rows][ffn] */
    const bf16 *w;          /* gate_up [experts][2 * ffn][hidden]; down [experts][hidden][ffn] */
    bf16 *out;              /* gate_up [rows][ffn]; down [tokens][hidden] */
    const int *offsets;     /* [experts + 1] */
    const int *token_index; /* [tokens * top_k]; slots without an expert come last */
    const float *routing_weight; /* [rows] */
    const int *row_of_slot;      /* [tokens * top_k], -1: no expert */
    float *workspace;            /* combine = rows: [split_k][tokens * top_k][hidden] */
    long ldx, ldw, ldout;
    long tokens;
    int hidden, ffn, experts, top_k;
};

constexpr bool is_down = Config::pass == 1;
constexpr bool to_workspace = is_down && Config::combine == 1;

typedef Geometry<Config, is_down ? 1 : 2> G;
constexpr int waves_per_simd = (Config::wgs_per_cu * Config::waves + 3) / 4;

struct Tile {
    int expert;
    int first_row, last_row; /* of the expert's rows, inclusive */
    int first_col;
    StepRange range;
    int part;
};

typedef ExpertList<Config::tile_m> Experts;

__device__ inline int out_cols(const moe_gemm_args &args)
{
    return is_down ? args.hidden : args.ffn;
}
__device__ inline int depth(const moe_gemm_args &args)
{
    return is_down ? args.ffn : args.hidden;
}

__device__ inline Tile tile_at(const moe_gemm_args &args, const Experts &experts, unsigned index)
{
    const unsigned cols = static_cast<unsigned>(out_cols(args) + G::panel_rows - 1) / G::panel_rows;
    const unsigned per_row_tile = cols * Config::split_k;
    const ExpertTile e = experts.find(static_cast<int>(index / per_row_tile));
    const unsigned before =
        (index / per_row_tile - static_cast<unsigned>(e.row_tile)) * per_row_tile;
    const TilePosition at =
        position_of<Config::group_m>(index - before, static_cast<unsigned>(e.row_tiles), cols);
    Tile tile;
    tile.expert = e.expert;
    tile.first_row = args.offsets[e.expert] + at.row * Config::tile_m;
    tile.last_row = args.offsets[e.expert + 1] - 1;
    tile.first_col = at.col * G::panel_rows;
    tile.part = at.part;
    tile.range = steps_of_part(depth(args), Config::tile_k, at.part, Config::split_k);
    return tile;
}

template <int Pass> struct RowsOf { /* gate_up: the tokens' rows */
    typedef GatheredRows<G::ShareM> type;
    __device__ static void aim(type &rows, const moe_gemm_args &args, const Tile &tile)
    {
        rows.aim(args.x, args.ldx, args.token_index + tile.first_row,
                 tile.last_row - tile.first_row);
    }
};
template <> struct RowsOf<1> { /* down: the rows in their order */
    typedef PanelRows<G::ShareM> type;
    __device__ static void aim(type &rows, const moe_gemm_args &args, const Tile &tile)
    {
        rows.aim(args.x, args.ldx, tile.first_row, tile.last_row - tile.first_row);
    }
};
typedef RowsOf<Config::pass> Rows;
typedef Operands<G, Rows::type> Ops;

__device__ inline Ops aim(const moe_gemm_args &args, const Tile &tile)
{
    Ops ops;
    Rows::aim(ops.m, args, tile);
    const int cols = out_cols(args);
    for (int p = 0; p < G::panels; p++) {
        const long first = (static_cast<long>(tile.expert) * G::panels + p) * cols + tile.first_col;
        ops.n[p].aim(args.w, args.ldw, first, cols - 1 - tile.first_col);
    }
    return ops;
}

/* Calls store(row, column, quad, block of the left panel, block row) for every quad of the wave's rows. */
template <class Store> __device__ inline void for_each_quad(const Tile &tile, Store store)
{
    const int lane = lane_id();
    for (int i = 0; i < G::blocks_m; i++) {
        const int row = tile.first_row + G::wave_row() + i * G::mfma + lane % G::mfma;
        if (row > tile.last_row)
            continue;
        for (int j = 0; j < G::panel_blocks; j++)
            for (int q = 0; q < Mma<G::mfma>::quads; q++)
                store(row,
                      tile.first_col + G::wave_col() + j * G::mfma + q * Mma<G::mfma>::quad_pitch +
                          lane / G::mfma * 4,
                      i, j, q);
    }
}

__device__ inline void write_tile(const moe_gemm_args &args, const Tile &tile, const G::Result &sum)
{
    for_each_quad(tile, [&](int row, int col, int i, int j, int q) {
        const int cols = out_cols(args) - col;
        const f32x4 first = quad_of<G::mfma>(sum.r[i][j], q);
        if (to_workspace) {
            const long rows = args.tokens * args.top_k;
            float *p = args.workspace + (tile.part * rows + row) * args.hidden + col;
            store_quad<Config::aligned>(p, first, cols);
        } else if (is_down) {
            bf16 *p = args.out + args.token_index[row] * args.ldout + col;
            store_quad<Config::aligned>(p, to_bf16(first * args.routing_weight[row]), cols);
        } else {
            const f32x4 up = quad_of<G::mfma>(sum.r[i][j + G::panel_blocks], q);
            bf16 *p = args.out + row * args.ldout + col;
            store_quad<Config::aligned>(p, to_bf16(swiglu(first, up)), cols);
        }
    });
}

/* Zeros for the tokens of slots that no expert serves. */
__device__ inline void zero_unserved(const moe_gemm_args &args)
{
    const long rows = args.tokens * args.top_k;
    const long stride = static_cast<long>(gridDim.x) * Config::waves;
    for (long row =
             args.offsets[args.experts] + static_cast<long>(blockIdx.x) * Config::waves + wave_id();
         row < rows; row += stride) {
        bf16 *out = args.out + args.token_index[row] * args.ldout;
        for (int col = lane_id() * 4; col < args.hidden; col += wave_lanes * 4)
            store_quad<Config::aligned>(out + col, bf16x4{0, 0, 0, 0}, args.hidden - col);
    }
}

extern "C" __global__ __launch_bounds__(G::threads)
    __attribute__((amdgpu_waves_per_eu(waves_per_simd))) void moe_gemm(moe_gemm_args args)
{
    __shared__ __attribute__((aligned(16))) bf16 lds[Config::stages * G::stage_elems];
    Experts experts;
    experts.scan(args.offsets, args.experts);
    const unsigned cols = static_cast<unsigned>(out_cols(args) + G::panel_rows - 1) / G::panel_rows;
    const unsigned tiles = static_cast<unsigned>(experts.row_tiles()) * cols * Config::split_k;
    const TileRange mine = tiles_of_workgroup(tiles, Config::xcd_order == 1);
    for (unsigned t = mine.begin; t < mine.end; t += mine.stride) {
        const Tile tile = tile_at(args, experts, t);
        G::Result sum;
        multiply<G, Config>(aim(args, tile), tile.range, lds, sum);
        write_tile(args, tile, sum);
    }
    if (is_down && !to_workspace)
        zero_unserved(args);
}

extern "C" __global__ __launch_bounds__(256) void moe_combine(moe_gemm_args args)
{
    const long rows = args.tokens * args.top_k;
    const long quads = (args.hidden + 3) / 4;
    const long stride = static_cast<long>(gridDim.x) * 256;
    for (long i = blockIdx.x * 256L + threadIdx.x; i < args.tokens * quads; i += stride) {
        const long token = i / quads;
        const int col = static_cast<int>(i % quads) * 4;
        f32x4 sum = 0;
        for (int slot = 0; slot < args.top_k; slot++) {
            const int row = args.row_of_slot[token * args.top_k + slot];
            if (row < 0)
                continue;
            f32x4 part_sum = 0;
            for (int part = 0; part < Config::split_k; part++) {
                const float *p = args.workspace + (part * rows + row) * args.hidden + col;
                for (int c = 0; c < 4; c++)
                    if (col + c < args.hidden)
                        part_sum[c] += p[c];
            }
            sum += part_sum * args.routing_weight[row];
        }
        store_quad<Config::aligned>(args.out + token * args.ldout + col, to_bf16(sum),
                                    args.hidden - col);
    }
}
