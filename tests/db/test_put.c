/* tests/db/test_put.c: one row for a distinct value, with a stable id.    SPDX-License-Identifier: MIT */
#include "tests/db/support.h"

static int64_t problem(db *database, const char *family, const char *pass, const char *key)
{
    int64_t id;
    moesaic_text err;
    assert_status(MOESAIC_OK, db_problem_put(database, family, pass, key, &id, &err), &err);
    assert_true(id > 0);
    return id;
}

static int64_t device(db *database, const db_device *d)
{
    int64_t id;
    moesaic_text err;
    assert_status(MOESAIC_OK, db_device_put(database, d, &id, &err), &err);
    return id;
}

static void test_the_same_value_has_the_same_id(void **state)
{
    moesaic_text err;
    int64_t template_id, config_id, again;
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    int64_t id = problem(d, "moe_gemm", "down", "{}");
    assert_int_equal(id, problem(d, "moe_gemm", "down", "{}"));
    assert_int_not_equal(id, problem(d, "moe_gemm", "gate_up", "{}"));
    assert_int_not_equal(id, problem(d, "router", "down", "{}"));
    assert_int_not_equal(id, problem(d, "moe_gemm", "down", "{\"tokens\":1}"));
    assert_status(MOESAIC_OK, db_template_put(d, "moe_gemm", "abc", &template_id, &err), &err);
    assert_status(MOESAIC_OK, db_config_put(d, template_id, "{}", &config_id, &err), &err);
    assert_status(MOESAIC_OK, db_config_put(d, template_id, "{}", &again, &err), &err);
    assert_int_equal(config_id, again);
    assert_status(MOESAIC_OK, db_template_put(d, "moe_gemm", "abd", &again, &err), &err);
    assert_int_not_equal(template_id, again);
    db_close(d);
}

/* Another driver, compiler, partition ... is another device: each field counts. */
static void test_every_field_of_a_device_counts(void **state)
{
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    db_device others[10];
    for (int i = 0; i < 10; i++)
        others[i] = fixture_device;
    others[0].kind = "silicon";
    others[1].target = "gfx950";
    others[2].partition = "cpx";
    others[3].driver = "6.10";
    others[4].hip_version = "7.0";
    others[5].compiler = "hiprtc 7.0";
    others[6].model_version = "1";
    others[7].pci_device_id = 0x74a5;
    others[8].cu_count = 38;
    others[9].memory_bytes = 1;
    int64_t id = device(d, &fixture_device);
    assert_int_equal(id, device(d, &fixture_device));
    for (int i = 0; i < 10; i++) {
        int64_t other = device(d, &others[i]);
        assert_true(other == id + 1 + i);
        assert_int_equal(other, device(d, &others[i]));
    }
    db_close(d);
}

static void test_a_device_must_be_of_a_known_kind(void **state)
{
    moesaic_text err;
    int64_t id;
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    db_device bad = fixture_device;
    bad.kind = "imagined";
    assert_status(MOESAIC_E_DB, db_device_put(d, &bad, &id, &err), &err);
    assert_int_equal(0, id);
    db_close(d);
}

static void test_a_config_needs_its_template(void **state)
{
    moesaic_text err;
    int64_t id;
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    assert_status(MOESAIC_E_DB, db_config_put(d, 99, "{}", &id, &err), &err);
    db_close(d);
}

static void test_what_is_there_is_found_in_a_file_open_for_reading(void **state)
{
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    int64_t id = problem(d, "moe_gemm", "down", "{}");
    db_close(d);
    d = open_or_fail(in_folder(state, "a.db"), DB_READ);
    assert_int_equal(id, problem(d, "moe_gemm", "down", "{}"));
    db_close(d);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_the_same_value_has_the_same_id),
        TEST(test_every_field_of_a_device_counts),
        TEST(test_a_device_must_be_of_a_known_kind),
        TEST(test_a_config_needs_its_template),
        TEST(test_what_is_there_is_found_in_a_file_open_for_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
