/* emu/hsa/executable.c: images loaded together, and their symbols by name and address.
 *
 * HIP looks up every kernel of a module when it is loaded and walks all variables for each: 1.8
 * million questions for one hipBLASLt matmul.  So names are in a hash table and a kernel is found
 * by its address in logarithmic time.
 * Tested by tests/hsa/test_executable.c.                           SPDX-License-Identifier: MIT
 */
#include "emu/hsa/executable_int.h"

#include "base/file.h"
#include "emu/hsa/event.h"
#include "emu/hsa/system.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const void *bytes;
    size_t n_bytes;
} reader;

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static executable *first_executable;

/* --- the hash table of names
 * ----------------------------------------------------------------------- */

static uint64_t hash_name(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return h;
}

/* The slot of a name, or the free one where it belongs. */
static const emu_symbol **slot_of(const executable *e, const char *name)
{
    size_t i = hash_name(name) & (e->n_slots - 1);
    while (e->slots[i] && strcmp(e->slots[i]->name, name) != 0)
        i = (i + 1) & (e->n_slots - 1);
    return &e->slots[i];
}

static hsa_status_t index_symbols(executable *e)
{
    size_t n = 0, n_slots = 16;
    for (const loaded *l = e->loaded; l; l = l->next)
        n += l->image.n_symbols;
    while (n_slots < 2 * n)
        n_slots *= 2;
    const emu_symbol **slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    free(e->slots);
    e->slots = slots;
    e->n_slots = n_slots;
    for (const loaded *l = e->loaded; l; l = l->next)
        for (size_t i = 0; i < l->image.n_symbols; i++) {
            const emu_symbol **slot = slot_of(e, l->image.symbols[i].name);
            if (!*slot)
                *slot = &l->image.symbols[i];
        }
    return HSA_STATUS_SUCCESS;
}

/* --- by address
 * -------------------------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b)
{
    const emu_symbol *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static loaded *loaded_at(const void *address)
{
    for (executable *e = first_executable; e; e = e->next)
        for (loaded *l = e->loaded; l; l = l->next)
            if ((uintptr_t)address - (uintptr_t)l->image.base < l->image.n_bytes)
                return l;
    return NULL;
}

static const emu_symbol *kernel_of(const emu_image *image, const void *address)
{
    size_t low = 0, high = image->n_symbols;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((const void *)image->symbols[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < image->n_symbols && image->symbols[low].address == address; low++)
        if (image->symbols[low].is_kernel)
            return &image->symbols[low];
    return NULL;
}

const emu_symbol *emu_kernel_hold(uint64_t kernel_object)
{
    const void *address = (const void *)(uintptr_t)kernel_object;
    pthread_rwlock_rdlock(&lock);
    loaded *l = loaded_at(address);
    const emu_symbol *kernel = l ? kernel_of(&l->image, address) : NULL;
    if (kernel)
        __atomic_fetch_add(&kernel->image->n_in_flight, 1, __ATOMIC_ACQUIRE);
    pthread_rwlock_unlock(&lock);
    return kernel;
}

void emu_kernel_release(const emu_symbol *kernel)
{
    __atomic_fetch_sub(&kernel->image->n_in_flight, 1, __ATOMIC_RELEASE);
}

const emu_image *emu_image_at(const void *address)
{
    pthread_rwlock_rdlock(&lock);
    const loaded *l = loaded_at(address);
    pthread_rwlock_unlock(&lock);
    return l ? &l->image : NULL;
}

/* --- code objects
 * ---------------------------------------------------------------------------------------- */

hsa_status_t hsa_code_object_reader_create_from_memory(const void *bytes, size_t n_bytes,
                                                       hsa_code_object_reader_t *out)
{
    EMU_REQUIRE_OPEN();
    if (!bytes || n_bytes == 0 || !out)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    reader *r = malloc(sizeof *r);
    out->handle = (uintptr_t)r;
    if (!r)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *r = (reader){bytes, n_bytes}; /* the program keeps the bytes as long as the reader */
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t handle)
{
    EMU_REQUIRE_OPEN();
    if (!handle.handle)
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    free((reader *)(uintptr_t)handle.handle);
    return HSA_STATUS_SUCCESS;
}

/* MOESAIC_SIM_SAVE_CODE_OBJECTS=DIR: every code object that is loaded is also written there, once
 * per content. */
static void save(const reader *r)
{
    const char *folder = getenv("MOESAIC_SIM_SAVE_CODE_OBJECTS");
    if (!folder || !*folder)
        return;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < r->n_bytes; i++)
        h = (h ^ ((const unsigned char *)r->bytes)[i]) * UINT64_C(0x100000001b3);
    char path[4096];
    moesaic_text error;
    int n = snprintf(path, sizeof path, "%s/%016" PRIx64 ".co", folder, h);
    if (n < 0 || (size_t)n >= sizeof path)
        emu_message("MOESAIC_SIM_SAVE_CODE_OBJECTS: the path is too long");
    else if (!file_exists(path) && file_replace(path, r->bytes, r->n_bytes, &error) != MOESAIC_OK)
        emu_message("MOESAIC_SIM_SAVE_CODE_OBJECTS: %s", error.s);
}

static bool resolve(void *context, const char *name, uint64_t *address)
{
    for (const definition *d = ((const executable *)context)->definitions; d; d = d->next)
        if (strcmp(d->name, name) == 0) {
            *address = d->address;
            return true;
        }
    return false;
}

static void unload(loaded *l)
{
    emu_engine_forget_code(l->image.base, l->image.n_bytes);
    emu_image_unload(&l->image);
    free(l);
}

static hsa_status_t load(executable *e, const reader *r, hsa_agent_t agent, loaded **out)
{
    loaded *l = calloc(1, sizeof *l);
    if (!l)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    emu_load_error error;
    hsa_status_t status = emu_image_load(r->bytes, r->n_bytes, resolve, e, &l->image, &error);
    if (status != HSA_STATUS_SUCCESS) {
        emu_message("%s", error.text);
        free(l);
        return status;
    }
    qsort(l->image.symbols, l->image.n_symbols, sizeof l->image.symbols[0], compare_addresses);
    l->agent = agent;
    l->executable = e;
    pthread_rwlock_wrlock(&lock);
    l->next = e->loaded;
    e->loaded = l;
    status = index_symbols(e);
    if (status != HSA_STATUS_SUCCESS)
        e->loaded = l->next;
    pthread_rwlock_unlock(&lock);
    if (status != HSA_STATUS_SUCCESS) {
        unload(l);
        return status;
    }
    *out = l;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent,
                                                   hsa_code_object_reader_t reader_handle,
                                                   const char *options,
                                                   hsa_loaded_code_object_t *out)
{
    EMU_REQUIRE_OPEN();
    (void)options;
    executable *e = executable_of(handle);
    const reader *r = (const reader *)(uintptr_t)reader_handle.handle;
    const emu_agent *a = emu_agent_of(agent);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (e->frozen)
        return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    if (!a || !a->is_gpu)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!r)
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    save(r);
    loaded *l = NULL;
    hsa_status_t status = load(e, r, agent, &l);
    if (out)
        out->handle = (uintptr_t)l;
    return status;
}

/* --- executables
 * ------------------------------------------------------------------------------------------- */

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
                                       hsa_default_float_rounding_mode_t rounding,
                                       const char *options, hsa_executable_t *out)
{
    EMU_REQUIRE_OPEN();
    (void)options;
    if (!out)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    executable *e = calloc(1, sizeof *e);
    out->handle = (uintptr_t)e;
    if (!e)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    e->profile = profile;
    e->rounding = rounding;
    hsa_status_t status = index_symbols(e);
    if (status != HSA_STATUS_SUCCESS) {
        free(e);
        out->handle = 0;
        return status;
    }
    pthread_rwlock_wrlock(&lock);
    e->next = first_executable;
    first_executable = e;
    pthread_rwlock_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state,
                                   const char *options, hsa_executable_t *out)
{
    hsa_status_t status =
        hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, out);
    if (status == HSA_STATUS_SUCCESS)
        executable_of(*out)->frozen = state == HSA_EXECUTABLE_STATE_FROZEN;
    return status;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char *options)
{
    EMU_REQUIRE_OPEN();
    (void)options;
    executable *e = executable_of(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (e->frozen)
        return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    e->frozen = true;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate(hsa_executable_t handle, uint32_t *result)
{
    EMU_REQUIRE_OPEN();
    if (!executable_of(handle))
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!result)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = 0; /* what is not valid was not loaded */
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t handle, const char *options,
                                         uint32_t *result)
{
    (void)options;
    return hsa_executable_validate(handle, result);
}

hsa_status_t hsa_executable_get_info(hsa_executable_t handle, hsa_executable_info_t attribute,
                                     void *value)
{
    EMU_REQUIRE_OPEN();
    const executable *e = executable_of(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    uint32_t answer;
    switch (attribute) {
    case HSA_EXECUTABLE_INFO_PROFILE:
        answer = e->profile;
        break;
    case HSA_EXECUTABLE_INFO_STATE:
        answer = e->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN;
        break;
    case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
        answer = e->rounding;
        break;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    memcpy(value, &answer, sizeof answer);
    return HSA_STATUS_SUCCESS;
}

static void free_executable(executable *e)
{
    for (loaded *l = e->loaded, *next; l; l = next) {
        next = l->next;
        unload(l);
    }
    for (definition *d = e->definitions, *next; d; d = next) {
        next = d->next;
        free(d->name);
        free(d);
    }
    free(e->slots);
    free(e);
}

static bool is_in_flight(const executable *e)
{
    for (const loaded *l = e->loaded; l; l = l->next)
        if (__atomic_load_n(&l->image.n_in_flight, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

hsa_status_t hsa_executable_destroy(hsa_executable_t handle)
{
    EMU_REQUIRE_OPEN();
    executable *e = executable_of(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    pthread_rwlock_wrlock(&lock);
    executable **link = &first_executable;
    while (*link && *link != e)
        link = &(*link)->next;
    bool found = *link == e;
    if (found)
        *link = e->next;
    pthread_rwlock_unlock(&lock);
    if (!found)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    for (uint32_t seen = emu_event_sequence(&emu_changes); is_in_flight(e);
         seen = emu_event_sequence(&emu_changes))
        emu_event_sleep(&emu_changes, seen, emu_poll_ns());
    free_executable(e);
    return HSA_STATUS_SUCCESS;
}

void emu_executables_reset(void)
{
    pthread_rwlock_wrlock(&lock);
    for (executable *next; first_executable; first_executable = next) {
        next = first_executable->next;
        free_executable(first_executable);
    }
    pthread_rwlock_unlock(&lock);
}

hsa_status_t emu_executables_visit(hsa_status_t (*visit)(hsa_executable_t, void *), void *data)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    pthread_rwlock_rdlock(&lock);
    for (const executable *e = first_executable; e && status == HSA_STATUS_SUCCESS; e = e->next)
        status = visit((hsa_executable_t){(uintptr_t)e}, data);
    pthread_rwlock_unlock(&lock);
    return status;
}

static hsa_status_t define(hsa_executable_t handle, const char *name, const void *address)
{
    executable *e = executable_of(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (e->frozen)
        return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    uint64_t known;
    if (!name)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (resolve(e, name, &known))
        return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
    definition *d = calloc(1, sizeof *d);
    if (!d || !(d->name = strdup(name))) {
        free(d);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    d->address = (uintptr_t)address;
    d->next = e->definitions;
    e->definitions = d;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t handle, hsa_agent_t agent,
                                                         const char *name, void *address)
{
    EMU_REQUIRE_OPEN();
    return emu_agent_of(agent) ? define(handle, name, address) : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_executable_global_variable_define(hsa_executable_t handle, const char *name,
                                                   void *address)
{
    EMU_REQUIRE_OPEN();
    return define(handle, name, address);
}

hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t handle, hsa_agent_t agent,
                                                     const char *name, void *address)
{
    return hsa_executable_agent_global_variable_define(handle, agent, name, address);
}

/* --- symbols --- */

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char *name,
                                               const hsa_agent_t *agent,
                                               hsa_executable_symbol_t *out)
{
    EMU_REQUIRE_OPEN();
    (void)agent;
    const executable *e = executable_of(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!name || !out)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const emu_symbol *s = *slot_of(e, name);
    out->handle = (uintptr_t)s;
    return s ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_iterate_agent_symbols(
    hsa_executable_t handle, hsa_agent_t agent,
    hsa_status_t (*callback)(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t, void *),
    void *data)
{
    EMU_REQUIRE_OPEN();
    const executable *e = executable_of(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (const loaded *l = e->loaded; l; l = l->next)
        for (size_t i = 0; i < l->image.n_symbols && status == HSA_STATUS_SUCCESS; i++)
            status = callback(handle, agent,
                              (hsa_executable_symbol_t){(uintptr_t)&l->image.symbols[i]}, data);
    return status;
}

hsa_status_t hsa_executable_iterate_symbols(
    hsa_executable_t handle,
    hsa_status_t (*callback)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
    EMU_REQUIRE_OPEN();
    const executable *e = executable_of(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (const loaded *l = e->loaded; l; l = l->next)
        for (size_t i = 0; i < l->image.n_symbols && status == HSA_STATUS_SUCCESS; i++)
            status =
                callback(handle, (hsa_executable_symbol_t){(uintptr_t)&l->image.symbols[i]}, data);
    return status;
}
