/* emu/hsa/system.c: opening and closing the library, and what it answers about itself.
 *
 * Owns the reference count of hsa_init.  The first call reads the environment, makes the agents and
 * starts the threads; the last hsa_shut_down ends them and frees what programs left behind.  A
 * child of fork has none of the threads: there the library is closed, and stays so.
 * Tested by tests/hsa/test_system.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/hsa/system.h"

#include "emu/hsa/agent.h"
#include "emu/hsa/copy.h"
#include "emu/hsa/executable.h"
#include "emu/hsa/handler.h"
#include "emu/hsa/memory.h"
#include "emu/hsa/queue.h"
#include "emu/hsa/summary.h"
#include "emu/hsa/time.h"
#include "emu/sim_int.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t n_open;
static bool is_open; /* atomic */
static bool is_forked;
static emu_shape shape;

static const emu_memory_map memory_map = {.contains = emu_memory_contains};

bool emu_hsa_is_open(void)
{
    return __atomic_load_n(&is_open, __ATOMIC_ACQUIRE);
}

bool emu_hsa_is_faulted(void)
{
    char text[1];
    return emu_sim_fault(text, sizeof text);
}

const emu_shape *emu_hsa_shape(void)
{
    return &shape;
}

/* --- opening and closing
 * --------------------------------------------------------------------------- */

static void close_in_child(void)
{
    is_open = false;
    is_forked = true;
}

static hsa_status_t read_environment(void)
{
    char error[256];
    if (emu_shape_parse(getenv("MOESAIC_SIM"), &shape, error, sizeof error) &&
        emu_sim_options_from_environment(error, sizeof error))
        return HSA_STATUS_SUCCESS;
    emu_message("%s", error);
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

typedef struct part {
    int (*start)(void);
    void (*stop)(void);
} part;

static int start_engine(void)
{
    return emu_engine_start(&shape.device, &memory_map);
}

/* In the order of starting; each may use those above it. */
static const part parts[] = {
    {start_engine, emu_engine_stop},
    {emu_handlers_start, emu_handlers_stop},
    {emu_copies_start, emu_copies_stop},
    {emu_queues_start, emu_queues_stop},
};
enum { N_PARTS = sizeof parts / sizeof parts[0] };

static void stop_parts(int n)
{
    while (n > 0)
        parts[--n].stop();
}

static hsa_status_t start_parts(void)
{
    for (int i = 0; i < N_PARTS; i++) {
        int error = parts[i].start();
        if (error) {
            emu_message("a thread could not be started: %s", strerror(error));
            stop_parts(i);
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        }
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t open_library(void)
{
    static bool is_watching_forks;
    hsa_status_t status = read_environment();
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (!is_watching_forks && pthread_atfork(NULL, NULL, close_in_child) != 0)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    is_watching_forks = true;
    emu_summary_begin();
    emu_agents_make();
    emu_time_begin();
    status = start_parts();
    if (status == HSA_STATUS_SUCCESS)
        __atomic_store_n(&is_open, true, __ATOMIC_RELEASE);
    return status;
}

static void close_library(void)
{
    stop_parts(N_PARTS);
    __atomic_store_n(&is_open, false, __ATOMIC_RELEASE);
    emu_executables_reset();
    emu_memory_reset();
}

/* hsa.h declares the two without saying that they take nothing. */
hsa_status_t hsa_init(void);
hsa_status_t hsa_shut_down(void);

hsa_status_t hsa_init(void)
{
    if (is_forked) {
        emu_message("the device can't be used in a child of fork: use exec");
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    hsa_status_t status = HSA_STATUS_SUCCESS;
    pthread_mutex_lock(&lock);
    if (n_open == INT32_MAX)
        status = HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
    else if (n_open == 0)
        status = open_library();
    if (status == HSA_STATUS_SUCCESS)
        n_open++;
    pthread_mutex_unlock(&lock);
    return status;
}

hsa_status_t hsa_shut_down(void)
{
    EMU_REQUIRE_OPEN();
    pthread_mutex_lock(&lock);
    if (--n_open == 0)
        close_library();
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

/* --- answers
 * ---------------------------------------------------------------------------------------- */

static hsa_status_t put(void *value, const void *answer, size_t n_bytes)
{
    memcpy(value, answer, n_bytes);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t put_extensions(uint8_t *value)
{
    memset(value, 0, 128); /* one bit per standard extension; vendors' are not in it */
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
    EMU_REQUIRE_OPEN();
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (attribute) {
    case HSA_SYSTEM_INFO_EXTENSIONS:
        return put_extensions(value);
#define EMU_INFO(code, type, answer)                                                               \
    case code: {                                                                                   \
        type a = answer;                                                                           \
        return put(value, &a, sizeof a);                                                           \
    }
        EMU_INFO(HSA_SYSTEM_INFO_VERSION_MAJOR, uint16_t, 1)
        EMU_INFO(HSA_SYSTEM_INFO_VERSION_MINOR, uint16_t, 1)
        EMU_INFO(HSA_SYSTEM_INFO_TIMESTAMP, uint64_t, emu_time_host_ns())
        EMU_INFO(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, uint64_t, 1000000000)
        EMU_INFO(HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, uint64_t, UINT64_MAX)
        EMU_INFO(HSA_SYSTEM_INFO_ENDIANNESS, hsa_endianness_t, HSA_ENDIANNESS_LITTLE)
        EMU_INFO(HSA_SYSTEM_INFO_MACHINE_MODEL, hsa_machine_model_t, HSA_MACHINE_MODEL_LARGE)
        EMU_INFO(HSA_AMD_SYSTEM_INFO_BUILD_VERSION, const char *, "moesaic")
        EMU_INFO(HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, bool, false)
        EMU_INFO(HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, bool, false)
        EMU_INFO(HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED, bool, false)
        EMU_INFO(HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED, bool, false)
        EMU_INFO(HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED, bool, false)
        EMU_INFO(HSA_AMD_SYSTEM_INFO_XNACK_ENABLED, bool, false)
        EMU_INFO(HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR, uint16_t, HSA_AMD_INTERFACE_VERSION_MAJOR)
        EMU_INFO(HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR, uint16_t, HSA_AMD_INTERFACE_VERSION_MINOR)
#undef EMU_INFO
    default:
        emu_log("hsa_system_get_info: attribute 0x%x is not known", (unsigned)attribute);
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_status_string(hsa_status_t status, const char **text)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {
#define EMU_STATUS(code) {code, #code},
#include "emu/hsa/status.def"
#undef EMU_STATUS
    };
    if (!text)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == (int)status) {
            *text = names[i].name;
            return HSA_STATUS_SUCCESS;
        }
    *text = NULL;
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name)
{
    EMU_REQUIRE_OPEN();
    if (!name || extension != HSA_EXTENSION_AMD_LOADER)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *name = "HSA_EXTENSION_AMD_LOADER";
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major,
                                                  uint16_t *minor, bool *supported)
{
    EMU_REQUIRE_OPEN();
    if (!minor || !supported)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *supported = extension == HSA_EXTENSION_AMD_LOADER && major == 1;
    *minor = *supported ? 3 : 0;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor,
                                            bool *supported)
{
    uint16_t newest;
    hsa_status_t status =
        hsa_system_major_extension_supported(extension, major, &newest, supported);
    if (status == HSA_STATUS_SUCCESS)
        *supported = *supported && minor <= newest;
    return status;
}

/* --- accepted without effect: there are no caches to be kept coherent, and messages go to stderr
 * ----------------- */

hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type)
{
    EMU_REQUIRE_OPEN();
    (void)type;
    return emu_agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t *type)
{
    EMU_REQUIRE_OPEN();
    if (!type)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *type = HSA_AMD_COHERENCY_TYPE_COHERENT;
    return emu_agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

__attribute__((visibility("default"))) hsa_status_t hsa_amd_enable_logging(uint8_t *flags,
                                                                           void *file)
{
    EMU_REQUIRE_OPEN();
    (void)flags;
    (void)file;
    return HSA_STATUS_SUCCESS;
}
