/* emu/timing/constants.h: the model's constants as enumerators, named as in the table: emu_launch_ns and so on.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_TIMING_CONSTANTS_H
#define MOESAIC_EMU_TIMING_CONSTANTS_H

#define EMU_CONSTANT(name, value, kind, source) emu_##name = (value),
enum emu_constant {
#include "emu/timing/constants.def"
};
#undef EMU_CONSTANT

#endif
