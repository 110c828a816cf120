/* emu/isa/fault.h: a host fault in a kernel's memory access becomes a result, not the end of the process.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_FAULT_H
#define MOESAIC_EMU_ISA_FAULT_H

#include <setjmp.h>
#include <stdint.h>

typedef struct emu_fault {
    sigjmp_buf jump;  /* sigsetjmp(jump, 0) before arming */
    uint64_t address; /* what could not be accessed */
} emu_fault;

/* Take over SIGSEGV and SIGBUS, again when somebody else has taken them since; faults of other code go on to the
 * handlers that were there.  0 or an errno value. */
int emu_fault_install(void);
void emu_fault_remove(void);

/* While armed, a fault of the calling thread fills address and jumps.  NULL disarms. */
void emu_fault_arm(emu_fault *fault);

#endif
