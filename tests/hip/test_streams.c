/* tests/hip/test_streams.c: streams, events, callbacks and graphs; kernels that wait for each
 * other.    SPDX-License-Identifier: MIT
 */
#include "tests/hip/support.h"

static const char source[] =
    "extern \"C\" __global__ void empty() {}\n"
    "extern \"C\" __global__ void increment(int *p) { p[threadIdx.x]++; }\n"
    "extern \"C\" __global__ void work(float *p, int n)\n"
    "{ float x = p[threadIdx.x]; for (int i = 0; i < n; i++) x = x * 0.5f + 1.0f; p[threadIdx.x] = "
    "x; }\n"
    "/* Each turn waits for the other kernel's last one. */\n"
    "extern \"C\" __global__ void rally(int *ball, int mine, int turns)\n"
    "{\n"
    "    for (int i = 0; i < turns; i++) {\n"
    "        while (__hip_atomic_load(ball, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 2 * i "
    "+ mine) ;\n"
    "        __hip_atomic_store(ball, 2 * i + mine + 1, __ATOMIC_RELEASE, "
    "__HIP_MEMORY_SCOPE_SYSTEM);\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void all_meet(int *count, int n)\n"
    "{\n"
    "    atomicAdd(count, 1);\n"
    "    while (__hip_atomic_load(count, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < n) "
    "__builtin_amdgcn_s_sleep(1);\n"
    "}\n";

static hipModule_t module;
static hipStream_t first, second;

static int set_up(void **state)
{
    (void)state;
    module = hip_module(source);
    HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    return 0;
}

static int value_of(const int *device)
{
    int value;
    HIP(hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost));
    return value;
}

static void test_kernels_on_two_streams_play_ball(void **state)
{
    (void)state;
    int *ball = hip_device_zeros(sizeof *ball), turns = 100;
    hipFunction_t rally = hip_kernel(module, "rally");
    HIP(hipDeviceSynchronize());
    for (int mine = 0; mine < 2; mine++)
        hip_launch(rally, 1, 1, 0, mine ? second : first, (void *[]){&ball, &mine, &turns});
    HIP(hipStreamSynchronize(first));
    HIP(hipStreamSynchronize(second));
    assert_int_equal(value_of(ball), 2 * turns);
    HIP(hipFree(ball));
}

static void test_workgroups_of_a_launch_meet(void **state)
{
    (void)state;
    int *count = hip_device_zeros(sizeof *count), n = 304;
    hip_launch(hip_kernel(module, "all_meet"), (unsigned)n, 1, 0, first, (void *[]){&count, &n});
    HIP(hipStreamSynchronize(first));
    assert_int_equal(value_of(count), n);
    HIP(hipFree(count));
}

static void test_a_stream_waits_for_another_ones_event(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    int *p = hip_device_zeros(64 * sizeof *p);
    hipFunction_t increment = hip_kernel(module, "increment");
    hipEvent_t event;
    HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < ROUNDS; i++) {
        hip_launch(increment, 1, 64, 0, i % 2 ? second : first, (void *[]){&p});
        HIP(hipEventRecord(event, i % 2 ? second : first));
        HIP(hipStreamWaitEvent(i % 2 ? first : second, event, 0));
    }
    HIP(hipStreamSynchronize(first));
    assert_int_equal(value_of(p), ROUNDS);
    HIP(hipEventDestroy(event));
    HIP(hipFree(p));
}

static float elapsed_ms(hipFunction_t kernel, void **arguments, int n_launches)
{
    hipEvent_t start, stop;
    float ms;
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&stop));
    HIP(hipEventRecord(start, first));
    for (int i = 0; i < n_launches; i++)
        hip_launch(kernel, 1, 64, 0, first, arguments);
    HIP(hipEventRecord(stop, first));
    HIP(hipEventSynchronize(stop));
    HIP(hipEventElapsedTime(&ms, start, stop));
    HIP(hipEventDestroy(start));
    HIP(hipEventDestroy(stop));
    return ms;
}

/* Modelled time knows neither the host's pauses nor its load. */
static void test_events_measure_kernels_only(void **state)
{
    (void)state;
    int shorter = 1000, longer = 2000;
    float *p = hip_device_zeros(64 * sizeof *p);
    hipFunction_t empty = hip_kernel(module, "empty"), work = hip_kernel(module, "work");
    float one = elapsed_ms(empty, NULL, 1);
    assert_float_equal(elapsed_ms(empty, NULL, 0), 0, 0);
    assert_true(one > 0);
    assert_float_equal(elapsed_ms(empty, NULL, 1), one, 1e-6);
    assert_float_equal(elapsed_ms(empty, NULL, 10), 10 * one, 1e-5);
    float a = elapsed_ms(work, (void *[]){&p, &shorter}, 1),
          b = elapsed_ms(work, (void *[]){&p, &longer}, 1);
    assert_true(a > one && b - a > 0.8f * (a - one) && b - a < 1.2f * (a - one));
    HIP(hipFree(p));
}

static void count(void *n)
{
    ++*(int *)n;
}

static void count_success(hipStream_t stream, hipError_t error, void *n)
{
    (void)stream;
    *(int *)n += error == hipSuccess ? 10 : 1000;
}

static void test_host_functions_run_between_kernels(void **state)
{
    (void)state;
    int n = 0, *p = hip_device_zeros(64 * sizeof *p);
    hipFunction_t increment = hip_kernel(module, "increment");
    for (int i = 0; i < 3; i++) {
        hip_launch(increment, 1, 64, 0, first, (void *[]){&p});
        HIP(hipLaunchHostFunc(first, count, &n));
        HIP(hipStreamAddCallback(first, count_success, &n, 0));
    }
    HIP(hipStreamSynchronize(first));
    assert_int_equal(n, 33);
    assert_int_equal(value_of(p), 3);
    HIP(hipFree(p));
}

static void test_a_graph_replays_what_was_captured(void **state)
{
    (void)state;
    int *p = hip_device_zeros(64 * sizeof *p);
    hipGraph_t graph;
    hipGraphExec_t executable;
    hipFunction_t increment = hip_kernel(module, "increment");
    HIP(hipDeviceSynchronize());
    HIP(hipStreamBeginCapture(first, hipStreamCaptureModeThreadLocal));
    for (int i = 0; i < 3; i++)
        hip_launch(increment, 1, 64, 0, first, (void *[]){&p});
    HIP(hipStreamEndCapture(first, &graph));
    HIP(hipGraphInstantiate(&executable, graph, NULL, NULL, 0));
    for (int i = 0; i < 4; i++)
        HIP(hipGraphLaunch(executable, first));
    HIP(hipStreamSynchronize(first));
    assert_int_equal(value_of(p), 12);
    HIP(hipGraphExecDestroy(executable));
    HIP(hipGraphDestroy(graph));
    HIP(hipFree(p));
}

static void test_streams_wait_for_and_write_words(void **state)
{
    (void)state;
    uint32_t *word;
    int *p = hip_device_zeros(64 * sizeof *p);
    HIP(hipExtMallocWithFlags((void **)&word, 8, hipMallocSignalMemory));
    HIP(hipDeviceSynchronize());
    HIP(hipStreamWaitValue32(first, word, 5, hipStreamWaitValueEq, 0xffffffff));
    hip_launch(hip_kernel(module, "increment"), 1, 64, 0, first, (void *[]){&p});
    HIP(hipStreamWriteValue32(second, word, 5, 0));
    HIP(hipStreamSynchronize(first));
    assert_int_equal(*word, 5);
    assert_int_equal(value_of(p), 1);
    HIP(hipFree(word));
    HIP(hipFree(p));
}

static void test_cooperative_and_prioritised_launches(void **state)
{
    (void)state;
    int lowest, highest, *p = hip_device_zeros(64 * sizeof *p);
    hipStream_t urgent;
    hipFunction_t increment = hip_kernel(module, "increment");
    HIP(hipDeviceGetStreamPriorityRange(&lowest, &highest));
    HIP(hipStreamCreateWithPriority(&urgent, 0, highest));
    HIP(hipModuleLaunchCooperativeKernel(increment, 1, 1, 1, 64, 1, 1, 0, urgent, (void *[]){&p}));
    hip_launch(increment, 1, 64, 0, urgent, (void *[]){&p});
    HIP(hipStreamSynchronize(urgent));
    assert_int_equal(value_of(p), 2);
    HIP(hipStreamDestroy(urgent));
    HIP(hipFree(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_on_two_streams_play_ball),
        cmocka_unit_test(test_workgroups_of_a_launch_meet),
        cmocka_unit_test(test_a_stream_waits_for_another_ones_event),
        cmocka_unit_test(test_events_measure_kernels_only),
        cmocka_unit_test(test_host_functions_run_between_kernels),
        cmocka_unit_test(test_a_graph_replays_what_was_captured),
        cmocka_unit_test(test_streams_wait_for_and_write_words),
        cmocka_unit_test(test_cooperative_and_prioritised_launches),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
