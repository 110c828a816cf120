/* tuner/guard.h: device buffers between guard zones.
 *
 *   | guard | data | guard |      every byte is 0xff before data is copied in
 *
 * As bf16 or fp32 that is a NaN, as an index -1: a read beyond the data poisons the result, a write beyond it is
 * found by guard_check, and an output that was never written is no number.        SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_TUNER_GUARD_H
#define MOESAIC_TUNER_GUARD_H

#include "device/device.h"

enum { GUARD_BYTES = 4096, GUARD_FILL = 0xff };

typedef struct guarded {
    device *dev;
    char *base;     /* what was allocated; NULL: nothing */
    size_t n_bytes; /* of data */
    size_t skew;    /* data starts so many bytes behind the first guard, to be less aligned */
} guarded;

/* Allocate and fill.  n_bytes 0 is fine.  Errors: those of device_alloc. */
moesaic_status guard_alloc(device *dev, size_t n_bytes, size_t skew, guarded *out,
                           moesaic_text *err);
void guard_free(guarded *g);
void *guard_data(const guarded *g);
/* Fill data and guards again. */
moesaic_status guard_fill(guarded *g, moesaic_text *err);
/* *intact: nothing was written outside the data; else where says the first offset: negative in front of the data,
 * from n_bytes on behind it. */
moesaic_status guard_check(const guarded *g, bool *intact, int64_t *where, moesaic_text *err);

#endif
