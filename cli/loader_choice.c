/* cli/loader_choice.c: silicon or software, decided from what the kernel shows, before HIP is loaded.
 *
 * Owns the reading of the amdgpu driver's topology: each node of a GPU states its target as a decimal number
 * (major * 10000 + minor * 100 + stepping), a node of CPUs states 0.
 * Source: Linux, drivers/gpu/drm/amd/amdkfd/kfd_topology.c.             SPDX-License-Identifier: MIT
 */
#include "cli/loader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GFX942 = 90402, PCI_VENDOR_AMD = 0x1002, PCI_CLASS_ACCELERATOR = 0x12 };

const loader_system loader_this_system = {
    .kfd_nodes = "/sys/class/kfd/kfd/topology/nodes",
    .kfd_device = "/dev/kfd",
    .pci_devices = "/sys/bus/pci/devices",
};

/* What a folder of one-per-device folders holds, as far as the choice asks. */
typedef struct findings {
    unsigned n_gfx942, n_other, n_accelerators;
    unsigned other_target;
} findings;

static bool read_line(const char *folder, const char *name, const char *file, const char *format,
                      unsigned *value)
{
    char path[4096], line[256];
    if (snprintf(path, sizeof path, "%s/%s/%s", folder, name, file) >= (int)sizeof path)
        return false;
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, f))
        found = sscanf(line, format, value) == 1;
    fclose(f);
    return found;
}

static void look_at_node(const char *folder, const char *name, findings *out)
{
    unsigned target = 0;
    if (!read_line(folder, name, "properties", "gfx_target_version %u", &target) || target == 0)
        return;
    if (target == GFX942) {
        out->n_gfx942++;
    } else {
        out->n_other++;
        out->other_target = target;
    }
}

static void look_at_pci(const char *folder, const char *name, findings *out)
{
    unsigned vendor = 0, class = 0;
    if (read_line(folder, name, "vendor", "%x", &vendor) && vendor == PCI_VENDOR_AMD &&
        read_line(folder, name, "class", "%x", &class) && class >> 16 == PCI_CLASS_ACCELERATOR)
        out->n_accelerators++;
}

static void look_through(const char *folder, void (*look)(const char *, const char *, findings *),
                         findings *out)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.')
            look(folder, entry->d_name, out);
    }
    closedir(dir);
}

static moesaic_status find_silicon(const loader_system *system, const findings *found,
                                   moesaic_text *err)
{
    if (found->n_gfx942 > 0) {
        if (access(system->kfd_device, R_OK | W_OK) == 0)
            return MOESAIC_OK;
        return moesaic_fail(
            err, MOESAIC_E_DEVICE,
            "a gfx942 is here, but %s cannot be opened: %s (is the user in the group "
            "render?)",
            system->kfd_device, strerror(errno));
    }
    unsigned target = found->other_target;
    if (found->n_other > 0)
        return moesaic_fail(
            err, MOESAIC_E_DEVICE,
            "the AMD GPU here is a gfx%u%u%x; the kernels are for gfx942 (use --device "
            "software for modelled times)",
            target / 10000, target / 100 % 100, target % 100);
    if (found->n_accelerators > 0)
        return moesaic_fail(
            err, MOESAIC_E_DEVICE,
            "an AMD accelerator is on the PCI bus, but the amdgpu driver shows none (use "
            "--device software for modelled times)");
    return moesaic_fail(err, MOESAIC_E_NOTFOUND, "no gfx942 on this machine");
}

moesaic_status loader_choose(const char *wanted, const loader_system *system, loader_device *out,
                             moesaic_text *err)
{
    *out = LOADER_SOFTWARE;
    bool is_auto = !wanted || !wanted[0] || strcmp(wanted, "auto") == 0;
    if (!is_auto && strcmp(wanted, "software") == 0)
        return MOESAIC_OK;
    if (!is_auto && strcmp(wanted, "silicon") != 0)
        return moesaic_fail(err, MOESAIC_E_INPUT, "device '%s' is none of auto, silicon, software",
                            wanted);
    findings found = {0};
    look_through(system->kfd_nodes, look_at_node, &found);
    look_through(system->pci_devices, look_at_pci, &found);
    moesaic_status status = find_silicon(system, &found, err);
    if (status == MOESAIC_E_NOTFOUND && is_auto)
        return MOESAIC_OK;
    *out = LOADER_SILICON;
    return status == MOESAIC_E_NOTFOUND ? MOESAIC_E_DEVICE : status;
}

moesaic_status loader_choice(loader_device *out, moesaic_text *err)
{
    return loader_choose(getenv("MOESAIC_DEVICE"), &loader_this_system, out, err);
}
