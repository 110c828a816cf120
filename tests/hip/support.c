/* tests/hip/support.c: see support.h.    SPDX-License-Identifier: MIT */
#include "tests/hip/support.h"

#include <hip/hiprtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hip_check(hipError_t error, const char *call, const char *file, int line)
{
    if (error == hipSuccess)
        return;
    print_error("%s:%d: %s: want hipSuccess got %s\n", file, line, call, hipGetErrorName(error));
    _fail(file, line);
}

static void show_log(hiprtcProgram program)
{
    size_t n = 0;
    hiprtcGetProgramLogSize(program, &n);
    char *log = calloc(1, n + 1);
    assert_non_null(log);
    hiprtcGetProgramLog(program, log);
    print_error("%s\n", log);
    free(log);
}

hipModule_t hip_module(const char *source)
{
    hiprtcProgram program;
    hipDeviceProp_t device;
    HIP(hipGetDeviceProperties(&device, 0));
    char target[sizeof device.gcnArchName + sizeof "--offload-arch="];
    snprintf(target, sizeof target, "--offload-arch=%s", device.gcnArchName);
    const char *options[] = {target, "-O3"};
    assert_int_equal(hiprtcCreateProgram(&program, source, "test.hip", 0, NULL, NULL),
                     HIPRTC_SUCCESS);
    if (hiprtcCompileProgram(program, 2, options) != HIPRTC_SUCCESS) {
        show_log(program);
        fail();
    }
    size_t n = 0;
    assert_int_equal(hiprtcGetCodeSize(program, &n), HIPRTC_SUCCESS);
    char *code = malloc(n);
    assert_non_null(code);
    assert_int_equal(hiprtcGetCode(program, code), HIPRTC_SUCCESS);
    hipModule_t module;
    HIP(hipModuleLoadData(&module, code));
    free(code);
    hiprtcDestroyProgram(&program);
    return module;
}

hipFunction_t hip_kernel(hipModule_t module, const char *name)
{
    hipFunction_t kernel;
    HIP(hipModuleGetFunction(&kernel, module, name));
    return kernel;
}

void hip_launch(hipFunction_t kernel, unsigned n_groups, unsigned n_lanes, unsigned lds_bytes,
                hipStream_t stream, void **arguments)
{
    HIP(hipModuleLaunchKernel(kernel, n_groups, 1, 1, n_lanes, 1, 1, lds_bytes, stream, arguments,
                              NULL));
}

void *hip_device_zeros(size_t n_bytes)
{
    void *device;
    HIP(hipMalloc(&device, n_bytes));
    HIP(hipMemset(device, 0, n_bytes));
    return device;
}

void *hip_device_copy(const void *host, size_t n_bytes)
{
    void *device;
    HIP(hipMalloc(&device, n_bytes));
    HIP(hipMemcpy(device, host, n_bytes, hipMemcpyHostToDevice));
    return device;
}

char *hip_captured(int descriptor, void (*function)(void *), void *argument)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    int saved = dup(descriptor);
    assert_true(saved >= 0 && dup2(fileno(file), descriptor) >= 0);
    function(argument);
    fflush(NULL);
    assert_true(dup2(saved, descriptor) >= 0);
    close(saved);
    long n = lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, (size_t)n + 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(file), text, (size_t)n, 0), n);
    fclose(file);
    return text;
}
