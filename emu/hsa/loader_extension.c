/* emu/hsa/loader_extension.c: the "AMD loader" extension: what is asked about loaded code.
 *
 * Tested by tests/hsa/test_executable.c.                           SPDX-License-Identifier: MIT
 */
#include "emu/hsa/executable_int.h"
#include "emu/hsa/system.h"

#include <hsa/hsa_ven_amd_loader.h>
#include <string.h>

/* There is one copy of the code, and the host sees it. */
static hsa_status_t query_host_address(const void *device, const void **host)
{
    EMU_REQUIRE_OPEN();
    if (!host || !emu_image_at(device))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *host = device;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t *descriptors,
                                              size_t *n)
{
    EMU_REQUIRE_OPEN();
    (void)descriptors;
    if (!n)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *n = 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t query_executable(const void *device, hsa_executable_t *out)
{
    EMU_REQUIRE_OPEN();
    const emu_image *image = emu_image_at(device);
    if (!out || !image)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    out->handle = (uintptr_t)((const loaded *)image)->executable;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterate_loaded(hsa_executable_t handle,
                                   hsa_status_t (*callback)(hsa_executable_t,
                                                            hsa_loaded_code_object_t, void *),
                                   void *data)
{
    EMU_REQUIRE_OPEN();
    const executable *e = executable_of(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (const loaded *l = e->loaded; l && status == HSA_STATUS_SUCCESS; l = l->next)
        status = callback(handle, (hsa_loaded_code_object_t){(uintptr_t)l}, data);
    return status;
}

static hsa_status_t loaded_info(hsa_loaded_code_object_t handle,
                                hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value)
{
    EMU_REQUIRE_OPEN();
    const loaded *l = (const loaded *)(uintptr_t)handle.handle;
    if (!l || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (attribute) {
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
        ((hsa_executable_t *)value)->handle = (uintptr_t)l->executable;
        return HSA_STATUS_SUCCESS;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
        *(uint32_t *)value = HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT;
        return HSA_STATUS_SUCCESS;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
        *(hsa_agent_t *)value = l->agent;
        return HSA_STATUS_SUCCESS;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
        *(int64_t *)value = (int64_t)((uintptr_t)l->image.base - l->image.first_vaddr);
        return HSA_STATUS_SUCCESS;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
        *(uint64_t *)value = (uintptr_t)l->image.base;
        return HSA_STATUS_SUCCESS;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
        *(uint64_t *)value = l->image.n_bytes;
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

static hsa_status_t read_from_file(hsa_file_t file, size_t offset, size_t n_bytes,
                                   hsa_code_object_reader_t *out)
{
    (void)file;
    (void)offset;
    (void)n_bytes;
    if (out)
        out->handle = 0;
    emu_log(
        "hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size is not supported");
    return HSA_STATUS_ERROR;
}

static hsa_status_t iterate_executables(hsa_status_t (*callback)(hsa_executable_t, void *),
                                        void *data)
{
    EMU_REQUIRE_OPEN();
    return callback ? emu_executables_visit(callback, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major,
                                                  size_t n_bytes, void *table)
{
    static const hsa_ven_amd_loader_1_03_pfn_t functions = {
        query_host_address, query_segment_descriptors,
        query_executable,   iterate_loaded,
        loaded_info,        read_from_file,
        iterate_executables};
    EMU_REQUIRE_OPEN();
    if (!table || extension != HSA_EXTENSION_AMD_LOADER || major != 1)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    memcpy(table, &functions, n_bytes < sizeof functions ? n_bytes : sizeof functions);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor,
                                            void *table)
{
    (void)minor;
    return hsa_system_get_major_extension_table(extension, major,
                                                sizeof(hsa_ven_amd_loader_1_00_pfn_t), table);
}
