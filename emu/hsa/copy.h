/* emu/hsa/copy.h: the copy engines.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_HSA_COPY_H
#define MOESAIC_EMU_HSA_COPY_H

/* Start the thread: 0 or an errno value. */
int emu_copies_start(void);

/* Join the thread; copies that still wait for signals are dropped. */
void emu_copies_stop(void);

#endif
