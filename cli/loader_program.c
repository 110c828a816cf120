/* cli/loader_program.c: which ELF file a command line means, and whether it can be given another HIP.
 *
 * Does by hand what the kernel would do, because the dynamic loader is started in the program's place:
 * look along PATH, replace a script by its interpreter, read which loader the program asks for.
 * SPDX-License-Identifier: MIT
 */
#include "base/str.h"
#include "cli/loader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SCRIPTS = 4 }; /* interpreters that are scripts themselves: Linux allows four */

static bool is_program(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

static moesaic_status find_in_path(const char *name, char **out, moesaic_text *err)
{
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (const char *next = path; next; next = strchr(next, ':') ? strchr(next, ':') + 1 : NULL) {
        int n = (int)strcspn(next, ":");
        char *candidate = str_format("%.*s%s%s", n, next, n > 0 ? "/" : "./", name);
        if (!candidate)
            return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to look for %s", name);
        if (is_program(candidate)) {
            *out = candidate;
            return MOESAIC_OK;
        }
        free(candidate);
    }
    return moesaic_fail(err, MOESAIC_E_NOTFOUND, "program '%s' is not in PATH", name);
}

static moesaic_status find_file(const char *name, char **out, moesaic_text *err)
{
    *out = NULL;
    if (!strchr(name, '/'))
        return find_in_path(name, out, err);
    if (access(name, X_OK) != 0)
        return moesaic_fail(err, MOESAIC_E_NOTFOUND, "cannot start '%s': %s", name,
                            strerror(errno));
    if (!is_program(name))
        return moesaic_fail(err, MOESAIC_E_NOTFOUND, "cannot start '%s': not a file", name);
    *out = strdup(name);
    return *out ? MOESAIC_OK : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to start %s", name);
}

/* The first bytes of a file, NUL-terminated; how many there are, or -1. */
static ssize_t read_head(const char *path, char *head, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, head, capacity - 1);
    close(fd);
    if (n >= 0)
        head[n] = 0;
    return n;
}

static void argv_free(char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
}

/* --- scripts ------------------------------------------------------------------------------------ */

/* argv of "#!interpreter argument" (line) for the script at path, as the kernel would build it; what
 * "/usr/bin/env [-S] NAME" would start is started at once, since env's own child would get the
 * system's libraries. */
static char **script_argv(char *line, const char *path, char **argv)
{
    size_t n = 0, n_old = 0;
    while (argv[n_old])
        n_old++;
    char **out = calloc(strlen(line) / 2 + n_old + 3, sizeof *out);
    if (!out)
        return NULL;
    char *rest = NULL, *word = strtok_r(line, " \t", &rest);
    const char *slash = word ? strrchr(word, '/') : NULL;
    bool is_env = slash && strcmp(slash, "/env") == 0;
    if (is_env) {
        word = strtok_r(NULL, " \t", &rest);
        if (word && strcmp(word, "-S") == 0)
            word = strtok_r(NULL, " \t", &rest);
    }
    for (; word; word = strtok_r(NULL, is_env ? " \t" : "", &rest))
        out[n++] = strdup(word);
    out[n++] = strdup(path);
    for (size_t i = 1; i < n_old; i++)
        out[n++] = strdup(argv[i]);
    for (size_t i = 0; i < n; i++) {
        if (!out[i]) {
            argv_free(out);
            return NULL;
        }
    }
    return out;
}

static char **argv_copy(char **argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(argv[i]);
        if (!copy[i]) {
            argv_free(copy);
            return NULL;
        }
    }
    return copy;
}

/* True for a Python that is a shell script: the shim of a version manager, which ends in "exec" of the
 * real one, and that would get the system's libraries. */
static bool is_python_shim(const char *path, const char *line)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(line);
    return strncmp(name, "python", 6) == 0 && n > 2 && strncmp(line + n - 2, "sh", 2) == 0;
}

/* Ask the shim which program it stands for; a malloc'ed path or NULL. */
static char *python_behind(const char *shim)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(shim, shim, "-c", "import sys; print(sys.executable)", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    char answer[PATH_MAX] = "";
    FILE *from = child > 0 ? fdopen(ends[0], "r") : NULL;
    bool answered = from && fgets(answer, sizeof answer, from);
    if (from)
        fclose(from);
    else
        close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    answer[strcspn(answer, "\n")] = 0;
    return answered && answer[0] == '/' ? strdup(answer) : NULL;
}

/* --- ELF ---------------------------------------------------------------------------------------- */

/* The dynamic loader that the program asks for, in head (which holds the headers and, as linkers lay
 * files out, the name as well), or NULL. */
static const char *elf_interpreter(const char *head, size_t n)
{
    Elf64_Ehdr file;
    memcpy(&file, head, sizeof file);
    for (size_t i = 0; i < file.e_phnum; i++) {
        Elf64_Phdr part;
        if (file.e_phoff > n || file.e_phoff + (i + 1) * sizeof part > n)
            return NULL;
        memcpy(&part, head + file.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type == PT_INTERP)
            return part.p_offset < n && memchr(head + part.p_offset, 0, n - part.p_offset)
                       ? head + part.p_offset
                       : NULL;
    }
    return NULL;
}

static moesaic_status read_elf(const char *path, const char *head, size_t n, loader_program *out,
                               moesaic_text *err)
{
    const Elf64_Ehdr *file = (const void *)head;
    if (n < sizeof *file || memcmp(head, ELFMAG, SELFMAG) != 0)
        return moesaic_fail(err, MOESAIC_E_INPUT, "'%s' is neither a program nor a script", path);
    if (head[EI_CLASS] != ELFCLASS64 || file->e_machine != EM_X86_64)
        return moesaic_fail(err, MOESAIC_E_INPUT, "'%s' is no program for x86-64", path);
    const char *interpreter = elf_interpreter(head, n);
    if (!interpreter)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "'%s' is statically linked: it loads no HIP library", path);
    const char *slash = strrchr(interpreter, '/');
    if (!slash || strcmp(slash, "/ld-linux-x86-64.so.2") != 0)
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "'%s' asks for %s: only glibc programs can load HIP", path,
                            interpreter);
    out->interpreter = strdup(interpreter);
    return out->interpreter ? MOESAIC_OK
                            : moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to start %s", path);
}

/* --- both --------------------------------------------------------------------------------------- */

/* One step: the file that out->argv[0] names is an ELF (done), or a script (out->argv is its
 * interpreter's command line now). */
static moesaic_status find_step(loader_program *out, bool *done, moesaic_text *err)
{
    _Alignas(Elf64_Ehdr) char head[4096];
    free(out->path);
    moesaic_status status = find_file(out->argv[0], &out->path, err);
    if (status != MOESAIC_OK)
        return status;
    ssize_t n = read_head(out->path, head, sizeof head);
    if (n < 0)
        return moesaic_fail(err, MOESAIC_E_IO, "cannot read '%s': %s", out->path, strerror(errno));
    *done = n < 2 || head[0] != '#' || head[1] != '!';
    if (*done)
        return read_elf(out->path, head, (size_t)n, out, err);
    head[strcspn(head, "\r\n")] = 0;
    char *real = is_python_shim(out->path, head) ? python_behind(out->path) : NULL;
    if (real) {
        free(out->argv[0]);
        out->argv[0] = real;
        return MOESAIC_OK;
    }
    char **longer = script_argv(head + 2, out->path, out->argv);
    if (!longer)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to start %s", out->path);
    argv_free(out->argv);
    out->argv = longer;
    return MOESAIC_OK;
}

moesaic_status loader_program_find(char **argv, loader_program *out, moesaic_text *err)
{
    *out = (loader_program){.argv = argv_copy(argv)};
    if (!out->argv)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory to start %s", argv[0]);
    bool done = false;
    moesaic_status status = MOESAIC_OK;
    for (int i = 0; i <= MAX_SCRIPTS && !done && status == MOESAIC_OK; i++)
        status = find_step(out, &done, err);
    if (status == MOESAIC_OK && !done)
        status = moesaic_fail(err, MOESAIC_E_INPUT, "'%s': too many interpreters of interpreters",
                              argv[0]);
    if (status != MOESAIC_OK)
        loader_program_free(out);
    return status;
}

void loader_program_free(loader_program *program)
{
    argv_free(program->argv);
    free(program->interpreter);
    free(program->path);
    *program = (loader_program){0};
}
