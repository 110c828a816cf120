/* tuner/bf16.h: bf16 on the host.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TUNER_BF16_H
#define MOESAIC_TUNER_BF16_H

#include <stdint.h>
#include <string.h>

#define BF16_NAN ((uint16_t)0x7fc0)

static inline float bf16_to_float(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Nearest, ties to even.  Not for NaN. */
static inline uint16_t bf16_from_float(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

#endif
