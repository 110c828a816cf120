/* tests/programs/program.h: what the HIP programs here share: errors end them, kernels come from text.
 *
 * They stand for other people's programs: HIP and hiprtc only, nothing of ours.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TESTS_PROGRAMS_PROGRAM_H
#define MOESAIC_TESTS_PROGRAMS_PROGRAM_H

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        hipError_t check_status = (call);                                                          \
        if (check_status != hipSuccess) {                                                          \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    hipGetErrorString(check_status));                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The kernel `name` of a source, compiled for the first device. */
static inline hipFunction_t program_kernel(const char *source, const char *name)
{
    hiprtcProgram program;
    hipModule_t module;
    hipFunction_t kernel;
    size_t n = 0;
    hipDeviceProp_t device;
    CHECK(hipGetDeviceProperties(&device, 0));
    char target[300];
    snprintf(target, sizeof target, "--offload-arch=%s", device.gcnArchName);
    const char *options[] = {target};
    if (hiprtcCreateProgram(&program, source, name, 0, NULL, NULL) != HIPRTC_SUCCESS ||
        hiprtcCompileProgram(program, 1, options) != HIPRTC_SUCCESS ||
        hiprtcGetCodeSize(program, &n) != HIPRTC_SUCCESS) {
        fprintf(stderr, "%s does not compile\n", name);
        exit(1);
    }
    char *code = malloc(n);
    if (!code || hiprtcGetCode(program, code) != HIPRTC_SUCCESS)
        exit(1);
    CHECK(hipModuleLoadData(&module, code));
    CHECK(hipModuleGetFunction(&kernel, module, name));
    free(code);
    hiprtcDestroyProgram(&program);
    return kernel;
}

static inline void program_launch(hipFunction_t kernel, unsigned grid_x, unsigned grid_y,
                                  unsigned block_x, unsigned block_y, void **arguments)
{
    CHECK(hipModuleLaunchKernel(kernel, grid_x, grid_y, 1, block_x, block_y, 1, 0, NULL, arguments,
                                NULL));
    CHECK(hipDeviceSynchronize());
}

/* Device memory with a copy of host's bytes, or zeros for NULL. */
static inline void *program_buffer(const void *host, size_t n_bytes)
{
    void *device;
    CHECK(hipMalloc(&device, n_bytes));
    if (host)
        CHECK(hipMemcpy(device, host, n_bytes, hipMemcpyHostToDevice));
    else
        CHECK(hipMemset(device, 0, n_bytes));
    return device;
}

static inline void *program_host(size_t n_bytes)
{
    void *host = calloc(1, n_bytes);
    if (!host)
        exit(1);
    return host;
}

/* Small steps of a fixed sequence. */
static inline uint32_t program_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
