/* tests/hsa/test_memory.c: pools, their limits, and what is known about an address.
 * SPDX-License-Identifier: MIT */
#include "emu/hsa/memory.h"
#include "tests/hsa/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB        (UINT64_C(1) << 30)
#define POOL_BYTES (192 * GIB - (16 << 20))

static hsa_amd_memory_pool_t gpu_pool(void)
{
    return pool_of(gpu_agent(), 0);
}

static void *allocate(hsa_amd_memory_pool_t pool, size_t n_bytes)
{
    void *p;
    OK(hsa_amd_memory_pool_allocate(pool, n_bytes, 0, &p));
    return p;
}

static uint64_t available_bytes(void)
{
    uint64_t n;
    OK(hsa_agent_get_info(gpu_agent(), (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &n));
    return n;
}

static hsa_amd_pointer_info_t info_of(const void *p)
{
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    OK(hsa_amd_pointer_info(p, &info, NULL, NULL, NULL));
    return info;
}

static void test_whole_pool_can_be_allocated_once(void **state)
{
    (void)state;
    void *q;
    assert_int_equal(available_bytes(), POOL_BYTES);
    void *p = allocate(gpu_pool(), POOL_BYTES);
    assert_int_equal(available_bytes(), 0);
    assert_int_equal(hsa_amd_memory_pool_allocate(gpu_pool(), 1, 0, &q),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_null(q);
    OK(hsa_amd_memory_pool_free(p));
    assert_int_equal(available_bytes(), POOL_BYTES);
}

static void test_pools_of_an_agent_share_its_memory(void **state)
{
    (void)state;
    void *q, *p = allocate(gpu_pool(), 100 * GIB);
    assert_int_equal(hsa_amd_memory_pool_allocate(pool_of(gpu_agent(), 1), 100 * GIB, 0, &q),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    OK(hsa_amd_memory_pool_free(p));
}

static void test_impossible_sizes_are_refused(void **state)
{
    (void)state;
    void *p;
    assert_int_equal(hsa_amd_memory_pool_allocate(gpu_pool(), 0, 0, &p),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_amd_memory_pool_allocate(gpu_pool(), SIZE_MAX, 0, &p),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(hsa_amd_memory_pool_allocate(gpu_pool(), 300 * GIB, 0, &p),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){1}, 1, 0, &p),
                     INVALID_MEMORY_POOL);
    assert_int_equal(hsa_amd_memory_pool_allocate(pool_of(gpu_agent(), 3), 1, 0, &p),
                     HSA_STATUS_ERROR_INVALID_ALLOCATION); /* LDS */
    assert_int_equal(available_bytes(), POOL_BYTES);
}

static void test_memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    enum { N = 200, BYTES = 5000 };
    static const uint8_t zeros[BYTES];
    uint8_t *p[N];
    for (int i = 0; i < N; i++) {
        p[i] = allocate(gpu_pool(), BYTES);
        assert_int_equal((uintptr_t)p[i] % 4096, 0);
        assert_memory_equal(p[i], zeros, BYTES);
        memset(p[i], i + 1, BYTES);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(p[i][0], i + 1);
        assert_int_equal(p[i][BYTES - 1], i + 1);
        OK(hsa_amd_memory_pool_free(p[i]));
    }
    uint8_t *large = allocate(gpu_pool(), 3 << 20);
    assert_int_equal((uintptr_t)large % (2 << 20), 0);
    OK(hsa_amd_memory_pool_free(large));
}

static void test_only_whole_allocations_are_freed_and_once(void **state)
{
    (void)state;
    uint8_t *p = allocate(gpu_pool(), 8192);
    assert_int_equal(hsa_amd_memory_pool_free(p + 4096), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    OK(hsa_amd_memory_pool_free(p));
    assert_int_equal(hsa_amd_memory_pool_free(p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_int_equal(hsa_amd_memory_pool_free(&p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    OK(hsa_amd_memory_pool_free(NULL));
}

static void test_pointer_info_finds_the_allocation(void **state)
{
    (void)state;
    uint8_t *p = allocate(gpu_pool(), 3 * 4096);
    int on_stack;
    hsa_amd_pointer_info_t info = info_of(p + 2 * 4096 + 5);
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
    assert_ptr_equal(info.agentBaseAddress, p);
    assert_int_equal(info.sizeInBytes, 3 * 4096);
    assert_int_equal(info.agentOwner.handle, gpu_agent().handle);
    assert_int_equal(info_of(p + 3 * 4096).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
    assert_int_equal(info_of(&on_stack).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
    OK(hsa_amd_memory_pool_free(p));
    assert_int_equal(info_of(p).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
}

static void test_pointer_info_lists_who_may_access(void **state)
{
    (void)state;
    void *p = allocate(gpu_pool(), 4096);
    uint32_t n;
    hsa_agent_t *agents;
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    OK(hsa_amd_pointer_info(p, &info, malloc, &n, &agents));
    assert_int_equal(n, 1);
    assert_int_equal(agents[0].handle, gpu_agent().handle);
    free(agents);
    OK(hsa_amd_pointer_info_set_userdata(p, &n));
    assert_ptr_equal(info_of(p).userData, &n);
    OK(hsa_amd_memory_pool_free(p));
}

static void test_locked_ranges_nest(void **state)
{
    (void)state;
    static uint8_t host[8192];
    void *outer, *inner;
    hsa_amd_memory_pool_t pool = pool_of(cpu_agent(), 0);
    OK(hsa_amd_memory_lock_to_pool(host, sizeof host, NULL, 0, pool, 0, &outer));
    OK(hsa_amd_memory_lock_to_pool(host + 4096, 100, NULL, 0, pool, 0, &inner));
    assert_ptr_equal(outer, host);
    assert_ptr_equal(inner, host + 4096);
    assert_int_equal(info_of(host + 4096 + 50).sizeInBytes, 100);
    assert_int_equal(info_of(host + 4096 + 100).sizeInBytes, sizeof host);
    OK(hsa_amd_memory_unlock(host + 4096));
    assert_int_equal(info_of(host + 4096).type, HSA_EXT_POINTER_TYPE_LOCKED);
    OK(hsa_amd_memory_unlock(host));
    assert_int_equal(hsa_amd_memory_unlock(host), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(info_of(host).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
    assert_int_equal(hsa_amd_memory_lock_to_pool(host, 0, NULL, 0, pool, 0, &outer),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_amd_memory_lock_to_pool(host, 1, NULL, 0, gpu_pool(), 0, &outer),
                     INVALID_MEMORY_POOL);
}

static void test_the_nearest_allocation_is_described(void **state)
{
    (void)state;
    char text[160], want[160];
    uint8_t *p = allocate(gpu_pool(), 4096);
    uintptr_t base = (uintptr_t)p;
    assert_true(emu_memory_contains(base + 4088, 8, text, sizeof text));
    assert_false(emu_memory_contains(base + 4089, 8, text, sizeof text));
    assert_false(emu_memory_contains(base + 4096 + 16, 4, text, sizeof text));
    snprintf(want, sizeof want, "16 bytes behind the end of an allocation of 4096 bytes at %p",
             (void *)p);
    assert_string_equal(text, want);
    assert_false(emu_memory_contains(UINT64_MAX - 3, 4, text, sizeof text));
    assert_false(emu_memory_contains(base, SIZE_MAX, text, sizeof text));
    OK(hsa_amd_memory_pool_free(p));
}

static void test_the_cpu_never_reaches_the_coarse_pool_of_the_gpu(void **state)
{
    (void)state;
    hsa_amd_memory_pool_access_t access;
    OK(hsa_amd_agent_memory_pool_get_info(cpu_agent(), gpu_pool(),
                                          HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
    assert_int_equal(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
    OK(hsa_amd_agent_memory_pool_get_info(gpu_agent(), pool_of(cpu_agent(), 0),
                                          HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
    assert_int_equal(access, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_pool_can_be_allocated_once),
        cmocka_unit_test(test_pools_of_an_agent_share_its_memory),
        cmocka_unit_test(test_impossible_sizes_are_refused),
        cmocka_unit_test(test_memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(test_only_whole_allocations_are_freed_and_once),
        cmocka_unit_test(test_pointer_info_finds_the_allocation),
        cmocka_unit_test(test_pointer_info_lists_who_may_access),
        cmocka_unit_test(test_locked_ranges_nest),
        cmocka_unit_test(test_the_nearest_allocation_is_described),
        cmocka_unit_test(test_the_cpu_never_reaches_the_coarse_pool_of_the_gpu),
    };
    return cmocka_run_group_tests(tests, open_hsa, close_hsa);
}
