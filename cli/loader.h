/* cli/loader.h: starting programs so that they find HIP and, where it is wanted, the software MI300X.
 *
 * A private HIP brings its own C library, so a program that loads it must be started by that library's
 * dynamic loader; and which libhsa-runtime64 a process gets is decided before HIP is loaded.  Both are
 * settled by starting a program as "ld.so --library-path ...": nothing is exported to its children.
 * The rules are in docs/setup.md.                                        SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_CLI_LOADER_H
#define MOESAIC_CLI_LOADER_H

#include "base/status.h"

typedef enum loader_device {
    LOADER_SOFTWARE, /* our libhsa-runtime64 goes in front */
    LOADER_SILICON,  /* HIP finds the one that belongs to it */
} loader_device;

/* Where the kernel shows GPUs; another root is for tests. */
typedef struct loader_system {
    const char *kfd_nodes;   /* "/sys/class/kfd/kfd/topology/nodes" */
    const char *kfd_device;  /* "/dev/kfd" */
    const char *pci_devices; /* "/sys/bus/pci/devices" */
} loader_system;
extern const loader_system loader_this_system;

/* Which device a process is to see, looked up without HIP.
 *
 * wanted  "auto", "silicon", "software"; NULL means auto
 * system  normally &loader_this_system
 * Errors: E_INPUT for another word; E_DEVICE when silicon is asked for and absent, or when auto meets an
 * AMD GPU that is no gfx942 or cannot be used: never a silent fall to software.
 */
moesaic_status loader_choose(const char *wanted, const loader_system *system, loader_device *out,
                             moesaic_text *err);

/* The choice of this process: what $MOESAIC_DEVICE (set by --device) says on this machine. */
moesaic_status loader_choice(loader_device *out, moesaic_text *err);

/* Call first in main.  Starts the running program again through the loader that its HIP needs; returns in
 * the program so started, or at once where there is no HIP to be found (whoever opens a device says so).
 * Takes "--device D" from argv into $MOESAIC_DEVICE.  Ends the process with status 2 when it cannot start it.
 */
void loader_reexec(int argc, char **argv);

/* A program as it has to be started: scripts are replaced by their interpreter. */
typedef struct loader_program {
    char *path;        /* the ELF file */
    char *interpreter; /* the dynamic loader that it asks for */
    char **argv;       /* NULL-terminated, argv[0] as its caller wrote it */
} loader_program;

/* Find argv[0] as a shell would.  Errors: E_NOTFOUND; E_INPUT for what cannot be given another HIP: static
 * programs, other machines, other C libraries.  On failure *out is empty. */
moesaic_status loader_program_find(char **argv, loader_program *out, moesaic_text *err);
void loader_program_free(loader_program *program);

/* Replace this process by argv, with HIP and the software device in reach.  Returns only on failure. */
moesaic_status loader_run_program(char **argv, moesaic_text *err);

#endif
