/* cli/cmd_device.c: `moesaic device`: what the device is, and whether its times are measured or modelled.
 *
 * Tested by tests/cli/test_device.sh.    SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"
#include "device/device.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static int print_json(const cli_call *call, const device_info *d)
{
    cJSON *out = cJSON_CreateObject();
    cJSON_AddStringToObject(out, "kind", device_kind_name(d->kind));
    cJSON_AddStringToObject(out, "time_kind", device_time_kind_name(d->kind));
    cJSON_AddStringToObject(out, "target", d->target);
    cJSON_AddStringToObject(out, "name", d->name);
    cJSON_AddNumberToObject(out, "pci_device_id", d->pci_device_id);
    cJSON_AddNumberToObject(out, "cu_count", d->cu_count);
    cJSON_AddNumberToObject(out, "xcd_count", d->xcd_count);
    cJSON_AddStringToObject(out, "partition", d->partition);
    cJSON_AddNumberToObject(out, "memory_bytes", (double)d->memory_bytes);
    cJSON_AddStringToObject(out, "driver", d->driver);
    cJSON_AddStringToObject(out, "hip_version", d->hip_version);
    cJSON_AddStringToObject(out, "compiler", d->compiler);
    if (d->kind == DEVICE_SOFTWARE) {
        cJSON *model = cJSON_AddObjectToObject(out, "model");
        cJSON_AddStringToObject(model, "version", d->model_version);
        cJSON_AddBoolToObject(model, "calibrated", d->model_calibrated);
    } else {
        cJSON_AddNullToObject(out, "model");
    }
    return cli_print_json(call, out);
}

static void row(cli_table *table, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void row(cli_table *table, const char *name, const char *format, ...)
{
    char value[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    cli_table_cell(table, "%s", name);
    cli_table_cell(table, "%s", value);
}

static int print_table(const device_info *d)
{
    cli_table *table = cli_table_new();
    cli_table_column(table, "<device");
    cli_table_column(table, "<value");
    row(table, "kind", "%s: its times are %s", device_kind_name(d->kind),
        device_time_kind_name(d->kind));
    row(table, "name", "%s", d->name);
    row(table, "target", "%s, PCI id 0x%04" PRIx32, d->target, d->pci_device_id);
    row(table, "compute units", "%" PRIu32 " on %" PRIu32 " XCD%s, partition %s", d->cu_count,
        d->xcd_count, d->xcd_count == 1 ? "" : "s", d->partition);
    row(table, "memory", "%.1f GiB", (double)d->memory_bytes / 0x1p30);
    row(table, "HIP", "%s", d->hip_version);
    row(table, "compiler", "%s", d->compiler);
    if (d->driver[0])
        row(table, "driver", "%s", d->driver);
    if (d->kind == DEVICE_SOFTWARE)
        row(table, "time model", "version %s, %scalibrated on silicon", d->model_version,
            d->model_calibrated ? "" : "not ");
    return cli_table_print(table);
}

static int run(cli_call *call)
{
    moesaic_text err;
    device *dev;
    moesaic_status status = device_open(-1, &dev, &err);
    if (status != MOESAIC_OK)
        return cli_fail(call, status, &err);
    const device_info info = *device_get_info(dev);
    device_close(dev);
    return call->json ? print_json(call, &info) : print_table(&info);
}

const cli_command cli_device = {
    .name = "device",
    .usage = "[options]",
    .summary = "Say what the device is, and where its times come from",
    .help =
        "silicon: an MI300X that the amdgpu driver shows; its times are measured.\n"
        "software: the software MI300X; its times are modelled, with the version of the model.\n"
        "unknown: another simulator, or nothing proves silicon; its times are untrusted.",
    .run = run,
};
