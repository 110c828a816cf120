/* device/identity.c: which compiler this process has.
 *
 * Version numbers do not tell two builds apart, and code generators differ between builds; the linker's
 * build id does.  It is read from the mapped image: no file is touched.    SPDX-License-Identifier: MIT
 */
#include "device/identity.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BUILD_ID_BYTES_SHOWN = 4 };

typedef struct text_buffer {
    char *s;
    size_t n, used;
} text_buffer;

static const ElfW(Nhdr) * find_build_id(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
        const char *end = at + segment->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                note->n_descsz >= BUILD_ID_BYTES_SHOWN)
                return note;
            at += sizeof *note + ((note->n_namesz + 3) & ~3u) + ((note->n_descsz + 3) & ~3u);
        }
    }
    return NULL;
}

static int add_library(struct dl_phdr_info *info, size_t info_bytes, void *user)
{
    (void)info_bytes;
    text_buffer *to = user;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(base, "libamd_comgr.", 13) != 0 && strncmp(base, "libLLVM", 7) != 0)
        return 0;
    char id[2 * BUILD_ID_BYTES_SHOWN + 1] = "unknown";
    const ElfW(Nhdr) *note = find_build_id(info);
    for (size_t i = 0; note && i < BUILD_ID_BYTES_SHOWN; i++)
        snprintf(id + 2 * i, 3, "%02x", ((const uint8_t *)(note + 1))[4 + i]);
    int n =
        snprintf(to->s + to->used, to->n - to->used, "%s%s@%s", to->used ? " " : "", base + 3, id);
    if (n > 0)
        to->used = to->used + (size_t)n < to->n ? to->used + (size_t)n : to->n - 1;
    return 0;
}

void identity_compiler(char *text, size_t n)
{
    text_buffer to = {.s = text, .n = n};
    text[0] = 0;
    dl_iterate_phdr(add_library, &to);
}
