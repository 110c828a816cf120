/* emu/timing/lines.h: which 128-byte lines of memory a launch touched, and from which XCDs.
 *
 * A set of bits that only grows: the result does not depend on the order in which host threads touch.
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_TIMING_LINES_H
#define MOESAIC_EMU_TIMING_LINES_H

#include <stdbool.h>
#include <stdint.h>

enum { EMU_LINE_BYTES = 128, EMU_LINE_BITS = 7 };

typedef struct emu_lines emu_lines;

/* A thread's short cut to the pages that it touched last; zero-initialise for each launch. */
enum { EMU_LINES_CACHED = 16 };
typedef struct emu_lines_cache {
    uint64_t page[EMU_LINES_CACHED]; /* page + 1; 0: empty */
    void *marks[EMU_LINES_CACHED];
} emu_lines_cache;

emu_lines *emu_lines_new(void);
void emu_lines_free(emu_lines *lines);

/* Line number = address / 128.  xcd < 8.  Without memory the touch is lost and emu_lines_incomplete says so. */
void emu_lines_touch(emu_lines *lines, emu_lines_cache *cache, uint64_t line, uint32_t xcd,
                     bool is_store);

typedef struct emu_lines_count {
    uint64_t read, written; /* distinct lines, whole device */
    uint64_t fills;         /* distinct (line, XCD) pairs that were read: fills of ideal L2s */
    bool incomplete;
} emu_lines_count;
emu_lines_count emu_lines_sum(const emu_lines *lines);

#endif
