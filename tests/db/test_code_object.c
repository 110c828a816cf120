/* tests/db/test_code_object.c: machine code comes back as it was stored, or not at all.
 * SPDX-License-Identifier: MIT
 */
#include "tests/db/support.h"

#include <string.h>
#include <zstd.h>

static db_code_object object_with(const void *elf, size_t n_bytes)
{
    return (db_code_object){.elf = elf,
                            .n_bytes = n_bytes,
                            .target = "gfx942",
                            .compiler = "hiprtc",
                            .launch_abi = "1",
                            .vgpr = 64};
}

static int64_t put(db *database, const db_code_object *object)
{
    int64_t id;
    moesaic_text err;
    assert_status(MOESAIC_OK, db_code_object_put(database, object, &id, &err), &err);
    return id;
}

static void check_get(db *database, int64_t id, const void *elf, size_t n_bytes)
{
    str got = {0};
    moesaic_text err;
    str_add(&got, "before"); /* it is appended */
    assert_status(MOESAIC_OK, db_code_object_get(database, id, &got, &err), &err);
    assert_int_equal(n_bytes + 6, got.n);
    assert_memory_equal("before", got.s, 6);
    assert_memory_equal(elf, got.s + 6, n_bytes);
    str_free(&got);
}

static void refused(db *database, int64_t id, moesaic_status want, const char *says)
{
    str got = {0};
    moesaic_text err;
    assert_status(want, db_code_object_get(database, id, &got, &err), &err);
    assert_non_null(strstr(err.s, says));
    str_free(&got);
}

static void test_code_comes_back_byte_for_byte(void **state)
{
    char bytes[5000];
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * i * 2654435761u >> 13);
    db_code_object large = object_with(bytes, sizeof bytes), small = object_with("\0", 1);
    int64_t first = put(d, &large), second = put(d, &small);
    check_get(d, first, bytes, sizeof bytes);
    check_get(d, second, "\0", 1);
    db_close(d);
}

static void test_one_row_for_the_same_code(void **state)
{
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    db_code_object a = object_with("code", 4), other_abi = a;
    other_abi.launch_abi = "2";
    int64_t id = put(d, &a);
    assert_int_equal(id, put(d, &a));
    assert_int_not_equal(id, put(d, &other_abi));
    db_close(d);
}

static void test_collected_code_is_not_found_and_can_come_back(void **state)
{
    int64_t n;
    moesaic_text err;
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    db_code_object a = object_with("code", 4);
    int64_t id = put(d, &a);
    assert_status(MOESAIC_OK, db_code_objects_collect(d, &n, &err), &err);
    assert_int_equal(1, n);
    refused(d, id, MOESAIC_E_NOTFOUND, "compiled again");
    assert_status(MOESAIC_OK, db_code_objects_collect(d, &n, &err), &err);
    assert_int_equal(0, n);
    assert_int_equal(id, put(d, &a));
    check_get(d, id, "code", 4);
    refused(d, 99, MOESAIC_E_NOTFOUND, "no code object 99");
    db_close(d);
}

static void set_blob(db *database, int64_t id, const void *bytes, size_t n_bytes)
{
    moesaic_text err;
    assert_status(MOESAIC_OK,
                  db_run(database, NULL, &err, "UPDATE code_object SET blob = ? WHERE id = ?", "bi",
                         bytes, n_bytes, id),
                  &err);
}

static void test_damaged_code_is_never_given_out(void **state)
{
    static const unsigned char huge[] = {
        0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff,  /* a frame that */
        0xff, 0xff, 0xff, 0x00, 0x00, 0x01, 0x00, 0x00}; /* claims 2^56 */
    char other[64];
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    db_code_object a = object_with("some code", 9);
    int64_t id = put(d, &a);
    set_blob(d, id, "no frame at all", 15);
    refused(d, id, MOESAIC_E_DB, "--code-objects");
    set_blob(d, id, "", 0);
    refused(d, id, MOESAIC_E_DB, "damaged");
    set_blob(d, id, huge, sizeof huge);
    refused(d, id, MOESAIC_E_DB, "size");
    size_t n = ZSTD_compress(other, sizeof other, "evil code", 9, 1);
    assert_false(ZSTD_isError(n));
    set_blob(d, id, other, n);
    refused(d, id, MOESAIC_E_DB, "its hash differs");
    set_blob(d, id, other, n - 2);
    refused(d, id, MOESAIC_E_DB, "damaged");
    db_close(d);
}

static void test_no_code_and_too_much_are_refused(void **state)
{
    int64_t id;
    moesaic_text err;
    db *d = open_or_fail(in_folder(state, "a.db"), DB_WRITE);
    db_code_object none = object_with("", 0), much = object_with("", (size_t)1 << 40);
    assert_status(MOESAIC_E_INPUT, db_code_object_put(d, &none, &id, &err), &err);
    assert_status(MOESAIC_E_INPUT, db_code_object_put(d, &much, &id, &err), &err);
    assert_int_equal(0, id);
    db_close(d);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_code_comes_back_byte_for_byte),
        TEST(test_one_row_for_the_same_code),
        TEST(test_collected_code_is_not_found_and_can_come_back),
        TEST(test_damaged_code_is_never_given_out),
        TEST(test_no_code_and_too_much_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
