/* tests/device/test_device.c: the layer over HIP end to end on the software device: compile, load, launch, time, fault.
 * SPDX-License-Identifier: MIT
 */
#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static device *dev;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        moesaic_status status_ = (call);                                                           \
        if (status_ != MOESAIC_OK)                                                                 \
            print_error("%s: %s\n", #call, err.s);                                                 \
        assert_int_equal(status_, MOESAIC_OK);                                                     \
    } while (0)

static const char source[] =
    "extern \"C\" __global__ __launch_bounds__(128) void scale(float *x, float by, int n) {\n"
    "    __shared__ float tile[128];\n"
    "    int i = blockIdx.x * 128 + threadIdx.x;\n"
    "    tile[threadIdx.x] = i < n ? x[i] : 0;\n"
    "    __syncthreads();\n"
    "    if (i < n) x[i] = tile[threadIdx.x] * by;\n"
    "}\n"
    "extern \"C\" __global__ void stray(int *p) { *p = 1; }\n"
    "extern \"C\" __global__ void endless(volatile int *p) { while (!*p) {} }\n";

typedef struct scale_arguments {
    void *x;
    float by;
    int n;
} scale_arguments;

static str code;

static int open_device(void **state)
{
    moesaic_text err = {""};
    const char *mode = getenv("MODE");
    (void)state;
    if (device_open(0, &dev, &err) == MOESAIC_OK &&
        device_compile(dev, source, "test.hip", &code, NULL, &err) == MOESAIC_OK)
        return 0;
    /* A sanitizer keeps the C library that it was built for, and a private HIP brings its own. */
    if (mode && strstr(mode, "san")) {
        printf("no HIP under a sanitizer: %s\n", err.s);
        exit(77);
    }
    print_error("%s\n", err.s);
    return 1;
}

static int close_device(void **state)
{
    (void)state;
    str_free(&code);
    device_close(dev);
    return 0;
}

static device_function function_of(device_module **module, const char *kernel)
{
    moesaic_text err = {""};
    device_function function;
    assert_ok(device_module_load(dev, code.s, code.n, module, &err));
    assert_ok(device_module_function(*module, kernel, &function, &err));
    return function;
}

/* --- what it is --- */

static void test_software_device_is_labelled(void **state)
{
    (void)state;
    const device_info *info = device_get_info(dev);
    assert_int_equal(info->kind, DEVICE_SOFTWARE);
    assert_string_equal(info->target, "gfx942");
    assert_int_equal(info->pci_device_id, 0x74a1);
    assert_int_equal(info->cu_count, 304);
    assert_int_equal(info->xcd_count, 8);
    assert_int_equal(info->lds_per_cu_bytes, 65536);
    assert_int_equal(info->wave_size, 64);
    assert_string_equal(info->partition, "spx");
    assert_string_equal(info->driver, "");
    assert_true(info->model_version[0] != 0);
    assert_non_null(strstr(info->compiler, "amd_comgr"));
    assert_non_null(strchr(info->hip_version, '.'));
}

static void test_absent_ordinal_is_an_error(void **state)
{
    (void)state;
    moesaic_text err = {""};
    device *other = dev;
    assert_int_equal(device_open(7, &other, &err), MOESAIC_E_DEVICE);
    assert_null(other);
    assert_non_null(strstr(err.s, "no device 7"));
}

/* --- compiling --- */

static void test_compiler_error_holds_its_words(void **state)
{
    (void)state;
    moesaic_text err = {""};
    str none = {0}, log = {0};
    assert_int_equal(
        device_compile(dev, "__global__ void k() { nonsense; }", "bad.hip", &none, &log, &err),
        MOESAIC_E_COMPILE);
    assert_int_equal(none.n, 0);
    assert_non_null(strstr(err.s, "bad.hip"));
    assert_non_null(strstr(err.s, "nonsense"));
    assert_non_null(strstr(log.s, "undeclared identifier"));
    str_free(&log);
}

static void test_warning_is_in_the_log(void **state)
{
    (void)state;
    moesaic_text err = {""};
    str object = {0}, log = {0};
    assert_ok(device_compile(NULL, "#warning look here\nextern \"C\" __global__ void k() {}",
                             "w.hip", &object, &log, &err));
    assert_non_null(strstr(log.s, "look here"));
    str_free(&object);
    str_free(&log);
}

static void test_same_source_gives_same_code(void **state)
{
    (void)state;
    moesaic_text err = {""};
    str again = {0};
    assert_ok(device_compile(dev, source, "test.hip", &again, NULL, &err));
    assert_int_equal(again.n, code.n);
    assert_memory_equal(again.s, code.s, code.n);
    str_free(&again);
}

static void test_compilers_own_metadata_is_read(void **state)
{
    (void)state;
    moesaic_text err = {""};
    device_kernel_info info;
    assert_ok(device_kernel_metadata(code.s, code.n, "scale", &info, &err));
    assert_int_equal(info.lds_bytes, 512);
    assert_int_equal(info.max_workgroup_lanes, 128);
    assert_int_equal(info.scratch_bytes, 0);
    assert_int_equal(info.vgpr_spills, 0);
    assert_in_range(info.vgprs, 1, 64);
    assert_in_range(info.sgprs, 1, 108);
}

/* --- loading and launching --- */

static void test_missing_kernel_is_named(void **state)
{
    (void)state;
    moesaic_text err = {""};
    device_module *module;
    device_function function = &function;
    assert_ok(device_module_load(dev, code.s, code.n, &module, &err));
    assert_int_equal(device_module_function(module, "gone", &function, &err), MOESAIC_E_NOTFOUND);
    assert_null(function);
    assert_non_null(strstr(err.s, "\"gone\""));
    device_module_free(module);
    device_module_free(NULL);
}

static void test_rubbish_is_no_module(void **state)
{
    (void)state;
    moesaic_text err = {""};
    static const char rubbish[8192] = "rubbish";
    device_module *module = (void *)&module;
    assert_int_equal(device_module_load(dev, rubbish, sizeof rubbish, &module, &err),
                     MOESAIC_E_DEVICE);
    assert_null(module);
}

static void test_kernel_computes_and_takes_time(void **state)
{
    (void)state;
    enum { N = 1000 };
    moesaic_text err = {""};
    float host[N];
    void *x;
    device_module *module;
    device_event *start, *stop;
    double us;
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    assert_ok(device_alloc(dev, sizeof host, &x, &err));
    assert_ok(device_copy_in(dev, x, host, sizeof host, &err));
    const scale_arguments arguments = {x, 3, N - 1};
    const device_launch launch = {.workgroups = {8, 1, 1},
                                  .lanes = {128, 1, 1},
                                  .arguments = &arguments,
                                  .n_argument_bytes = sizeof arguments};
    device_function function = function_of(&module, "scale");
    assert_ok(device_event_create(dev, &start, &err));
    assert_ok(device_event_create(dev, &stop, &err));
    assert_ok(device_event_record(start, NULL, &err));
    assert_ok(device_launch_kernel(dev, function, &launch, NULL, &err));
    assert_ok(device_event_record(stop, NULL, &err));
    assert_ok(device_synchronize(dev, NULL, &err));
    assert_ok(device_event_elapsed_us(start, stop, &us, &err));
    assert_true(us > 0.1 && us < 1000);
    assert_ok(device_copy_out(dev, host, x, sizeof host, &err));
    for (int i = 0; i < N - 1; i++)
        assert_true(host[i] == 3 * (float)i);
    assert_true(host[N - 1] == N - 1);
    device_event_free(start);
    device_event_free(stop);
    device_event_free(NULL);
    device_module_free(module);
    device_free(dev, x);
}

static void test_fill_reaches_exactly_its_bytes(void **state)
{
    (void)state;
    moesaic_text err = {""};
    unsigned char host[64];
    void *memory;
    assert_ok(device_alloc(dev, sizeof host, &memory, &err));
    assert_ok(device_fill(dev, memory, 0x11, sizeof host, &err));
    assert_ok(device_fill(dev, (char *)memory + 3, 0xee, 50, &err));
    assert_ok(device_fill(dev, memory, 0x77, 0, &err));
    assert_ok(device_copy_out(dev, host, memory, sizeof host, &err));
    for (int i = 0; i < 64; i++)
        assert_int_equal(host[i], i < 3 || i >= 53 ? 0x11 : 0xee);
    device_free(dev, memory);
    device_free(dev, NULL);
}

static void test_absurd_allocation_is_no_memory(void **state)
{
    (void)state;
    moesaic_text err = {""};
    void *memory = &memory;
    assert_int_equal(device_alloc(dev, (size_t)1 << 60, &memory, &err), MOESAIC_E_NOMEM);
    assert_null(memory);
    assert_ok(device_alloc(dev, 0, &memory, &err));
    assert_non_null(memory);
    device_free(dev, memory);
}

static void test_absurd_geometry_is_refused(void **state)
{
    (void)state;
    moesaic_text err = {""};
    device_module *module;
    const scale_arguments arguments = {0};
    const device_launch launch = {.workgroups = {1, 1, 1},
                                  .lanes = {4096, 1, 1},
                                  .arguments = &arguments,
                                  .n_argument_bytes = sizeof arguments};
    device_function function = function_of(&module, "scale");
    assert_int_equal(device_launch_kernel(dev, function, &launch, NULL, &err), MOESAIC_E_LAUNCH);
    assert_non_null(strstr(err.s, "4096"));
    device_module_free(module);
}

/* --- faults, each in a process of its own: HIP is not to be used after one --- */

/* Launch one workgroup of a kernel that takes a pointer, and wait. */
static moesaic_status run_alone(const char *kernel, void *pointer, moesaic_text *err)
{
    device_module *module;
    device_function function = function_of(&module, kernel);
    const device_launch launch = {.workgroups = {1, 1, 1},
                                  .lanes = {64, 1, 1},
                                  .arguments = &pointer,
                                  .n_argument_bytes = sizeof pointer};
    moesaic_status status = device_launch_kernel(dev, function, &launch, NULL, err);
    return status == MOESAIC_OK ? device_synchronize(dev, NULL, err) : status;
}

static int stray_write(void)
{
    moesaic_text err = {""};
    moesaic_status status = run_alone("stray", (void *)(uintptr_t)0x10, &err);
    bool named = strstr(err.s, "stray") && strstr(err.s, "0x10");
    if (status != MOESAIC_E_LAUNCH || !named)
        fprintf(stderr, "%s: %s\n", status_name(status), err.s);
    return status == MOESAIC_E_LAUNCH && named ? 0 : 1;
}

static int endless_kernel(void)
{
    moesaic_text err = {""};
    void *zero;
    moesaic_sim_options options;
    if (!device_sim_get(dev, &options) || device_alloc(dev, 4, &zero, &err) != MOESAIC_OK ||
        device_fill(dev, zero, 0, 4, &err) != MOESAIC_OK)
        return 2;
    options.wall_limit_s = 0.5;
    if (!device_sim_set(dev, &options))
        return 3;
    moesaic_status status = run_alone("endless", zero, &err);
    if (status != MOESAIC_E_TIMEOUT)
        fprintf(stderr, "%s: %s\n", status_name(status), err.s);
    return status == MOESAIC_E_TIMEOUT ? 0 : 1;
}

/* The program again, with the name of a case: a fork could not use HIP. */
static int status_of_case(const char *name)
{
    const char *self = getenv("MOESAIC_EXECUTABLE");
    char command[4096];
    snprintf(command, sizeof command, "exec '%s' %s", self ? self : "/proc/self/exe", name);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void test_stray_write_is_a_launch_error(void **state)
{
    (void)state;
    assert_int_equal(status_of_case("stray"), 0);
}

static void test_endless_kernel_is_a_timeout(void **state)
{
    (void)state;
    assert_int_equal(status_of_case("endless"), 0);
}

static int run_case(const char *name)
{
    if (open_device(NULL) != 0)
        return 4;
    int status = strcmp(name, "stray") == 0 ? stray_write() : endless_kernel();
    fflush(NULL);
    _exit(status);
}

/* --- the software device's controls --- */

static void test_controls_are_read_back(void **state)
{
    (void)state;
    moesaic_sim_options options, before;
    assert_true(device_sim_get(dev, &before));
    options = before;
    options.order = MOESAIC_SIM_SWITCHING;
    options.seed = 42;
    assert_true(device_sim_set(dev, &options));
    moesaic_sim_options now;
    assert_true(device_sim_get(dev, &now));
    assert_int_equal(now.order, MOESAIC_SIM_SWITCHING);
    assert_int_equal(now.seed, 42);
    assert_true(device_sim_set(dev, &before));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return run_case(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_software_device_is_labelled),
        cmocka_unit_test(test_absent_ordinal_is_an_error),
        cmocka_unit_test(test_compiler_error_holds_its_words),
        cmocka_unit_test(test_warning_is_in_the_log),
        cmocka_unit_test(test_same_source_gives_same_code),
        cmocka_unit_test(test_compilers_own_metadata_is_read),
        cmocka_unit_test(test_missing_kernel_is_named),
        cmocka_unit_test(test_rubbish_is_no_module),
        cmocka_unit_test(test_kernel_computes_and_takes_time),
        cmocka_unit_test(test_fill_reaches_exactly_its_bytes),
        cmocka_unit_test(test_absurd_allocation_is_no_memory),
        cmocka_unit_test(test_absurd_geometry_is_refused),
        cmocka_unit_test(test_stray_write_is_a_launch_error),
        cmocka_unit_test(test_endless_kernel_is_a_timeout),
        cmocka_unit_test(test_controls_are_read_back),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
