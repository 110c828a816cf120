/* tests/device/test_label.c: the rule that decides whether a time may be called measured.
 *
 * A folder stands in for /sys, so every case runs on any machine.    SPDX-License-Identifier: MIT
 */
#include "device/label.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const label_place mi300x = {0x74a1, 0, 5, 0};

static char *make_root(void)
{
    char pattern[] = "/tmp/moesaic-label-XXXXXX";
    char *root = mkdtemp(pattern);
    assert_non_null(root);
    return str_format("%s", root);
}

static void put(const char *root, const char *path, const char *text)
{
    char *whole = str_format("%s/%s", root, path);
    char *slash = strrchr(whole, '/');
    *slash = 0;
    assert_int_equal(file_make_folder(whole, NULL), MOESAIC_OK);
    *slash = '/';
    assert_int_equal(file_replace(whole, text, strlen(text), NULL), MOESAIC_OK);
    free(whole);
}

static void remove_root(char *root)
{
    char *command = str_format("rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
    free(command);
    free(root);
}

#define NODES "class/kfd/kfd/topology/nodes/"

static void test_verdict_needs_every_proof(void **state)
{
    (void)state;
    const label_evidence proof = {.driver = true, .node = {true, 0x74a1, 8}};
    assert_int_equal(label_verdict(&proof, 0x74a1), DEVICE_SILICON);

    label_evidence e = proof;
    e.driver = false;
    assert_int_equal(label_verdict(&e, 0x74a1), DEVICE_UNKNOWN);
    e = proof;
    e.node.found = false;
    assert_int_equal(label_verdict(&e, 0x74a1), DEVICE_UNKNOWN);
    e = proof;
    e.simulator = "rocjitsu";
    assert_int_equal(label_verdict(&e, 0x74a1), DEVICE_UNKNOWN);
    assert_int_equal(label_verdict(&proof, 0x74a5), DEVICE_UNKNOWN);
    assert_int_equal(label_verdict(&proof, 0), DEVICE_UNKNOWN);
}

static void test_software_beats_every_other_sign(void **state)
{
    (void)state;
    label_evidence e = {.software = true, .driver = true, .node = {true, 0x74a1, 8}};
    assert_int_equal(label_verdict(&e, 0x74a1), DEVICE_SOFTWARE);
    e.simulator = "gem5";
    assert_int_equal(label_verdict(&e, 0x74a1), DEVICE_SOFTWARE);
}

static void test_node_is_found_by_place(void **state)
{
    (void)state;
    char *root = make_root();
    put(root, NODES "0/properties",
        "cpu_cores_count 96\nsimd_count 0\nvendor_id 0\nlocation_id 1280\n");
    put(root, NODES "1/properties",
        "vendor_id 4098\ndevice_id 29857\nlocation_id 768\nnum_xcc 8\n");
    put(root, NODES "2/properties",
        "vendor_id 4098\ndevice_id 29861\nlocation_id 1280\ndomain 0\nnum_xcc 4\n");
    label_node node = label_find_node(root, &mi300x);
    assert_true(node.found);
    assert_int_equal(node.pci_device_id, 0x74a5);
    assert_int_equal(node.n_xcc, 4);
    const label_place other_domain = {0x74a1, 1, 5, 0}, other_bus = {0x74a1, 0, 6, 0};
    assert_false(label_find_node(root, &other_domain).found);
    assert_false(label_find_node(root, &other_bus).found);
    remove_root(root);
}

static void test_node_of_garbage_is_none(void **state)
{
    (void)state;
    char *root = make_root();
    assert_false(label_find_node(root, &mi300x).found);
    put(root, NODES "0/properties", "");
    put(root, NODES "1/properties", "vendor_id\nvendor_id 4098 location_id = 1280\n\xff\xfe");
    put(root, NODES "2/name", "no properties here");
    assert_false(label_find_node(root, &mi300x).found);
    remove_root(root);
}

static void test_driver_states_its_version(void **state)
{
    (void)state;
    char text[64] = "old";
    char *root = make_root();
    assert_false(label_driver(root, text, sizeof text));
    assert_string_equal(text, "");
    put(root, "module/amdgpu/parameters", "");
    assert_true(label_driver(root, text, sizeof text));
    assert_memory_equal(text, "linux ", 6);
    put(root, "module/amdgpu/version", "6.12.12\n");
    assert_true(label_driver(root, text, sizeof text));
    assert_string_equal(text, "6.12.12");
    remove_root(root);
}

static void test_partition_is_lower_case(void **state)
{
    (void)state;
    char text[16] = "old";
    char *root = make_root();
    label_partition(root, &mi300x, text, sizeof text);
    assert_string_equal(text, "");
    put(root, "bus/pci/devices/0000:05:00.0/current_compute_partition", "CPX\n");
    label_partition(root, &mi300x, text, sizeof text);
    assert_string_equal(text, "cpx");
    remove_root(root);
}

static void test_simulated_processor_is_known(void **state)
{
    (void)state;
    char *root = make_root();
    put(root, "cpuinfo", "processor\t: 0\nvendor_id\t: M5 Simulator\nmodel name\t: Fake\n");
    put(root, "real", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: M5 Simulator\n");
    char *simulated = str_format("%s/cpuinfo", root), *real = str_format("%s/real", root);
    assert_string_equal(label_simulator(simulated), "gem5");
    assert_null(label_simulator(real));
    assert_null(label_simulator("/nonexistent"));
    free(simulated);
    free(real);
    remove_root(root);
}

static void test_names_of_kinds(void **state)
{
    (void)state;
    assert_string_equal(device_time_kind_name(DEVICE_SILICON), "measured");
    assert_string_equal(device_time_kind_name(DEVICE_SOFTWARE), "modelled");
    assert_string_equal(device_time_kind_name(DEVICE_UNKNOWN), "untrusted");
    assert_string_equal(device_kind_name((device_kind)77), "unknown");
    assert_string_equal(device_time_kind_name((device_kind)77), "untrusted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdict_needs_every_proof),
        cmocka_unit_test(test_software_beats_every_other_sign),
        cmocka_unit_test(test_node_is_found_by_place),
        cmocka_unit_test(test_node_of_garbage_is_none),
        cmocka_unit_test(test_driver_states_its_version),
        cmocka_unit_test(test_partition_is_lower_case),
        cmocka_unit_test(test_simulated_processor_is_known),
        cmocka_unit_test(test_names_of_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
