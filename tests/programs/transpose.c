/* tests/programs/transpose.c: transposes a matrix tile by tile through LDS.    SPDX-License-Identifier: MIT */
#include "tests/programs/program.h"

static const char source[] =
    "enum { TILE = 32, STEP = 8 };\n"
    "extern \"C\" __global__ void transpose(const float *in, float *out, int rows, int cols)\n"
    "{\n"
    "    __shared__ float tile[TILE][TILE + 1];\n"
    "    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;\n"
    "    for (int i = 0; i < TILE; i += STEP)\n"
    "        if (x < cols && y + i < rows)\n"
    "            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * cols + x];\n"
    "    __syncthreads();\n"
    "    x = blockIdx.y * TILE + threadIdx.x;\n"
    "    y = blockIdx.x * TILE + threadIdx.y;\n"
    "    for (int i = 0; i < TILE; i += STEP)\n"
    "        if (x < rows && y + i < cols)\n"
    "            out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];\n"
    "}\n";

enum { ROWS = 257, COLS = 130, TILE = 32, STEP = 8 };

int main(void)
{
    float *in = program_host(ROWS * COLS * sizeof *in),
          *out = program_host(ROWS * COLS * sizeof *out);
    for (int i = 0; i < ROWS * COLS; i++)
        in[i] = (float)i;
    void *din = program_buffer(in, ROWS * COLS * sizeof *in),
         *dout = program_buffer(NULL, ROWS * COLS * sizeof *out);
    int rows = ROWS, cols = COLS;
    program_launch(program_kernel(source, "transpose"), (COLS + TILE - 1) / TILE,
                   (ROWS + TILE - 1) / TILE, TILE, STEP, (void *[]){&din, &dout, &rows, &cols});
    CHECK(hipMemcpy(out, dout, ROWS * COLS * sizeof *out, hipMemcpyDeviceToHost));
    for (int row = 0; row < ROWS; row++) {
        for (int col = 0; col < COLS; col++) {
            if (out[col * ROWS + row] != in[row * COLS + col]) {
                printf("transpose: row %d, column %d is %g\n", row, col,
                       (double)out[col * ROWS + row]);
                return 1;
            }
        }
    }
    printf("transpose: ok\n");
    return 0;
}
