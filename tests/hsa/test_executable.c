/* tests/hsa/test_executable.c: executables and what is asked about their symbols.
 * SPDX-License-Identifier: MIT */
#include "tests/hsa/code_object.h"
#include "tests/hsa/support.h"

#include <hsa/hsa_ven_amd_loader.h>
#include <string.h>

static uint8_t file[CODE_OBJECT_BYTES];
static hsa_executable_t executable;

static hsa_status_t load(void)
{
    hsa_code_object_reader_t reader;
    OK(hsa_code_object_reader_create_from_memory(file, sizeof file, &reader));
    hsa_status_t status =
        hsa_executable_load_agent_code_object(executable, gpu_agent(), reader, NULL, NULL);
    OK(hsa_code_object_reader_destroy(reader));
    return status;
}

static int create(void **state)
{
    (void)state;
    code_object_write(file);
    OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                 &executable));
    OK(hsa_executable_agent_global_variable_define(executable, gpu_agent(), "outside", file));
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    OK(hsa_executable_destroy(executable));
    return 0;
}

static hsa_executable_symbol_t symbol(const char *name)
{
    hsa_executable_symbol_t s;
    OK(hsa_executable_get_symbol_by_name(executable, name, NULL, &s));
    return s;
}

static uint64_t answer(const char *name, hsa_executable_symbol_info_t attribute)
{
    uint64_t value = 0;
    OK(hsa_executable_symbol_get_info(symbol(name), attribute, &value));
    return value;
}

static void test_symbols_are_found_by_name(void **state)
{
    (void)state;
    hsa_executable_symbol_t s;
    OK(load());
    assert_int_equal(answer("k.kd", HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_KERNEL);
    assert_int_equal(answer("k.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE), 256);
    assert_int_equal(answer("k.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE), 32);
    assert_int_equal(answer("k.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE), 24);
    assert_int_equal(answer("k.kd", HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH), 4);
    assert_int_equal(answer("v", HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_VARIABLE);
    assert_int_equal(answer("v", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 24);
    assert_int_equal(answer("v", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST), 0);
    const uint64_t *v =
        (const uint64_t *)(uintptr_t)answer("v", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS);
    assert_int_equal(v[0], 0x1234);
    assert_int_equal(v[1], answer("k.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT));
    assert_int_equal(hsa_executable_get_symbol_by_name(executable, "nothing", NULL, &s),
                     HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
}

static hsa_status_t count(hsa_executable_t e, hsa_executable_symbol_t s, void *n)
{
    assert_int_equal(e.handle, executable.handle);
    assert_true(s.handle != 0);
    return ++*(int *)n == 3 ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static void test_symbols_are_iterated_until_told_to_stop(void **state)
{
    (void)state;
    int n = 0;
    OK(load());
    OK(hsa_executable_iterate_symbols(executable, count, &n));
    assert_int_equal(n, 2);
    assert_int_equal(hsa_executable_iterate_symbols(executable, count, &n), HSA_STATUS_INFO_BREAK);
    assert_int_equal(n, 3);
}

static void test_frozen_executables_take_no_more(void **state)
{
    (void)state;
    OK(hsa_executable_freeze(executable, NULL));
    assert_int_equal(load(), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    assert_int_equal(hsa_executable_freeze(executable, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    assert_int_equal(
        hsa_executable_agent_global_variable_define(executable, gpu_agent(), "x", file),
        HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
}

static void test_a_bad_code_object_leaves_the_executable_usable(void **state)
{
    (void)state;
    file[0] = 'X';
    assert_int_equal(load(), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    file[0] = 0x7f;
    OK(load());
    assert_int_equal(answer("v", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 24);
}

static void test_a_variable_is_defined_once(void **state)
{
    (void)state;
    assert_int_equal(
        hsa_executable_agent_global_variable_define(executable, gpu_agent(), "outside", file),
        HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
}

static void test_loader_extension_knows_loaded_code(void **state)
{
    (void)state;
    hsa_ven_amd_loader_1_00_pfn_t table;
    const void *host;
    OK(load());
    void *kernel = (void *)(uintptr_t)answer("k.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
    OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof table, &table));
    OK(table.hsa_ven_amd_loader_query_host_address(kernel, &host));
    assert_ptr_equal(host, kernel);
    assert_int_equal(table.hsa_ven_amd_loader_query_host_address(&host, &host),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, create, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_symbols_are_found_by_name),
        TEST(test_symbols_are_iterated_until_told_to_stop),
        TEST(test_frozen_executables_take_no_more),
        TEST(test_a_bad_code_object_leaves_the_executable_usable),
        TEST(test_a_variable_is_defined_once),
        TEST(test_loader_extension_knows_loaded_code),
    };
    return cmocka_run_group_tests(tests, open_hsa, close_hsa);
}
