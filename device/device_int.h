/* device/device_int.h: what the files of device/ share.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_DEVICE_DEVICE_INT_H
#define MOESAIC_DEVICE_DEVICE_INT_H

#include "device/device.h"
#include "device/hip.h"

struct device {
    hip_api hip;
    int ordinal;
    const moesaic_sim_api *sim; /* NULL on everything but our software device */
    device_info info;
};

/* HIP keeps a current device per thread, and callers own that choice: each call here switches to its
 * device and back.  device_enter gives what device_leave restores. */
moesaic_status device_enter(const device *dev, int *previous, moesaic_text *err);
void device_leave(const device *dev, int previous);

#endif
