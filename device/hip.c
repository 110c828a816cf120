/* device/hip.c: finds the HIP runtime and its compiler, and words their errors.
 *
 * A process may hold one HIP only: streams and pointers of one mean nothing to another.  A framework
 * brings its own, often under a name without a version and in a local scope, so the search walks the
 * loaded objects and does not trust the global scope.    SPDX-License-Identifier: MIT
 */
#include "device/hip.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Newest first; the major version of HIP and of hiprtc is the same. */
static const char *const versions[] = {"7", "6"};
enum { N_VERSIONS = sizeof versions / sizeof versions[0] };

typedef struct loaded_objects {
    const char *name; /* "libamdhip64.so" */
    int n;
    char paths[2][PATH_MAX]; /* of the first two */
} loaded_objects;

static int note_object(struct dl_phdr_info *info, size_t info_bytes, void *user)
{
    (void)info_bytes;
    loaded_objects *found = user;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash ? slash + 1 : info->dlpi_name;
    size_t n = strlen(found->name);
    if (strncmp(base, found->name, n) != 0 || (base[n] && base[n] != '.'))
        return 0;
    if (found->n < 2)
        snprintf(found->paths[found->n], PATH_MAX, "%s", info->dlpi_name);
    found->n++;
    return 0;
}

/* HIP leaves threads and exit handlers behind: it must never be unmapped. */
static void *open_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* The loaded library of that name, else the newest one that the loader finds. */
static moesaic_status find_library(const char *name, void **library, moesaic_text *err)
{
    loaded_objects found = {.name = name};
    dl_iterate_phdr(note_object, &found);
    if (found.n > 1)
        return moesaic_fail(
            err, MOESAIC_E_DEVICE,
            "two HIP runtimes are in this process, %.200s and %.200s: link or preload "
            "only one",
            found.paths[0], found.paths[1]);
    if (found.n == 1)
        *library = open_library(found.paths[0]);
    for (int i = 0; !*library && i < N_VERSIONS; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s.%s", name, versions[i]);
        *library = open_library(path);
    }
    if (*library)
        return MOESAIC_OK;
    const char *reason = dlerror();
    return moesaic_fail(err, MOESAIC_E_DEVICE,
                        "no %s.7 or .6: install ROCm's HIP runtime, set LD_LIBRARY_PATH to it, or "
                        "start the program with `moesaic sim --` (%.300s)",
                        name, reason ? reason : "no reason given");
}

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises the same bytes. */
static bool find_function(void *library, const char *name, void *function, size_t n)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, n);
    return address != NULL;
}

static moesaic_status missing(const char *library, const char *function, moesaic_text *err)
{
    return moesaic_fail(err, MOESAIC_E_DEVICE, "%s lacks %s: HIP 6.1 or newer is needed", library,
                        function);
}

moesaic_status hip_load(hip_api *out, moesaic_text *err)
{
    *out = (hip_api){0};
    moesaic_status status = find_library("libamdhip64.so", &out->library, err);
    if (status != MOESAIC_OK)
        return status;
    const char *lacking = NULL;
#define HIP(name)                                                                                  \
    if (!find_function(out->library, #name, &out->name, sizeof out->name))                         \
        lacking = #name;
#include "device/hip.def"
    if (!lacking)
        return MOESAIC_OK;
    hip_unload(out);
    return missing("libamdhip64", lacking, err);
}

void hip_unload(hip_api *api)
{
    if (api->library)
        dlclose(api->library);
    *api = (hip_api){0};
}

static const char *find_compiler(hiprtc_api *out)
{
    const char *lacking = NULL;
#define HIPRTC(name)                                                                               \
    if (!find_function(out->library, #name, &out->name, sizeof out->name))                         \
        lacking = #name;
#include "device/hip.def"
    return lacking;
}

moesaic_status hiprtc_load(hiprtc_api *out, moesaic_text *err)
{
    *out = (hiprtc_api){0};
    moesaic_status status = find_library("libamdhip64.so", &out->library, err);
    if (status != MOESAIC_OK)
        return status;
    if (!find_compiler(out))
        return MOESAIC_OK;
    hiprtc_unload(out);
    status = find_library("libhiprtc.so", &out->library, err);
    const char *lacking = status == MOESAIC_OK ? find_compiler(out) : NULL;
    if (!lacking)
        return status;
    hiprtc_unload(out);
    return missing("libhiprtc", lacking, err);
}

void hiprtc_unload(hiprtc_api *api)
{
    if (api->library)
        dlclose(api->library);
    *api = (hiprtc_api){0};
}

static const char *remedy(hipError_t error)
{
    static const struct {
        hipError_t error;
        const char *text;
    } remedies[] = {
#define HIP_REMEDY(error_code, text) {error_code, ": " text},
#include "device/hip.def"
    };
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (remedies[i].error == error)
            return remedies[i].text;
    return "";
}

moesaic_status hip_fail(const hip_api *api, hipError_t error, moesaic_status status,
                        moesaic_text *err, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return moesaic_fail(err, status, "%s: %s (%s)%s", what, api->hipGetErrorName(error),
                        api->hipGetErrorString(error), remedy(error));
}
