/* templates/common/load.h: from global memory through registers into LDS.
 *
 * Owns which thread brings which vector of a tile, how rows are addressed, and where an element of a tile
 * lies in LDS.  A tile is Rows rows by TileK columns, K contiguous, in steps of TileK along K.
 *
 *   thread t of a pass:  row t / (TileK / Vec), columns Vec * (t % (TileK / Vec)) and on
 *
 * The short step of a K that TileK does not divide comes first, its columns moved to the end of the step
 * ("lead" columns of zeros in front): every later step is a full one, and the main loop needs no mask.
 *                                                                             SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_COMMON_LOAD_H
#define MOESAIC_COMMON_LOAD_H

#include "common/types.h"

/* How LDS rows keep apart: eight rows that are read together must lie in different groups of four banks. */
enum LdsLayout { LDS_PADDED = 0, LDS_SWIZZLED = 1 };

template <int TileK, int Layout> struct LdsTile {
    static constexpr int chunk = 8; /* elements of one ds_read_b128 */
    static constexpr int pitch = TileK + (Layout == LDS_PADDED ? chunk : 0);
    static constexpr int rows_per_line =
        TileK >= 64 ? 1 : 64 / TileK; /* a line: all 32 banks, 128 bytes */
    static constexpr int keys = TileK >= 64 ? 8 : TileK / chunk;

    __device__ static int index(int row, int col)
    {
        if (Layout == LDS_PADDED)
            return row * pitch + col;
        const int key = row / rows_per_line % keys;
        return row * pitch + ((col / chunk) ^ key) * chunk + col % chunk;
    }
};

template <int Rows, int TileK, int Vec, int Threads> struct TileShare {
    static constexpr int threads_per_row = TileK / Vec;
    static constexpr int rows_per_pass = Threads / threads_per_row;
    static constexpr int passes = Rows / rows_per_pass;
    static_assert(passes >= 1 && Rows % rows_per_pass == 0, "every thread brings whole vectors");

    __device__ static int row(int pass)
    {
        return pass * rows_per_pass + static_cast<int>(threadIdx.x) / threads_per_row;
    }
    __device__ static int col() { return static_cast<int>(threadIdx.x) % threads_per_row * Vec; }
};

/* One vector from an address that has the alignment of an element when Aligned is 0. */
template <int Vec, int Aligned>
__device__ inline typename Bf16Vector<Vec>::type load_vector(const bf16 *p)
{
    typedef typename Bf16Vector<Vec>::type V;
    if (Aligned)
        return *reinterpret_cast<const V *>(p);
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

/* As load_vector, with zeros for the first `skip` elements, which are not read. */
template <int Vec, int Aligned>
__device__ inline typename Bf16Vector<Vec>::type load_vector_after(const bf16 *p, int skip)
{
    typename Bf16Vector<Vec>::type v = 0;
    if (skip <= 0)
        return load_vector<Vec, Aligned>(p);
    if (!Aligned)
        for (int i = 0; i < Vec; i++)
            if (i >= skip)
                v[i] = p[i];
    return v;
}

/* Rows first, first + 1, ... of an array: a scalar base and 32-bit offsets.  Rows past `last` (counted from
 * `first`) repeat it; nobody stores them.  The rows of one tile lie within 4 GiB. */
template <class Share> struct PanelRows {
    const bf16 *base;
    unsigned offset_bytes[Share::passes];

    __device__ void aim(const bf16 *array, long ld, long first, int last)
    {
        base = array + first * ld;
        for (int p = 0; p < Share::passes; p++)
            offset_bytes[p] = static_cast<unsigned>((min(Share::row(p), last) * ld + Share::col()) *
                                                    sizeof(bf16));
    }
    __device__ const bf16 *at(int pass, long k) const
    {
        return reinterpret_cast<const bf16 *>(reinterpret_cast<const char *>(base + k) +
                                              offset_bytes[pass]);
    }
};

/* Rows picked by an index list: any row of the array, so 64-bit addresses. */
template <class Share> struct GatheredRows {
    const bf16 *row[Share::passes];

    __device__ void aim(const bf16 *array, long ld, const int *index, int last)
    {
        for (int p = 0; p < Share::passes; p++)
            row[p] = array + index[min(Share::row(p), last)] * ld + Share::col();
    }
    __device__ const bf16 *at(int pass, long k) const { return row[pass] + k; }
};

/* The registers between global memory and LDS for one thread's share of one step. */
template <class Share, int Vec, int Aligned> struct StepRegisters {
    typename Bf16Vector<Vec>::type v[Share::passes];

    template <class Rows> __device__ void fetch(const Rows &rows, long k)
    {
        for (int p = 0; p < Share::passes; p++)
            v[p] = load_vector<Vec, Aligned>(rows.at(p, k));
    }
    template <class Rows> __device__ void fetch_after(const Rows &rows, long k, int lead)
    {
        for (int p = 0; p < Share::passes; p++)
            v[p] = load_vector_after<Vec, Aligned>(rows.at(p, k), lead - Share::col());
    }
    template <class Tile> __device__ void store(bf16 *lds, int first_row) const
    {
        typedef typename Bf16Vector<Vec>::type V;
        for (int p = 0; p < Share::passes; p++)
            *reinterpret_cast<V *>(lds + Tile::index(first_row + Share::row(p), Share::col())) =
                v[p];
    }
};

#endif
