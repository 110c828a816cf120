/* tests/hip/test_copies.c: copies and fills of every kind: HIP's own kernels and the copy engines.
 * SPDX-License-Identifier: MIT
 */
#include "tests/hip/support.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 40 << 20 }; /* HIP cuts pageable copies into pieces of 32 MiB */

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 7 + i / 4096);
}

static uint8_t *pattern(size_t n)
{
    uint8_t *p = malloc(n);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = byte_at(i);
    return p;
}

static void round_trip(size_t n, size_t offset)
{
    uint8_t *from = pattern(n), *to = calloc(1, n), *a, *b;
    assert_non_null(to);
    HIP(hipMalloc((void **)&a, n + offset));
    HIP(hipMalloc((void **)&b, n + offset));
    HIP(hipMemcpy(a + offset, from, n, hipMemcpyHostToDevice));
    HIP(hipMemcpy(b + offset, a + offset, n, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy(to, b + offset, n, hipMemcpyDeviceToHost));
    assert_memory_equal(to, from, n);
    HIP(hipFree(a));
    HIP(hipFree(b));
    free(from);
    free(to);
}

static void test_pageable_memory_makes_the_round_trip(void **state)
{
    (void)state;
    static const size_t bytes[] = {1, 3, 4096, 100001, LARGE};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        round_trip(bytes[i], 0);
        round_trip(bytes[i], 5);
    }
}

static void test_pinned_memory_is_copied_in_order(void **state)
{
    (void)state;
    uint8_t *from, *to, *device;
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    HIP(hipHostMalloc((void **)&from, LARGE, 0));
    HIP(hipHostMalloc((void **)&to, LARGE, hipHostMallocNonCoherent));
    HIP(hipMalloc((void **)&device, LARGE));
    for (size_t i = 0; i < LARGE; i++)
        from[i] = byte_at(i);
    HIP(hipMemcpyAsync(device, from, LARGE, hipMemcpyHostToDevice, stream));
    HIP(hipMemsetAsync(device, 0x5a, 1000, stream));
    HIP(hipMemcpyAsync(to, device, LARGE, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(to[i], 0x5a);
    assert_memory_equal(to + 1000, from + 1000, LARGE - 1000);
    HIP(hipFree(device));
    HIP(hipHostFree(from));
    HIP(hipHostFree(to));
    HIP(hipStreamDestroy(stream));
}

static void test_fills_touch_only_their_range(void **state)
{
    (void)state;
    enum { N = 10000 };
    uint8_t *device = hip_device_zeros(N), got[N];
    HIP(hipMemset(device + 13, 7, 777));
    HIP(hipMemsetD16((hipDeviceptr_t)(device + 1002), 0x0506, 33));
    HIP(hipMemsetD32((hipDeviceptr_t)(device + 2000), 0x01020304, 1001));
    HIP(hipMemcpy(got, device, N, hipMemcpyDeviceToHost));
    static const uint8_t words[] = {4, 3, 2, 1}, halves[] = {6, 5};
    for (unsigned i = 0; i < N; i++) {
        unsigned want = i >= 13 && i < 790      ? 7
                        : i >= 1002 && i < 1068 ? halves[i % 2]
                        : i >= 2000 && i < 6004 ? words[i % 4]
                                                : 0;
        assert_int_equal(got[i], want);
    }
    HIP(hipFree(device));
}

static void test_rectangles(void **state)
{
    (void)state;
    enum { PITCH = 256, WIDTH = 100, ROWS = 50 };
    uint8_t *from = pattern(PITCH * ROWS), got[128 * ROWS];
    uint8_t *a = hip_device_copy(from, PITCH * ROWS), *b = hip_device_zeros(128 * ROWS);
    HIP(hipMemcpy2D(b, 128, a, PITCH, WIDTH, ROWS, hipMemcpyDeviceToDevice));
    HIP(hipMemset2D(b + 110, 128, 0x11, 10, ROWS));
    HIP(hipMemcpy(got, b, sizeof got, hipMemcpyDeviceToHost));
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < 128; x++)
            assert_int_equal(got[y * 128 + x], x < WIDTH             ? from[y * PITCH + x]
                                               : x >= 110 && x < 120 ? 0x11
                                                                     : 0);
    memset(got, 0, sizeof got);
    HIP(hipMemcpy2D(got, WIDTH, a, PITCH, WIDTH, ROWS, hipMemcpyDeviceToHost));
    for (int y = 0; y < ROWS; y++)
        assert_memory_equal(got + y * WIDTH, from + y * PITCH, WIDTH);
    HIP(hipFree(a));
    HIP(hipFree(b));
    free(from);
}

static void test_registered_and_managed_memory(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    uint8_t *host = aligned_alloc(4096, N), *managed, got[64];
    void *seen;
    assert_non_null(host);
    memset(host, 3, N);
    HIP(hipHostRegister(host, N, 0));
    HIP(hipHostGetDevicePointer(&seen, host, 0));
    assert_ptr_equal(seen, host);
    HIP(hipMemset(host, 9, 64));
    HIP(hipDeviceSynchronize());
    assert_int_equal(host[63], 9);
    assert_int_equal(host[64], 3);
    HIP(hipHostUnregister(host));
    free(host);
    HIP(hipMallocManaged((void **)&managed, N, hipMemAttachGlobal));
    managed[5] = 200;
    HIP(hipMemset(managed + 6, 4, 10));
    HIP(hipMemcpy(got, managed, sizeof got, hipMemcpyDefault));
    assert_int_equal(got[5], 200);
    assert_int_equal(got[15], 4);
    HIP(hipFree(managed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pageable_memory_makes_the_round_trip),
        cmocka_unit_test(test_pinned_memory_is_copied_in_order),
        cmocka_unit_test(test_fills_touch_only_their_range),
        cmocka_unit_test(test_rectangles),
        cmocka_unit_test(test_registered_and_managed_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
