/* tests/hsa/test_queue.c: packets: what reaches the engine, in which order, and what comes back.
 * SPDX-License-Identifier: MIT
 */
#include "emu/sim.h"
#include "tests/hsa/code_object.h"
#include "tests/hsa/engine.h"
#include "tests/hsa/support.h"

#include <hsa/amd_hsa_queue.h>
#include <string.h>

enum { N_SLOTS = 64, IN_ORDER = 1 << HSA_PACKET_HEADER_BARRIER };

static hsa_queue_t *queue;
static hsa_executable_t executable;
static uint64_t kernel_object;
static hsa_signal_t failed; /* set to the status that the queue's callback was given */

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    if (source == queue && data == &failed)
        hsa_signal_store_relaxed(failed, status);
}

static void load_kernel(void)
{
    static uint8_t file[CODE_OBJECT_BYTES];
    hsa_code_object_reader_t reader;
    hsa_executable_symbol_t symbol;
    hsa_agent_t gpu = gpu_agent();
    code_object_write(file);
    OK(hsa_code_object_reader_create_from_memory(file, sizeof file, &reader));
    OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                 &executable));
    OK(hsa_executable_agent_global_variable_define(executable, gpu, "outside", file));
    OK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    OK(hsa_executable_freeze(executable, NULL));
    OK(hsa_code_object_reader_destroy(reader));
    OK(hsa_executable_get_symbol_by_name(executable, "k.kd", &gpu, &symbol));
    OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                      &kernel_object));
}

static int set_up(void **state)
{
    (void)state;
    engine_reset();
    failed = new_signal(0);
    OK(hsa_queue_create(gpu_agent(), N_SLOTS, HSA_QUEUE_TYPE_MULTI, on_error, &failed, 0, 0,
                        &queue));
    load_kernel();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    OK(hsa_queue_destroy(queue));
    OK(hsa_executable_destroy(executable));
    OK(hsa_signal_destroy(failed));
    return 0;
}

/* --- writing packets --- */

static hsa_kernel_dispatch_packet_t kernel_packet(hsa_signal_t completion)
{
    return (hsa_kernel_dispatch_packet_t){.setup = 1,
                                          .workgroup_size_x = 64,
                                          .workgroup_size_y = 1,
                                          .workgroup_size_z = 1,
                                          .grid_size_x = 640,
                                          .grid_size_y = 1,
                                          .grid_size_z = 1,
                                          .group_segment_size = 1024,
                                          .kernel_object = kernel_object,
                                          .kernarg_address = &queue,
                                          .completion_signal = completion};
}

static void *slot(uint64_t index)
{
    return (uint8_t *)queue->base_address + index % N_SLOTS * 64;
}

/* The header goes last, as it hands the slot over. */
static void write_slot(uint64_t index, const void *packet, unsigned header)
{
    memcpy((uint8_t *)slot(index) + 2, (const uint8_t *)packet + 2, 62);
    __atomic_store_n((uint16_t *)slot(index), (uint16_t)header, __ATOMIC_RELEASE);
}

static void send(const void *packet, unsigned header)
{
    uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    write_slot(index, packet, header);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void send_kernel(hsa_signal_t completion, unsigned flags)
{
    hsa_kernel_dispatch_packet_t p = kernel_packet(completion);
    send(&p, HSA_PACKET_TYPE_KERNEL_DISPATCH | flags);
}

static void send_barrier(unsigned type, hsa_signal_t a, hsa_signal_t b, hsa_signal_t completion)
{
    hsa_barrier_and_packet_t p = {.dep_signal = {a, b}, .completion_signal = completion};
    send(&p, type | IN_ORDER);
}

static hsa_amd_profiling_dispatch_time_t time_of(hsa_signal_t signal)
{
    hsa_amd_profiling_dispatch_time_t t;
    OK(hsa_amd_profiling_get_dispatch_time(gpu_agent(), signal, &t));
    return t;
}

/* --- kernels --- */

static void test_the_packet_reaches_the_engine(void **state)
{
    (void)state;
    hsa_signal_t done = new_signal(1);
    send_kernel(done, IN_ORDER);
    must_become(done, 0);
    assert_int_equal(engine_n_submitted(), 1);
    emu_launch l = engine_submitted(0);
    assert_ptr_equal(l.descriptor, (void *)(uintptr_t)kernel_object);
    assert_string_equal(l.kernel_name, "k");
    assert_ptr_equal(l.queue, queue);
    assert_int_equal(l.grid_lanes[0], 640);
    assert_int_equal(l.workgroup_lanes[0], 64);
    assert_int_equal(l.group_segment_bytes, 1024);
    assert_int_equal(l.private_segment_bytes, 32); /* the descriptor wants more than the packet */
    assert_int_equal(l.kernarg_address, (uintptr_t)&queue);
    const amd_queue_v2_t *amd = (const amd_queue_v2_t *)queue;
    assert_int_equal(l.shared_aperture >> 32, amd->group_segment_aperture_base_hi);
    assert_int_equal(l.private_aperture >> 32, amd->private_segment_aperture_base_hi);
    assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 1);
    OK(hsa_signal_destroy(done));
}

static void test_barrier_bit_keeps_kernels_apart(void **state)
{
    (void)state;
    hsa_signal_t done = new_signal(2);
    engine_holds = true;
    send_kernel(done, IN_ORDER);
    send_kernel(done, IN_ORDER);
    assert_int_equal(engine_n_submitted(), 1);
    engine_finish(0, MOESAIC_SIM_OK);
    assert_int_equal(hsa_signal_load_relaxed(done), 1);
    assert_int_equal(engine_n_submitted(), 2);
    engine_finish(1, MOESAIC_SIM_OK);
    must_become(done, 0);
    OK(hsa_signal_destroy(done));
}

static void test_without_the_bit_kernels_run_together(void **state)
{
    (void)state;
    hsa_signal_t done = new_signal(3);
    engine_holds = true;
    for (int i = 0; i < 3; i++)
        send_kernel(done, 0);
    assert_int_equal(engine_n_submitted(), 3);
    for (uint32_t i = 3; i-- > 0;)
        engine_finish(i, MOESAIC_SIM_OK);
    must_become(done, 0);
    OK(hsa_signal_destroy(done));
}

static void test_packets_go_in_order_of_their_slots(void **state)
{
    (void)state;
    hsa_signal_t first = new_signal(1), second = new_signal(1);
    hsa_kernel_dispatch_packet_t p = kernel_packet(first), q = kernel_packet(second);
    uint64_t index = hsa_queue_add_write_index_screlease(queue, 2);
    write_slot(index + 1, &q, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index + 1);
    assert_int_equal(engine_n_submitted(), 0);
    write_slot(index, &p, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    must_become(first, 0);
    must_become(second, 0);
    assert_int_equal(engine_submitted(1).dispatch_id, index + 1);
    OK(hsa_signal_destroy(first));
    OK(hsa_signal_destroy(second));
}

static void test_the_ring_goes_round(void **state)
{
    (void)state;
    enum { N = 5 * N_SLOTS + 3 };
    hsa_signal_t done = new_signal(N);
    for (int i = 0; i < N; i++)
        send_kernel(done, IN_ORDER);
    must_become(done, 0);
    assert_int_equal(engine_n_submitted(), N);
    assert_int_equal(hsa_queue_load_read_index_relaxed(queue),
                     hsa_queue_load_write_index_relaxed(queue));
    OK(hsa_signal_destroy(done));
}

static void test_a_kernel_that_faulted_is_complete_and_told(void **state)
{
    (void)state;
    void *p;
    hsa_signal_t done = new_signal(2);
    moesaic_sim_result result = {.size_bytes = sizeof result};
    engine_holds = true;
    send_kernel(done, IN_ORDER);
    engine_finish(0, MOESAIC_SIM_ILLEGAL_ADDRESS);
    send_kernel(done, IN_ORDER); /* does not hide the fault */
    engine_finish(1, MOESAIC_SIM_OK);
    must_become(done, 0);
    assert_int_equal(hsa_amd_memory_pool_allocate(pool_of(gpu_agent(), 0), 4096, 0, &p),
                     HSA_STATUS_ERROR_EXCEPTION);
    moesaic_sim.last_result(&result);
    assert_int_equal(result.status, MOESAIC_SIM_ILLEGAL_ADDRESS);
    assert_string_equal(result.text, "kernel k: status 1");
    OK(hsa_amd_memory_pool_allocate(pool_of(gpu_agent(), 0), 4096, 0, &p));
    OK(hsa_amd_memory_pool_free(p));
    OK(hsa_signal_destroy(done));
}

/* --- times
 * ---------------------------------------------------------------------------------------- */

static void test_kernels_follow_each_other_without_a_gap(void **state)
{
    (void)state;
    hsa_signal_t a = new_signal(1), b = new_signal(1), mark = new_signal(1);
    engine_time_ns = 5000;
    send_kernel(a, IN_ORDER);
    send_barrier(HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t){0}, (hsa_signal_t){0}, mark);
    send_kernel(b, IN_ORDER);
    must_become(b, 0);
    assert_int_equal(time_of(a).end - time_of(a).start, 5000);
    assert_int_equal(time_of(mark).start, time_of(a).end);
    assert_int_equal(time_of(mark).end, time_of(a).end);
    assert_int_equal(time_of(b).start, time_of(a).end);
    OK(hsa_signal_destroy(a));
    OK(hsa_signal_destroy(b));
    OK(hsa_signal_destroy(mark));
}

static void test_unordered_kernels_overlap_in_time(void **state)
{
    (void)state;
    hsa_signal_t a = new_signal(1), b = new_signal(1), c = new_signal(1);
    engine_time_ns = 5000;
    send_kernel(a, 0);
    send_kernel(b, 0);
    send_kernel(c, IN_ORDER);
    must_become(c, 0);
    assert_int_equal(time_of(b).start, time_of(a).start);
    assert_int_equal(time_of(c).start, time_of(a).end);
    OK(hsa_signal_destroy(a));
    OK(hsa_signal_destroy(b));
    OK(hsa_signal_destroy(c));
}

static void test_what_the_host_has_seen_lies_before_later_packets(void **state)
{
    (void)state;
    hsa_queue_t *other, *mine = queue;
    hsa_signal_t a = new_signal(1), b = new_signal(1);
    OK(hsa_queue_create(gpu_agent(), N_SLOTS, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &other));
    engine_time_ns = 7000;
    send_kernel(a, IN_ORDER);
    must_become(a, 0);
    queue = other;
    send_kernel(b, IN_ORDER);
    must_become(b, 0);
    queue = mine;
    assert_int_equal(time_of(b).start, time_of(a).end);
    OK(hsa_queue_destroy(other));
    OK(hsa_signal_destroy(a));
    OK(hsa_signal_destroy(b));
}

/* --- barriers
 * -------------------------------------------------------------------------------------- */

static void test_and_waits_for_all(void **state)
{
    (void)state;
    hsa_signal_t a = new_signal(1), b = new_signal(1), done = new_signal(1), kernel = new_signal(1);
    send_barrier(HSA_PACKET_TYPE_BARRIER_AND, a, b, done);
    send_kernel(kernel, IN_ORDER);
    hsa_signal_store_relaxed(a, 0);
    a_moment();
    assert_int_equal(hsa_signal_load_relaxed(done), 1);
    assert_int_equal(engine_n_submitted(), 0);
    hsa_signal_store_relaxed(b, 0);
    must_become(done, 0);
    must_become(kernel, 0);
    OK(hsa_signal_destroy(a));
    OK(hsa_signal_destroy(b));
    OK(hsa_signal_destroy(done));
    OK(hsa_signal_destroy(kernel));
}

static void test_or_waits_for_one(void **state)
{
    (void)state;
    hsa_signal_t a = new_signal(1), b = new_signal(1), done = new_signal(1);
    send_barrier(HSA_PACKET_TYPE_BARRIER_OR, a, b, done);
    a_moment();
    assert_int_equal(hsa_signal_load_relaxed(done), 1);
    hsa_signal_store_relaxed(b, 0);
    must_become(done, 0);
    OK(hsa_signal_destroy(a));
    OK(hsa_signal_destroy(b));
    OK(hsa_signal_destroy(done));
}

static void test_barrier_waits_for_running_kernels(void **state)
{
    (void)state;
    hsa_signal_t kernel = new_signal(1), done = new_signal(1);
    engine_holds = true;
    send_kernel(kernel, 0);
    send_barrier(HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t){0}, (hsa_signal_t){0}, done);
    a_moment();
    assert_int_equal(hsa_signal_load_relaxed(done), 1);
    engine_finish(0, MOESAIC_SIM_OK);
    must_become(done, 0);
    OK(hsa_signal_destroy(kernel));
    OK(hsa_signal_destroy(done));
}

static void test_value_packet_compares_masked_bits(void **state)
{
    (void)state;
    hsa_signal_t a = new_signal(0xf00), done = new_signal(1);
    hsa_amd_barrier_value_packet_t p = {.header = {.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
                                        .signal = a,
                                        .value = 0x30,
                                        .mask = 0xf0,
                                        .cond = HSA_SIGNAL_CONDITION_GTE,
                                        .completion_signal = done};
    send(&p, HSA_PACKET_TYPE_VENDOR_SPECIFIC | IN_ORDER);
    hsa_signal_store_relaxed(a, 0xf2f);
    a_moment();
    assert_int_equal(hsa_signal_load_relaxed(done), 1);
    hsa_signal_store_relaxed(a, 0x30);
    must_become(done, 0);
    OK(hsa_signal_destroy(a));
    OK(hsa_signal_destroy(done));
}

static void test_a_waiting_queue_can_be_destroyed(void **state)
{
    (void)state;
    hsa_queue_t *other, *mine = queue;
    hsa_signal_t never = new_signal(1);
    OK(hsa_queue_create(gpu_agent(), N_SLOTS, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &other));
    queue = other;
    send_barrier(HSA_PACKET_TYPE_BARRIER_AND, never, (hsa_signal_t){0}, (hsa_signal_t){0});
    queue = mine;
    OK(hsa_queue_destroy(other));
    assert_int_equal(hsa_queue_destroy(other), HSA_STATUS_ERROR_INVALID_QUEUE);
    OK(hsa_signal_destroy(never));
}

/* --- errors
 * ------------------------------------------------------------------------------------------ */

static void must_stop_the_queue(const void *packet, unsigned header, hsa_status_t status)
{
    hsa_signal_t done = new_signal(1);
    send(packet, header);
    must_become(failed, status);
    send_kernel(done, 0);
    a_moment();
    assert_int_equal(hsa_signal_load_relaxed(done), 1);
    assert_int_equal(engine_n_submitted(), 0);
    OK(hsa_signal_destroy(done));
}

static void test_unknown_packet_type(void **state)
{
    (void)state;
    hsa_kernel_dispatch_packet_t p = kernel_packet((hsa_signal_t){0});
    must_stop_the_queue(&p, 77, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

static void test_unknown_vendor_format(void **state)
{
    (void)state;
    hsa_amd_barrier_value_packet_t p = {.header = {.AmdFormat = 99}};
    must_stop_the_queue(&p, HSA_PACKET_TYPE_VENDOR_SPECIFIC,
                        HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

static void test_kernel_object_that_is_none(void **state)
{
    (void)state;
    hsa_kernel_dispatch_packet_t p = kernel_packet((hsa_signal_t){0});
    p.kernel_object += 64;
    must_stop_the_queue(&p, HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

static void test_too_many_lanes(void **state)
{
    (void)state;
    hsa_kernel_dispatch_packet_t p = kernel_packet((hsa_signal_t){0});
    p.workgroup_size_x = 1025;
    must_stop_the_queue(&p, HSA_PACKET_TYPE_KERNEL_DISPATCH,
                        HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

static void test_empty_grid(void **state)
{
    (void)state;
    hsa_kernel_dispatch_packet_t p = kernel_packet((hsa_signal_t){0});
    p.grid_size_z = 0;
    must_stop_the_queue(&p, HSA_PACKET_TYPE_KERNEL_DISPATCH,
                        HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

static void test_too_much_lds(void **state)
{
    (void)state;
    hsa_kernel_dispatch_packet_t p = kernel_packet((hsa_signal_t){0});
    p.group_segment_size = 65537;
    must_stop_the_queue(&p, HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void test_barrier_on_what_is_no_signal(void **state)
{
    (void)state;
    hsa_barrier_and_packet_t p = {.dep_signal = {{0x1234}}};
    must_stop_the_queue(&p, HSA_PACKET_TYPE_BARRIER_AND, HSA_STATUS_ERROR_INVALID_SIGNAL);
}

static void test_impossible_queues_are_refused(void **state)
{
    (void)state;
    hsa_queue_t *q;
    static const uint32_t sizes[] = {0, 1, 63, 65, 100, 262144, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_int_equal(
            hsa_queue_create(gpu_agent(), sizes[i], HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_queue_create(cpu_agent(), 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q),
                     HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
    assert_int_equal(
        hsa_queue_create((hsa_agent_t){3}, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q),
        HSA_STATUS_ERROR_INVALID_AGENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_packet_reaches_the_engine),
        TEST(test_barrier_bit_keeps_kernels_apart),
        TEST(test_without_the_bit_kernels_run_together),
        TEST(test_packets_go_in_order_of_their_slots),
        TEST(test_the_ring_goes_round),
        TEST(test_a_kernel_that_faulted_is_complete_and_told),
        TEST(test_kernels_follow_each_other_without_a_gap),
        TEST(test_unordered_kernels_overlap_in_time),
        TEST(test_what_the_host_has_seen_lies_before_later_packets),
        TEST(test_and_waits_for_all),
        TEST(test_or_waits_for_one),
        TEST(test_barrier_waits_for_running_kernels),
        TEST(test_value_packet_compares_masked_bits),
        TEST(test_a_waiting_queue_can_be_destroyed),
        TEST(test_unknown_packet_type),
        TEST(test_unknown_vendor_format),
        TEST(test_kernel_object_that_is_none),
        TEST(test_too_many_lanes),
        TEST(test_empty_grid),
        TEST(test_too_much_lds),
        TEST(test_barrier_on_what_is_no_signal),
        TEST(test_impossible_queues_are_refused),
    };
    return cmocka_run_group_tests(tests, open_hsa, close_hsa);
}
