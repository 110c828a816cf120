/* device/sim.c: the software device's controls; they do nothing on anything else.
 * SPDX-License-Identifier: MIT
 */
#include "device/device_int.h"

bool device_sim_set(device *dev, const moesaic_sim_options *options)
{
    return dev->sim && dev->sim->set_options(options);
}

bool device_sim_get(device *dev, moesaic_sim_options *options)
{
    *options = (moesaic_sim_options){.size_bytes = sizeof *options};
    if (dev->sim)
        dev->sim->get_options(options);
    return dev->sim != NULL;
}

bool device_sim_last(device *dev, moesaic_sim_result *result)
{
    *result = (moesaic_sim_result){.size_bytes = sizeof *result};
    if (dev->sim)
        dev->sim->last_result(result);
    return dev->sim != NULL;
}
