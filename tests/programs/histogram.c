/* tests/programs/histogram.c: counts bytes with atomics in LDS, then in memory.    SPDX-License-Identifier: MIT */
#include "tests/programs/program.h"

static const char source[] =
    "extern \"C\" __global__ void histogram(const unsigned char *x, unsigned *counts, int n)\n"
    "{\n"
    "    __shared__ unsigned of_block[256];\n"
    "    of_block[threadIdx.x] = 0;\n"
    "    __syncthreads();\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "        atomicAdd(&of_block[x[i]], 1u);\n"
    "    __syncthreads();\n"
    "    atomicAdd(&counts[threadIdx.x], of_block[threadIdx.x]);\n"
    "}\n";

enum { N = 65539, BLOCK = 256, N_BLOCKS = 7 };

int main(void)
{
    uint8_t *x = program_host(N);
    uint32_t state = 3, got[256], want[256] = {0};
    for (int i = 0; i < N; i++) {
        uint32_t r = program_random(&state) & 255;
        x[i] = (uint8_t)(r & (r >> 1)); /* some values often */
        want[x[i]]++;
    }
    void *dx = program_buffer(x, N), *counts = program_buffer(NULL, sizeof got);
    int n = N;
    program_launch(program_kernel(source, "histogram"), N_BLOCKS, 1, BLOCK, 1,
                   (void *[]){&dx, &counts, &n});
    CHECK(hipMemcpy(got, counts, sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) {
        if (got[i] != want[i]) {
            printf("histogram: value %d occurs %u times, want %u\n", i, got[i], want[i]);
            return 1;
        }
    }
    printf("histogram: ok\n");
    return 0;
}
