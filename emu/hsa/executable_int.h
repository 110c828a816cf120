/* emu/hsa/executable_int.h: executables as executable.c, symbol.c and loader_extension.c share
 * them.    SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_HSA_EXECUTABLE_INT_H
#define MOESAIC_EMU_HSA_EXECUTABLE_INT_H

#include "emu/hsa/agent.h"
#include "emu/hsa/executable.h"

#include <pthread.h>

typedef struct executable executable;

/* A loaded code object. */
typedef struct loaded {
    emu_image image;
    hsa_agent_t agent;
    executable *executable;
    struct loaded *next;
} loaded;

/* A variable that the program defined. */
typedef struct definition {
    char *name;
    uint64_t address;
    struct definition *next;
} definition;

struct executable {
    bool frozen;
    uint32_t profile, rounding;
    loaded *loaded;
    definition *definitions;
    const emu_symbol **slots; /* hash table by name, open addressing; n_slots is a power of two */
    size_t n_slots;
    executable *next;
};

static inline executable *executable_of(hsa_executable_t handle)
{
    return (executable *)(uintptr_t)handle.handle;
}

/* Walk all executables; the list can't change meanwhile.  Stops at the first status that is not
 * success. */
hsa_status_t emu_executables_visit(hsa_status_t (*visit)(hsa_executable_t, void *), void *data);

#endif
