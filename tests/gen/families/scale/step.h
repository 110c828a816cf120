/* step.h    SPDX-License-Identifier: MIT */
#include "parts.h"
__device__ inline int step(int thread, int vec)
{
    return thread * vec;
}
