/* scale.hip: x *= factor, for the tests of gen/.    SPDX-License-Identifier: MIT */
#include "parts.h"
#include "step.h"
#include <hip/hip_runtime.h>

// moesaic:config
struct Config {
    static constexpr int dtype = 0; // 0 f32, 1 f64
    static constexpr int cols = 7;  // of the matrix
    static constexpr int waves = 4; // in a workgroup
    static constexpr int vec = 1;   // elements of a load
    static constexpr int whole = 0;
    static constexpr int unroll = 100;         // steps at once
    static constexpr int threads = 64 * waves; // not a field
};
// moesaic:end

extern "C" __global__ void scale_rows(float *x, float factor, long rows)
{
    x[step(threadIdx.x, Config::vec)] *= factor * part;
}
