/* cli/loader.c: finds HIP and the software device, and starts programs with both in reach.
 *
 * Owns the command line "ld.so --library-path <software device>:<HIP>:... PROGRAM": where the pieces lie, and
 * how a program recognises that it was already started so (the process id stays the same across exec).
 * Uses loader_choice.c and loader_program.c.  Tested by tests/cli/test_loader.c.  Decision 0002.
 * SPDX-License-Identifier: MIT
 */
#include "cli/loader.h"

#include "base/file.h"
#include "base/str.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK        "MOESAIC_STARTED"
#define HSA_LIBRARY "libhsa-runtime64.so.1"

/* --- where things lie --------------------------------------------------------------------------- */

typedef struct hip_place {
    char *libraries; /* folder, or NULL: no HIP that this program knows of */
    char *loader;    /* dynamic loader of a private HIP, NULL: the system's will do */
} hip_place;

static void hip_place_free(hip_place *place)
{
    free(place->libraries);
    free(place->loader);
    *place = (hip_place){0};
}

static bool hip_place_try(hip_place *place, char *libraries)
{
    place->libraries = libraries;
    place->loader = libraries ? str_format("%s/ld-linux-x86-64.so.2", libraries) : NULL;
    if (place->loader && file_exists(place->loader))
        return true;
    hip_place_free(place);
    return false;
}

static bool hip_place_try_prefix(hip_place *place, const char *prefix)
{
    return prefix && hip_place_try(place, str_format("%s/root/usr/lib/x86_64-linux-gnu", prefix));
}

/* An installed ROCm was compiled in by its folder.  A private HIP is looked for by the rule that
 * tools/setup has, and where the build found it last. */
static hip_place hip_find(void)
{
    hip_place place = {0};
    if (!MOESAIC_HIP_IS_PRIVATE) {
        place.libraries = strdup(MOESAIC_HIP_LIB);
        return place;
    }
    const char *stated = getenv("MOESAIC_HIP_PREFIX");
    if (stated && stated[0]) {
        hip_place_try_prefix(&place, stated);
        return place;
    }
    char *user = file_user_folder();
    char *prefix = user ? str_format("%s/hip", user) : NULL;
    if (!hip_place_try_prefix(&place, prefix))
        hip_place_try(&place, strdup(MOESAIC_HIP_LIB));
    free(prefix);
    free(user);
    return place;
}

/* The folder of our libhsa-runtime64: beside the executable or above it in a build tree, in
 * ../lib/moesaic when installed.  A malloc'ed path or NULL. */
static char *software_device_folder(const char *executable)
{
    static const char *const places[] = {"emu", "../emu", "../../emu", "../lib/moesaic/emu"};
    const char *stated = getenv("MOESAIC_EMU_DIR");
    if (stated && stated[0])
        return strdup(stated);
    char here[PATH_MAX];
    if (strlen(executable) >= sizeof here)
        return NULL;
    strcpy(here, executable);
    dirname(here);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *folder = str_format("%s/%s", here, places[i]);
        char *library = str_format("%s/%s/" HSA_LIBRARY, here, places[i]);
        bool found = folder && library && file_exists(library);
        free(library);
        if (found)
            return folder;
        free(folder);
    }
    return NULL;
}

/* --- starting ----------------------------------------------------------------------------------- */

/* The folders, first come first served.  --library-path replaces LD_LIBRARY_PATH, so that goes to the end;
 * Debian's /usr/local is in the loader's cache only, which a private loader does not read. */
static char *library_path(const hip_place *hip, const char *software)
{
    str path = {0};
    const char *users = getenv("LD_LIBRARY_PATH");
    if (software)
        str_printf(&path, "%s:", software);
    str_add(&path, hip->libraries);
    if (users && users[0])
        str_printf(&path, ":%s", users);
    if (hip->loader)
        str_add(&path, ":/usr/local/lib:/usr/local/lib/x86_64-linux-gnu");
    if (!path.failed)
        return path.s;
    str_free(&path);
    return NULL;
}

static moesaic_status start(const hip_place *hip, const char *software,
                            const loader_program *program, moesaic_text *err)
{
    char *path = library_path(hip, software);
    size_t n = 0, n_arguments = 0;
    while (program->argv[n_arguments])
        n_arguments++;
    char **argv = calloc(n_arguments + 8, sizeof *argv);
    if (!path || !argv) {
        free(path);
        free(argv);
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to start %s", program->path);
    }
    argv[n++] = hip->loader ? hip->loader : program->interpreter;
    if (hip->loader)
        argv[n++] = "--inhibit-cache";
    argv[n++] = "--library-path";
    argv[n++] = path;
    argv[n++] = "--argv0";
    argv[n++] = program->argv[0];
    argv[n++] = program->path;
    memcpy(argv + n, program->argv + 1, (n_arguments - 1) * sizeof *argv);

    char pid
        [32]; /* exec keeps it: a program of ours that is started so does not start itself again */
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    setenv(MARK, pid, 1);
    setenv("AMD_COMGR_CACHE", "0", 1); /* its cache was seen to return the wrong code object */
    char executable[PATH_MAX];         /* /proc/self/exe will be the loader */
    if (realpath(program->path, executable))
        setenv("MOESAIC_EXECUTABLE", executable, 1);
    execv(argv[0], argv);
    moesaic_fail(err, MOESAIC_E_IO, "cannot start %s through %s: %s", program->path, argv[0],
                 strerror(errno));
    free(argv);
    free(path);
    return MOESAIC_E_IO;
}

/* --- this program ------------------------------------------------------------------------------- */

/* True in the process that `start` has just started; in its children the number is another's. */
static bool was_started(void)
{
    const char *mark = getenv(MARK);
    bool started = mark && strtol(mark, NULL, 10) == (long)getpid();
    unsetenv(MARK);
    return started;
}

static void take_device_option(int argc, char **argv)
{
    static const char option[] = "--device";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], option, sizeof option - 1) != 0)
            continue;
        const char *after = argv[i] + sizeof option - 1;
        if (*after == '=')
            setenv("MOESAIC_DEVICE", after + 1, 1);
        else if (*after == 0 && i + 1 < argc)
            setenv("MOESAIC_DEVICE", argv[i + 1], 1);
    }
}

/* Threads of libraries that wait for work would keep the host's cores from the device.  2^4 cycles is the least. */
static void let_threads_sleep(void)
{
    setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
    setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);
}

/* Does not return when the program could be started again. */
static moesaic_status start_again(const hip_place *hip, char **argv, moesaic_text *err)
{
    char executable[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", executable, sizeof executable - 1);
    if (n < 0)
        return moesaic_fail(err, MOESAIC_E_IO, "cannot read /proc/self/exe: %s", strerror(errno));
    executable[n] = 0;
    char *file[] = {executable, NULL};
    loader_program program;
    moesaic_status status = loader_program_find(file, &program, err);
    if (status != MOESAIC_OK)
        return status;
    loader_device device;
    loader_choice(&device, NULL);
    char *software = device == LOADER_SOFTWARE ? software_device_folder(executable) : NULL;
    loader_program as_called = {program.path, program.interpreter, argv};
    let_threads_sleep();
    status = start(hip, software, &as_called, err);
    free(software);
    loader_program_free(&program);
    return status;
}

void loader_reexec(int argc, char **argv)
{
    if (was_started())
        return;
    unsetenv("MOESAIC_EXECUTABLE"); /* a parent's */
    take_device_option(argc, argv);
    hip_place hip = hip_find();
    if (hip.libraries) {
        moesaic_text err;
        start_again(&hip, argv, &err);
        fprintf(stderr, "moesaic: error: %s\n", err.s);
        exit(2);
    }
}

/* --- other programs ----------------------------------------------------------------------------- */

moesaic_status loader_run_program(char **argv, moesaic_text *err)
{
    char here[PATH_MAX];
    char *folder = file_executable_folder();
    snprintf(here, sizeof here, "%s/moesaic", folder ? folder : "");
    free(folder);
    hip_place hip = hip_find();
    if (!hip.libraries)
        return moesaic_fail(err, MOESAIC_E_NOTFOUND,
                            "no HIP found; `make` sets one up (docs/setup.md)");
    char *software = software_device_folder(here);
    loader_program program = {0};
    moesaic_status status = MOESAIC_E_NOTFOUND;
    if (!software)
        moesaic_fail(err, status, "no " HSA_LIBRARY " of ours near %s; `make` builds it", here);
    else
        status = loader_program_find(argv, &program, err);
    if (status == MOESAIC_OK) {
        setenv("MOESAIC_DEVICE", "software",
               1); /* for our own programs, which start themselves again */
        status = start(&hip, software, &program, err);
    }
    loader_program_free(&program);
    free(software);
    hip_place_free(&hip);
    return status;
}
