/* tests/hsa/test_loader.c: a good code object, and everything that a bad one may try.
 * SPDX-License-Identifier: MIT */
#include "emu/hsa/loader.h"

#include "tests/hsa/code_object.h"
#include "tests/hsa/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t file[CODE_OBJECT_BYTES];
static emu_image image;
static emu_load_error error;

static bool resolve(void *context, const char *name, uint64_t *address)
{
    *address = (uintptr_t)context;
    return context && strcmp(name, "outside") == 0;
}

static hsa_status_t load(const void *bytes, size_t n_bytes)
{
    static int outside;
    return emu_image_load(bytes, n_bytes, resolve, &outside, &image, &error);
}

static int write_file(void **state)
{
    (void)state;
    code_object_write(file);
    return 0;
}

static void test_segments_symbols_and_relocations(void **state)
{
    (void)state;
    static int outside;
    OK(emu_image_load(file, sizeof file, resolve, &outside, &image, &error));
    assert_int_equal(image.n_symbols, 2);
    const emu_symbol *kernel = &image.symbols[0], *variable = &image.symbols[1];
    uint64_t words[3];
    assert_string_equal(kernel->name, "k.kd");
    assert_string_equal(kernel->kernel_name, "k");
    assert_true(kernel->is_kernel && kernel->is_const);
    assert_ptr_equal(kernel->address, image.base + CODE_OBJECT_DESCRIPTOR);
    assert_string_equal(variable->name, "v");
    assert_false(variable->is_kernel || variable->is_const);
    assert_int_equal(variable->n_bytes, sizeof words);
    memcpy(words, variable->address, sizeof words);
    assert_int_equal(words[0], 0x1234);
    assert_int_equal(words[1], (uintptr_t)kernel->address);
    assert_int_equal(words[2], (uintptr_t)&outside);
    emu_image_unload(&image);
}

static void test_unaligned_files_are_read(void **state)
{
    (void)state;
    uint8_t *moved = malloc(sizeof file + 1);
    assert_non_null(moved);
    memcpy(moved + 1, file, sizeof file);
    OK(load(moved + 1, sizeof file));
    emu_image_unload(&image);
    free(moved);
}

static void test_an_undefined_symbol_is_named(void **state)
{
    (void)state;
    assert_int_equal(emu_image_load(file, sizeof file, resolve, NULL, &image, &error),
                     HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
    assert_non_null(strstr(error.text, "outside"));
    assert_null(image.base);
}

static void test_other_targets_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t flags;
        const char *word;
    } cases[] = {{0x53f, "0x3f"}, {0x74c, "xnack+"}, {0x94c, "sramecc-"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(file + offsetof(Elf64_Ehdr, e_flags), &cases[i].flags, 4);
        assert_int_equal(load(file, sizeof file), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
        assert_non_null(strstr(error.text, cases[i].word));
    }
}

/* A heap copy of exactly that length: a sanitizer sees reads behind it. */
static hsa_status_t load_prefix(size_t n_bytes)
{
    uint8_t *prefix = malloc(n_bytes + !n_bytes);
    assert_non_null(prefix);
    memcpy(prefix, file, n_bytes);
    hsa_status_t status = load(prefix, n_bytes);
    free(prefix);
    return status;
}

static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof file; n += n < CODE_OBJECT_TEXT ? 1 : 7) {
        assert_int_equal(load_prefix(n), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
        assert_null(image.base);
        assert_int_not_equal(error.text[0], 0);
    }
}

static void must_survive(size_t offset, uint8_t value)
{
    uint8_t saved = file[offset];
    file[offset] = value;
    hsa_status_t status = load(file, sizeof file);
    if (status == HSA_STATUS_SUCCESS) {
        for (size_t i = 0; i < image.n_symbols; i++)
            assert_true(image.symbols[i].address >= image.base &&
                        image.symbols[i].address + image.symbols[i].n_bytes <=
                            image.base + image.n_bytes);
        emu_image_unload(&image);
    } else {
        assert_int_not_equal(error.text[0], 0);
    }
    file[offset] = saved;
}

/* Every byte that means something, set to every bit alone, to all and to none. */
static void test_no_single_wrong_byte_harms(void **state)
{
    (void)state;
    static const struct {
        size_t begin, end;
    } parts[] = {{0, 0x120},
                 {CODE_OBJECT_SYMBOLS, CODE_OBJECT_SYMBOLS + 5 * sizeof(Elf64_Sym)},
                 {CODE_OBJECT_HASH, CODE_OBJECT_HASH + 32},
                 {CODE_OBJECT_STRINGS, CODE_OBJECT_STRINGS + 18},
                 {CODE_OBJECT_RELOCATIONS, CODE_OBJECT_RELOCATIONS + 2 * sizeof(Elf64_Rela)},
                 {CODE_OBJECT_DESCRIPTOR, CODE_OBJECT_DESCRIPTOR + 64},
                 {CODE_OBJECT_DYNAMIC, CODE_OBJECT_DYNAMIC + 0x70}};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
        for (size_t offset = parts[p].begin; offset < parts[p].end; offset++) {
            must_survive(offset, 0);
            must_survive(offset, 0xff);
            for (int bit = 0; bit < 8; bit++)
                must_survive(offset, (uint8_t)(file[offset] ^ 1 << bit));
        }
}

static void set_u64(size_t offset, uint64_t value)
{
    memcpy(file + offset, &value, sizeof value);
}

/* Sums that would overflow when they are checked carelessly. */
static void test_huge_numbers_are_refused(void **state)
{
    (void)state;
    static const size_t fields[] = {
        offsetof(Elf64_Ehdr, e_phoff),
        sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_offset),
        sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz),
        sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz),
        CODE_OBJECT_DYNAMIC + 0 * sizeof(Elf64_Dyn) + 8,
        CODE_OBJECT_DYNAMIC + 1 * sizeof(Elf64_Dyn) + 8,
        CODE_OBJECT_DYNAMIC + 2 * sizeof(Elf64_Dyn) + 8,
        CODE_OBJECT_DYNAMIC + 3 * sizeof(Elf64_Dyn) + 8,
        CODE_OBJECT_DYNAMIC + 5 * sizeof(Elf64_Dyn) + 8,
        CODE_OBJECT_RELOCATIONS + offsetof(Elf64_Rela, r_offset),
        CODE_OBJECT_SYMBOLS + sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_value),
        CODE_OBJECT_SYMBOLS + sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_size),
        CODE_OBJECT_DESCRIPTOR + offsetof(emu_kernel_descriptor, entry_offset_bytes),
    };
    static const uint64_t values[] = {UINT64_MAX, UINT64_MAX - 63, UINT64_C(1) << 63,
                                      UINT64_C(1) << 40};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            code_object_write(file);
            set_u64(fields[f], values[v]);
            if (load(file, sizeof file) == HSA_STATUS_SUCCESS)
                fail_msg("field at 0x%zx: want an error got success (value 0x%llx)", fields[f],
                         (unsigned long long)values[v]);
        }
}

static void test_text_is_read_only_and_variables_are_not(void **state)
{
    (void)state;
    OK(load(file, sizeof file));
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[512], text[32];
    snprintf(text, sizeof text, "%llx-",
             (unsigned long long)(uintptr_t)image.base + CODE_OBJECT_TEXT);
    bool found = false;
    while (fgets(line, sizeof line, maps))
        if (strncmp(line, text, strlen(text)) == 0)
            found = strstr(line, " r--p ") != NULL;
    fclose(maps);
    assert_true(found);
    memset(image.base + CODE_OBJECT_VARIABLE, 1, 8);
    emu_image_unload(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_segments_symbols_and_relocations, write_file),
        cmocka_unit_test_setup(test_unaligned_files_are_read, write_file),
        cmocka_unit_test_setup(test_an_undefined_symbol_is_named, write_file),
        cmocka_unit_test_setup(test_other_targets_are_refused, write_file),
        cmocka_unit_test_setup(test_every_truncation_is_refused, write_file),
        cmocka_unit_test_setup(test_no_single_wrong_byte_harms, write_file),
        cmocka_unit_test_setup(test_huge_numbers_are_refused, write_file),
        cmocka_unit_test_setup(test_text_is_read_only_and_variables_are_not, write_file),
    };
    return cmocka_run_group_tests(tests, open_hsa, close_hsa);
}
