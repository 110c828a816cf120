/* templates/common/schedule.h: which tile a workgroup computes next.
 *
 * Owns the list of all tiles of all experts and its order.  Row counts are known on the device only: every
 * wave sums the experts' row tiles once, and then finds the expert of a tile by itself.  The hand-out is
 * static (a workgroup takes every n-th tile), so results don't depend on timing.
 *
 *   all tiles:     expert 0 | expert 1 | ...            an empty expert has none
 *   one expert:    K parts > groups of row tiles > column tiles > row tiles of the group
 *
 * Workgroup i runs on XCD i % 8 (docs/hardware.md, "Shape of the machine").  By XCD, each XCD takes one
 * consecutive eighth of the list, so that tiles which share weights share an L2.
 *                                                                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_COMMON_SCHEDULE_H
#define MOESAIC_COMMON_SCHEDULE_H

#include "common/wave.h"

constexpr unsigned xcd_count = 8;

/* begin, begin + stride, ... below end. */
struct TileRange {
    unsigned begin, end, stride;
};

__device__ inline TileRange tiles_of_workgroup(unsigned tiles, bool by_xcd)
{
    if (!by_xcd || gridDim.x % xcd_count != 0)
        return {blockIdx.x, tiles, gridDim.x};
    const unsigned long xcd = blockIdx.x % xcd_count;
    const unsigned begin = static_cast<unsigned>(tiles * xcd / xcd_count);
    const unsigned end = static_cast<unsigned>(tiles * (xcd + 1) / xcd_count);
    return {begin + blockIdx.x / xcd_count, end, gridDim.x / xcd_count};
}

struct ExpertTile {
    int expert;
    int row_tile; /* within the expert */
    int row_tiles;
};

/* The experts' row tiles, summed: lane i holds the tiles of all experts before (i + 1) * per_lane. */
template <int TileM> struct ExpertList {
    const int *offsets;
    int experts, per_lane, tiles_through;

    __device__ int tiles_of(int expert) const
    {
        const unsigned rows = static_cast<unsigned>(offsets[expert + 1] - offsets[expert]);
        return static_cast<int>((rows + TileM - 1) / TileM);
    }
    __device__ void scan(const int *expert_offsets, int expert_count)
    {
        offsets = expert_offsets;
        experts = expert_count;
        per_lane = (experts + wave_lanes - 1) / wave_lanes;
        tiles_through = 0;
        const int first = lane_id() * per_lane;
        for (int e = first; e < min(first + per_lane, experts); e++)
            tiles_through += tiles_of(e);
        tiles_through = sum_through(tiles_through);
    }
    __device__ int row_tiles() const { return last_lane(tiles_through); }
    /* The expert whose tiles contain row tile `index` of the whole list. */
    __device__ ExpertTile find(int index) const
    {
        const int lane = __popcll(__ballot(tiles_through <= index));
        int expert = lane * per_lane;
        int local = index - (lane ? __builtin_amdgcn_readlane(tiles_through, lane - 1) : 0);
        int tiles = tiles_of(expert);
        while (local >= tiles) {
            local -= tiles;
            tiles = tiles_of(++expert);
        }
        return {expert, local, tiles};
    }
};

/* Where tile `index` of one expert lies. */
struct TilePosition {
    int row, col, part;
};

template <int Group>
__device__ inline TilePosition position_of(unsigned index, unsigned rows, unsigned cols)
{
    const unsigned per_part = rows * cols;
    const unsigned part = index / per_part;
    const unsigned in_part = index % per_part;
    const unsigned first_row = in_part / (Group * cols) * Group;
    const unsigned in_group = in_part - first_row * cols;
    const unsigned group_rows = min(rows - first_row, static_cast<unsigned>(Group));
    return {static_cast<int>(first_row + in_group % group_rows),
            static_cast<int>(in_group / group_rows), static_cast<int>(part)};
}

#endif
