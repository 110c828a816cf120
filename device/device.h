/* device/device.h: a thin layer over HIP: compile, load, launch, events, memory; and the device's label.
 *
 * HIP is never linked: device/hip.c takes the libamdhip64 that is already in the process or opens one, through one
 * table of functions.  Nothing above this room knows silicon from software other than through the label.
 *
 * Threads: a device may be used from several threads; modules, buffers and events from one at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_DEVICE_DEVICE_H
#define MOESAIC_DEVICE_DEVICE_H

#include "base/status.h"
#include "base/str.h"
#include "emu/sim.h"

#include <stdint.h>

typedef struct device device;
typedef struct device_module device_module;
typedef struct device_event device_event;
typedef void *device_stream;   /* hipStream_t; NULL is the default stream */
typedef void *device_function; /* hipFunction_t; lives as long as its module */

typedef enum device_kind {
    DEVICE_SILICON,  /* times are measured */
    DEVICE_SOFTWARE, /* times are modelled */
    DEVICE_UNKNOWN,  /* times are untrusted: another simulator, or nothing that proves silicon */
} device_kind;

const char *device_kind_name(device_kind kind);      /* "silicon" "software" "unknown" */
const char *device_time_kind_name(device_kind kind); /* "measured" "modelled" "untrusted" */

typedef struct device_info {
    device_kind kind;
    char target[32]; /* "gfx942" */
    char name[128];
    uint32_t pci_device_id; /* 0x74a1 */
    uint32_t cu_count, xcd_count, lds_per_cu_bytes, clock_mhz, wave_size;
    char partition[16]; /* "spx" */
    uint64_t memory_bytes;
    char driver[64];        /* amdgpu's version; "" on software */
    char hip_version[32];   /* "6.4.43483" */
    char compiler[128];     /* hiprtc and the LLVM behind it */
    char model_version[32]; /* "" unless software */
    bool model_calibrated;
} device_info;

/* Load HIP and open device `ordinal`.  Errors: E_DEVICE with HIP's reason, and what to do. */
moesaic_status device_open(int ordinal, device **out, moesaic_text *err);
void device_close(device *dev);
const device_info *device_get_info(const device *dev);

/* Compile one standalone HIP file for plain gfx942 with hiprtc (-O3).  code gets the ELF, log whatever the compiler
 * said (warnings too).  Errors: E_COMPILE with the first lines of the log.  No device is needed: dev may be NULL. */
moesaic_status device_compile(device *dev, const char *source, const char *name, str *code,
                              str *log, moesaic_text *err);

/* What the code object's metadata says of one kernel. */
typedef struct device_kernel_info {
    uint32_t vgprs, agprs, sgprs, lds_bytes, scratch_bytes, vgpr_spills, sgpr_spills,
        max_workgroup_lanes;
} device_kernel_info;
moesaic_status device_kernel_metadata(const void *code, size_t n, const char *kernel,
                                      device_kernel_info *out, moesaic_text *err);

moesaic_status device_module_load(device *dev, const void *code, size_t n, device_module **out,
                                  moesaic_text *err);
void device_module_free(device_module *module);
moesaic_status device_module_function(device_module *module, const char *kernel,
                                      device_function *out, moesaic_text *err);

typedef struct device_launch {
    uint32_t workgroups[3], lanes[3]; /* grid in workgroups, block in lanes */
    uint32_t lds_bytes;               /* dynamic */
    const void *arguments;            /* packed kernel arguments, copied before the call returns */
    size_t n_argument_bytes;
} device_launch;
moesaic_status device_launch_kernel(device *dev, device_function function,
                                    const device_launch *launch, device_stream stream,
                                    moesaic_text *err);

/* Wait for the stream (NULL: default).  A fault of an earlier kernel is reported here: E_LAUNCH, or E_TIMEOUT. */
moesaic_status device_synchronize(device *dev, device_stream stream, moesaic_text *err);

/* Memory.  Freeing NULL is fine.  Copies are synchronous. */
moesaic_status device_alloc(device *dev, size_t n_bytes, void **out, moesaic_text *err);
void device_free(device *dev, void *pointer);
moesaic_status device_copy_in(device *dev, void *to, const void *from_host, size_t n,
                              moesaic_text *err);
moesaic_status device_copy_out(device *dev, void *to_host, const void *from, size_t n,
                               moesaic_text *err);
moesaic_status device_fill(device *dev, void *to, uint8_t byte, size_t n, moesaic_text *err);

moesaic_status device_event_create(device *dev, device_event **out, moesaic_text *err);
void device_event_free(device_event *event);
moesaic_status device_event_record(device_event *event, device_stream stream, moesaic_text *err);
/* Waits for both; microseconds between them, of the label's kind. */
moesaic_status device_event_elapsed_us(device_event *start, device_event *stop, double *us,
                                       moesaic_text *err);

/* The software device's controls; false on anything else (then nothing was set). */
bool device_sim_set(device *dev, const moesaic_sim_options *options);
bool device_sim_get(device *dev, moesaic_sim_options *options);
bool device_sim_last(device *dev, moesaic_sim_result *result);

#endif
