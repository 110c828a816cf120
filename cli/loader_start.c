/* cli/loader_start.c: linked into test and bench programs, so that they find HIP without a word in main.
 *
 * The C library hands constructors the arguments of main.               SPDX-License-Identifier: MIT
 */
#include "cli/loader.h"

__attribute__((constructor)) static void start_through_loader(int argc, char **argv)
{
    loader_reexec(argc, argv);
}
