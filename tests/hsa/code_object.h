/* tests/hsa/code_object.h: a small code object, written by hand.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TESTS_HSA_CODE_OBJECT_H
#define MOESAIC_TESTS_HSA_CODE_OBJECT_H

#include <elf.h>
#include <stdint.h>

/* Kernel `k` with 256 bytes of LDS and 32 of scratch; variable `v`: three words of 64 bits, which
 * are 0x1234, the address of the kernel's descriptor (relocated), and that of `outside`, which the
 * program must define. */
enum {
    CODE_OBJECT_BYTES = 0x2100,
    CODE_OBJECT_SYMBOLS = 0x200, /* null, k.kd, k, v, outside */
    CODE_OBJECT_HASH = 0x300,
    CODE_OBJECT_STRINGS = 0x380,
    CODE_OBJECT_RELOCATIONS = 0x3c0, /* two */
    CODE_OBJECT_DESCRIPTOR = 0x400,
    CODE_OBJECT_TEXT = 0x1000,
    CODE_OBJECT_DYNAMIC = 0x2000,
    CODE_OBJECT_VARIABLE = 0x20e0,
};

void code_object_write(uint8_t bytes[CODE_OBJECT_BYTES]);

#endif
