/* emu/sim_int.h: what the HSA layer tells moesaic_sim, and the options as the environment states
 * them.    SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_SIM_INT_H
#define MOESAIC_EMU_SIM_INT_H

#include "emu/sim.h"

#include <stddef.h>

/* Take options from MOESAIC_SIM_MODE, _MFMA, _ORDER, _SEED, _THREADS and _WALL_LIMIT where they are
 * set. Returns false with a sentence in error when one of them is not understood; nothing is
 * changed then. */
bool emu_sim_options_from_environment(char *error, size_t error_bytes);

bool emu_sim_is_timed(void);

/* A dispatch ended: it becomes the last result, and is counted. */
void emu_sim_finished(const moesaic_sim_result *result);

/* The text of a fault that no caller has been told about yet, copied to text; false when there is
 * none. Reading the result through moesaic_sim.last_result is being told. */
bool emu_sim_fault(char *text, size_t text_bytes);

#endif
