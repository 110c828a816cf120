/* tests/programs/reduce.c: sums per block, through shuffles, LDS and a barrier.    SPDX-License-Identifier: MIT */
#include "tests/programs/program.h"

static const char source[] =
    "extern \"C\" __global__ void reduce(const unsigned *x, unsigned *sums, int n)\n"
    "{\n"
    "    __shared__ unsigned of_wave[16];\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    unsigned sum = i < n ? x[i] : 0;\n"
    "    for (int step = warpSize / 2; step > 0; step /= 2)\n"
    "        sum += __shfl_down(sum, step);\n"
    "    if (threadIdx.x % warpSize == 0)\n"
    "        of_wave[threadIdx.x / warpSize] = sum;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) {\n"
    "        for (unsigned w = 1; w < blockDim.x / warpSize; w++)\n"
    "            sum += of_wave[w];\n"
    "        sums[blockIdx.x] = sum;\n"
    "    }\n"
    "}\n";

enum { N = 50021, BLOCK = 512, N_BLOCKS = (N + BLOCK - 1) / BLOCK };

int main(void)
{
    uint32_t state = 2, *x = program_host(N * sizeof *x), got[N_BLOCKS], want[N_BLOCKS] = {0};
    for (int i = 0; i < N; i++) {
        x[i] = program_random(&state);
        want[i / BLOCK] += x[i];
    }
    void *dx = program_buffer(x, N * sizeof *x), *sums = program_buffer(NULL, sizeof got);
    int n = N;
    program_launch(program_kernel(source, "reduce"), N_BLOCKS, 1, BLOCK, 1,
                   (void *[]){&dx, &sums, &n});
    CHECK(hipMemcpy(got, sums, sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < N_BLOCKS; i++) {
        if (got[i] != want[i]) {
            printf("reduce: block %d is %u, want %u\n", i, got[i], want[i]);
            return 1;
        }
    }
    printf("reduce: ok\n");
    return 0;
}
