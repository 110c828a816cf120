/* emu/isa/program.c: decodes a kernel once, by reachability from its entry.
 *
 * 1. scan: follow fall-through and branch targets; each instruction becomes its operations
 * 2. link: sort by address, put counting or countdown operations in, resolve branch targets
 * Padding and data behind the code decode to nonsense, so nothing is swept linearly.
 * Tested by tests/emu/test_program.c.                                         SPDX-License-Identifier: MIT
 */
#include "emu/isa/program.h"

#include "emu/isa/decode.h"
#include "emu/isa/disassemble.h"
#include "emu/isa/rows.h"
#include "emu/isa/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One instruction on its way into a section. */
typedef struct instruction {
    uint64_t address, target;
    uint32_t size_bytes, first_op, n_ops, linked_op;
    uint16_t row, effect;
    int16_t vmcnt, lgkmcnt;
    bool leads; /* starts a basic block */
} instruction;

typedef struct scan {
    emu_decoder *decoder;
    instruction *found;
    size_t n_found, found_capacity;
    emu_op *ops;
    size_t n_ops, ops_capacity;
    uint64_t *pending;
    size_t n_pending, pending_capacity;
    uint64_t *seen; /* open addressing over addresses; 0: empty */
    size_t seen_capacity;
    bool failed;
} scan;

static pthread_mutex_t programs_lock = PTHREAD_MUTEX_INITIALIZER;
static emu_program *programs;

/* Room for one more element of an array that grows by doubling. */
static bool room(void **array, size_t n, size_t *capacity, size_t element_bytes)
{
    if (n < *capacity)
        return true;
    size_t more = *capacity ? *capacity * 2 : 256;
    void *grown = realloc(*array, more * element_bytes);
    if (!grown)
        return false;
    *array = grown;
    *capacity = more;
    return true;
}

/* --- scan --- */

static size_t seen_slot(const scan *s, uint64_t address)
{
    size_t i = (size_t)(address >> 2) * 0x9e3779b1u & (s->seen_capacity - 1);
    while (s->seen[i] && s->seen[i] != address)
        i = (i + 1) & (s->seen_capacity - 1);
    return i;
}

static bool grow_seen(scan *s)
{
    uint64_t *old = s->seen;
    s->seen_capacity = s->seen_capacity ? s->seen_capacity * 2 : 4096;
    s->seen = calloc(s->seen_capacity, sizeof *s->seen);
    if (!s->seen) {
        s->seen = old;
        return false;
    }
    for (size_t i = 0; i < s->n_found; i++)
        s->seen[seen_slot(s, s->found[i].address)] = s->found[i].address;
    free(old);
    return true;
}

/* true when the address is new; it is marked. */
static bool mark_seen(scan *s, uint64_t address)
{
    if (s->n_found * 2 >= s->seen_capacity && !grow_seen(s)) {
        s->failed = true;
        return false;
    }
    size_t i = seen_slot(s, address);
    if (s->seen[i])
        return false;
    s->seen[i] = address;
    return true;
}

static void push_pending(scan *s, uint64_t address)
{
    if (room((void **)&s->pending, s->n_pending, &s->pending_capacity, sizeof *s->pending))
        s->pending[s->n_pending++] = address;
    else
        s->failed = true;
}

static void push_op(scan *s, const emu_op *op)
{
    if (room((void **)&s->ops, s->n_ops, &s->ops_capacity, sizeof *s->ops))
        s->ops[s->n_ops++] = *op;
    else
        s->failed = true;
}

/* Highest count that an s_waitcnt lets pass, from its text; -1 when the counter is not named. */
static int16_t waitcnt_field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? (int16_t)strtol(at + strlen(name) + 1, NULL, 10) : -1;
}

/* Decode the instruction at an address into s->found and s->ops. */
static instruction *scan_instruction(scan *s, uint64_t address)
{
    emu_line line;
    emu_text text = {.address = address};
    emu_op op;
    bool printed = emu_disassemble(address, &line);
    text.line = line.text;
    text.branch_target = line.branch_target;
    text.size_bytes = line.size_bytes;
    memcpy(text.words, (const void *)(uintptr_t)address, printed ? line.size_bytes : 0);
    bool parsed = printed && emu_text_parse(line.text, s->decoder->accum_offset, &text);
    const emu_row *row = parsed ? emu_decode_row(&text) : NULL;
    bool decoded = emu_decode(s->decoder, &text, row, &op);
    if (!room((void **)&s->found, s->n_found, &s->found_capacity, sizeof *s->found)) {
        s->failed = true;
        return NULL;
    }
    instruction *i = &s->found[s->n_found++];
    *i = (instruction){
        .address = address, .size_bytes = line.size_bytes, .first_op = (uint32_t)s->n_ops};
    i->row = op.row;
    i->effect = decoded && row ? row->effect : EMU_EFFECT_END;
    i->target = i->effect & EMU_EFFECT_BRANCH ? line.branch_target : 0;
    i->vmcnt = waitcnt_field(line.text, "vmcnt");
    i->lgkmcnt = waitcnt_field(line.text, "lgkmcnt");
    if (i->effect & EMU_EFFECT_NO_VALUE)
        return i;
    for (uint32_t k = 0; k < s->decoder->n_before; k++)
        push_op(s, &s->decoder->before[k]);
    push_op(s, &op);
    for (uint32_t k = 0; k < s->decoder->n_after; k++)
        push_op(s, &s->decoder->after[k]);
    i->n_ops = (uint32_t)s->n_ops - i->first_op;
    return i;
}

static void scan_from(scan *s, uint64_t entry)
{
    push_pending(s, entry);
    while (s->n_pending && !s->failed) {
        uint64_t address = s->pending[--s->n_pending];
        s->decoder->gpr_index = false; /* nothing jumps in between s_set_gpr_idx_on and _off */
        while (mark_seen(s, address)) {
            const instruction *i = scan_instruction(s, address);
            if (!i || s->failed)
                return;
            if (i->target)
                push_pending(s, i->target);
            if (i->effect & EMU_EFFECT_END)
                break;
            address += i->size_bytes;
        }
    }
}

/* --- link --- */

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const instruction *)a)->address, y = ((const instruction *)b)->address;
    return (x > y) - (x < y);
}

static instruction *find_instruction(const scan *s, uint64_t address)
{
    instruction key = {.address = address};
    return bsearch(&key, s->found, s->n_found, sizeof *s->found, by_address);
}

static void mark_leaders(scan *s, uint64_t entry)
{
    instruction *first = find_instruction(s, entry);
    if (first)
        first->leads = true;
    for (size_t k = 0; k < s->n_found; k++) {
        instruction *i = &s->found[k];
        instruction *target = i->target ? find_instruction(s, i->target) : NULL;
        if (target)
            target->leads = true;
        bool ends = i->effect & (EMU_EFFECT_BRANCH | EMU_EFFECT_END | EMU_EFFECT_PC);
        if (k + 1 < s->n_found && (ends || i->address + i->size_bytes != s->found[k + 1].address))
            s->found[k + 1].leads = true;
    }
}

static emu_op internal_op(const char *mnemonic, int32_t imm)
{
    const emu_row *row = emu_rows_find(mnemonic);
    return (emu_op){.exec = row->exec[0], .row = emu_rows_index(row), .imm = imm};
}

static void put(emu_section *to, emu_op op, uint64_t address)
{
    to->address[to->n_ops] = address;
    to->ops[to->n_ops++] = op;
}

/* Price the block that starts at instruction k. */
static bool price_block(emu_program *program, const scan *s, size_t k)
{
    emu_block_cost *grown = realloc(program->blocks, (program->n_blocks + 1) * sizeof *grown);
    if (!grown)
        return false;
    program->blocks = grown;
    size_t n = 1;
    while (k + n < s->n_found && !s->found[k + n].leads)
        n++;
    emu_timed_instruction *timed = calloc(n, sizeof *timed);
    if (!timed)
        return false;
    for (size_t j = 0; j < n; j++) {
        const instruction *i = &s->found[k + j];
        timed[j] = (emu_timed_instruction){emu_rows_at(i->row), i->vmcnt, i->lgkmcnt, 0, false};
    }
    bool loops = s->found[k + n - 1].target == s->found[k].address;
    emu_timing_block(timed, n, loops, &program->blocks[program->n_blocks++]);
    free(timed);
    return true;
}

/* Operations in front of instruction k, as the variant wants them. */
static bool put_front(emu_program *program, const scan *s, size_t k, emu_section *to)
{
    const instruction *i = &s->found[k];
    if (program->key.variant == EMU_PREEMPT)
        put(to, internal_op(".preempt", 0), i->address);
    if (program->key.variant != EMU_TIMED || !i->leads)
        return true;
    put(to, internal_op(".block", (int32_t)program->n_blocks), i->address);
    return price_block(program, s, k);
}

static void resolve_targets(const scan *s, emu_section *section)
{
    for (size_t k = 0; k < s->n_found; k++) {
        const instruction *i = &s->found[k];
        const instruction *target = i->target ? find_instruction(s, i->target) : NULL;
        uint32_t end = k + 1 < s->n_found ? s->found[k + 1].linked_op : section->n_ops - 1;
        for (uint32_t o = i->linked_op; target && o < end; o++)
            section->ops[o].target = &section->ops[target->linked_op];
    }
}

static void fuse(const emu_program *program, const scan *s, emu_section *section)
{
    if (program->key.variant == EMU_PREEMPT || !section->ops || !section->n_ops)
        return;
    bool *is_target = calloc(section->n_ops, sizeof *is_target);
    if (!is_target)
        return;
    for (size_t k = 0; k < s->n_found; k++)
        is_target[s->found[k].linked_op] |= s->found[k].leads;
    emu_rows_fuse(section->ops, section->n_ops, is_target);
    free(is_target);
}

static bool link_section(emu_program *program, scan *s, uint64_t entry, emu_section *section)
{
    if (!s->found)
        return false;
    qsort(s->found, s->n_found, sizeof *s->found, by_address);
    mark_leaders(s, entry);
    size_t most = s->n_ops + 2 * s->n_found + 2;
    section->ops = aligned_alloc(64, most * sizeof *section->ops);
    section->address = calloc(most, sizeof *section->address);
    if (!section->ops || !section->address)
        return false;
    for (size_t k = 0; k < s->n_found; k++) {
        instruction *i = &s->found[k];
        i->linked_op = section->n_ops;
        if (!put_front(program, s, k, section))
            return false;
        for (uint32_t o = 0; o < i->n_ops; o++)
            put(section, s->ops[i->first_op + o], i->address);
    }
    put(section, internal_op(".missing", 0), 0);
    resolve_targets(s, section);
    fuse(program, s, section);
    return true;
}

static void free_section(emu_section *section)
{
    free(section->ops);
    free(section->address);
    free(section);
}

/* Decode from an address into a new section of the program. */
static emu_section *add_section(emu_program *program, uint64_t entry)
{
    scan s = {.decoder = program->decoder};
    emu_section *section = calloc(1, sizeof *section);
    if (section)
        scan_from(&s, entry);
    bool good = section && !s.failed && link_section(program, &s, entry, section);
    free(s.found);
    free(s.ops);
    free(s.pending);
    free(s.seen);
    if (!good) {
        if (section)
            free_section(section);
        return NULL;
    }
    emu_section **last = &program->sections;
    while (*last)
        last = &(*last)->next;
    *last = section;
    program->constants = program->decoder->constants;
    program->n_constants = program->decoder->n_constants;
    return section;
}

/* --- programs --- */

static void free_program(emu_program *program)
{
    for (emu_section *s = program->sections, *next; s; s = next) {
        next = s->next;
        free_section(s);
    }
    free(program->blocks);
    free(program->decoder);
    free(program);
}

static emu_program *new_program(const emu_program_key *key)
{
    emu_program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    program->key = *key;
    program->decoder = calloc(1, sizeof *program->decoder);
    if (program->decoder) {
        program->decoder->n_vgprs = key->n_vgprs;
        program->decoder->accum_offset = key->accum_offset;
        program->decoder->mfma = key->mfma;
    }
    if (program->decoder && add_section(program, key->entry))
        return program;
    free_program(program);
    return NULL;
}

static bool same_key(const emu_program_key *a, const emu_program_key *b)
{
    return a->entry == b->entry && a->n_vgprs == b->n_vgprs && a->accum_offset == b->accum_offset &&
           a->variant == b->variant && a->mfma == b->mfma;
}

emu_program *emu_program_get(const emu_program_key *key)
{
    pthread_mutex_lock(&programs_lock);
    emu_program *program = programs;
    while (program && !same_key(&program->key, key))
        program = program->next;
    if (!program && (program = new_program(key))) {
        program->next = programs;
        programs = program;
    }
    pthread_mutex_unlock(&programs_lock);
    return program;
}

void emu_program_forget(uint64_t base, size_t n_bytes)
{
    pthread_mutex_lock(&programs_lock);
    for (emu_program **p = &programs; *p;) {
        emu_program *program = *p;
        if (program->key.entry - base < n_bytes) {
            *p = program->next;
            free_program(program);
        } else {
            p = &program->next;
        }
    }
    pthread_mutex_unlock(&programs_lock);
}

static const emu_op *find_op(const emu_program *program, uint64_t address)
{
    for (const emu_section *s = program->sections; s; s = s->next) {
        uint32_t low = 0, high = s->n_ops - 1; /* the last one belongs to no address */
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (s->address[middle] < address)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < s->n_ops - 1 && s->address[low] == address)
            return &s->ops[low];
    }
    return NULL;
}

/* Constants and counters that a new section brought. */
static bool refresh_wave(emu_wave *w, const emu_program *program)
{
    memcpy(&w->s[EMU_S_CONSTANT], program->constants, program->n_constants * sizeof w->s[0]);
    w->n_constants = program->n_constants;
    if (!w->block_runs || w->n_block_runs >= program->n_blocks)
        return true;
    uint64_t *grown = realloc(w->block_runs, program->n_blocks * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + w->n_block_runs, 0, (program->n_blocks - w->n_block_runs) * sizeof *grown);
    w->block_runs = grown;
    w->n_block_runs = program->n_blocks;
    return true;
}

const emu_op *emu_program_at(emu_wave *w, uint64_t address)
{
    pthread_mutex_lock(&programs_lock);
    emu_program *program = (emu_program *)w->program;
    const emu_op *op = find_op(program, address);
    if (!op && add_section(program, address))
        op = find_op(program, address);
    if (op && !refresh_wave(w, program))
        op = NULL;
    pthread_mutex_unlock(&programs_lock);
    return op;
}

static uint64_t address_of(const emu_program *program, const emu_op *op)
{
    for (const emu_section *s = program->sections; s; s = s->next)
        if (op >= s->ops && op < s->ops + s->n_ops)
            return s->address[op - s->ops];
    return 0;
}

void emu_program_describe(const emu_program *program, const emu_op *op, char *out, size_t out_bytes)
{
    emu_line line;
    pthread_mutex_lock(&programs_lock);
    uint64_t address = address_of(program, op);
    bool known = address != 0;
    if (known)
        emu_disassemble(address, &line);
    pthread_mutex_unlock(&programs_lock);
    if (!known) {
        snprintf(out, out_bytes, "at the end of what was decoded");
        return;
    }
    snprintf(out, out_bytes, "%s at +0x%llx (0x%llx)", line.text + strspn(line.text, " \t"),
             (unsigned long long)(address - program->key.entry), (unsigned long long)address);
}

static void add_cost(emu_wave_cost *to, const emu_block_cost *block, uint64_t runs)
{
    for (int unit = 0; unit < EMU_N_UNITS; unit++) {
        to->instructions[unit] += runs * block->instructions[unit];
        to->cycles[unit] += runs * block->cycles[unit];
    }
    to->serial_cycles += runs * block->serial_cycles;
}

void emu_program_cost(const emu_wave *w, emu_wave_cost *out)
{
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&programs_lock); /* another wave may be adding a section */
    for (uint32_t b = 0; b < w->program->n_blocks && b < w->n_block_runs; b++)
        if (w->block_runs[b])
            add_cost(out, &w->program->blocks[b], w->block_runs[b]);
    pthread_mutex_unlock(&programs_lock);
}
