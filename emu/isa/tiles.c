/* emu/isa/tiles.c: asking for the host's matrix tiles.
 *
 * Source: Linux Documentation/arch/x86/xstate.rst (ARCH_REQ_XCOMP_PERM); Intel SDM, CPUID leaf 7.
 * SPDX-License-Identifier: MIT
 */
#include "emu/isa/tiles.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18, HAS_BF16_TILES = 1 << 22, HAS_TILES = 1 << 24 };

bool emu_tiles_request(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & HAS_BF16_TILES) || !(d & HAS_TILES))
        return false;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
