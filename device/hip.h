/* device/hip.h: HIP as a table of functions, found at run time.
 *
 * Private to device/.  A table is filled once and then only read, so threads may share it.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_DEVICE_HIP_H
#define MOESAIC_DEVICE_HIP_H

#include "base/status.h"

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

typedef struct hip_api {
    void *library; /* dlopen's handle */
#define HIP(name) __typeof__(&name) name;
#include "device/hip.def"
} hip_api;

typedef struct hiprtc_api {
    void *library;
#define HIPRTC(name) __typeof__(&name) name;
#include "device/hip.def"
} hiprtc_api;

/* Take the libamdhip64 that the process has, else open version 7 or 6.  Errors: E_DEVICE when there
 * is none, when there are two, or when one lacks a function. */
moesaic_status hip_load(hip_api *out, moesaic_text *err);
void hip_unload(hip_api *api);

/* The compiler beside it: in libamdhip64 itself, or libhiprtc of the same version.  Needs no device. */
moesaic_status hiprtc_load(hiprtc_api *out, moesaic_text *err);
void hiprtc_unload(hiprtc_api *api);

/* "what: hipErrorName (HIP's text): remedy"; returns status. */
moesaic_status hip_fail(const hip_api *api, hipError_t error, moesaic_status status,
                        moesaic_text *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
