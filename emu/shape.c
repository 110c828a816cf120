/* emu/shape.c: reads MOESAIC_SIM into the shape of a device.
 *
 * Owns the grammar of the variable; the boards are rows of emu/shapes.def.  What is not understood
 * is refused with the word that is wrong: a typing error must not become another device.
 * Tested by tests/hsa/test_agent.c.                                SPDX-License-Identifier: MIT
 */
#include "emu/shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

typedef struct board {
    const char *name, *marketing;
    uint32_t pci_device_id, xcd_count, cu_count;
    uint64_t memory_gib;
    uint32_t memory_clock_mhz;
} board;

static const board boards[] = {
#define EMU_SHAPE(name, marketing, pci, xcds, cus, gib, mhz)                                       \
    {name, marketing, pci, xcds, cus, gib, mhz},
#include "emu/shapes.def"
#undef EMU_SHAPE
};
enum { N_BOARDS = sizeof boards / sizeof boards[0] };

#define LONGEST_TEXT 255

static bool fail(char *error, size_t error_bytes, const char *what, const char *word,
                 const char *remedy)
{
    snprintf(error, error_bytes, "MOESAIC_SIM: %s \"%s\"; %s", what, word, remedy);
    return false;
}

static bool fail_shape(char *error, size_t error_bytes, const char *name)
{
    if (strcmp(name, "mi210") == 0)
        return fail(error, error_bytes, "shape", name,
                    "gfx90a code is not executed by this version: use mi300x");
    char known[128] = "use";
    for (size_t i = 0; i < N_BOARDS; i++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : " ", boards[i].name);
    }
    return fail(error, error_bytes, "unknown shape", name, known);
}

static void set_board(emu_shape *out, const board *b)
{
    *out = (emu_shape){.n_devices = 1};
    out->device = (emu_device_shape){
        .name = b->name,
        .target = "gfx942",
        .marketing = b->marketing,
        .pci_device_id = b->pci_device_id,
        .cu_count = b->cu_count,
        .xcd_count = b->xcd_count,
        .simds_per_cu = 4,
        .waves_per_simd = 8,
        .lds_bytes_per_cu = 64 << 10,
        .l2_bytes_per_xcd = 4 << 20,
        .memory_bytes = b->memory_gib * GIB,
        .clock_mhz = 2100,
        .memory_clock_mhz = b->memory_clock_mhz,
        .memory_bus_bits = 8192,
    };
}

static bool parse_number(const char *value, unsigned long low, unsigned long high, uint32_t *out)
{
    if (*value < '0' || *value > '9') /* strtoul would take signs and spaces */
        return false;
    char *end;
    errno = 0;
    unsigned long n = strtoul(value, &end, 0);
    if (errno || *end || n < low || n > high)
        return false;
    *out = (uint32_t)n;
    return true;
}

static bool set_option(emu_shape *out, const char *key, const char *value, char *error,
                       size_t error_bytes)
{
    if (strcmp(key, "cu") == 0) {
        /* Every XCD has the same number of CUs: dispatch is round-robin over them. */
        return (parse_number(value, 1, 304, &out->device.cu_count) &&
                out->device.cu_count % out->device.xcd_count == 0) ||
               fail(error, error_bytes, "bad cu count", value,
                    "use a multiple of the XCDs, at most 304");
    }
    if (strcmp(key, "pci") == 0)
        return parse_number(value, 1, 0xffff, &out->device.pci_device_id) ||
               fail(error, error_bytes, "bad pci id", value, "use a 16-bit number such as 0x74a1");
    if (strcmp(key, "count") == 0)
        return parse_number(value, 1, EMU_MAX_DEVICES, &out->n_devices) ||
               fail(error, error_bytes, "bad count", value, "use 1 to 16");
    if (strcmp(key, "name") == 0) {
        if (!*value || strlen(value) >= sizeof out->marketing)
            return fail(error, error_bytes, "bad name", value, "use 1 to 63 characters");
        memcpy(out->marketing, value, strlen(value) + 1);
        out->device.marketing = out->marketing;
        return true;
    }
    return fail(error, error_bytes, "unknown option", key, "use cu, pci, name, count");
}

bool emu_shape_parse(const char *text, emu_shape *out, char *error, size_t error_bytes)
{
    char copy[LONGEST_TEXT + 1];
    if (!text || !*text)
        text = boards[0].name;
    if (strlen(text) > LONGEST_TEXT)
        return fail(error, error_bytes, "text too long", "...", "use at most 255 characters");
    memcpy(copy, text, strlen(text) + 1);

    char *save = NULL;
    const char *name = strtok_r(copy, ",", &save);
    size_t i = 0;
    while (i < N_BOARDS && (!name || strcmp(name, boards[i].name) != 0))
        i++;
    if (i == N_BOARDS)
        return fail_shape(error, error_bytes, name ? name : text);
    set_board(out, &boards[i]);
    for (char *option; (option = strtok_r(NULL, ",", &save)) != NULL;) {
        char *value = strchr(option, '=');
        if (!value)
            return fail(error, error_bytes, "option without value", option,
                        "use cu=N, pci=ID, name=TEXT, count=N");
        *value++ = '\0';
        if (!set_option(out, option, value, error, error_bytes))
            return false;
    }
    return true;
}
