/* tests/hip/test_kernels.c: kernels as people write them, against the same sums on the host.
 * SPDX-License-Identifier: MIT
 */
#include "tests/hip/support.h"

#include <stdlib.h>
#include <string.h>

static const char source[] =
    "extern \"C\" __global__ void add(float *c, const float *a, const float *b, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }\n"
    "extern \"C\" __global__ void sum(unsigned long long *out, const unsigned *in, int n)\n"
    "{\n"
    "    __shared__ unsigned long long part[256];\n"
    "    unsigned long long s = 0;\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s "
    "+= in[i];\n"
    "    part[threadIdx.x] = s;\n"
    "    __syncthreads();\n"
    "    for (int d = blockDim.x / 2; d > 0; d /= 2) {\n"
    "        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (threadIdx.x == 0) out[blockIdx.x] = part[0];\n"
    "}\n"
    "extern \"C\" __global__ void transpose(float *to, const float *from, int rows, int columns)\n"
    "{\n"
    "    __shared__ float tile[16][17];\n"
    "    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;\n"
    "    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = from[y * columns + x];\n"
    "    __syncthreads();\n"
    "    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;\n"
    "    if (x < rows && y < columns) to[y * rows + x] = tile[threadIdx.x][threadIdx.y];\n"
    "}\n"
    "extern \"C\" __global__ void histogram(unsigned *bins, const unsigned char *in, int n)\n"
    "{\n"
    "    __shared__ unsigned mine[256];\n"
    "    mine[threadIdx.x] = 0;\n"
    "    __syncthreads();\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "        atomicAdd(&mine[in[i]], 1u);\n"
    "    __syncthreads();\n"
    "    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);\n"
    "}\n"
    "extern \"C\" __global__ void lanes(unsigned *shuffled, unsigned *scanned, unsigned long long "
    "*votes)\n"
    "{\n"
    "    unsigned lane = threadIdx.x, v = lane * 3 + 1;\n"
    "    shuffled[lane] = __shfl_xor(v, 21) + (__shfl(v, 63 - lane) << 16);\n"
    "    for (int d = 1; d < 64; d *= 2) { unsigned o = __shfl_up(v, d); if (lane >= d) v += o; }\n"
    "    scanned[lane] = v;\n"
    "    unsigned long long b = __ballot(lane % 3 == 0);\n"
    "    if (lane == 5) { votes[0] = b; votes[1] = __popcll(b); }\n"
    "}\n"
    "extern \"C\" __global__ void divergent(int *out)\n"
    "{\n"
    "    int n = 0;\n"
    "    for (unsigned v = blockIdx.x * blockDim.x + threadIdx.x + 1; v != 1; n++) v = v % 2 ? 3 * "
    "v + 1 : v / 2;\n"
    "    out[blockIdx.x * blockDim.x + threadIdx.x] = n;\n"
    "}\n"
    "extern \"C\" __global__ void scratch(int *out, int at)\n"
    "{\n"
    "    volatile int a[40];\n"
    "    for (int i = 0; i < 40; i++) a[i] = i * (int)threadIdx.x;\n"
    "    out[threadIdx.x] = a[(at + threadIdx.x) % 40];\n"
    "}\n";

static hipModule_t module;

static int set_up(void **state)
{
    (void)state;
    module = hip_module(source);
    return 0;
}

static void test_vector_addition_leaves_the_rest_alone(void **state)
{
    (void)state;
    enum { N = 100003, REST = 64 };
    float *a = malloc(N * sizeof *a), *c = malloc((N + REST) * sizeof *c);
    assert_true(a && c);
    for (int i = 0; i < N; i++)
        a[i] = (float)i / 7;
    float *da = hip_device_copy(a, N * sizeof *a), *dc = hip_device_zeros((N + REST) * sizeof *c);
    int n = N;
    hip_launch(hip_kernel(module, "add"), (N + 255) / 256, 256, 0, NULL,
               (void *[]){&dc, &da, &da, &n});
    HIP(hipMemcpy(c, dc, (N + REST) * sizeof *c, hipMemcpyDeviceToHost));
    for (int i = 0; i < N + REST; i++)
        assert_float_equal(c[i], i < N ? a[i] + a[i] : 0, 0);
    HIP(hipFree(da));
    HIP(hipFree(dc));
    free(a);
    free(c);
}

static void test_block_reduction_through_lds(void **state)
{
    (void)state;
    enum { N = 70001, GROUPS = 7 };
    unsigned *in = malloc(N * sizeof *in);
    uint64_t want = 0, got = 0, parts[GROUPS];
    assert_non_null(in);
    for (unsigned i = 0; i < N; i++)
        want += in[i] = i * 2654435761u;
    unsigned *din = hip_device_copy(in, N * sizeof *in);
    uint64_t *dout = hip_device_zeros(sizeof parts);
    int n = N;
    hip_launch(hip_kernel(module, "sum"), GROUPS, 256, 0, NULL, (void *[]){&dout, &din, &n});
    HIP(hipMemcpy(parts, dout, sizeof parts, hipMemcpyDeviceToHost));
    for (int i = 0; i < GROUPS; i++)
        got += parts[i];
    assert_int_equal(got, want);
    HIP(hipFree(din));
    HIP(hipFree(dout));
    free(in);
}

static void test_transpose_with_a_ragged_edge(void **state)
{
    (void)state;
    enum { ROWS = 83, COLUMNS = 121 };
    static float from[ROWS][COLUMNS], to[COLUMNS][ROWS];
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            from[y][x] = (float)(1000 * y + x);
    float *dfrom = hip_device_copy(from, sizeof from), *dto = hip_device_zeros(sizeof to);
    int rows = ROWS, columns = COLUMNS;
    HIP(hipModuleLaunchKernel(hip_kernel(module, "transpose"), (COLUMNS + 15) / 16,
                              (ROWS + 15) / 16, 1, 16, 16, 1, 0, NULL,
                              (void *[]){&dto, &dfrom, &rows, &columns}, NULL));
    HIP(hipMemcpy(to, dto, sizeof to, hipMemcpyDeviceToHost));
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            assert_float_equal(to[x][y], from[y][x], 0);
    HIP(hipFree(dfrom));
    HIP(hipFree(dto));
}

static void test_histogram_with_atomics(void **state)
{
    (void)state;
    enum { N = 50000 };
    static uint8_t in[N];
    uint32_t want[256] = {0}, got[256];
    for (uint32_t i = 0; i < N; i++)
        want[in[i] = (uint8_t)(i * i >> 5)]++;
    uint8_t *din = hip_device_copy(in, sizeof in);
    uint32_t *dbins = hip_device_zeros(sizeof got);
    int n = N;
    hip_launch(hip_kernel(module, "histogram"), 13, 256, 0, NULL, (void *[]){&dbins, &din, &n});
    HIP(hipMemcpy(got, dbins, sizeof got, hipMemcpyDeviceToHost));
    assert_memory_equal(got, want, sizeof want);
    HIP(hipFree(din));
    HIP(hipFree(dbins));
}

static void test_lanes_exchange_values(void **state)
{
    (void)state;
    uint32_t shuffled[64], scanned[64], sum = 0;
    uint64_t votes[2], want_votes = 0;
    uint32_t *ds = hip_device_zeros(sizeof shuffled), *dn = hip_device_zeros(sizeof scanned);
    uint64_t *dv = hip_device_zeros(sizeof votes);
    hip_launch(hip_kernel(module, "lanes"), 1, 64, 0, NULL, (void *[]){&ds, &dn, &dv});
    HIP(hipMemcpy(shuffled, ds, sizeof shuffled, hipMemcpyDeviceToHost));
    HIP(hipMemcpy(scanned, dn, sizeof scanned, hipMemcpyDeviceToHost));
    HIP(hipMemcpy(votes, dv, sizeof votes, hipMemcpyDeviceToHost));
    for (uint32_t lane = 0; lane < 64; lane++) {
        assert_int_equal(shuffled[lane], (lane ^ 21) * 3 + 1 + (((63 - lane) * 3 + 1) << 16));
        assert_int_equal(scanned[lane], sum += lane * 3 + 1);
        want_votes |= (uint64_t)(lane % 3 == 0) << lane;
    }
    assert_int_equal(votes[0], want_votes);
    assert_int_equal(votes[1], 22);
    HIP(hipFree(ds));
    HIP(hipFree(dn));
    HIP(hipFree(dv));
}

static void test_lanes_leave_a_loop_at_different_times(void **state)
{
    (void)state;
    enum { N = 1024 };
    int got[N];
    int *out = hip_device_zeros(sizeof got);
    hip_launch(hip_kernel(module, "divergent"), N / 128, 128, 0, NULL, (void *[]){&out});
    HIP(hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost));
    for (unsigned i = 0; i < N; i++) {
        int want = 0;
        for (unsigned v = i + 1; v != 1; want++)
            v = v % 2 ? 3 * v + 1 : v / 2;
        assert_int_equal(got[i], want);
    }
    HIP(hipFree(out));
}

static void test_private_arrays_are_private(void **state)
{
    (void)state;
    int got[256], at = 11;
    int *out = hip_device_zeros(sizeof got);
    hip_launch(hip_kernel(module, "scratch"), 1, 256, 0, NULL, (void *[]){&out, &at});
    HIP(hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++)
        assert_int_equal(got[i], (at + i) % 40 * i);
    HIP(hipFree(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_addition_leaves_the_rest_alone),
        cmocka_unit_test(test_block_reduction_through_lds),
        cmocka_unit_test(test_transpose_with_a_ragged_edge),
        cmocka_unit_test(test_histogram_with_atomics),
        cmocka_unit_test(test_lanes_exchange_values),
        cmocka_unit_test(test_lanes_leave_a_loop_at_different_times),
        cmocka_unit_test(test_private_arrays_are_private),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
