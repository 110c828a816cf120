/* tests/hip/test_faults.c: what goes wrong is told, by name, and the process lives on.
 *
 * HIP 6 has no error code for a kernel that faulted, so these look at stderr and at moesaic_sim,
 * and are skipped on silicon.    SPDX-License-Identifier: MIT
 */
#include "emu/sim.h"
#include "tests/hip/support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] =
    "extern \"C\" __global__ void store(int *p) { p[threadIdx.x] = 7; }\n"
    "extern \"C\" __global__ void missing(int *p) { asm volatile(\"s_setkill 1\"); "
    "p[threadIdx.x] "
    "= 7; }\n"
    "extern \"C\" __global__ void forever(int *p)\n"
    "{ while (__hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) == 0) ; }\n"
    "extern \"C\" __global__ void trap(int *p) { if (threadIdx.x == 3) __builtin_trap(); "
    "p[threadIdx.x] = 7; }\n";

static const moesaic_sim_api *sim;
static hipModule_t module;

typedef struct launch {
    const char *kernel;
    int *pointer;
} launch;

static int set_up(void **state)
{
    (void)state;
    module = hip_module(source);
    return 0;
}

static void run(void *argument)
{
    launch *l = argument;
    hip_launch(hip_kernel(module, l->kernel), 1, 64, 0, NULL, (void *[]){&l->pointer});
    HIP(hipDeviceSynchronize());
}

/* Launch; the result must have the status, and both its text and stderr must hold the words. */
static void must_fault(const char *kernel, int *pointer, moesaic_sim_status status,
                       const char *const words[2])
{
    char *said = hip_captured(STDERR_FILENO, run, &(launch){kernel, pointer});
    moesaic_sim_result result = {.size_bytes = sizeof result};
    sim->last_result(&result);
    assert_int_equal(result.status, status);
    for (int i = 0; i < 2; i++)
        if (!strstr(said, words[i]) || !strstr(result.text, words[i]))
            fail_msg("want \"%s\" got stderr \"%s\", result \"%s\"", words[i], said, result.text);
    free(said);
}

static void must_work(void)
{
    int *p = hip_device_zeros(64 * sizeof *p), got[64];
    run(&(launch){"store", p});
    HIP(hipMemcpy(got, p, sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        assert_int_equal(got[i], 7);
    HIP(hipFree(p));
}

static void test_illegal_address_names_kernel_and_address(void **state)
{
    (void)state;
    must_fault("store", (int *)(uintptr_t)0x123450000, MOESAIC_SIM_ILLEGAL_ADDRESS,
               (const char *[]){"store", "0x123450000"});
    must_work();
}

static void test_a_freed_allocation_is_illegal(void **state)
{
    (void)state;
    char address[32];
    int *p;
    HIP(hipMalloc((void **)&p, 8 << 20));
    snprintf(address, sizeof address, "%p", (void *)p);
    HIP(hipFree(p));
    must_fault("store", p, MOESAIC_SIM_ILLEGAL_ADDRESS, (const char *[]){"store", address});
    must_work();
}

static void test_missing_instruction_is_named(void **state)
{
    (void)state;
    int *p = hip_device_zeros(64 * sizeof *p);
    must_fault("missing", p, MOESAIC_SIM_ILLEGAL_INSTRUCTION,
               (const char *[]){"missing", "s_setkill"});
    must_work();
    HIP(hipFree(p));
}

static void test_trap_is_told(void **state)
{
    (void)state;
    int *p = hip_device_zeros(64 * sizeof *p);
    must_fault("trap", p, MOESAIC_SIM_TRAP, (const char *[]){"trap", "s_trap"});
    must_work();
    HIP(hipFree(p));
}

static void test_endless_kernel_ends_at_the_limit(void **state)
{
    (void)state;
    int *p = hip_device_zeros(sizeof *p);
    moesaic_sim_options options = {.size_bytes = sizeof options};
    sim->get_options(&options);
    double saved = options.wall_limit_s;
    options.wall_limit_s = 0.3;
    assert_true(sim->set_options(&options));
    must_fault("forever", p, MOESAIC_SIM_TIMEOUT, (const char *[]){"forever", "0.3"});
    options.wall_limit_s = saved;
    assert_true(sim->set_options(&options));
    must_work();
    HIP(hipFree(p));
}

static void test_a_fault_that_nobody_asked_for_fails_allocations(void **state)
{
    (void)state;
    void *p;
    moesaic_sim_result result = {.size_bytes = sizeof result};
    free(hip_captured(STDERR_FILENO, run, &(launch){"store", (int *)(uintptr_t)0x1000}));
    assert_int_equal(hipMalloc(&p, 1 << 20), hipErrorOutOfMemory);
    sim->last_result(&result);
    assert_int_equal(result.status, MOESAIC_SIM_ILLEGAL_ADDRESS);
    (void)hipGetLastError();
    must_work();
}

static void test_impossible_launches_are_refused(void **state)
{
    (void)state;
    int *p = hip_device_zeros(64 * sizeof *p);
    hipFunction_t store = hip_kernel(module, "store");
    void *arguments[] = {&p};
    assert_int_not_equal(hipModuleLaunchKernel(store, 0, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL),
                         hipSuccess);
    assert_int_not_equal(hipModuleLaunchKernel(store, 1, 1, 1, 0, 1, 1, 0, NULL, arguments, NULL),
                         hipSuccess);
    assert_int_not_equal(
        hipModuleLaunchKernel(store, 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL), hipSuccess);
    assert_int_not_equal(
        hipModuleLaunchKernel(store, 1, 1, 1, 64, 1, 1, 70000, NULL, arguments, NULL), hipSuccess);
    (void)hipGetLastError();
    must_work();
    HIP(hipFree(p));
}

int main(void)
{
    sim = dlsym(RTLD_DEFAULT, "moesaic_sim");
    if (!sim) {
        puts("no software device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_illegal_address_names_kernel_and_address),
        cmocka_unit_test(test_a_freed_allocation_is_illegal),
        cmocka_unit_test(test_missing_instruction_is_named),
        cmocka_unit_test(test_trap_is_told),
        cmocka_unit_test(test_endless_kernel_ends_at_the_limit),
        cmocka_unit_test(test_a_fault_that_nobody_asked_for_fails_allocations),
        cmocka_unit_test(test_impossible_launches_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
