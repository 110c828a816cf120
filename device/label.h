/* device/label.h: silicon, software or unknown, from evidence.
 *
 * Private to device/.  Evidence is gathered apart from the verdict, so that the rule can be tested on any
 * machine.    SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_DEVICE_LABEL_H
#define MOESAIC_DEVICE_LABEL_H

#include "device/device.h"

/* Where a device sits, as HSA and HIP see it. */
typedef struct label_place {
    uint32_t pci_device_id; /* 0: unknown */
    uint32_t domain, bus, slot;
} label_place;

/* The kernel's KFD topology node of a device. */
typedef struct label_node {
    bool found;
    uint32_t pci_device_id, n_xcc;
} label_node;

typedef struct label_evidence {
    bool software;         /* our HSA library's table is in the process */
    const char *simulator; /* a known simulator of somebody else, or NULL */
    bool driver;           /* the amdgpu kernel driver is loaded */
    label_node node;
} label_evidence;

/* Our own software device, else silicon if nothing speaks against it, else unknown. */
device_kind label_verdict(const label_evidence *evidence, uint32_t pci_device_id);

/* Look below sys ("/sys") for the driver and the node.  driver_text gets amdgpu's version. */
bool label_driver(const char *sys, char *driver_text, size_t n);
label_node label_find_node(const char *sys, const label_place *place);

/* Compute partition of the device ("spx"); "" when the driver does not say. */
void label_partition(const char *sys, const label_place *place, char *text, size_t n);

/* The simulator that cpuinfo ("/proc/cpuinfo") or a loaded object gives away, or NULL. */
const char *label_simulator(const char *cpuinfo);

#endif
