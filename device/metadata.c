/* device/metadata.c: what a code object says of a kernel: registers, LDS, spills.
 *
 * The metadata is a MessagePack map in an ELF note named AMDGPU.  It is read without the compiler's
 * libraries, and the bytes are not trusted: every offset is checked.
 * Source: LLVM, AMDGPUUsage, "Code Object Metadata".    SPDX-License-Identifier: MIT
 */
#include "device/device.h"
#include "device/msgpack.h"

#include <elf.h>
#include <string.h>

enum { NOTE_AMDGPU_METADATA = 32 };

typedef struct bytes {
    const uint8_t *at;
    uint64_t n;
} bytes;

static bool slice(bytes from, uint64_t offset, uint64_t n, bytes *out)
{
    if (offset > from.n || n > from.n - offset)
        return false;
    *out = (bytes){from.at + offset, n};
    return true;
}

/* The metadata's note among those of one segment. */
static bool find_note(bytes notes, bytes *out)
{
    Elf64_Nhdr head;
    bytes part;
    uint64_t at = 0;
    while (slice(notes, at, sizeof head, &part)) {
        memcpy(&head, part.at, sizeof head);
        uint64_t name_at = at + sizeof head;
        uint64_t text_at = name_at + ((head.n_namesz + 3ull) & ~3ull);
        bytes name;
        if (!slice(notes, name_at, head.n_namesz, &name) ||
            !slice(notes, text_at, head.n_descsz, &part))
            return false;
        if (head.n_type == NOTE_AMDGPU_METADATA && name.n == 7 &&
            memcmp(name.at, "AMDGPU", 7) == 0) {
            *out = part;
            return true;
        }
        at = text_at + ((head.n_descsz + 3ull) & ~3ull);
    }
    return false;
}

static bool find_metadata(bytes elf, bytes *out)
{
    Elf64_Ehdr head;
    bytes part;
    if (!slice(elf, 0, sizeof head, &part))
        return false;
    memcpy(&head, part.at, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_machine != EM_AMDGPU)
        return false;
    for (uint64_t i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr segment;
        if (head.e_phoff > elf.n ||
            !slice(elf, head.e_phoff + i * sizeof segment, sizeof segment, &part))
            return false;
        memcpy(&segment, part.at, sizeof segment);
        if (segment.p_type == PT_NOTE && slice(elf, segment.p_offset, segment.p_filesz, &part) &&
            find_note(part, out))
            return true;
    }
    return false;
}

/* Where a value of that key goes, or NULL. */
static uint32_t *member(device_kernel_info *info, const msgpack_value *key)
{
#define METADATA(text, name)                                                                       \
    if (msgpack_is(key, text))                                                                     \
        return &info->name;
#include "device/metadata.def"
#undef METADATA
    return NULL;
}

/* Read the map of one kernel; true when it is the wanted one. */
static bool read_kernel(msgpack *from, const char *kernel, device_kernel_info *out)
{
    bool wanted = false;
    msgpack_value map = msgpack_next(from);
    *out = (device_kernel_info){0};
    if (map.kind != MSGPACK_MAP)
        from->bad = true;
    for (uint64_t i = 0; i < map.n && !from->bad; i++) {
        msgpack_value key = msgpack_next(from);
        uint32_t *to = member(out, &key);
        if (to) {
            msgpack_value value = msgpack_next(from);
            *to = value.kind == MSGPACK_INT && value.n < UINT32_MAX ? (uint32_t)value.n : 0;
        } else if (msgpack_is(&key, ".name")) {
            msgpack_value name = msgpack_next(from);
            wanted = msgpack_is(&name, kernel);
        } else {
            msgpack_skip(from);
        }
    }
    return wanted && !from->bad;
}

static bool read_kernels(msgpack *from, const char *kernel, device_kernel_info *out)
{
    msgpack_value array = msgpack_next(from);
    if (array.kind != MSGPACK_ARRAY)
        return false;
    for (uint64_t i = 0; i < array.n && !from->bad; i++)
        if (read_kernel(from, kernel, out))
            return true;
    return false;
}

moesaic_status device_kernel_metadata(const void *code, size_t n, const char *kernel,
                                      device_kernel_info *out, moesaic_text *err)
{
    bytes note;
    *out = (device_kernel_info){0};
    if (!find_metadata((bytes){code, n}, &note))
        return moesaic_fail(err, MOESAIC_E_INPUT,
                            "%zu bytes that are no AMD GPU code object with metadata", n);
    msgpack from = {note.at, note.at + note.n, false};
    msgpack_value map = msgpack_next(&from);
    for (uint64_t i = 0; map.kind == MSGPACK_MAP && i < map.n && !from.bad; i++) {
        msgpack_value key = msgpack_next(&from);
        if (!msgpack_is(&key, "amdhsa.kernels"))
            msgpack_skip(&from);
        else if (read_kernels(&from, kernel, out))
            return MOESAIC_OK;
    }
    *out = (device_kernel_info){0};
    return moesaic_fail(err, MOESAIC_E_NOTFOUND, "the code object has no kernel \"%s\"", kernel);
}
