/* tuner/guard.c: device buffers between guard zones.    SPDX-License-Identifier: MIT */
#include "tuner/guard.h"

#include <string.h>

static size_t total_bytes(const guarded *g)
{
    return GUARD_BYTES + g->skew + g->n_bytes + GUARD_BYTES;
}

moesaic_status guard_alloc(device *dev, size_t n_bytes, size_t skew, guarded *out,
                           moesaic_text *err)
{
    void *base = NULL;
    *out = (guarded){.dev = dev, .n_bytes = n_bytes, .skew = skew};
    moesaic_status status = device_alloc(dev, total_bytes(out), &base, err);
    if (status != MOESAIC_OK)
        return status;
    out->base = base;
    status = guard_fill(out, err);
    if (status != MOESAIC_OK)
        guard_free(out);
    return status;
}

void guard_free(guarded *g)
{
    if (g->base)
        device_free(g->dev, g->base);
    *g = (guarded){0};
}

void *guard_data(const guarded *g)
{
    return g->base ? g->base + GUARD_BYTES + g->skew : NULL;
}

moesaic_status guard_fill(guarded *g, moesaic_text *err)
{
    return device_fill(g->dev, g->base, GUARD_FILL, total_bytes(g), err);
}

/* Index of the first byte that is not the fill, or n. */
static size_t first_change(const unsigned char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && bytes[i] == GUARD_FILL)
        i++;
    return i;
}

moesaic_status guard_check(const guarded *g, bool *intact, int64_t *where, moesaic_text *err)
{
    unsigned char zone[GUARD_BYTES];
    size_t n_front = GUARD_BYTES + g->skew < sizeof zone ? GUARD_BYTES + g->skew : sizeof zone;
    const char *front = g->base + GUARD_BYTES + g->skew - n_front;
    const char *behind = g->base + GUARD_BYTES + g->skew + g->n_bytes;
    *intact = true;
    *where = 0;
    moesaic_status status = device_copy_out(g->dev, zone, front, n_front, err);
    size_t at = status == MOESAIC_OK ? first_change(zone, n_front) : n_front;
    if (at < n_front) {
        *intact = false;
        *where = (int64_t)at - (int64_t)n_front;
        return MOESAIC_OK;
    }
    if (status == MOESAIC_OK)
        status = device_copy_out(g->dev, zone, behind, sizeof zone, err);
    at = status == MOESAIC_OK ? first_change(zone, sizeof zone) : sizeof zone;
    if (at < sizeof zone) {
        *intact = false;
        *where = (int64_t)(g->n_bytes + at);
    }
    return status;
}
