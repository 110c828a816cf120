/* tests/hip/support.h: HIP programs as tests: kernels compiled at run time, every call checked.
 *
 * They link HIP and nothing of ours: what they meet is the device that HIP shows them.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TESTS_HIP_SUPPORT_H
#define MOESAIC_TESTS_HIP_SUPPORT_H

#include <hip/hip_runtime_api.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HIP(call) hip_check(call, #call, __FILE__, __LINE__)
void hip_check(hipError_t error, const char *call, const char *file, int line);

/* Compile for the device and load; a compiler error fails the test with the compiler's words. */
hipModule_t hip_module(const char *source);
hipFunction_t hip_kernel(hipModule_t module, const char *name);

/* One-dimensional launch; arguments are the addresses of the kernel's parameters. */
void hip_launch(hipFunction_t kernel, unsigned n_groups, unsigned n_lanes, unsigned lds_bytes,
                hipStream_t stream, void **arguments);

void *hip_device_copy(const void *host, size_t n_bytes);
void *hip_device_zeros(size_t n_bytes);

/* What a function writes to a file descriptor, as a string to be freed. */
char *hip_captured(int descriptor, void (*function)(void *), void *argument);

#endif
