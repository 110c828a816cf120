/* device/hsa.h: the few facts that HSA tells and HIP does not.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_DEVICE_HSA_H
#define MOESAIC_DEVICE_HSA_H

#include "device/label.h"

/* Fill place->pci_device_id and *n_xcc of the GPU agent at place; both stay 0 when HSA does not know.
 * library is a handle through which libhsa-runtime64 can be found: libamdhip64's. */
void hsa_facts(void *library, label_place *place, uint32_t *n_xcc);

#endif
