/* device/identity.h: which compiler this process has.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_DEVICE_IDENTITY_H
#define MOESAIC_DEVICE_IDENTITY_H

#include <stddef.h>

/* "amd_comgr.so.3@1f2e3d4c LLVM.so.21.1@99aabbcc": the libraries that compile, with the start of their
 * build ids; "" when none is loaded (hipInit loads them). */
void identity_compiler(char *text, size_t n);

#endif
