/* templates/common/wave.h: lanes and waves, and what orders them.
 *
 * Owns who a lane is, ordering of LDS accesses, and sums over a wave.          SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_COMMON_WAVE_H
#define MOESAIC_COMMON_WAVE_H

constexpr int wave_lanes = 64;

__device__ inline int lane_id()
{
    return static_cast<int>(threadIdx.x % wave_lanes);
}

/* Index of the wave in its workgroup, in a scalar register. */
__device__ inline int wave_id()
{
    return __builtin_amdgcn_readfirstlane(static_cast<int>(threadIdx.x / wave_lanes));
}

/* Orders LDS accesses of the workgroup.  Loads from global memory stay in flight. */
__device__ inline void lds_barrier()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

/* Orders LDS accesses of the wave's lanes. */
__device__ inline void lds_wave_barrier()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront", "local");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront", "local");
}

/* The sum of value over lanes 0 .. lane. */
__device__ inline int sum_through(int value)
{
    for (int d = 1; d < wave_lanes; d *= 2) {
        const int before = __shfl_up(value, d);
        value += lane_id() >= d ? before : 0;
    }
    return value;
}

/* Of the wave's last lane, in a scalar register. */
__device__ inline int last_lane(int value)
{
    return __builtin_amdgcn_readlane(value, wave_lanes - 1);
}

#endif
