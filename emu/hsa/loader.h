/* emu/hsa/loader.h: an AMDGPU ELF shared object in memory becomes a loaded image with symbols.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_HSA_LOADER_H
#define MOESAIC_EMU_HSA_LOADER_H

#include "emu/engine.h"

#include <hsa/hsa.h>
#include <stdbool.h>

typedef struct emu_symbol {
    const char *name;  /* among the image's strings; a kernel's ends with ".kd" */
    char *kernel_name; /* the name without ".kd"; NULL for variables */
    uint8_t *address;
    uint64_t n_bytes;
    bool is_kernel, is_const, is_global;
    struct emu_image *image;
} emu_symbol;

typedef struct emu_image {
    uint8_t *base;
    size_t n_bytes;
    uint64_t first_vaddr; /* virtual address of base */
    emu_symbol *symbols;  /* kernels and variables, in the order of the symbol table */
    size_t n_symbols;
    char *strings;
    uint32_t n_in_flight; /* dispatches of its kernels that run; atomic */
    void *owner;          /* the executable */
} emu_image;

/* Where undefined symbols come from; returns false when the name is not known. */
typedef bool (*emu_resolve)(void *context, const char *name, uint64_t *address);

typedef struct emu_load_error {
    char text[160];
} emu_load_error;

/* Load a code object for gfx942.  No byte of it is trusted.
 *
 * bytes     the file; need not be aligned; not kept
 * image     base NULL on failure; release with emu_image_unload
 *
 * Errors: INVALID_CODE_OBJECT, INCOMPATIBLE_ARGUMENTS (other target or xnack/sramecc),
 * VARIABLE_UNDEFINED, OUT_OF_RESOURCES; error says what and where. */
hsa_status_t emu_image_load(const void *bytes, size_t n_bytes, emu_resolve resolve, void *context,
                            emu_image *image, emu_load_error *error);
void emu_image_unload(emu_image *image);

#endif
