/* device/memory.c: device memory and synchronous copies.    SPDX-License-Identifier: MIT */
#include "device/device_int.h"

moesaic_status device_alloc(device *dev, size_t n_bytes, void **out, moesaic_text *err)
{
    int previous;
    *out = NULL;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status != MOESAIC_OK)
        return status;
    /* HIP gives NULL for nothing: callers want a pointer. */
    hipError_t error = dev->hip.hipMalloc(out, n_bytes ? n_bytes : 1);
    device_leave(dev, previous);
    if (error == hipSuccess)
        return MOESAIC_OK;
    *out = NULL;
    return hip_fail(&dev->hip, error,
                    error == hipErrorOutOfMemory ? MOESAIC_E_NOMEM : MOESAIC_E_DEVICE, err,
                    "cannot allocate %zu bytes on the device", n_bytes);
}

void device_free(device *dev, void *pointer)
{
    if (pointer)
        dev->hip.hipFree(pointer);
}

static moesaic_status copy(const device *dev, void *to, const void *from, size_t n,
                           hipMemcpyKind kind, moesaic_text *err)
{
    int previous;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status != MOESAIC_OK || !n)
        return status;
    hipError_t error = dev->hip.hipMemcpy(to, from, n, kind);
    device_leave(dev, previous);
    if (error == hipSuccess)
        return MOESAIC_OK;
    return hip_fail(&dev->hip, error, MOESAIC_E_DEVICE, err, "cannot copy %zu bytes %s the device",
                    n, kind == hipMemcpyHostToDevice ? "to" : "from");
}

moesaic_status device_copy_in(device *dev, void *to, const void *from_host, size_t n,
                              moesaic_text *err)
{
    return copy(dev, to, from_host, n, hipMemcpyHostToDevice, err);
}

moesaic_status device_copy_out(device *dev, void *to_host, const void *from, size_t n,
                               moesaic_text *err)
{
    return copy(dev, to_host, from, n, hipMemcpyDeviceToHost, err);
}

moesaic_status device_fill(device *dev, void *to, uint8_t byte, size_t n, moesaic_text *err)
{
    int previous;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status != MOESAIC_OK || !n)
        return status;
    hipError_t error = dev->hip.hipMemset(to, byte, n);
    /* hipMemset returns before the device is done; the contract is that this does not. */
    if (error == hipSuccess)
        error = dev->hip.hipStreamSynchronize(NULL);
    device_leave(dev, previous);
    if (error == hipSuccess)
        return MOESAIC_OK;
    return hip_fail(&dev->hip, error, MOESAIC_E_DEVICE, err, "cannot fill %zu bytes on the device",
                    n);
}
