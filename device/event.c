/* device/event.c: events, and the time between two.    SPDX-License-Identifier: MIT */
#include "device/device_int.h"

#include <stdlib.h>

struct device_event {
    const device *dev;
    hipEvent_t handle;
};

moesaic_status device_event_create(device *dev, device_event **out, moesaic_text *err)
{
    int previous;
    *out = NULL;
    device_event *event = calloc(1, sizeof *event);
    if (!event)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for an event");
    event->dev = dev;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status == MOESAIC_OK) {
        hipError_t error = dev->hip.hipEventCreate(&event->handle);
        if (error != hipSuccess)
            status = hip_fail(&dev->hip, error, MOESAIC_E_DEVICE, err, "cannot create an event");
        device_leave(dev, previous);
    }
    if (status == MOESAIC_OK)
        *out = event;
    else
        free(event);
    return status;
}

void device_event_free(device_event *event)
{
    if (!event)
        return;
    event->dev->hip.hipEventDestroy(event->handle);
    free(event);
}

moesaic_status device_event_record(device_event *event, device_stream stream, moesaic_text *err)
{
    const device *dev = event->dev;
    int previous;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status != MOESAIC_OK)
        return status;
    hipError_t error = dev->hip.hipEventRecord(event->handle, stream);
    device_leave(dev, previous);
    if (error == hipSuccess)
        return MOESAIC_OK;
    return hip_fail(&dev->hip, error, MOESAIC_E_DEVICE, err, "cannot record an event");
}

moesaic_status device_event_elapsed_us(device_event *start, device_event *stop, double *us,
                                       moesaic_text *err)
{
    const hip_api *hip = &start->dev->hip;
    float ms = 0;
    *us = 0;
    hipError_t error = hip->hipEventSynchronize(start->handle);
    if (error == hipSuccess)
        error = hip->hipEventSynchronize(stop->handle);
    if (error == hipSuccess)
        error = hip->hipEventElapsedTime(&ms, start->handle, stop->handle);
    if (error != hipSuccess)
        return hip_fail(hip, error, MOESAIC_E_LAUNCH, err, "no time between two events");
    *us = 1000.0 * (double)ms;
    return MOESAIC_OK;
}
