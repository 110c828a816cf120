/* device/hsa.c: PCI device id and number of XCDs, from the HSA library under HIP.
 *
 * HIP states neither (checked in 6.4); HSA is initialised already when HIP is.    SPDX-License-Identifier: MIT
 */
#include "device/hsa.h"

#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <string.h>

typedef struct search {
    __typeof__(&hsa_agent_get_info) get;
    label_place *place;
    uint32_t *n_xcc;
} search;

static uint32_t get_u32(const search *s, hsa_agent_t agent, hsa_amd_agent_info_t what)
{
    uint32_t value = 0;
    if (s->get(agent, (hsa_agent_info_t)what, &value) != HSA_STATUS_SUCCESS)
        return 0;
    return value;
}

static hsa_status_t visit(hsa_agent_t agent, void *user)
{
    search *s = user;
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    if (s->get(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS ||
        type != HSA_DEVICE_TYPE_GPU)
        return HSA_STATUS_SUCCESS;
    uint32_t location = get_u32(s, agent, HSA_AMD_AGENT_INFO_BDFID);
    if (location >> 8 != s->place->bus || (location >> 3 & 31) != s->place->slot ||
        get_u32(s, agent, HSA_AMD_AGENT_INFO_DOMAIN) != s->place->domain)
        return HSA_STATUS_SUCCESS;
    s->place->pci_device_id = get_u32(s, agent, HSA_AMD_AGENT_INFO_CHIP_ID);
    *s->n_xcc = get_u32(s, agent, HSA_AMD_AGENT_INFO_NUM_XCC);
    return HSA_STATUS_INFO_BREAK;
}

void hsa_facts(void *library, label_place *place, uint32_t *n_xcc)
{
    search s = {.place = place, .n_xcc = n_xcc};
    __typeof__(&hsa_iterate_agents) iterate = NULL;
    void *get_address = dlsym(library, "hsa_agent_get_info");
    void *iterate_address = dlsym(library, "hsa_iterate_agents");
    *n_xcc = 0;
    if (!get_address || !iterate_address)
        return;
    /* POSIX: a function's address has the bytes of an object pointer. */
    memcpy(&s.get, &get_address, sizeof s.get);
    memcpy(&iterate, &iterate_address, sizeof iterate);
    iterate(visit, &s);
}
