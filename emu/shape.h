/* emu/shape.h: which device the software MI300X pretends to be.
 *
 * Owns the reading of MOESAIC_SIM=SHAPE[,cu=N][,pci=ID][,name=TEXT][,count=N].
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_SHAPE_H
#define MOESAIC_EMU_SHAPE_H

#include "emu/engine.h"

enum { EMU_MAX_DEVICES = 16 };

typedef struct emu_shape {
    emu_device_shape device;
    char
        marketing[64]; /* name=TEXT; device.marketing points here then, so do not copy the struct */
    uint32_t n_devices;
} emu_shape;

/* Read the text of MOESAIC_SIM; NULL or "" means mi300x.
 *
 * error   on failure, a sentence with the offending word and what is allowed
 *
 * Returns false for an unknown shape or option, or a value out of range; out is not to be used
 * then.
 */
bool emu_shape_parse(const char *text, emu_shape *out, char *error, size_t error_bytes);

#endif
