/* device/launch.c: code objects, kernels, launching, waiting.    SPDX-License-Identifier: MIT */
#include "device/device_int.h"

#include <stdlib.h>

struct device_module {
    const device *dev;
    hipModule_t handle;
};

moesaic_status device_module_load(device *dev, const void *code, size_t n, device_module **out,
                                  moesaic_text *err)
{
    int previous;
    *out = NULL;
    device_module *module = calloc(1, sizeof *module);
    if (!module)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a module");
    module->dev = dev;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status == MOESAIC_OK) {
        hipError_t error = dev->hip.hipModuleLoadData(&module->handle, code);
        if (error != hipSuccess)
            status = hip_fail(&dev->hip, error, MOESAIC_E_DEVICE, err,
                              "cannot load a code object of %zu bytes", n);
        device_leave(dev, previous);
    }
    if (status == MOESAIC_OK)
        *out = module;
    else
        free(module);
    return status;
}

void device_module_free(device_module *module)
{
    int previous;
    if (!module)
        return;
    if (device_enter(module->dev, &previous, NULL) == MOESAIC_OK) {
        module->dev->hip.hipModuleUnload(module->handle);
        device_leave(module->dev, previous);
    }
    free(module);
}

moesaic_status device_module_function(device_module *module, const char *kernel,
                                      device_function *out, moesaic_text *err)
{
    const device *dev = module->dev;
    hipFunction_t function = NULL;
    int previous;
    *out = NULL;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status != MOESAIC_OK)
        return status;
    hipError_t error = dev->hip.hipModuleGetFunction(&function, module->handle, kernel);
    device_leave(dev, previous);
    if (error != hipSuccess)
        return hip_fail(&dev->hip, error, MOESAIC_E_NOTFOUND, err,
                        "the code object has no kernel \"%s\"", kernel);
    *out = function;
    return MOESAIC_OK;
}

moesaic_status device_launch_kernel(device *dev, device_function function,
                                    const device_launch *launch, device_stream stream,
                                    moesaic_text *err)
{
    size_t n = launch->n_argument_bytes;
    /* HIP only reads the arguments, through a pointer that is not const. */
    void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)launch->arguments,
                      HIP_LAUNCH_PARAM_BUFFER_SIZE, &n, HIP_LAUNCH_PARAM_END};
    const uint32_t *grid = launch->workgroups, *block = launch->lanes;
    int previous;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status != MOESAIC_OK)
        return status;
    hipError_t error =
        dev->hip.hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1],
                                       block[2], launch->lds_bytes, stream, NULL, config);
    device_leave(dev, previous);
    if (error == hipSuccess)
        return MOESAIC_OK;
    return hip_fail(&dev->hip, error, MOESAIC_E_LAUNCH, err,
                    "cannot launch %u x %u x %u workgroups of %u x %u x %u lanes, %u bytes of LDS",
                    grid[0], grid[1], grid[2], block[0], block[1], block[2], launch->lds_bytes);
}

/* What the software device says of its last dispatch; silicon gives HIP's error only. */
static moesaic_status software_fault(device *dev, moesaic_text *err)
{
    moesaic_sim_result last;
    if (!device_sim_last(dev, &last) || last.status == MOESAIC_SIM_OK)
        return MOESAIC_OK;
    bool late = last.status == MOESAIC_SIM_TIMEOUT;
    return moesaic_fail(err, late ? MOESAIC_E_TIMEOUT : MOESAIC_E_LAUNCH, "%.500s", last.text);
}

moesaic_status device_synchronize(device *dev, device_stream stream, moesaic_text *err)
{
    int previous;
    moesaic_status status = device_enter(dev, &previous, err);
    if (status != MOESAIC_OK)
        return status;
    hipError_t error = dev->hip.hipStreamSynchronize(stream);
    device_leave(dev, previous);
    status = software_fault(dev, err);
    if (status != MOESAIC_OK || error == hipSuccess)
        return status;
    bool late = error == hipErrorLaunchTimeOut;
    return hip_fail(&dev->hip, error, late ? MOESAIC_E_TIMEOUT : MOESAIC_E_LAUNCH, err,
                    "a kernel failed");
}
