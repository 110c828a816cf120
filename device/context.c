/* device/context.c: opening a device and stating what it is.    SPDX-License-Identifier: MIT */
#include "device/device_int.h"
#include "device/hsa.h"
#include "device/identity.h"
#include "device/label.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An XCD of CDNA 3 has 38 CUs enabled (AMD, "Introducing AMD CDNA 3 Architecture"); used when neither HSA
 * nor the driver counts the XCDs. */
enum { CUS_PER_XCD = 38 };

const char *device_kind_name(device_kind kind)
{
    static const char *const names[] = {"silicon", "software", "unknown"};
    return (unsigned)kind < 3 ? names[kind] : "unknown";
}

const char *device_time_kind_name(device_kind kind)
{
    static const char *const names[] = {"measured", "modelled", "untrusted"};
    return (unsigned)kind < 3 ? names[kind] : "untrusted";
}

/* The table may be preloaded (global scope) or only reachable through HIP (local scope). */
static const moesaic_sim_api *find_sim(void *library)
{
    const moesaic_sim_api *sim = dlsym(RTLD_DEFAULT, "moesaic_sim");
    return sim ? sim : dlsym(library, "moesaic_sim");
}

static void state_properties(device_info *info, const hipDeviceProp_tR0600 *p)
{
    snprintf(info->target, sizeof info->target, "%.*s", (int)strcspn(p->gcnArchName, ":"),
             p->gcnArchName);
    snprintf(info->name, sizeof info->name, "%.127s", p->name);
    info->cu_count = (uint32_t)p->multiProcessorCount;
    info->lds_per_cu_bytes = (uint32_t)p->maxSharedMemoryPerMultiProcessor;
    info->clock_mhz = (uint32_t)p->clockRate / 1000;
    info->wave_size = (uint32_t)p->warpSize;
    info->memory_bytes = p->totalGlobalMem;
}

static void state_version(device *dev)
{
    int version = 0;
    if (dev->hip.hipRuntimeGetVersion(&version) == hipSuccess)
        snprintf(dev->info.hip_version, sizeof dev->info.hip_version, "%d.%d.%d",
                 version / 10000000, version / 100000 % 100, version % 100000);
    identity_compiler(dev->info.compiler, sizeof dev->info.compiler);
}

/* The label, and what only HSA and the driver know. */
static void state_label(device *dev, label_place *place)
{
    device_info *info = &dev->info;
    uint32_t n_xcc = 0;
    hsa_facts(dev->hip.library, place, &n_xcc);
    dev->sim = find_sim(dev->hip.library);
    label_evidence evidence = {.software = dev->sim != NULL};
    if (!evidence.software) {
        evidence.simulator = label_simulator("/proc/cpuinfo");
        evidence.driver = label_driver("/sys", info->driver, sizeof info->driver);
        evidence.node = label_find_node("/sys", place);
        label_partition("/sys", place, info->partition, sizeof info->partition);
    }
    info->kind = label_verdict(&evidence, place->pci_device_id);
    info->pci_device_id = place->pci_device_id;
    uint32_t by_cus = (info->cu_count + CUS_PER_XCD - 1) / CUS_PER_XCD;
    info->xcd_count = n_xcc ? n_xcc : evidence.node.n_xcc ? evidence.node.n_xcc : by_cus;
    if (!info->partition[0])
        snprintf(info->partition, sizeof info->partition, "%s",
                 info->xcd_count == 1 ? "cpx" : "spx");
    if (!dev->sim)
        return;
    snprintf(info->model_version, sizeof info->model_version, "%s", dev->sim->model_version);
    info->model_calibrated = dev->sim->calibrated;
}

static moesaic_status choose_ordinal(device *dev, int ordinal, moesaic_text *err)
{
    int n = 0;
    hipError_t error = dev->hip.hipInit(0);
    if (error == hipSuccess)
        error = dev->hip.hipGetDeviceCount(&n);
    if (error == hipSuccess && ordinal < 0)
        error = dev->hip.hipGetDevice(&ordinal);
    if (error != hipSuccess)
        return hip_fail(&dev->hip, error, MOESAIC_E_DEVICE, err, "cannot start HIP");
    if (ordinal >= n)
        return moesaic_fail(err, MOESAIC_E_DEVICE,
                            "there is no device %d: HIP lists %d (see HIP_VISIBLE_DEVICES)",
                            ordinal, n);
    dev->ordinal = ordinal;
    return MOESAIC_OK;
}

static moesaic_status check_sim(const device *dev, moesaic_text *err)
{
    if (!dev->sim || dev->sim->abi == MOESAIC_SIM_ABI)
        return MOESAIC_OK;
    return moesaic_fail(err, MOESAIC_E_DEVICE,
                        "the software device's interface is version %u, this build needs %u: take "
                        "both from one build",
                        dev->sim->abi, MOESAIC_SIM_ABI);
}

static moesaic_status describe(device *dev, moesaic_text *err)
{
    hipDeviceProp_tR0600 properties;
    hipError_t error = dev->hip.hipGetDevicePropertiesR0600(&properties, dev->ordinal);
    if (error != hipSuccess)
        return hip_fail(&dev->hip, error, MOESAIC_E_DEVICE, err, "cannot describe device %d",
                        dev->ordinal);
    label_place place = {.domain = (uint32_t)properties.pciDomainID,
                         .bus = (uint32_t)properties.pciBusID,
                         .slot = (uint32_t)properties.pciDeviceID};
    state_properties(&dev->info, &properties);
    state_version(dev);
    state_label(dev, &place);
    return check_sim(dev, err);
}

moesaic_status device_open(int ordinal, device **out, moesaic_text *err)
{
    device *dev = calloc(1, sizeof *dev);
    *out = NULL;
    if (!dev)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a device");
    moesaic_status status = hip_load(&dev->hip, err);
    if (status == MOESAIC_OK)
        status = choose_ordinal(dev, ordinal, err);
    if (status == MOESAIC_OK)
        status = describe(dev, err);
    if (status == MOESAIC_OK)
        *out = dev;
    else
        device_close(dev);
    return status;
}

void device_close(device *dev)
{
    if (!dev)
        return;
    hip_unload(&dev->hip);
    free(dev);
}

const device_info *device_get_info(const device *dev)
{
    return &dev->info;
}

moesaic_status device_enter(const device *dev, int *previous, moesaic_text *err)
{
    hipError_t error = dev->hip.hipGetDevice(previous);
    if (error == hipSuccess && *previous != dev->ordinal)
        error = dev->hip.hipSetDevice(dev->ordinal);
    if (error == hipSuccess)
        return MOESAIC_OK;
    *previous = dev->ordinal;
    return hip_fail(&dev->hip, error, MOESAIC_E_DEVICE, err, "cannot use device %d", dev->ordinal);
}

void device_leave(const device *dev, int previous)
{
    if (previous != dev->ordinal)
        dev->hip.hipSetDevice(previous);
}
