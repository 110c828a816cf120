/* tests/hsa/code_object.c: see code_object.h.
 *
 * Source of the constants: LLVM's "User Guide for AMDGPU Backend", ELF code object.
 * SPDX-License-Identifier: MIT
 */
#include "tests/hsa/code_object.h"

#include "emu/engine.h"

#include <string.h>

static const char strings[] = "\0k.kd\0k\0v\0outside";
enum { NAME_K_KD = 1, NAME_K = 6, NAME_V = 8, NAME_OUTSIDE = 10 };
enum { RELOCATION_ABS64 = 3, RELOCATION_RELATIVE64 = 13 };

static void put(uint8_t *file, uint64_t offset, const void *item, size_t n_bytes)
{
    memcpy(file + offset, item, n_bytes);
}

static void put_headers(uint8_t *file)
{
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, 4},
                    .e_type = ET_DYN,
                    .e_machine = 224,
                    .e_version = EV_CURRENT,
                    .e_flags = 0x54c,
                    .e_phoff = sizeof h,
                    .e_ehsize = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 4};
    const Elf64_Phdr p[] = {
        {PT_LOAD, PF_R, 0, 0, 0, 0x1000, 0x1000, 0x1000},
        {PT_LOAD, PF_R | PF_X, 0x1000, 0x1000, 0x1000, 0x100, 0x100, 0x1000},
        {PT_LOAD, PF_R | PF_W, 0x2000, 0x2000, 0x2000, 0x100, 0x180, 0x1000},
        {PT_DYNAMIC, PF_R, 0x2000, 0x2000, 0x2000, 0x70, 0x70, 8},
    };
    put(file, 0, &h, sizeof h);
    put(file, sizeof h, p, sizeof p);
}

static void put_symbols(uint8_t *file)
{
    const Elf64_Sym s[] = {
        {0},
        {NAME_K_KD, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1, CODE_OBJECT_DESCRIPTOR, 64},
        {NAME_K, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 2, CODE_OBJECT_TEXT, 4},
        {NAME_V, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 3, CODE_OBJECT_VARIABLE, 24},
        {NAME_OUTSIDE, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, SHN_UNDEF, 0, 0},
    };
    const uint32_t hash[] = {1, 5, 1, 0, 2, 3, 4, 0}; /* buckets, chains; one chain through all */
    const Elf64_Rela r[] = {
        {CODE_OBJECT_VARIABLE + 8, ELF64_R_INFO(0, RELOCATION_RELATIVE64), CODE_OBJECT_DESCRIPTOR},
        {CODE_OBJECT_VARIABLE + 16, ELF64_R_INFO(4, RELOCATION_ABS64), 0},
    };
    put(file, CODE_OBJECT_SYMBOLS, s, sizeof s);
    put(file, CODE_OBJECT_HASH, hash, sizeof hash);
    put(file, CODE_OBJECT_STRINGS, strings, sizeof strings);
    put(file, CODE_OBJECT_RELOCATIONS, r, sizeof r);
}

void code_object_write(uint8_t file[CODE_OBJECT_BYTES])
{
    const emu_kernel_descriptor d = {.group_segment_bytes = 256,
                                     .private_segment_bytes = 32,
                                     .kernarg_bytes = 24,
                                     .entry_offset_bytes =
                                         CODE_OBJECT_TEXT - CODE_OBJECT_DESCRIPTOR};
    const Elf64_Dyn dynamic[] = {
        {DT_SYMTAB, {CODE_OBJECT_SYMBOLS}},
        {DT_STRTAB, {CODE_OBJECT_STRINGS}},
        {DT_STRSZ, {sizeof strings}},
        {DT_HASH, {CODE_OBJECT_HASH}},
        {DT_RELA, {CODE_OBJECT_RELOCATIONS}},
        {DT_RELASZ, {2 * sizeof(Elf64_Rela)}},
        {DT_NULL, {0}},
    };
    const uint32_t s_endpgm = 0xbf810000;
    const uint64_t value = 0x1234;
    memset(file, 0, CODE_OBJECT_BYTES);
    put_headers(file);
    put_symbols(file);
    put(file, CODE_OBJECT_DESCRIPTOR, &d, sizeof d);
    put(file, CODE_OBJECT_TEXT, &s_endpgm, sizeof s_endpgm);
    put(file, CODE_OBJECT_DYNAMIC, dynamic, sizeof dynamic);
    put(file, CODE_OBJECT_VARIABLE, &value, sizeof value);
}
