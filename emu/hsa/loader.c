/* emu/hsa/loader.c: the ELF loader for AMDGPU code objects (versions 4 to 6).
 *
 * Owns the trust boundary: the file comes from anywhere, so every offset, size, index and string in
 * it is checked before use, with arithmetic that can't overflow.  What passes: segments inside the
 * file and the image, symbols and relocations inside the image, kernel descriptors whose entry is
 * inside the code.
 * Sources: LLVM's "User Guide for AMDGPU Backend" (ELF header flags, relocation
 * records, kernel descriptor), System V ABI.
 * Tested by tests/hsa/test_loader.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/hsa/loader.h"

#include "emu/hsa/memory.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES      UINT64_C(4096)
#define MAX_IMAGE_BYTES (UINT64_C(2) << 30)

enum { ELFOSABI_HSA = 64, MACHINE_AMDGPU = 224, MACH_GFX942 = 0x4c };
enum {
    FEATURE_OFF = 2,
    FEATURE_ON = 3
}; /* of xnack and sramecc in e_flags; 0 and 1: unsupported, any */

/* LLVM's names without R_AMDGPU_. */
enum {
    NONE,
    ABS32_LO,
    ABS32_HI,
    ABS64,
    REL32,
    REL64,
    ABS32,
    REL32_LO = 10,
    REL32_HI = 11,
    RELATIVE64 = 13
};

typedef struct file {
    const uint8_t *bytes;
    size_t n_bytes;
    Elf64_Ehdr header;
    emu_load_error *error;
} file;

/* The dynamic section's tables, as virtual addresses. */
typedef struct tables {
    uint64_t symbols, strings, n_string_bytes, relocations, n_relocation_bytes, hash;
    uint64_t n_symbols;
} tables;

typedef struct loading {
    file file;
    emu_image *image;
    tables tables;
    Elf64_Sym
        *symbols; /* a copy, as are the image's strings: relocations may write over the originals */
    emu_resolve resolve;
    void *context;
} loading;

static hsa_status_t __attribute__((format(printf, 3, 4)))
reject(emu_load_error *error, hsa_status_t status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

static hsa_status_t malformed(const loading *l, const char *what, uint64_t where)
{
    return reject(l->file.error, HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
                  "malformed code object: %s (at 0x%" PRIx64 ")", what, where);
}

static bool inside(uint64_t offset, uint64_t n, uint64_t size)
{
    return offset <= size && n <= size - offset;
}

/* Address of n bytes at a virtual address, NULL when they are not all in the image. */
static uint8_t *at(const emu_image *image, uint64_t vaddr, uint64_t n)
{
    return vaddr >= image->first_vaddr && inside(vaddr - image->first_vaddr, n, image->n_bytes)
               ? image->base + (vaddr - image->first_vaddr)
               : NULL;
}

/* --- header and segments --- */

static hsa_status_t check_target(const loading *l)
{
    uint32_t flags = l->file.header.e_flags, mach = flags & 0xff, xnack = flags >> 8 & 3,
             sramecc = flags >> 10 & 3;
    if (mach != MACH_GFX942)
        return reject(
            l->file.error, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
            "code object is for another target (EF_AMDGPU_MACH 0x%x), not for gfx942 (0x4c)", mach);
    if (xnack == FEATURE_ON || sramecc == FEATURE_OFF)
        return reject(l->file.error, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
                      "code object wants %s; the device is gfx942:sramecc+:xnack-",
                      xnack == FEATURE_ON ? "xnack+" : "sramecc-");
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t read_header(loading *l)
{
    file *f = &l->file;
    Elf64_Ehdr *h = &f->header;
    if (f->n_bytes < sizeof *h)
        return malformed(l, "shorter than an ELF header", f->n_bytes);
    memcpy(h, f->bytes, sizeof *h);
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB)
        return malformed(l, "no 64-bit little-endian ELF file", 0);
    if (h->e_machine != MACHINE_AMDGPU || h->e_ident[EI_OSABI] != ELFOSABI_HSA ||
        h->e_type != ET_DYN)
        return malformed(l, "no AMDGPU shared object for HSA", EI_OSABI);
    if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 ||
        !inside(h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), f->n_bytes))
        return malformed(l, "program headers outside the file", h->e_phoff);
    return check_target(l);
}

static Elf64_Phdr segment(const loading *l, unsigned i)
{
    Elf64_Phdr p;
    memcpy(&p, l->file.bytes + l->file.header.e_phoff + i * sizeof p, sizeof p);
    return p;
}

/* The span of all PT_LOADs, rounded to pages; every segment is checked here. */
static hsa_status_t measure(const loading *l, uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (unsigned i = 0; i < l->file.header.e_phnum; i++) {
        Elf64_Phdr p = segment(l, i);
        if (p.p_type != PT_LOAD)
            continue;
        if (!inside(p.p_offset, p.p_filesz, l->file.n_bytes) || p.p_filesz > p.p_memsz)
            return malformed(l, "segment outside the file", p.p_offset);
        if (p.p_memsz > MAX_IMAGE_BYTES || p.p_vaddr > UINT64_MAX - 2 * MAX_IMAGE_BYTES)
            return malformed(l, "segment too large", p.p_vaddr);
        if (p.p_vaddr < *low)
            *low = p.p_vaddr;
        if (p.p_vaddr + p.p_memsz > *high)
            *high = p.p_vaddr + p.p_memsz;
    }
    if (*low >= *high)
        return malformed(l, "nothing to load", l->file.header.e_phoff);
    *low &= ~(PAGE_BYTES - 1);
    *high = (*high + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    if (*high - *low > MAX_IMAGE_BYTES)
        return malformed(l, "segments too far apart", *low);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t map_segments(loading *l)
{
    uint64_t low, high;
    hsa_status_t status = measure(l, &low, &high);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    uint8_t *base = emu_memory_allocate(high - low, NULL);
    if (!base)
        return reject(l->file.error, HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                      "no memory for an image of %" PRIu64 " bytes", high - low);
    l->image->base = base;
    l->image->n_bytes = high - low;
    l->image->first_vaddr = low;
    for (unsigned i = 0; i < l->file.header.e_phnum; i++) {
        Elf64_Phdr p = segment(l, i);
        if (p.p_type == PT_LOAD && p.p_filesz)
            memcpy(base + (p.p_vaddr - low), l->file.bytes + p.p_offset, p.p_filesz);
    }
    return HSA_STATUS_SUCCESS;
}

/* One segment with this permission holds n bytes at the address. */
static bool is_in_segment(const loading *l, uint32_t permission, uint64_t vaddr, uint64_t n)
{
    for (unsigned i = 0; i < l->file.header.e_phnum; i++) {
        Elf64_Phdr p = segment(l, i);
        if (p.p_type == PT_LOAD && (p.p_flags & permission) &&
            inside(vaddr - p.p_vaddr, n, p.p_memsz))
            return true;
    }
    return false;
}

/* Code becomes read-only: what was decoded must stay true.  Constants do not, the host initialises
 * them late. */
static hsa_status_t protect(loading *l)
{
    const emu_image *image = l->image;
    for (unsigned i = 0; i < l->file.header.e_phnum; i++) {
        Elf64_Phdr p = segment(l, i);
        if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) || p.p_memsz == 0)
            continue;
        uint64_t begin = (p.p_vaddr - image->first_vaddr) & ~(PAGE_BYTES - 1);
        uint64_t end = p.p_vaddr - image->first_vaddr + p.p_memsz;
        if (mprotect(image->base + begin, end - begin, PROT_READ) != 0)
            return reject(l->file.error, HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                          "mprotect of the image failed");
    }
    return HSA_STATUS_SUCCESS;
}

/* --- the dynamic section
 * -------------------------------------------------------------------------- */

static void take_entry(tables *t, Elf64_Dyn entry)
{
    switch (entry.d_tag) {
    case DT_SYMTAB:
        t->symbols = entry.d_un.d_ptr;
        break;
    case DT_STRTAB:
        t->strings = entry.d_un.d_ptr;
        break;
    case DT_STRSZ:
        t->n_string_bytes = entry.d_un.d_val;
        break;
    case DT_RELA:
        t->relocations = entry.d_un.d_ptr;
        break;
    case DT_RELASZ:
        t->n_relocation_bytes = entry.d_un.d_val;
        break;
    case DT_HASH:
        t->hash = entry.d_un.d_ptr;
        break;
    default:
        break;
    }
}

static hsa_status_t read_dynamic(loading *l)
{
    for (unsigned i = 0; i < l->file.header.e_phnum; i++) {
        Elf64_Phdr p = segment(l, i);
        if (p.p_type != PT_DYNAMIC)
            continue;
        const uint8_t *entries = at(l->image, p.p_vaddr, p.p_memsz);
        if (!entries)
            return malformed(l, "dynamic section outside the image", p.p_vaddr);
        for (uint64_t k = 0; k + sizeof(Elf64_Dyn) <= p.p_memsz; k += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry;
            memcpy(&entry, entries + k, sizeof entry);
            if (entry.d_tag == DT_NULL)
                break;
            take_entry(&l->tables, entry);
        }
    }
    return HSA_STATUS_SUCCESS;
}

/* The number of symbols is the number of chains of the hash table. */
static hsa_status_t check_tables(loading *l)
{
    tables *t = &l->tables;
    const uint8_t *hash = at(l->image, t->hash, 8);
    if (!t->hash || !hash)
        return malformed(l, "no symbol hash table (DT_HASH)", t->hash);
    uint32_t n_chains;
    memcpy(&n_chains, hash + 4, sizeof n_chains);
    t->n_symbols = n_chains;
    if (!at(l->image, t->symbols, t->n_symbols * sizeof(Elf64_Sym)))
        return malformed(l, "symbol table outside the image", t->symbols);
    if (t->n_string_bytes == 0 || !at(l->image, t->strings, t->n_string_bytes))
        return malformed(l, "string table outside the image", t->strings);
    if (*at(l->image, t->strings + t->n_string_bytes - 1, 1) != '\0')
        return malformed(l, "string table without an end", t->strings);
    if (t->n_relocation_bytes && !at(l->image, t->relocations, t->n_relocation_bytes))
        return malformed(l, "relocations outside the image", t->relocations);
    return HSA_STATUS_SUCCESS;
}

static void *copy_of(const void *bytes, size_t n)
{
    void *copy = malloc(n ? n : 1);
    if (copy && n)
        memcpy(copy, bytes, n);
    return copy;
}

static hsa_status_t copy_tables(loading *l)
{
    const tables *t = &l->tables;
    size_t n_symbol_bytes = t->n_symbols * sizeof(Elf64_Sym);
    l->symbols = copy_of(at(l->image, t->symbols, n_symbol_bytes), n_symbol_bytes);
    l->image->strings = copy_of(at(l->image, t->strings, t->n_string_bytes), t->n_string_bytes);
    l->image->symbols = calloc(t->n_symbols + 1, sizeof *l->image->symbols);
    if (!l->symbols || !l->image->strings || !l->image->symbols)
        return reject(l->file.error, HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                      "no memory for %" PRIu64 " symbols", t->n_symbols);
    return HSA_STATUS_SUCCESS;
}

/* NULL when the name does not begin inside the string table; it always ends there. */
static const char *name_of(const loading *l, const Elf64_Sym *s)
{
    return s->st_name < l->tables.n_string_bytes ? l->image->strings + s->st_name : NULL;
}

/* --- relocations
 * ------------------------------------------------------------------------------------- */

static hsa_status_t symbol_address(const loading *l, uint64_t index, uint64_t *address)
{
    *address = 0;
    if (index == 0)
        return HSA_STATUS_SUCCESS;
    if (index >= l->tables.n_symbols)
        return malformed(l, "relocation of a symbol that is not there", index);
    Elf64_Sym s = l->symbols[index];
    const char *name = name_of(l, &s);
    if (!name)
        return malformed(l, "symbol name outside the string table", s.st_name);
    if (s.st_shndx != SHN_UNDEF) {
        const uint8_t *target = at(l->image, s.st_value, 0);
        *address = (uintptr_t)target;
        return target ? HSA_STATUS_SUCCESS : malformed(l, "symbol outside the image", s.st_value);
    }
    if ((l->resolve && l->resolve(l->context, name, address)) ||
        ELF64_ST_BIND(s.st_info) == STB_WEAK)
        return HSA_STATUS_SUCCESS;
    return reject(l->file.error, HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "undefined symbol %.100s",
                  name);
}

static hsa_status_t relocate(const loading *l, const Elf64_Rela *r)
{
    uint64_t symbol;
    hsa_status_t status = symbol_address(l, ELF64_R_SYM(r->r_info), &symbol);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    size_t width = type == ABS64 || type == REL64 || type == RELATIVE64 ? 8 : 4;
    uint8_t *place = at(l->image, r->r_offset, type == NONE ? 0 : width);
    if (!place)
        return malformed(l, "relocation outside the image", r->r_offset);

    uint64_t value = symbol + (uint64_t)r->r_addend;
    switch (type) {
    case NONE:
        return HSA_STATUS_SUCCESS;
    case ABS64:
    case ABS32:
    case ABS32_LO:
        break;
    case ABS32_HI:
        value >>= 32;
        break;
    case REL32:
    case REL32_LO:
    case REL64:
        value -= (uintptr_t)place;
        break;
    case REL32_HI:
        value = (value - (uintptr_t)place) >> 32;
        break;
    case RELATIVE64:
        value = (uintptr_t)l->image->base - l->image->first_vaddr + (uint64_t)r->r_addend;
        break;
    default:
        return malformed(l, "relocation type that is not supported", type);
    }
    memcpy(place, &value, width);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t relocate_all(loading *l)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    uint64_t n = l->tables.n_relocation_bytes / sizeof(Elf64_Rela);
    for (uint64_t i = 0; i < n && status == HSA_STATUS_SUCCESS; i++) {
        Elf64_Rela r;
        memcpy(&r, at(l->image, l->tables.relocations, 0) + i * sizeof r, sizeof r);
        status = relocate(l, &r);
    }
    return status;
}

/* --- symbols
 * --------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static hsa_status_t check_kernel(const loading *l, const emu_symbol *s, uint64_t vaddr)
{
    if (!at(l->image, vaddr, sizeof(emu_kernel_descriptor)) ||
        vaddr % sizeof(emu_kernel_descriptor))
        return malformed(l, "kernel descriptor outside the image or not aligned", vaddr);
    emu_kernel_descriptor d;
    memcpy(&d, s->address, sizeof d);
    uint64_t entry = vaddr + (uint64_t)d.entry_offset_bytes;
    if (!is_in_segment(l, PF_X, entry, 4) || entry % 4)
        return malformed(l, "entry of a kernel outside the code", entry);
    return HSA_STATUS_SUCCESS;
}

/* Kernels are the descriptors NAME.kd, variables all other objects. */
static hsa_status_t take_symbol(loading *l, uint64_t index)
{
    Elf64_Sym s = l->symbols[index];
    const char *name = name_of(l, &s);
    if (!name)
        return malformed(l, "symbol name outside the string table", s.st_name);
    bool is_kernel = ends_with(name, ".kd");
    if (s.st_shndx == SHN_UNDEF || (!is_kernel && ELF64_ST_TYPE(s.st_info) != STT_OBJECT))
        return HSA_STATUS_SUCCESS;
    emu_symbol *out = &l->image->symbols[l->image->n_symbols];
    *out = (emu_symbol){.name = name,
                        .address = at(l->image, s.st_value, s.st_size),
                        .n_bytes = s.st_size,
                        .is_kernel = is_kernel,
                        .is_const = !is_in_segment(l, PF_W, s.st_value, 1),
                        .is_global = ELF64_ST_BIND(s.st_info) != STB_LOCAL,
                        .image = l->image};
    if (!out->address)
        return malformed(l, "symbol outside the image", s.st_value);
    l->image->n_symbols++;
    if (!is_kernel)
        return HSA_STATUS_SUCCESS;
    out->kernel_name = strndup(name, strlen(name) - strlen(".kd"));
    if (!out->kernel_name)
        return reject(l->file.error, HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                      "no memory for the name of a kernel");
    return check_kernel(l, out, s.st_value);
}

static hsa_status_t take_symbols(loading *l)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (uint64_t i = 1; i < l->tables.n_symbols && status == HSA_STATUS_SUCCESS; i++)
        status = take_symbol(l, i);
    return status;
}

hsa_status_t emu_image_load(const void *bytes, size_t n_bytes, emu_resolve resolve, void *context,
                            emu_image *image, emu_load_error *error)
{
    static hsa_status_t (*const steps[])(loading *) = {read_header,  map_segments, read_dynamic,
                                                       check_tables, copy_tables,  relocate_all,
                                                       take_symbols, protect};
    *image = (emu_image){0};
    error->text[0] = '\0';
    loading l = {.file = {.bytes = bytes, .n_bytes = n_bytes, .error = error},
                 .image = image,
                 .resolve = resolve,
                 .context = context};
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == HSA_STATUS_SUCCESS; i++)
        status = steps[i](&l);
    free(l.symbols);
    if (status != HSA_STATUS_SUCCESS)
        emu_image_unload(image);
    return status;
}

void emu_image_unload(emu_image *image)
{
    for (size_t i = 0; i < image->n_symbols; i++)
        free(image->symbols[i].kernel_name);
    free(image->symbols);
    free(image->strings);
    if (image->base)
        emu_memory_free(image->base, false);
    *image = (emu_image){0};
}
