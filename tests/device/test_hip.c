/* tests/device/test_hip.c: which HIP a process gets, when there is a choice.
 *
 * Copies of an unrelated library stand in for HIP runtimes that a framework has loaded; each case runs in
 * a child, because a loaded library stays.    SPDX-License-Identifier: MIT
 */
#include "device/hip.h"

#include "base/file.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/moesaic-hip-XXXXXX";

/* A file of this test's own cmocka library under another name. */
static void *load_impostor(const char *folder, const char *name)
{
    Dl_info info;
    str library = {0};
    assert_true(dladdr((void *)(uintptr_t)&_cmocka_run_group_tests, &info));
    assert_int_equal(file_read(info.dli_fname, 1 << 24, &library, NULL), MOESAIC_OK);
    char *path = str_format("%s/%s", root, folder);
    assert_int_equal(file_make_folder(path, NULL), MOESAIC_OK);
    free(path);
    path = str_format("%s/%s/%s", root, folder, name);
    assert_int_equal(file_replace(path, library.s, library.n, NULL), MOESAIC_OK);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    str_free(&library);
    return handle;
}

/* Run one case in a child; its exit status is 0 when it held. */
static void in_child(int (*body)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(body());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int two_runtimes(void)
{
    hip_api api;
    moesaic_text err = {""};
    if (!load_impostor("a", "libamdhip64.so") || !load_impostor("b", "libamdhip64.so.6"))
        return 1;
    if (hip_load(&api, &err) != MOESAIC_E_DEVICE || api.library)
        return 2;
    return strstr(err.s, "/a/libamdhip64.so") && strstr(err.s, "/b/libamdhip64.so.6") ? 0 : 3;
}

static int not_a_runtime(void)
{
    hip_api api;
    moesaic_text err = {""};
    if (!load_impostor("a", "libamdhip64.so.7"))
        return 1;
    if (hip_load(&api, &err) != MOESAIC_E_DEVICE || api.library)
        return 2;
    return strstr(err.s, "libamdhip64 lacks hip") ? 0 : 3;
}

/* libamdhip64xyz.so is something else. */
static int similar_name(void)
{
    hip_api api;
    moesaic_text err = {""};
    if (!load_impostor("a", "libamdhip64xyz.so.6"))
        return 1;
    moesaic_status status = hip_load(&api, &err);
    return status == MOESAIC_OK || !strstr(err.s, "lacks") ? 0 : 2;
}

static void test_two_runtimes_are_an_error(void **state)
{
    (void)state;
    in_child(two_runtimes);
}

static void test_lacking_function_is_named(void **state)
{
    (void)state;
    in_child(not_a_runtime);
}

static void test_similar_name_is_not_hip(void **state)
{
    (void)state;
    in_child(similar_name);
}

static const char *fake_name(hipError_t error)
{
    return error == hipErrorNoDevice ? "hipErrorNoDevice" : "hipErrorOther";
}

static const char *fake_text(hipError_t error)
{
    (void)error;
    return "text of HIP";
}

static void test_error_holds_texts_and_remedy(void **state)
{
    (void)state;
    const hip_api api = {.hipGetErrorName = fake_name, .hipGetErrorString = fake_text};
    moesaic_text err;
    moesaic_status status =
        hip_fail(&api, hipErrorNoDevice, MOESAIC_E_DEVICE, &err, "cannot do %d", 7);
    assert_int_equal(status, MOESAIC_E_DEVICE);
    assert_non_null(strstr(err.s, "cannot do 7: hipErrorNoDevice (text of HIP): no GPU"));
    assert_non_null(strstr(err.s, "moesaic sim"));
    hip_fail(&api, hipErrorUnknown, MOESAIC_E_LAUNCH, &err, "it");
    assert_string_equal(err.s, "it: hipErrorOther (text of HIP)");
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : 1;
}

static int remove_root(void **state)
{
    (void)state;
    char *command = str_format("rm -rf '%s'", root);
    int status = system(command);
    free(command);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_runtimes_are_an_error),
        cmocka_unit_test(test_lacking_function_is_named),
        cmocka_unit_test(test_similar_name_is_not_hip),
        cmocka_unit_test(test_error_holds_texts_and_remedy),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
