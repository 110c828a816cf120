/* tests/cli/test_loader_choice.c: silicon or software, on made-up machines.
 *
 * Each case writes the files that Linux would show for one machine (names and formats as in
 * drivers/gpu/drm/amd/amdkfd/kfd_topology.c) and asks for a device.      SPDX-License-Identifier: MIT
 */
#include "base/file.h"
#include "base/str.h"
#include "cli/loader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct machine {
    char root[256], nodes[300], device[300], pci[300];
    loader_system system;
} machine;

static void write_file(const machine *m, const char *folder, const char *file, const char *text)
{
    char *path = str_format("%s/%s", m->root, folder);
    char *name = str_format("%s/%s", path, file);
    assert_int_equal(file_make_folder(path, NULL), MOESAIC_OK);
    assert_int_equal(file_replace(name, text, strlen(text), NULL), MOESAIC_OK);
    free(name);
    free(path);
}

/* A machine with two nodes: its processor, and one with `target` unless that is 0. */
static void make_machine(machine *m, unsigned target, bool driver_opens)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(m->root, sizeof m->root, "%s/choice.XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(m->root));
    snprintf(m->nodes, sizeof m->nodes, "%s/nodes", m->root);
    snprintf(m->device, sizeof m->device, "%s/kfd", m->root);
    snprintf(m->pci, sizeof m->pci, "%s/pci", m->root);
    m->system = (loader_system){m->nodes, m->device, m->pci};
    if (target) {
        char *text =
            str_format("cpu_cores_count 0\nsimd_count 1216\ngfx_target_version %u\n", target);
        write_file(m, "nodes/0", "properties", "cpu_cores_count 96\ngfx_target_version 0\n");
        write_file(m, "nodes/1", "properties", text);
        free(text);
    }
    if (driver_opens)
        write_file(m, ".", "kfd", "");
}

static void remove_machine(machine *m)
{
    char *command = str_format("rm -rf '%s'", m->root);
    assert_int_equal(system(command), 0);
    free(command);
}

static void expect(machine *m, const char *wanted, moesaic_status status, loader_device device,
                   const char *said)
{
    loader_device got;
    moesaic_text err = {{0}};
    assert_int_equal(loader_choose(wanted, &m->system, &got, &err), status);
    assert_int_equal(got, device);
    if (said && !strstr(err.s, said))
        fail_msg("want '%s' in: %s", said, err.s);
    remove_machine(m);
}

static void test_no_gpu_means_software(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 0, false);
    expect(&m, NULL, MOESAIC_OK, LOADER_SOFTWARE, NULL);
}

static void test_gfx942_means_silicon(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 90402, true);
    expect(&m, "auto", MOESAIC_OK, LOADER_SILICON, NULL);
}

static void test_software_is_software_beside_a_gpu(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 90402, true);
    expect(&m, "software", MOESAIC_OK, LOADER_SOFTWARE, NULL);
}

static void test_silicon_needs_a_gpu(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 0, false);
    expect(&m, "silicon", MOESAIC_E_DEVICE, LOADER_SILICON, "no gfx942");
}

static void test_another_target_is_an_error_that_names_it(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 90010, true);
    expect(&m, "auto", MOESAIC_E_DEVICE, LOADER_SILICON, "gfx90a");
}

static void test_a_driver_that_cannot_be_opened_is_an_error(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 90402, false);
    expect(&m, "auto", MOESAIC_E_DEVICE, LOADER_SILICON, "cannot be opened");
}

static void test_an_accelerator_without_driver_is_an_error(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 0, false);
    write_file(&m, "pci/0000:05:00.0", "vendor", "0x1002\n");
    write_file(&m, "pci/0000:05:00.0", "class", "0x120000\n");
    expect(&m, "auto", MOESAIC_E_DEVICE, LOADER_SILICON, "driver");
}

static void test_other_makers_accelerators_do_not_count(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 0, false);
    write_file(&m, "pci/0000:05:00.0", "vendor", "0x10de\n");
    write_file(&m, "pci/0000:05:00.0", "class", "0x120000\n");
    expect(&m, "auto", MOESAIC_OK, LOADER_SOFTWARE, NULL);
}

static void test_an_unknown_word_is_refused(void **state)
{
    (void)state;
    machine m;
    make_machine(&m, 0, false);
    expect(&m, "hardware", MOESAIC_E_INPUT, LOADER_SOFTWARE, "'hardware'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_gpu_means_software),
        cmocka_unit_test(test_gfx942_means_silicon),
        cmocka_unit_test(test_software_is_software_beside_a_gpu),
        cmocka_unit_test(test_silicon_needs_a_gpu),
        cmocka_unit_test(test_another_target_is_an_error_that_names_it),
        cmocka_unit_test(test_a_driver_that_cannot_be_opened_is_an_error),
        cmocka_unit_test(test_an_accelerator_without_driver_is_an_error),
        cmocka_unit_test(test_other_makers_accelerators_do_not_count),
        cmocka_unit_test(test_an_unknown_word_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
