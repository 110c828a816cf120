/* emu/hsa/symbol.c: what hsa_executable_symbol_get_info answers about kernels and variables.
 *
 * Tested by tests/hsa/test_executable.c.                           SPDX-License-Identifier: MIT
 */
#include "emu/hsa/executable_int.h"

#include "emu/hsa/system.h"

#include <string.h>

enum { USES_DYNAMIC_STACK_BIT = 11, KERNARG_ALIGNMENT_BYTES = 16 };

static hsa_status_t put_bool(void *value, bool answer)
{
    *(bool *)value = answer;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t put_u32(void *value, uint64_t answer)
{
    *(uint32_t *)value = (uint32_t)answer;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t put_address(void *value, const emu_symbol *s)
{
    *(uint64_t *)value = (uintptr_t)s->address;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t kernel_info(const emu_symbol *s, hsa_executable_symbol_info_t attribute,
                                void *value)
{
    const emu_kernel_descriptor *d = (const emu_kernel_descriptor *)s->address;
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
        return put_address(value, s);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
        return put_u32(value, d->kernarg_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
        return put_u32(value, KERNARG_ALIGNMENT_BYTES);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
        return put_u32(value, d->group_segment_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
        return put_u32(value, d->private_segment_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
        return put_bool(value, d->properties >> USES_DYNAMIC_STACK_BIT & 1);
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

static hsa_status_t variable_info(const emu_symbol *s, hsa_executable_symbol_info_t attribute,
                                  void *value)
{
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
        return put_address(value, s);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
        return put_u32(value, s->n_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
        return put_bool(value, s->is_const);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
        return put_u32(value, HSA_VARIABLE_ALLOCATION_AGENT);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
        return put_u32(value,
                       s->is_const ? HSA_VARIABLE_SEGMENT_READONLY : HSA_VARIABLE_SEGMENT_GLOBAL);
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle,
                                            hsa_executable_symbol_info_t attribute, void *value)
{
    EMU_REQUIRE_OPEN();
    const emu_symbol *s = (const emu_symbol *)(uintptr_t)handle.handle;
    if (!s)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
        return put_u32(value, s->is_kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
        return put_u32(value, strlen(s->name));
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME: /* without a NUL */
        memcpy(value, s->name, strlen(s->name));
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
        *(hsa_agent_t *)value = ((const loaded *)s->image)->agent;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
        return put_u32(value,
                       s->is_global ? HSA_SYMBOL_LINKAGE_PROGRAM : HSA_SYMBOL_LINKAGE_MODULE);
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
        return put_bool(value, true);
    default:
        return s->is_kernel ? kernel_info(s, attribute, value) : variable_info(s, attribute, value);
    }
}
