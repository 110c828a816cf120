/* tests/device/test_metadata.c: registers and spills out of a code object, and out of rubbish.
 *
 * Code objects are built here by hand from the ELF and MessagePack specifications, so that the reader is
 * checked against something that it did not write; test_device.c reads the compiler's own.
 * SPDX-License-Identifier: MIT
 */
#include "device/device.h"
#include "device/msgpack.h"

#include "base/hash.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* {"amdhsa.version": [1, 2], "amdhsa.kernels": [{...}, {...}]} with every width of number and string. */
static const uint8_t two_kernels[] = "\x82"
                                     "\xae"
                                     "amdhsa.version"
                                     "\x92\x01\x02"
                                     "\xd9\x0e"
                                     "amdhsa.kernels"
                                     "\x92"
                                     "\x86"
                                     "\xa5"
                                     ".name"
                                     "\xa5"
                                     "small"
                                     "\xab"
                                     ".vgpr_count"
                                     "\x20"
                                     "\xab"
                                     ".agpr_count"
                                     "\x00"
                                     "\xab"
                                     ".sgpr_count"
                                     "\xcc\x60"
                                     "\xa5"
                                     ".args"
                                     "\x91\x81\xa7"
                                     ".offset"
                                     "\xd0\x08"
                                     "\xbb"
                                     ".private_segment_fixed_size"
                                     "\x00"
                                     "\xde\x00\x07"
                                     "\xa5"
                                     ".name"
                                     "\xda\x00\x08"
                                     "moe_gemm"
                                     "\xab"
                                     ".vgpr_count"
                                     "\xcd\x02\x00"
                                     "\xab"
                                     ".agpr_count"
                                     "\xce\x00\x00\x01\x00"
                                     "\xb9"
                                     ".group_segment_fixed_size"
                                     "\xcf\x00\x00\x00\x00\x00\x01\x00\x00"
                                     "\xb1"
                                     ".vgpr_spill_count"
                                     "\x05"
                                     "\xb8"
                                     ".max_flat_workgroup_size"
                                     "\xd1\x02\x00"
                                     "\xa7"
                                     ".extras"
                                     "\x93\xc0\xca\x00\x00\x00\x00\xc4\x02\x01\x02";

static str metadata(void)
{
    str m = {0};
    str_add_bytes(&m, two_kernels, sizeof two_kernels - 1);
    return m;
}

static str code_object(const str *map)
{
    str elf = {0};
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, 4},
                       .e_type = ET_DYN,
                       .e_machine = EM_AMDGPU,
                       .e_phoff = sizeof head,
                       .e_phnum = 2,
                       .e_phentsize = sizeof(Elf64_Phdr)};
    const size_t notes_at = sizeof head + 2 * sizeof(Elf64_Phdr);
    const Elf64_Nhdr other = {4, 4, 1}, note = {7, (Elf64_Word)map->n, 32};
    const Elf64_Phdr segments[2] = {
        {.p_type = PT_LOAD, .p_filesz = 8},
        {.p_type = PT_NOTE, .p_offset = notes_at, .p_filesz = 2 * sizeof note + 16 + map->n}};
    str_add_bytes(&elf, &head, sizeof head);
    str_add_bytes(&elf, segments, sizeof segments);
    str_add_bytes(&elf, &other, sizeof other);
    str_add_bytes(&elf, "GNU\0abcd", 8);
    str_add_bytes(&elf, &note, sizeof note);
    str_add_bytes(&elf, "AMDGPU\0\0", 8);
    str_add_bytes(&elf, map->s, map->n);
    return elf;
}

static void test_reads_the_named_kernel(void **state)
{
    (void)state;
    str map = metadata(), elf = code_object(&map);
    device_kernel_info info;
    moesaic_text err;
    assert_int_equal(device_kernel_metadata(elf.s, elf.n, "moe_gemm", &info, &err), MOESAIC_OK);
    assert_int_equal(info.vgprs, 512);
    assert_int_equal(info.agprs, 256);
    assert_int_equal(info.lds_bytes, 65536);
    assert_int_equal(info.vgpr_spills, 5);
    assert_int_equal(info.max_workgroup_lanes, 512);
    assert_int_equal(info.sgprs, 0);
    assert_int_equal(device_kernel_metadata(elf.s, elf.n, "small", &info, &err), MOESAIC_OK);
    assert_int_equal(info.vgprs, 32);
    assert_int_equal(info.sgprs, 96);
    assert_int_equal(info.scratch_bytes, 0);
    str_free(&map);
    str_free(&elf);
}

static void test_unknown_kernel_is_named(void **state)
{
    (void)state;
    str map = metadata(), elf = code_object(&map);
    device_kernel_info info = {.vgprs = 9};
    moesaic_text err;
    assert_int_equal(device_kernel_metadata(elf.s, elf.n, "moe", &info, &err), MOESAIC_E_NOTFOUND);
    assert_non_null(strstr(err.s, "\"moe\""));
    assert_int_equal(info.vgprs, 0);
    str_free(&map);
    str_free(&elf);
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    device_kernel_info info;
    str map = metadata(), elf = code_object(&map);
    assert_int_equal(device_kernel_metadata("", 0, "k", &info, NULL), MOESAIC_E_INPUT);
    assert_int_equal(device_kernel_metadata("\x7f"
                                            "ELF",
                                            4, "k", &info, NULL),
                     MOESAIC_E_INPUT);
    elf.s[offsetof(Elf64_Ehdr, e_machine)] = EM_X86_64;
    assert_int_equal(device_kernel_metadata(elf.s, elf.n, "moe_gemm", &info, NULL),
                     MOESAIC_E_INPUT);
    str_free(&map);
    str_free(&elf);
}

/* An exact-size copy, so that a sanitizer sees any read behind the end. */
static void read_copy(const char *bytes, size_t n)
{
    device_kernel_info info;
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    device_kernel_metadata(copy, n, "moe_gemm", &info, NULL);
    free(copy);
}

static void test_every_truncation_is_survived(void **state)
{
    (void)state;
    str map = metadata(), elf = code_object(&map);
    for (size_t n = 0; n < elf.n; n++)
        read_copy(elf.s, n);
    str_free(&map);
    str_free(&elf);
}

static void test_flipped_bytes_are_survived(void **state)
{
    (void)state;
    uint64_t seed = 1;
    str map = metadata(), elf = code_object(&map);
    for (int i = 0; i < 20000; i++) {
        size_t at = hash_next(&seed) % elf.n;
        char was = elf.s[at];
        elf.s[at] = (char)hash_next(&seed);
        read_copy(elf.s, elf.n);
        if (i % 3)
            elf.s[at] = was;
    }
    str_free(&map);
    str_free(&elf);
}

/* 2^32 - 1 nested arrays' heads cost neither stack nor time. */
static void test_absurd_counts_end_at_once(void **state)
{
    (void)state;
    const uint8_t array[] = {0xdd, 0xff, 0xff, 0xff, 0xff, 0xdd, 0xff, 0xff, 0xff, 0xff};
    msgpack from = {array, array + sizeof array, false};
    msgpack_skip(&from);
    assert_true(from.bad);
    const uint8_t text[] = {0xdb, 0xff, 0xff, 0xff, 0xff, 'a'};
    from = (msgpack){text, text + sizeof text, false};
    msgpack_value value = msgpack_next(&from);
    assert_true(from.bad);
    assert_int_equal(value.kind, MSGPACK_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_the_named_kernel),
        cmocka_unit_test(test_unknown_kernel_is_named),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_every_truncation_is_survived),
        cmocka_unit_test(test_flipped_bytes_are_survived),
        cmocka_unit_test(test_absurd_counts_end_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
