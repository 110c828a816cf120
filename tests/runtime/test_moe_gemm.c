/* tests/runtime/test_moe_gemm.c: plans on a hand-made database whose kernels report what they were given.
 * SPDX-License-Identifier: MIT
 */
#include "tests/runtime/support.h"

#include "base/file.h"

#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const winner winners[] = {
    {.pass = "down", .fields = "tokens=512", .config = "{\"tile_m\":64}"},
    {.pass = "down", .fields = "tokens=4096", .time_us = 70},
    {.pass = "gate_up", .fields = "tokens=512"},
};
enum { N_WINNERS = sizeof winners / sizeof winners[0] };

static moesaic_context *context;

static int open_usual(void **state)
{
    (void)state;
    make_database(in_world("usual.sqlite"), winners, N_WINNERS);
    context = open_or_fail(in_world("usual.sqlite"), MOESAIC_OPEN_REPRODUCIBLE);
    return 0;
}

static int close_usual(void **state)
{
    (void)state;
    moesaic_close(context);
    return remove(in_world("usual.sqlite"));
}

static moesaic_plan *plan_or_fail(moesaic_pass pass, int64_t tokens)
{
    moesaic_text err = {""};
    moesaic_plan *plan;
    const moesaic_moe_gemm shape = usual_shape(pass, tokens);
    assert_status(MOESAIC_OK, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    return plan;
}

static moesaic_counters counted(void)
{
    moesaic_counters c = {.size_bytes = sizeof c};
    assert_int_equal(moesaic_counters_read(context, &c), MOESAIC_OK);
    return c;
}

static void test_hit_says_what_it_is(void **state)
{
    (void)state;
    moesaic_plan *plan = plan_or_fail(MOESAIC_DOWN, 512);
    moesaic_lookup info = {.size_bytes = sizeof info};
    assert_int_equal(moesaic_plan_lookup(plan, &info), MOESAIC_OK);
    assert_int_equal(info.served, MOESAIC_SERVED_HIT);
    assert_string_equal(info.config, "{\"tile_m\":64}");
    assert_string_equal(info.time_kind, "modelled");
    assert_string_equal(info.model_version, "0");
    assert_string_equal(info.differs, "");
    assert_string_equal(info.database, in_world("usual.sqlite"));
    assert_true(info.time_us == 10 && info.distance == 0 && info.trial > 0);
    assert_false(info.candidate || info.other_stack);
    moesaic_plan_free(plan);
    assert_int_equal(counted().hit, 1);
}

static void test_kernels_get_every_argument(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_moe_gemm shape = usual_shape(MOESAIC_DOWN, 512);
    shape.ldx = 40;
    shape.ldw = 48;
    shape.ldout = 72;
    moesaic_plan *plan;
    assert_status(MOESAIC_OK, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    assert_int_equal(moesaic_plan_workspace_bytes(plan, 10), 64 + 256 * 20);
    operands o = make_operands(10, 64 + 256 * 20);
    assert_status(MOESAIC_OK, moesaic_moe_gemm_execute(plan, &o.b, NULL, &err), &err);
    uint64_t got[PROBE_WORDS];
    read_probe(&o, got);
    const uint64_t want[PROBE_WORDS] = {
        (uintptr_t)o.b.x,
        (uintptr_t)o.b.w,
        (uintptr_t)o.b.out,
        (uintptr_t)o.b.offsets,
        (uintptr_t)o.b.token_index,
        (uintptr_t)o.b.routing_weight,
        (uintptr_t)o.b.row_of_slot,
        (uintptr_t)o.b.workspace,
        40,
        48,
        72,
        10,
        64,
        32,
        4,
        2,
        [PROBE_GEMM] = 1002,
        [PROBE_COMBINE] = 1004,
    };
    for (int i = 0; i < PROBE_WORDS; i++)
        assert_int_equal(got[i], want[i]);
    free_operands(&o);
    moesaic_plan_free(plan);
}

static void test_near_is_served_and_counted(void **state)
{
    (void)state;
    moesaic_plan *plan = plan_or_fail(MOESAIC_DOWN, 3000);
    moesaic_lookup info = {.size_bytes = sizeof info};
    assert_int_equal(moesaic_plan_lookup(plan, &info), MOESAIC_OK);
    assert_int_equal(info.served, MOESAIC_SERVED_NEAR);
    assert_string_equal(info.differs, "tokens 4096, asked 3000");
    assert_non_null(strstr(info.tune_command, "\"tokens\":3000"));
    assert_true(info.distance > 0.4 && info.distance < 0.5 && info.time_us == 70);
    moesaic_plan_free(plan);
    assert_int_equal(counted().near, 1);
    assert_int_equal(counted().hit, 0);
}

static void test_refusal_names_problem_and_command(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_plan *plan = (void *)&plan;
    const moesaic_moe_gemm shape = usual_shape(MOESAIC_GATE_UP, 65536);
    assert_status(MOESAIC_E_NOTFOUND, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
    assert_null(plan);
    assert_non_null(strstr(err.s, "\"tokens\":65536"));
    assert_non_null(strstr(err.s, "moesaic tune"));
    assert_int_equal(counted().refused, 1);
}

static void test_impossible_shapes_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        moesaic_moe_gemm shape;
        const char *text;
    } cases[] = {
        {{.pass = MOESAIC_DOWN, .tokens = 1, .hidden = 0, .ffn = 8, .experts = 2, .top_k = 1},
         "hidden is 0"},
        {{.pass = MOESAIC_DOWN, .tokens = 1, .hidden = 8, .ffn = -8, .experts = 2, .top_k = 1},
         "ffn is -8"},
        {{.pass = MOESAIC_DOWN, .tokens = 1, .hidden = 8, .ffn = 8, .experts = 2, .top_k = 3},
         "top_k is 3, must be 1 to 2"},
        {{.pass = MOESAIC_DOWN,
          .tokens = 1ll << 40,
          .hidden = 8,
          .ffn = 8,
          .experts = 2,
          .top_k = 1},
         "tokens is 1099511627776"},
        {{.pass = MOESAIC_DOWN,
          .tokens = 1,
          .hidden = 8,
          .ffn = 8,
          .experts = 2,
          .top_k = 1,
          .ldx = 7},
         "ldx is 7, must be 8"},
        {{.pass = (moesaic_pass)9, .tokens = 1, .hidden = 8, .ffn = 8, .experts = 2, .top_k = 1},
         "pass 9"},
        {{.dtype = (moesaic_dtype)3, .tokens = 1, .hidden = 8, .ffn = 8, .experts = 2, .top_k = 1},
         "dtype 3"},
        {{.pointer_alignment_bytes = 3,
          .tokens = 1,
          .hidden = 8,
          .ffn = 8,
          .experts = 2,
          .top_k = 1},
         "pointer_alignment_bytes is 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        moesaic_text err = {""};
        moesaic_plan *plan;
        moesaic_moe_gemm shape = cases[i].shape;
        shape.size_bytes = sizeof shape;
        assert_status(MOESAIC_E_SHAPE, moesaic_plan_moe_gemm(context, &shape, &plan, &err), &err);
        assert_non_null(strstr(err.s, cases[i].text));
        assert_null(plan);
    }
}

static void test_bad_buffers_are_named(void **state)
{
    (void)state;
    moesaic_plan *plan = plan_or_fail(MOESAIC_DOWN, 512);
    operands o = make_operands(10, 64 + 256 * 20);
    const moesaic_moe_gemm_buffers good = o.b;
    moesaic_moe_gemm_buffers bad[6] = {good, good, good, good, good, good};
    const char *const texts[6] = {"buffers.x is NULL",    "buffers.w is 0x",
                                  "buffers.row_of_slot",  "the workspace has 100 bytes",
                                  "buffers.tokens is -1", "buffers.size_bytes"};
    bad[0].x = NULL;
    bad[1].w = (const char *)good.w + 8;
    bad[2].row_of_slot = NULL;
    bad[3].workspace_bytes = 100;
    bad[4].tokens = -1;
    bad[5].size_bytes = 8;
    for (int i = 0; i < 6; i++) {
        moesaic_text err = {""};
        assert_int_not_equal(moesaic_moe_gemm_execute(plan, &bad[i], NULL, &err), MOESAIC_OK);
        assert_non_null(strstr(err.s, texts[i]));
    }
    o.b.tokens = 0;
    o.b.x = NULL;
    assert_int_equal(moesaic_moe_gemm_execute(plan, &o.b, NULL, NULL), MOESAIC_OK);
    assert_int_equal(counted().executions, 0);
    free_operands(&o);
    moesaic_plan_free(plan);
}

/* --- threads --- */

enum { N_THREADS = 8, N_EXECUTIONS = 20 };

typedef struct worker {
    pthread_t thread;
    const moesaic_plan *plan;
    operands operands;
    moesaic_status status;
} worker;

static void *work(void *user)
{
    worker *w = user;
    for (int i = 0; i < N_EXECUTIONS && w->status == MOESAIC_OK; i++)
        w->status = moesaic_moe_gemm_execute(w->plan, &w->operands.b, NULL, NULL);
    return NULL;
}

static void test_threads_share_a_plan(void **state)
{
    (void)state;
    worker workers[N_THREADS] = {0};
    moesaic_plan *plan = plan_or_fail(MOESAIC_DOWN, 512);
    for (int i = 0; i < N_THREADS; i++) {
        workers[i].plan = plan;
        workers[i].operands = make_operands(i + 1, 64 + 256 * 2 * N_THREADS);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        uint64_t got[PROBE_WORDS];
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].status, MOESAIC_OK);
        read_probe(&workers[i].operands, got);
        assert_int_equal(got[11], i + 1);
        assert_int_equal(got[2], (uintptr_t)workers[i].operands.b.out);
        free_operands(&workers[i].operands);
    }
    assert_int_equal(counted().executions, N_THREADS * N_EXECUTIONS);
    moesaic_plan_free(plan);
}

/* --- capture --- */

/* HIP is taken from the process, as a framework's is: this program doesn't link it. */
static void find_hip(const char *name, void *function, size_t n)
{
    void *library = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    void *address = dlsym(library, name);
    assert_non_null(address);
    memcpy(function, &address, n);
    dlclose(library);
}

#define HIP(name, ...)                                                                             \
    do {                                                                                           \
        __typeof__(&name) function;                                                                \
        find_hip(#name, &function, sizeof function);                                               \
        assert_int_equal(function(__VA_ARGS__), hipSuccess);                                       \
    } while (0)

static void test_execution_is_captured(void **state)
{
    (void)state;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t ready;
    uint64_t got[PROBE_WORDS];
    moesaic_text err = {""};
    moesaic_plan *plan = plan_or_fail(MOESAIC_DOWN, 512);
    operands o = make_operands(3, 64 + 256 * 6);
    HIP(hipStreamCreate, &stream);
    HIP(hipStreamBeginCapture, stream, hipStreamCaptureModeGlobal);
    assert_status(MOESAIC_OK, moesaic_moe_gemm_execute(plan, &o.b, stream, &err), &err);
    HIP(hipStreamEndCapture, stream, &graph);
    read_probe(&o, got);
    assert_int_equal(got[PROBE_COMBINE], 0);
    HIP(hipGraphInstantiate, &ready, graph, NULL, NULL, 0);
    HIP(hipGraphLaunch, ready, stream);
    HIP(hipStreamSynchronize, stream);
    read_probe(&o, got);
    assert_int_equal(got[PROBE_COMBINE], 1004);
    HIP(hipGraphExecDestroy, ready);
    HIP(hipGraphDestroy, graph);
    HIP(hipStreamDestroy, stream);
    free_operands(&o);
    moesaic_plan_free(plan);
}

static void test_plan_outlives_its_context(void **state)
{
    (void)state;
    moesaic_text err = {""};
    moesaic_plan *plan = plan_or_fail(MOESAIC_DOWN, 512);
    operands o = make_operands(3, 64 + 256 * 6);
    moesaic_close(context);
    assert_status(MOESAIC_OK, moesaic_moe_gemm_execute(plan, &o.b, NULL, &err), &err);
    uint64_t got[PROBE_WORDS];
    read_probe(&o, got);
    assert_int_equal(got[11], 3);
    moesaic_plan_free(plan);
    free_operands(&o);
    context = open_or_fail(in_world("usual.sqlite"), 0);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, open_usual, close_usual)
    const struct CMUnitTest tests[] = {
        CASE(test_hit_says_what_it_is),
        CASE(test_kernels_get_every_argument),
        CASE(test_near_is_served_and_counted),
        CASE(test_refusal_names_problem_and_command),
        CASE(test_impossible_shapes_are_refused_by_name),
        CASE(test_bad_buffers_are_named),
        CASE(test_threads_share_a_plan),
        CASE(test_execution_is_captured),
        CASE(test_plan_outlives_its_context),
    };
    return cmocka_run_group_tests(tests, world_make, world_remove);
}
