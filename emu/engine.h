/* emu/engine.h: the execution engine as the HSA layer sees it: kernels go in, completions come out.
 *
 * Owns the contract between emu/hsa (queues, packets, signals) and emu/isa (waves, workgroups, instructions).
 * Several launches may be active at once; the engine interleaves their workgroups, so that a kernel that spins
 * on memory which another queue's kernel writes makes progress.       SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ENGINE_H
#define MOESAIC_EMU_ENGINE_H

#include "emu/sim.h"

#include <stddef.h>
#include <stdint.h>

/* Kernel descriptor of code object v3 and later (LLVM AMDGPUUsage, "Kernel Descriptor"). */
typedef struct emu_kernel_descriptor {
    uint32_t group_segment_bytes;
    uint32_t private_segment_bytes;
    uint32_t kernarg_bytes;
    uint8_t reserved0[4];
    int64_t entry_offset_bytes; /* from this descriptor */
    uint8_t reserved1[20];
    uint32_t compute_pgm_rsrc3;
    uint32_t compute_pgm_rsrc1;
    uint32_t compute_pgm_rsrc2;
    uint16_t properties;
    uint16_t kernarg_preload;
    uint8_t reserved2[4];
} emu_kernel_descriptor;
_Static_assert(sizeof(emu_kernel_descriptor) == 64, "kernel descriptor is 64 bytes");

typedef struct emu_launch emu_launch;

/* One kernel dispatch.  The caller fills it; it must live until `done` was called. */
struct emu_launch {
    const emu_kernel_descriptor *descriptor; /* in loaded memory */
    const char *kernel_name;                 /* for messages only: nothing may depend on it */
    const void *packet; /* the 64-byte AQL packet (a copy is fine), for dispatch_ptr */
    const void *queue;  /* amd_queue_t, for queue_ptr */
    uint64_t dispatch_id;
    uint32_t grid_lanes[3];
    uint32_t workgroup_lanes[3];
    uint32_t group_segment_bytes;   /* static + dynamic LDS */
    uint32_t private_segment_bytes; /* per lane */
    uint64_t kernarg_address;
    uint64_t private_aperture, shared_aperture; /* base addresses, low 32 bits zero */
    /* Called once, from an engine thread or from within emu_engine_submit, without engine locks held. */
    void (*done)(emu_launch *launch, const moesaic_sim_result *result);
    void *user;
    void *engine_private; /* the engine's */
};

/* What memory a kernel may touch; asked only on a fault path and by the loader of programs. */
typedef struct emu_memory_map {
    /* true when [address, address + bytes) lies in one live allocation or loaded code object; for messages,
     * `nearest` (>= 160 bytes) gets a description of the closest allocation. */
    bool (*contains)(uint64_t address, size_t bytes, char *nearest, size_t nearest_bytes);
} emu_memory_map;

/* Shape of the device, as MOESAIC_SIM states it. */
typedef struct emu_device_shape {
    const char *name;       /* "mi300x" */
    const char *target;     /* "gfx942" */
    const char *marketing;  /* "AMD Instinct MI300X" */
    uint32_t pci_device_id; /* 0x74a1 */
    uint32_t cu_count, xcd_count, simds_per_cu, waves_per_simd;
    uint32_t lds_bytes_per_cu, l2_bytes_per_xcd;
    uint64_t memory_bytes;
    uint32_t clock_mhz, memory_clock_mhz, memory_bus_bits;
} emu_device_shape;

/* Start the engine's threads (once per process; idempotent).  0 or an errno value. */
int emu_engine_start(const emu_device_shape *shape, const emu_memory_map *map);

/* Queue a launch for execution; never blocks on the launch itself. */
void emu_engine_submit(emu_launch *launch);

/* Let the calling thread execute workgroups until nothing is runnable at once (saves a thread hand-over for small
 * kernels).  Returns true when it executed something. */
bool emu_engine_help(void);

/* Join the threads.  No launch may be active. */
void emu_engine_stop(void);

/* Code that was decoded from [base, base + bytes) is forgotten: called before a code object is unmapped. */
void emu_engine_forget_code(const void *base, size_t bytes);

#endif
