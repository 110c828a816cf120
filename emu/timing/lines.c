/* emu/timing/lines.c: touched lines: a hash table of pages, each with 16 bits per line.
 *
 * A mark holds one bit per XCD that read the line (low half) and that wrote it (high half).  Pages are added under a
 * lock and never move; marks are set by atomic or, and only when they are not set yet.
 * Tested by tests/emu/timing/test_lines.c.                                    SPDX-License-Identifier: MIT
 */
#include "emu/timing/lines.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    LINES_PER_PAGE = 1 << 14, /* 2 MiB of memory, 32 KiB of marks */
    FIRST_CAPACITY = 1 << 10,
};

typedef struct page {
    uint64_t number; /* line / LINES_PER_PAGE */
    _Atomic uint16_t marks[LINES_PER_PAGE];
} page;

struct emu_lines {
    pthread_mutex_t lock;
    page **pages; /* open addressing, power of two */
    size_t n, capacity;
    atomic_bool incomplete;
};

emu_lines *emu_lines_new(void)
{
    emu_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return NULL;
    lines->capacity = FIRST_CAPACITY;
    lines->pages = calloc(lines->capacity, sizeof *lines->pages);
    if (!lines->pages || pthread_mutex_init(&lines->lock, NULL) != 0) {
        free(lines->pages);
        free(lines);
        return NULL;
    }
    return lines;
}

void emu_lines_free(emu_lines *lines)
{
    if (!lines)
        return;
    for (size_t i = 0; i < lines->capacity; i++)
        free(lines->pages[i]);
    free(lines->pages);
    pthread_mutex_destroy(&lines->lock);
    free(lines);
}

static page **slot_of(page **pages, size_t capacity, uint64_t number)
{
    size_t i = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
    while (pages[i] && pages[i]->number != number)
        i = (i + 1) & (capacity - 1);
    return &pages[i];
}

static bool grow(emu_lines *lines)
{
    size_t capacity = lines->capacity * 2;
    page **pages = calloc(capacity, sizeof *pages);
    if (!pages)
        return false;
    for (size_t i = 0; i < lines->capacity; i++)
        if (lines->pages[i])
            *slot_of(pages, capacity, lines->pages[i]->number) = lines->pages[i];
    free(lines->pages);
    lines->pages = pages;
    lines->capacity = capacity;
    return true;
}

static page *find_or_add(emu_lines *lines, uint64_t number)
{
    pthread_mutex_lock(&lines->lock);
    page **slot = slot_of(lines->pages, lines->capacity, number);
    if (!*slot && (lines->n * 2 < lines->capacity || grow(lines))) {
        slot = slot_of(lines->pages, lines->capacity, number);
        *slot = calloc(1, sizeof **slot);
        if (*slot) {
            (*slot)->number = number;
            lines->n++;
        }
    }
    page *found = *slot;
    pthread_mutex_unlock(&lines->lock);
    return found;
}

static page *page_of(emu_lines *lines, emu_lines_cache *cache, uint64_t number)
{
    size_t i = number % EMU_LINES_CACHED;
    if (cache->page[i] == number + 1)
        return cache->marks[i];
    page *found = find_or_add(lines, number);
    if (!found) {
        atomic_store_explicit(&lines->incomplete, true, memory_order_relaxed);
        return NULL;
    }
    cache->page[i] = number + 1;
    cache->marks[i] = found;
    return found;
}

void emu_lines_touch(emu_lines *lines, emu_lines_cache *cache, uint64_t line, uint32_t xcd,
                     bool is_store)
{
    page *p = page_of(lines, cache, line / LINES_PER_PAGE);
    if (!p)
        return;
    _Atomic uint16_t *mark = &p->marks[line % LINES_PER_PAGE];
    uint16_t bit = (uint16_t)(1u << ((xcd & 7) + (is_store ? 8 : 0)));
    if (!(atomic_load_explicit(mark, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(mark, bit, memory_order_relaxed);
}

static void add_page(const page *p, emu_lines_count *sum)
{
    for (size_t i = 0; i < LINES_PER_PAGE; i++) {
        unsigned mark = atomic_load_explicit(&p->marks[i], memory_order_relaxed);
        sum->read += (mark & 0xff) != 0;
        sum->written += (mark >> 8) != 0;
        sum->fills += (uint64_t)__builtin_popcount(mark & 0xff);
    }
}

emu_lines_count emu_lines_sum(const emu_lines *lines)
{
    emu_lines_count sum = {.incomplete = atomic_load(&lines->incomplete)};
    for (size_t i = 0; i < lines->capacity; i++)
        if (lines->pages[i])
            add_page(lines->pages[i], &sum);
    return sum;
}
