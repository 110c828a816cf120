/* tests/hsa/test_agent.c: the device as MOESAIC_SIM states it.    SPDX-License-Identifier: MIT */
#include "emu/shape.h"
#include "tests/hsa/support.h"

#include <string.h>

static void must_be(const char *text, uint32_t cus, uint32_t xcds, uint64_t gib)
{
    emu_shape shape;
    char error[256] = "";
    if (!emu_shape_parse(text, &shape, error, sizeof error))
        fail_msg("%s: %s", text, error);
    assert_int_equal(shape.device.cu_count, cus);
    assert_int_equal(shape.device.xcd_count, xcds);
    assert_int_equal(shape.device.memory_bytes >> 30, gib);
}

static void test_shapes_have_the_numbers_of_their_boards(void **state)
{
    (void)state;
    must_be(NULL, 304, 8, 192);
    must_be("", 304, 8, 192);
    must_be("mi300x", 304, 8, 192);
    must_be("mi325x", 304, 8, 256);
    must_be("mi300x,cu=80", 80, 8, 192);
}

static void test_options_change_one_thing(void **state)
{
    (void)state;
    emu_shape shape;
    char error[256];
    assert_true(
        emu_shape_parse("mi300x,name=Board 7,pci=0x1234,count=3", &shape, error, sizeof error));
    assert_string_equal(shape.device.marketing, "Board 7");
    assert_int_equal(shape.device.pci_device_id, 0x1234);
    assert_int_equal(shape.n_devices, 3);
}

static void test_what_is_not_understood_is_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"mi300y", "mi300y"},
        {"mi210", "mi210"},
        {",cu=8", ","},
        {"mi300x,cu=7", "7"},
        {"mi300x,cu=312", "312"},
        {"mi300x,cu=-8", "-8"},
        {"mi300x,cu", "cu"},
        {"mi300x,speed=2", "speed"},
        {"mi300x,count=0", "0"},
        {"mi300x,count=17", "17"},
        {"mi300x,pci=0x10000", "0x1"},
        {"mi300x,cu=8x", "8x"},
        {"mi300x,name=", "name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        emu_shape shape;
        char error[256] = "";
        if (emu_shape_parse(cases[i][0], &shape, error, sizeof error) ||
            !strstr(error, cases[i][1]))
            fail_msg("%s: want an error with \"%s\" got \"%s\"", cases[i][0], cases[i][1], error);
    }
}

static void test_agents_answer(void **state)
{
    (void)state;
    char name[64];
    uint32_t number;
    OK(hsa_agent_get_info(gpu_agent(), HSA_AGENT_INFO_NAME, name));
    assert_string_equal(name, "gfx942");
    OK(hsa_agent_get_info(gpu_agent(), (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,
                          &number));
    assert_int_equal(number, 304);
    OK(hsa_agent_get_info(cpu_agent(), HSA_AGENT_INFO_DEVICE, &number));
    assert_int_equal(number, HSA_DEVICE_TYPE_CPU);
    assert_int_equal(hsa_agent_get_info(gpu_agent(), (hsa_agent_info_t)0x7777, &number),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_agent_get_info((hsa_agent_t){8}, HSA_AGENT_INFO_NAME, name),
                     HSA_STATUS_ERROR_INVALID_AGENT);
}

static hsa_status_t take_isa(hsa_isa_t isa, void *out)
{
    *(hsa_isa_t *)out = isa;
    return HSA_STATUS_SUCCESS;
}

static void test_the_isa_has_a_name(void **state)
{
    (void)state;
    hsa_isa_t isa, same;
    uint32_t n;
    char name[64] = "";
    OK(hsa_agent_iterate_isas(gpu_agent(), take_isa, &isa));
    OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &n));
    OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name));
    assert_string_equal(name, "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
    assert_int_equal(n, strlen(name));
    OK(hsa_isa_from_name(name, &same));
    assert_int_equal(same.handle, isa.handle);
    assert_int_equal(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx90a", &same),
                     HSA_STATUS_ERROR_INVALID_ISA_NAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_have_the_numbers_of_their_boards),
        cmocka_unit_test(test_options_change_one_thing),
        cmocka_unit_test(test_what_is_not_understood_is_named),
        cmocka_unit_test(test_agents_answer),
        cmocka_unit_test(test_the_isa_has_a_name),
    };
    return cmocka_run_group_tests(tests, open_hsa, close_hsa);
}
