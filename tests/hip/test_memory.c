/* tests/hip/test_memory.c: what allocations cost and what is left, variables of modules, printf.
 * SPDX-License-Identifier: MIT
 */
#include "tests/hip/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)

static const char source[] = "__constant__ int table[16] = {1, 2, 3};\n"
                             "__device__ float variable = 3.5f;\n"
                             "extern \"C\" __global__ void read_both(float *out) { "
                             "out[threadIdx.x] = table[threadIdx.x % 16] + variable; }\n"
                             "extern \"C\" __global__ void touch(char *p, size_t stride) { "
                             "p[threadIdx.x * stride] = threadIdx.x; }\n"
                             "extern \"C\" __global__ void greet(int x) { if (threadIdx.x % 16 == "
                             "1) printf(\"lane %d has %d\\n\", (int)threadIdx.x, x); }\n";

static hipModule_t module;

static int set_up(void **state)
{
    (void)state;
    module = hip_module(source);
    return 0;
}

static size_t resident_bytes(void)
{
    long total, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &total, &resident), 2);
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_untouched_memory_costs_nothing(void **state)
{
    (void)state;
    char *p;
    size_t free_before, free_after, total, stride = 2 * GIB + 4096, before = resident_bytes();
    HIP(hipMemGetInfo(&free_before, &total));
    HIP(hipMalloc((void **)&p, 150 * GIB));
    HIP(hipMemGetInfo(&free_after, &total));
    assert_int_equal(free_before - free_after, 150 * GIB);
    hip_launch(hip_kernel(module, "touch"), 1, 64, 0, NULL, (void *[]){&p, &stride});
    HIP(hipDeviceSynchronize());
    char last;
    HIP(hipMemcpy(&last, p + 63 * stride, 1, hipMemcpyDeviceToHost));
    assert_int_equal(last, 63);
    assert_true(resident_bytes() - before < GIB);
    HIP(hipFree(p));
}

static void test_more_than_the_device_has_is_refused(void **state)
{
    (void)state;
    void *p, *q;
    size_t before, after, total;
    HIP(hipMemGetInfo(&before, &total));
    assert_int_equal(hipMalloc(&p, 300 * GIB), hipErrorOutOfMemory);
    HIP(hipMalloc(&p, 100 * GIB));
    assert_int_equal(hipMalloc(&q, 100 * GIB), hipErrorOutOfMemory);
    HIP(hipFree(p));
    HIP(hipMemGetInfo(&after, &total));
    assert_int_equal(after, before);
    (void)hipGetLastError();
}

static void test_variables_of_a_module_are_initialised_and_written(void **state)
{
    (void)state;
    static const int table[16] = {10, 20, 30, 40};
    float got[16];
    float *out = hip_device_zeros(sizeof got);
    hipDeviceptr_t address;
    size_t n;
    hipFunction_t read_both = hip_kernel(module, "read_both");
    hip_launch(read_both, 1, 16, 0, NULL, (void *[]){&out});
    HIP(hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost));
    assert_float_equal(got[1], 5.5, 0);
    HIP(hipModuleGetGlobal(&address, &n, module, "table"));
    assert_int_equal(n, sizeof table);
    HIP(hipMemcpy(address, table, sizeof table, hipMemcpyHostToDevice));
    hip_launch(read_both, 1, 16, 0, NULL, (void *[]){&out});
    HIP(hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost));
    assert_float_equal(got[1], 23.5, 0);
    assert_float_equal(got[15], 3.5, 0);
    HIP(hipFree(out));
}

static void greet(void *unused)
{
    (void)unused;
    int x = 42;
    hip_launch(hip_kernel(module, "greet"), 1, 64, 0, NULL, (void *[]){&x});
    HIP(hipDeviceSynchronize());
}

static void test_printf_reaches_stdout(void **state)
{
    (void)state;
    char *said = hip_captured(STDOUT_FILENO, greet, NULL);
    assert_string_equal(said, "lane 1 has 42\nlane 17 has 42\nlane 33 has 42\nlane 49 has 42\n");
    free(said);
}

static void test_device_describes_an_mi300x(void **state)
{
    (void)state;
    hipDeviceProp_t p;
    HIP(hipGetDeviceProperties(&p, 0));
    assert_string_equal(p.gcnArchName, "gfx942:sramecc+:xnack-");
    assert_int_equal(p.multiProcessorCount, 304);
    assert_int_equal(p.warpSize, 64);
    assert_int_equal(p.sharedMemPerBlock, 65536);
    assert_int_equal(p.maxThreadsPerMultiProcessor, 2048);
    assert_int_equal(p.totalGlobalMem >> 20, 192 * 1024 - 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untouched_memory_costs_nothing),
        cmocka_unit_test(test_more_than_the_device_has_is_refused),
        cmocka_unit_test(test_variables_of_a_module_are_initialised_and_written),
        cmocka_unit_test(test_printf_reaches_stdout),
        cmocka_unit_test(test_device_describes_an_mi300x),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
