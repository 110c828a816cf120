/* tests/programs/vadd.c: adds two vectors on the device.    SPDX-License-Identifier: MIT */
#include "tests/programs/program.h"

static const char source[] =
    "extern \"C\" __global__ void vadd(const float *a, const float *b, float *c, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        c[i] = a[i] + b[i];\n"
    "}\n";

enum { N = 100003, BLOCK = 256 };

int main(void)
{
    uint32_t state = 1;
    float *a = program_host(N * sizeof *a), *b = program_host(N * sizeof *b),
          *c = program_host(N * sizeof *c);
    for (int i = 0; i < N; i++) {
        a[i] = (float)program_random(&state);
        b[i] = (float)program_random(&state) / 3;
    }
    void *da = program_buffer(a, N * sizeof *a), *db = program_buffer(b, N * sizeof *b),
         *dc = program_buffer(NULL, N * sizeof *c);
    int n = N;
    program_launch(program_kernel(source, "vadd"), (N + BLOCK - 1) / BLOCK, 1, BLOCK, 1,
                   (void *[]){&da, &db, &dc, &n});
    CHECK(hipMemcpy(c, dc, N * sizeof *c, hipMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        if (c[i] != a[i] + b[i]) {
            printf("vadd: element %d is %g, want %g\n", i, (double)c[i], (double)(a[i] + b[i]));
            return 1;
        }
    }
    printf("vadd: ok\n");
    return 0;
}
