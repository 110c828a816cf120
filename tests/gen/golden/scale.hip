/* A variant of scale, pass run, emitted by Moesaic: it stands alone.
 *
 * problem   dtype=f64 rows=10 cols=64 note=ends?/here
 * config    waves=1 vec=8 whole=0 unroll=2
 * template  ef043a7a908bfc8fc7f67a79bb01c0ccbc56b09b3802234362897bce4b8341ca
 * compile   hipcc --offload-arch=gfx942 -std=c++17 -O3 -c FILE, or hiprtc
 */
/* scale.hip: x *= factor, for the tests of gen/.    SPDX-License-Identifier: MIT */
/* parts.h: asked for twice, put in once.    SPDX-License-Identifier: MIT */
constexpr int part = 1;
/* step.h    SPDX-License-Identifier: MIT */
__device__ inline int step(int thread, int vec)
{
    return thread * vec;
}
#include <hip/hip_runtime.h>

// moesaic:config
struct Config {
    static constexpr int dtype = 1; // 0 f32, 1 f64
    static constexpr int cols = 64; // of the matrix
    static constexpr int waves = 1; // in a workgroup
    static constexpr int vec = 8;   // elements of a load
    static constexpr int whole = 0;
    static constexpr int unroll = 2;           // steps at once
    static constexpr int threads = 64 * waves; // not a field
};
// moesaic:end

extern "C" __global__ void scale_rows(float *x, float factor, long rows)
{
    x[step(threadIdx.x, Config::vec)] *= factor * part;
}
