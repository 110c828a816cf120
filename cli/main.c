/* cli/main.c: the moesaic command: start under the right loader, then the command table.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "cli/loader.h"

int main(int argc, char **argv)
{
    loader_reexec(argc, argv);
    return cli_main(argc, argv);
}
