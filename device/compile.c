/* device/compile.c: HIP source to a gfx942 code object through hiprtc.
 *
 * The compiler keeps process-wide state (LLVM's options), so one compilation runs at a time in a process;
 * whoever wants more at once uses processes, as the tuner does.    SPDX-License-Identifier: MIT
 */
#include "device/device_int.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t compiler_lock = PTHREAD_MUTEX_INITIALIZER;

/* Plain gfx942: xnack and sramecc any, so one code object serves every mode of the chip. */
static const char *const options[] = {"--offload-arch=gfx942", "-O3"};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

/* A sentence holds the first lines of a log; the rest is in the caller's log. */
enum { LOG_SHOWN = 800 };

static moesaic_status compiler_fail(const hiprtc_api *api, hiprtcResult result, const char *what,
                                    const char *name, moesaic_text *err)
{
    return moesaic_fail(err, MOESAIC_E_COMPILE, "%s: %s: %s", name, what,
                        api->hiprtcGetErrorString(result));
}

static void add_log(const hiprtc_api *api, hiprtcProgram program, str *log)
{
    size_t n = 0;
    if (api->hiprtcGetProgramLogSize(program, &n) != HIPRTC_SUCCESS || n < 2)
        return;
    char *text = calloc(1, n + 1);
    if (text && api->hiprtcGetProgramLog(program, text) == HIPRTC_SUCCESS)
        str_add(log, text);
    free(text);
}

static moesaic_status take_code(const hiprtc_api *api, hiprtcProgram program, const char *name,
                                str *code, moesaic_text *err)
{
    size_t n = 0;
    hiprtcResult result = api->hiprtcGetCodeSize(program, &n);
    if (result != HIPRTC_SUCCESS)
        return compiler_fail(api, result, "no code object", name, err);
    char *bytes = malloc(n ? n : 1);
    if (!bytes)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for %zu bytes of code of %s", n, name);
    result = api->hiprtcGetCode(program, bytes);
    if (result == HIPRTC_SUCCESS)
        str_add_bytes(code, bytes, n);
    free(bytes);
    if (result != HIPRTC_SUCCESS)
        return compiler_fail(api, result, "no code object", name, err);
    return code->failed ? moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for the code of %s", name)
                        : MOESAIC_OK;
}

static moesaic_status compile(const hiprtc_api *api, const char *source, const char *name,
                              str *code, str *log, moesaic_text *err)
{
    hiprtcProgram program = NULL;
    hiprtcResult result = api->hiprtcCreateProgram(&program, source, name, 0, NULL, NULL);
    if (result != HIPRTC_SUCCESS)
        return compiler_fail(api, result, "hiprtc refuses the source", name, err);
    result = api->hiprtcCompileProgram(program, N_OPTIONS, (const char **)options);
    add_log(api, program, log);
    moesaic_status status = MOESAIC_OK;
    if (result == HIPRTC_SUCCESS)
        status = take_code(api, program, name, code, err);
    else
        status = moesaic_fail(err, MOESAIC_E_COMPILE, "%s does not compile: %s: %.*s", name,
                              api->hiprtcGetErrorString(result), LOG_SHOWN, str_text(log));
    api->hiprtcDestroyProgram(&program);
    return status;
}

moesaic_status device_compile(device *dev, const char *source, const char *name, str *code,
                              str *log, moesaic_text *err)
{
    (void)dev;
    hiprtc_api api;
    str own_log = {0};
    moesaic_status status = hiprtc_load(&api, err);
    if (status != MOESAIC_OK)
        return status;
    pthread_mutex_lock(&compiler_lock);
    status = compile(&api, source, name, code, log ? log : &own_log, err);
    pthread_mutex_unlock(&compiler_lock);
    hiprtc_unload(&api);
    str_free(&own_log);
    return status;
}
