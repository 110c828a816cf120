/* device/label.c: silicon, software or unknown.
 *
 * A time is called measured only on silicon, so silicon must be proven: our HSA library is absent, the
 * amdgpu driver is loaded, the kernel's topology has a node with the device's PCI id and place, and no
 * simulator is known to be here.  A marketing name proves nothing.
 * Source of the files' layout: Linux, Documentation/gpu/amdgpu, and drivers/gpu/drm/amd/amdkfd/kfd_topology.c.
 * SPDX-License-Identifier: MIT
 */
#include "device/label.h"

#include <dirent.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { VENDOR_AMD = 0x1002 };

device_kind label_verdict(const label_evidence *evidence, uint32_t pci_device_id)
{
    if (evidence->software)
        return DEVICE_SOFTWARE;
    bool proven = !evidence->simulator && evidence->driver && evidence->node.found &&
                  pci_device_id && evidence->node.pci_device_id == pci_device_id;
    return proven ? DEVICE_SILICON : DEVICE_UNKNOWN;
}

/* First line of a small file, without its end; false and "" when there is none. */
static bool first_line(const char *path, char *text, size_t n)
{
    text[0] = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(text, (int)n, file) != NULL;
    fclose(file);
    text[strcspn(text, "\n")] = 0;
    return read;
}

bool label_driver(const char *sys, char *driver_text, size_t n)
{
    char path[512];
    struct utsname kernel;
    driver_text[0] = 0;
    snprintf(path, sizeof path, "%s/module/amdgpu", sys);
    if (access(path, F_OK) != 0)
        return false;
    snprintf(path, sizeof path, "%s/module/amdgpu/version", sys);
    /* The driver of the kernel itself has no version of its own: the kernel's is meant then. */
    if (!first_line(path, driver_text, n) && uname(&kernel) == 0)
        snprintf(driver_text, n, "linux %.50s", kernel.release);
    return true;
}

/* "name value" lines of one node. */
static bool node_matches(const char *path, const label_place *place, label_node *out)
{
    unsigned long long vendor = 0, chip = 0, location = 0, domain = 0, n_xcc = 0, value;
    const struct {
        const char *name;
        unsigned long long *value;
    } wanted[] = {{"vendor_id", &vendor},
                  {"device_id", &chip},
                  {"location_id", &location},
                  {"domain", &domain},
                  {"num_xcc", &n_xcc}};
    char name[64];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (fscanf(file, "%63s %llu", name, &value) == 2)
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            if (strcmp(name, wanted[i].name) == 0)
                *wanted[i].value = value;
    fclose(file);
    /* A partitioned device has several nodes at one place; any of them proves it. */
    if (vendor != VENDOR_AMD || domain != place->domain || location >> 8 != place->bus ||
        (location >> 3 & 31) != place->slot)
        return false;
    *out = (label_node){true, (uint32_t)chip, (uint32_t)n_xcc};
    return true;
}

label_node label_find_node(const char *sys, const label_place *place)
{
    char folder[512];
    label_node node = {0};
    snprintf(folder, sizeof folder, "%s/class/kfd/kfd/topology/nodes", sys);
    DIR *nodes = opendir(folder);
    const struct dirent *entry;
    while (nodes && !node.found && (entry = readdir(nodes))) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/properties", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            node_matches(path, place, &node);
    }
    if (nodes)
        closedir(nodes);
    return node;
}

void label_partition(const char *sys, const label_place *place, char *text, size_t n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/bus/pci/devices/%04x:%02x:%02x.0/current_compute_partition",
             sys, place->domain, place->bus, place->slot);
    first_line(path, text, n);
    for (char *p = text; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
}

static int note_simulator(struct dl_phdr_info *info, size_t info_bytes, void *user)
{
    static const struct {
        const char *name, *part;
    } objects[] = {
#define SIMULATED_OBJECT(name, part) {name, part},
#define SIMULATED_CPU(name, vendor)
#include "device/simulators.def"
#undef SIMULATED_OBJECT
#undef SIMULATED_CPU
    };
    (void)info_bytes;
    const char **found = user;
    const char *slash = strrchr(info->dlpi_name, '/');
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
        if (strstr(slash ? slash : info->dlpi_name, objects[i].part))
            *found = objects[i].name;
    return *found != NULL;
}

static const char *simulated_cpu(const char *cpuinfo)
{
    static const struct {
        const char *name, *vendor;
    } cpus[] = {
#define SIMULATED_OBJECT(name, part)
#define SIMULATED_CPU(name, vendor) {name, vendor},
#include "device/simulators.def"
#undef SIMULATED_OBJECT
#undef SIMULATED_CPU
    };
    char line[256];
    const char *found = NULL;
    FILE *file = fopen(cpuinfo, "re");
    while (file && !found && fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++)
            if (strncmp(line, "vendor_id", 9) == 0 && strstr(line, cpus[i].vendor))
                found = cpus[i].name;
    if (file)
        fclose(file);
    return found;
}

const char *label_simulator(const char *cpuinfo)
{
    const char *found = NULL;
    dl_iterate_phdr(note_simulator, &found);
    return found ? found : simulated_cpu(cpuinfo);
}
