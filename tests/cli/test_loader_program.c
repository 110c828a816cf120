/* tests/cli/test_loader_program.c: which file a command line means, and what is refused.
 *
 * Programs are made on the spot: scripts as text, ELF headers by hand.   SPDX-License-Identifier: MIT
 */
#include "base/file.h"
#include "base/str.h"
#include "cli/loader.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256];
static loader_program program;
static moesaic_text err;

static int set_up(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/program.XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(folder) && setenv("PATH", folder, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    setenv("PATH", "/usr/bin:/bin", 1);
    char *command = str_format("rm -rf '%s'", folder);
    int status = system(command);
    free(command);
    loader_program_free(&program);
    return status;
}

static char *make_file(const char *name, const void *bytes, size_t n, mode_t mode)
{
    char *path = str_format("%s/%s", folder, name);
    assert_int_equal(file_replace(path, bytes, n, NULL), MOESAIC_OK);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static char *make_script(const char *name, const char *text)
{
    return make_file(name, text, strlen(text), 0755);
}

/* An ELF file that asks for `interpreter`, or for none. */
static char *make_elf(const char *name, unsigned machine, const char *interpreter)
{
    struct {
        Elf64_Ehdr file;
        Elf64_Phdr part;
        char interpreter[64];
    } elf = {0};
    memcpy(elf.file.e_ident, ELFMAG, SELFMAG);
    elf.file.e_ident[EI_CLASS] = ELFCLASS64;
    elf.file.e_machine = (uint16_t)machine;
    elf.file.e_phoff = sizeof elf.file;
    elf.file.e_phnum = 1;
    elf.part.p_type = interpreter ? PT_INTERP : PT_LOAD;
    elf.part.p_offset = sizeof elf.file + sizeof elf.part;
    snprintf(elf.interpreter, sizeof elf.interpreter, "%s", interpreter ? interpreter : "");
    return make_file(name, &elf, sizeof elf, 0755);
}

static char *make_program(const char *name)
{
    return make_elf(name, EM_X86_64, "/lib64/ld-linux-x86-64.so.2");
}

static void expect_refused(char *name, moesaic_status status, const char *said)
{
    assert_int_equal(loader_program_find((char *[]){name, NULL}, &program, &err), status);
    if (!strstr(err.s, said))
        fail_msg("want '%s' in: %s", said, err.s);
    assert_null(program.path);
    assert_null(program.argv);
}

static void test_a_name_is_found_along_path(void **state)
{
    (void)state;
    char *path = make_program("vadd");
    assert_int_equal(loader_program_find((char *[]){"vadd", "-n", "7", NULL}, &program, &err),
                     MOESAIC_OK);
    assert_string_equal(program.path, path);
    assert_string_equal(program.interpreter, "/lib64/ld-linux-x86-64.so.2");
    assert_string_equal(program.argv[0], "vadd");
    assert_string_equal(program.argv[2], "7");
    assert_null(program.argv[3]);
    free(path);
}

static void test_a_script_becomes_its_interpreter(void **state)
{
    (void)state;
    char *interpreter = make_program("snake");
    char *line = str_format("#!%s -u one word\nrest\n", interpreter);
    char *script = make_script("job", line);
    assert_int_equal(loader_program_find((char *[]){script, "a b", NULL}, &program, &err),
                     MOESAIC_OK);
    const char *want[] = {interpreter, "-u one word", script, "a b"};
    assert_string_equal(program.path, interpreter);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(program.argv[i], want[i]);
    assert_null(program.argv[4]);
    free(script);
    free(line);
    free(interpreter);
}

static void test_env_is_seen_through(void **state)
{
    (void)state;
    char *interpreter = make_program("snake");
    char *script = make_script("job", "#!/usr/bin/env -S snake -u -v\n");
    assert_int_equal(loader_program_find((char *[]){script, NULL}, &program, &err), MOESAIC_OK);
    const char *want[] = {"snake", "-u", "-v", script};
    assert_string_equal(program.path, interpreter);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(program.argv[i], want[i]);
    assert_null(program.argv[4]);
    free(script);
    free(interpreter);
}

static void test_a_python_shim_is_asked_for_the_real_one(void **state)
{
    (void)state;
    char *real = make_program("real");
    char *text = str_format("#!/bin/sh\necho %s\n", real);
    char *shim = make_script("python3", text);
    assert_int_equal(loader_program_find((char *[]){"python3", "x.py", NULL}, &program, &err),
                     MOESAIC_OK);
    assert_string_equal(program.path, real);
    assert_string_equal(program.argv[1], "x.py");
    assert_null(program.argv[2]);
    free(shim);
    free(text);
    free(real);
}

static void test_a_script_that_runs_itself_ends(void **state)
{
    (void)state;
    char *line = str_format("#!%s/loop\n", folder);
    char *script = make_script("loop", line);
    expect_refused(script, MOESAIC_E_INPUT, "too many");
    free(script);
    free(line);
}

static void test_missing_programs_are_named(void **state)
{
    (void)state;
    expect_refused("nowhere", MOESAIC_E_NOTFOUND, "'nowhere' is not in PATH");
    expect_refused("./nowhere", MOESAIC_E_NOTFOUND, "No such file");
    expect_refused(folder, MOESAIC_E_NOTFOUND, "not a file");
}

static void test_a_file_that_is_not_executable_is_refused(void **state)
{
    (void)state;
    char *path = make_file("data", "#!/bin/sh\n", 10, 0644);
    assert_int_equal(loader_program_find((char *[]){path, NULL}, &program, &err),
                     MOESAIC_E_NOTFOUND);
    free(path);
}

static void test_text_is_no_program(void **state)
{
    (void)state;
    char *path = make_script("text", "hello\n");
    expect_refused(path, MOESAIC_E_INPUT, "neither a program nor a script");
    free(path);
}

static void test_static_programs_are_refused(void **state)
{
    (void)state;
    char *path = make_elf("static", EM_X86_64, NULL);
    expect_refused(path, MOESAIC_E_INPUT, "statically linked");
    free(path);
}

static void test_other_machines_are_refused(void **state)
{
    (void)state;
    char *path = make_elf("arm", EM_AARCH64, "/lib/ld-linux-aarch64.so.1");
    expect_refused(path, MOESAIC_E_INPUT, "x86-64");
    free(path);
}

static void test_other_c_libraries_are_refused(void **state)
{
    (void)state;
    char *path = make_elf("musl", EM_X86_64, "/lib/ld-musl-x86_64.so.1");
    expect_refused(path, MOESAIC_E_INPUT, "glibc");
    free(path);
}

static void test_headers_that_point_outside_are_refused(void **state)
{
    (void)state;
    Elf64_Ehdr file = {.e_machine = EM_X86_64, .e_phoff = UINT64_MAX - 8, .e_phnum = UINT16_MAX};
    memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    char *path = make_file("broken", &file, sizeof file, 0755);
    expect_refused(path, MOESAIC_E_INPUT, "statically linked");
    free(path);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_name_is_found_along_path),
        CASE(test_a_script_becomes_its_interpreter),
        CASE(test_env_is_seen_through),
        CASE(test_a_python_shim_is_asked_for_the_real_one),
        CASE(test_a_script_that_runs_itself_ends),
        CASE(test_missing_programs_are_named),
        CASE(test_a_file_that_is_not_executable_is_refused),
        CASE(test_text_is_no_program),
        CASE(test_static_programs_are_refused),
        CASE(test_other_machines_are_refused),
        CASE(test_other_c_libraries_are_refused),
        CASE(test_headers_that_point_outside_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
