/* emu/hsa/system.h: the life of the library: open or not, working or not.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_HSA_SYSTEM_H
#define MOESAIC_EMU_HSA_SYSTEM_H

#include "emu/hsa/message.h"
#include "emu/shape.h"

#include <hsa/hsa.h>
#include <stdbool.h>

/* Between hsa_init and the last hsa_shut_down, in the process that called hsa_init: the threads
 * that execute kernels do not come along into a child of fork. */
bool emu_hsa_is_open(void);

/* A kernel faulted and nobody was told yet.  HIP 6 has no error to carry that, other than ending
 * the process; so memory of the GPU can't be had until somebody asks moesaic_sim.last_result. */
bool emu_hsa_is_faulted(void);

/* Entry points begin with this. */
#define EMU_REQUIRE_OPEN()                                                                         \
    do {                                                                                           \
        if (!emu_hsa_is_open())                                                                    \
            return HSA_STATUS_ERROR_NOT_INITIALIZED;                                               \
    } while (0)

/* The device; valid once the library was open. */
const emu_shape *emu_hsa_shape(void);

#endif
