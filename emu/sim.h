/* emu/sim.h: the software MI300X as the rest of Moesaic sees it, besides HSA itself.
 *
 * Owns the exported table `moesaic_sim` of libhsa-runtime64.so.1: found with dlsym, absent on
 * silicon.  It is how a program knows that a time is modelled, and how the tuner chooses wave
 * orders, numerics and limits. Options are process wide (as the HSA library is) and apply to
 * dispatches that start afterwards. Threads: every function may be called from any thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_SIM_H
#define MOESAIC_EMU_SIM_H

#include <stdbool.h>
#include <stdint.h>

#define MOESAIC_SIM_ABI 1u

typedef enum moesaic_sim_mode {
    MOESAIC_SIM_EXACT, /* values only: event times are the host's, untrusted */
    MOESAIC_SIM_TIMED, /* values, and times computed by the time model */
} moesaic_sim_mode;

typedef enum moesaic_sim_mfma {
    MOESAIC_SIM_MFMA_FAST,    /* fp32 FMA chain through the host's vector units */
    MOESAIC_SIM_MFMA_SILICON, /* bit for bit as CDNA3 (arXiv 2511.10909) */
} moesaic_sim_mfma;

/* In which order the waves of a workgroup run between two barriers. */
typedef enum moesaic_sim_order {
    MOESAIC_SIM_ASCENDING,
    MOESAIC_SIM_DESCENDING,
    MOESAIC_SIM_SWITCHING, /* seeded: another wave every few instructions */
} moesaic_sim_order;

typedef struct moesaic_sim_options {
    uint32_t size_bytes; /* sizeof(moesaic_sim_options) of the caller */
    moesaic_sim_mode mode;
    moesaic_sim_mfma mfma;
    moesaic_sim_order order;
    uint64_t seed;
    uint32_t host_threads; /* 0: all cores */
    double wall_limit_s;   /* a dispatch that runs longer ends as a time-out; 0: none */
} moesaic_sim_options;

typedef enum moesaic_sim_status {
    MOESAIC_SIM_OK,
    MOESAIC_SIM_ILLEGAL_ADDRESS,
    MOESAIC_SIM_ILLEGAL_INSTRUCTION, /* missing in the emulator or in the ISA; text says which */
    MOESAIC_SIM_TIMEOUT,
    MOESAIC_SIM_TRAP,
} moesaic_sim_status;

/* What the last finished dispatch of this process did. */
typedef struct moesaic_sim_result {
    uint32_t size_bytes;
    moesaic_sim_status status;
    uint64_t time_ns; /* modelled; 0 in exact mode */
    uint64_t workgroups, waves;
    uint64_t wave_instructions, mfma_instructions, valu_instructions, lds_instructions,
        vmem_instructions;
    uint64_t hbm_read_bytes, hbm_write_bytes, l2_fill_bytes, lds_conflict_cycles;
    uint32_t waves_per_simd; /* occupancy */
    char limiter
        [32]; /* the term of the model that set the time: mfma, valu, lds, hbm, latency, ... */
    char text[512]; /* for a status other than OK: kernel, mnemonic, address */
} moesaic_sim_result;

typedef struct moesaic_sim_api {
    uint32_t abi;              /* MOESAIC_SIM_ABI */
    const char *model_version; /* "0" ... */
    bool calibrated;
    bool (*set_options)(
        const moesaic_sim_options *options); /* false: a value is out of range, nothing changed */
    void (*get_options)(moesaic_sim_options *options); /* size_bytes set by the caller */
    void (*last_result)(moesaic_sim_result *result);   /* size_bytes set by the caller */
    uint64_t (*dispatch_count)(void);                  /* dispatches finished since start */
} moesaic_sim_api;

extern const moesaic_sim_api moesaic_sim;

#endif
