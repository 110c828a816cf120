/* emu/hsa/summary.h: one line at the end of the process: what its kernels did.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_HSA_SUMMARY_H
#define MOESAIC_EMU_HSA_SUMMARY_H

#include "emu/sim.h"

#include <stddef.h>

/* Asked for by MOESAIC_SIM_SUMMARY=1; the line comes when this process exits (not when it is
 * killed), and not from children of fork.  Called at every opening of the library. */
void emu_summary_begin(void);

/* A dispatch ended; counted: its wave-instructions were (in timed mode they are).  Any thread. */
void emu_summary_add(const moesaic_sim_result *result, bool counted);

/* The line without its end, as much of it as text holds. */
void emu_summary_text(char *text, size_t text_bytes);

#endif
