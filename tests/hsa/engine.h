/* tests/hsa/engine.h: an engine that executes nothing: tests say when and how a launch ends.
 *
 * It stands in for emu/isa, so that the HSA layer is tested alone.    SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TESTS_HSA_ENGINE_H
#define MOESAIC_TESTS_HSA_ENGINE_H

#include "emu/engine.h"

/* false: a launch ends while it is submitted, with `engine_time_ns`.  true: it waits for
 * engine_finish. */
extern bool engine_holds;
extern uint64_t engine_time_ns;

void engine_reset(void);

/* Launches submitted since the reset, and the i-th one as it was then. */
uint32_t engine_n_submitted(void);
emu_launch engine_submitted(uint32_t i);

/* End the i-th launch, which was held. */
void engine_finish(uint32_t i, moesaic_sim_status status);

#endif
