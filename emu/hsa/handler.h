/* emu/hsa/handler.h: the thread that calls the program back.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_EMU_HSA_HANDLER_H
#define MOESAIC_EMU_HSA_HANDLER_H

#include <hsa/hsa.h>

/* Start the thread: 0 or an errno value. */
int emu_handlers_start(void);

/* Join the thread (unless it is the caller); what still waits for a signal is dropped. */
void emu_handlers_stop(void);

/* Call job(argument) soon, from the thread. */
hsa_status_t emu_handlers_post(void (*job)(void *), void *argument);

#endif
