/* emu/isa/disassemble.c: comgr's disassembler, which HIP has loaded anyway.
 *
 * comgr is opened by name, so the library has no link to it.  It reads memory through a callback that must return a
 * short count at the end of what is mapped, which process_vm_readv on ourselves does.
 * Source: comgr's public header; tried with comgr 7.0.2 on LLVM 21.            SPDX-License-Identifier: MIT
 */
#include "emu/isa/disassemble.h"

#include <amd_comgr/amd_comgr.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

typedef amd_comgr_status_t create_function(const char *isa,
                                           uint64_t (*read)(uint64_t, char *, uint64_t, void *),
                                           void (*print)(const char *, void *),
                                           void (*print_address)(uint64_t, void *),
                                           amd_comgr_disassembly_info_t *info);
typedef amd_comgr_status_t disassemble_function(amd_comgr_disassembly_info_t info, uint64_t address,
                                                void *user, uint64_t *size);

static struct {
    bool tried;
    amd_comgr_disassembly_info_t info;
    disassemble_function *disassemble;
} comgr;

static uint64_t read_memory(uint64_t from, char *to, uint64_t n_bytes, void *user)
{
    (void)user;
    struct iovec local = {to, n_bytes}, remote = {(void *)(uintptr_t)from, n_bytes};
    ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    return n > 0 ? (uint64_t)n : 0;
}

static void take_text(const char *text, void *user)
{
    emu_line *out = user;
    snprintf(out->text, sizeof out->text, "%s", text);
}

static void take_target(uint64_t address, void *user)
{
    ((emu_line *)user)->branch_target = address;
}

static void *open_comgr(void)
{
    static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2",
                                        "libamd_comgr.so"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof names[0]; i++)
        library = dlopen(names[i], RTLD_NOW);
    return library;
}

static void start(void)
{
    comgr.tried = true;
    void *library = open_comgr();
    if (!library)
        return;
    create_function *create;
    disassemble_function *disassemble;
    *(void **)&create = dlsym(library, "amd_comgr_create_disassembly_info");
    *(void **)&disassemble = dlsym(library, "amd_comgr_disassemble_instruction");
    if (create && disassemble &&
        create("amdgcn-amd-amdhsa--gfx942", read_memory, take_text, take_target, &comgr.info) ==
            AMD_COMGR_STATUS_SUCCESS)
        comgr.disassemble = disassemble;
}

bool emu_disassemble(uint64_t address, emu_line *out)
{
    uint64_t size = 0;
    memset(out, 0, sizeof *out);
    if (!comgr.tried)
        start();
    if (!comgr.disassemble) {
        snprintf(out->text, sizeof out->text, "(libamd_comgr has no disassembler for gfx942)");
        return false;
    }
    if (comgr.disassemble(comgr.info, address, out, &size) != AMD_COMGR_STATUS_SUCCESS ||
        !out->text[0]) {
        snprintf(out->text, sizeof out->text, "(not an instruction)");
        return false;
    }
    out->size_bytes = (uint32_t)size;
    return true;
}
