/* emu/hsa/unsupported.c: functions that libamdhip64 must find, for what the device does not have.
 *
 * Owns nothing but the rows of unsupported.def.  The headers of HSA are not included: here all have
 * the same type, which the calling convention of x86-64 allows.
 * Tested by tests/hsa/test_system.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/hsa/message.h"

#include <stdatomic.h>
#include <stdint.h>

enum { STATUS_ERROR = 0x1000 }; /* HSA_STATUS_ERROR */

static uint32_t refuse(const char *name, atomic_flag *told)
{
    if (!atomic_flag_test_and_set(told))
        emu_message("%s is not supported by the software device", name);
    return STATUS_ERROR;
}

#define EMU_UNSUPPORTED(name)                                                                      \
    uint32_t name(void);                                                                           \
    __attribute__((visibility("default"))) uint32_t name(void)                                     \
    {                                                                                              \
        static atomic_flag told = ATOMIC_FLAG_INIT;                                                \
        return refuse(#name, &told);                                                               \
    }
#include "emu/hsa/unsupported.def"
