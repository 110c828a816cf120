/* tuner/variant.h: a code object that is ready to run on a pass's operands.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TUNER_VARIANT_H
#define MOESAIC_TUNER_VARIANT_H

#include "base/json.h"
#include "tuner/operands.h"

enum { VARIANT_MAX_KERNELS = 4, VARIANT_MAX_ARGUMENT_BYTES = 512 };

typedef struct variant {
    device *dev;
    device_module *module;
    int n_kernels;
    device_function functions[VARIANT_MAX_KERNELS];
    device_launch geometry[VARIANT_MAX_KERNELS];
    cJSON *json; /* gen_space_launch's */
} variant;

/* Load code and find its kernels.  launch_json: what gen_space_launch says; copied. */
moesaic_status variant_open(device *dev, const void *code, size_t n_bytes, const char *launch_json,
                            variant *out, moesaic_text *err);
void variant_close(variant *v);

/* Scratch memory that `rows` slots need. */
size_t variant_workspace_bytes(const variant *v, int64_t rows);

/* Enqueue the kernels on the default stream.  The operands must be on the device, with workspace enough. */
moesaic_status variant_run(const variant *v, const moe_operands *o, moesaic_text *err);

#endif
