/* emu/hsa/message.h: lines on stderr for the user of the device.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_HSA_MESSAGE_H
#define MOESAIC_EMU_HSA_MESSAGE_H

/* One line on stderr, "moesaic: ...": for what the user of a GPU expects to see there, a kernel's
 * fault. */
void emu_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, only with MOESAIC_SIM_LOG=1. */
void emu_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
