/* emu/hsa/executable.h: loaded kernels as the queues find them.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_HSA_EXECUTABLE_H
#define MOESAIC_EMU_HSA_EXECUTABLE_H

#include "emu/hsa/loader.h"

/* The kernel whose descriptor is at this address, or NULL.  It stays loaded until
 * emu_kernel_release. */
const emu_symbol *emu_kernel_hold(uint64_t kernel_object);
void emu_kernel_release(const emu_symbol *kernel);

/* The image that holds an address, or NULL. */
const emu_image *emu_image_at(const void *address);

/* What programs never destroyed; called by the last hsa_shut_down. */
void emu_executables_reset(void);

#endif
