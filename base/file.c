/* base/file.c: whole files, folders, and where our own data lies.    SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

moesaic_status file_read(const char *path, size_t max_bytes, str *out, moesaic_text *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return moesaic_fail(err, MOESAIC_E_IO, "cannot read %s: %s", path, strerror(errno));
    moesaic_status status = MOESAIC_OK;
    size_t total = 0;
    for (;;) {
        char buffer[65536];
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            status = moesaic_fail(err, MOESAIC_E_IO, "cannot read %s: %s", path, strerror(errno));
            break;
        }
        total += (size_t)n;
        if (total > max_bytes) {
            status =
                moesaic_fail(err, MOESAIC_E_INPUT, "%s is larger than %zu bytes", path, max_bytes);
            break;
        }
        str_add_bytes(out, buffer, (size_t)n);
    }
    close(fd);
    if (status == MOESAIC_OK && out->failed)
        status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to read %s", path);
    return status;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t w = write(fd, bytes, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return false;
        bytes += w;
        n -= (size_t)w;
    }
    return fsync(fd) == 0;
}

moesaic_status file_replace(const char *path, const void *bytes, size_t n, moesaic_text *err)
{
    char *temporary = str_format("%s.XXXXXX", path);
    if (!temporary)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to write %s", path);
    moesaic_status status = MOESAIC_OK;
    int fd = mkstemp(temporary);
    bool written = fd >= 0 && write_all(fd, bytes, n) && fchmod(fd, 0644) == 0;
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && written) {
        written = false;
        reason = errno;
    }
    if (written && rename(temporary, path) != 0) {
        written = false;
        reason = errno;
    }
    if (!written) {
        if (fd >= 0)
            unlink(temporary);
        status = moesaic_fail(err, MOESAIC_E_IO, "cannot write %s: %s", path, strerror(reason));
    }
    free(temporary);
    return status;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

moesaic_status file_make_folder(const char *path, moesaic_text *err)
{
    char partial[PATH_MAX];
    if (strlen(path) >= sizeof partial)
        return moesaic_fail(err, MOESAIC_E_INPUT, "path of %zu characters is too long",
                            strlen(path));
    strcpy(partial, path);
    for (char *p = partial + 1;; p++) {
        if (*p && *p != '/')
            continue;
        char end = *p;
        *p = 0;
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            return moesaic_fail(err, MOESAIC_E_IO, "cannot make folder %s: %s", partial,
                                strerror(errno));
        if (!end)
            break;
        *p = end;
    }
    struct stat found;
    if (stat(path, &found) != 0)
        return moesaic_fail(err, MOESAIC_E_IO, "cannot make folder %s: %s", path, strerror(errno));
    return S_ISDIR(found.st_mode)
               ? MOESAIC_OK
               : moesaic_fail(err, MOESAIC_E_IO, "cannot make folder %s: it is a file", path);
}

/* Under a loader of another prefix /proc/self/exe is the loader; the re-exec names the program in
 * MOESAIC_EXECUTABLE (see cli/loader.c). */
char *file_executable_folder(void)
{
    const char *stated = getenv("MOESAIC_EXECUTABLE");
    char path[PATH_MAX];
    if (stated) {
        if (!realpath(stated, path))
            return NULL;
    } else {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        if (n < 0)
            return NULL;
        path[n] = 0;
    }
    char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = 0;
    return str_format("%s", path);
}

/* "here/below/name" of the first folder below `here` that has it, or NULL. */
static char *find_below(const char *here, const char *const *below, size_t n, const char *name)
{
    for (size_t i = 0; here && i < n; i++) {
        char *found = str_format("%s/%s/%s", here, below[i], name);
        if (found && file_exists(found))
            return found;
        free(found);
    }
    return NULL;
}

/* The folder of the shared library (or program) that holds this code, for programs that live elsewhere. */
static char *library_folder(void)
{
    Dl_info info;
    char path[PATH_MAX];
    static const char here;
    if (!dladdr(&here, &info) || !realpath(info.dli_fname, path))
        return NULL;
    char *slash = strrchr(path, '/');
    return slash ? str_format("%.*s", (int)(slash - path), path) : NULL;
}

char *file_data_folder(const char *name)
{
    static const char *const below_executable[] = {"..", "../..", "../../..", "../share/moesaic"};
    static const char *const below_library[] = {"..", "../share/moesaic"};
    const char *stated = getenv("MOESAIC_DATA");
    char *found = stated ? str_format("%s/%s", stated, name) : NULL;
    if (found && file_exists(found))
        return found;
    free(found);
    char *executable = file_executable_folder(), *library = library_folder();
    found = find_below(executable, below_executable, 4, name);
    if (!found)
        found = find_below(library, below_library, 2, name);
    free(executable);
    free(library);
    return found;
}

char *file_user_folder(void)
{
    const char *data = getenv("XDG_DATA_HOME");
    if (data && data[0] == '/')
        return str_format("%s/moesaic", data);
    const char *home = getenv("HOME");
    return home && home[0] ? str_format("%s/.local/share/moesaic", home) : NULL;
}
