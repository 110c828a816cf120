/* tests/hsa/engine.c: see engine.h.    SPDX-License-Identifier: MIT */
#include "tests/hsa/engine.h"

#include <pthread.h>
#include <stdio.h>

enum { MAX_LAUNCHES = 512 };

bool engine_holds;
uint64_t engine_time_ns;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static emu_launch copies[MAX_LAUNCHES], *launches[MAX_LAUNCHES];
static uint32_t n_submitted;

void engine_reset(void)
{
    engine_holds = false;
    engine_time_ns = 1000;
    n_submitted = 0;
}

uint32_t engine_n_submitted(void)
{
    return __atomic_load_n(&n_submitted, __ATOMIC_ACQUIRE);
}

emu_launch engine_submitted(uint32_t i)
{
    return copies[i];
}

static void finish(emu_launch *launch, moesaic_sim_status status)
{
    moesaic_sim_result result = {.size_bytes = sizeof result, .status = status};
    result.time_ns = status == MOESAIC_SIM_OK ? engine_time_ns : 0;
    if (status != MOESAIC_SIM_OK)
        snprintf(result.text, sizeof result.text, "kernel %s: status %d", launch->kernel_name,
                 (int)status);
    launch->done(launch, &result);
}

void engine_finish(uint32_t i, moesaic_sim_status status)
{
    finish(launches[i], status);
}

int emu_engine_start(const emu_device_shape *shape, const emu_memory_map *map)
{
    (void)shape;
    (void)map;
    return 0;
}

void emu_engine_submit(emu_launch *launch)
{
    pthread_mutex_lock(&lock);
    uint32_t i = n_submitted % MAX_LAUNCHES;
    copies[i] = *launch;
    launches[i] = launch;
    __atomic_store_n(&n_submitted, n_submitted + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    if (!engine_holds)
        finish(launch, MOESAIC_SIM_OK);
}

bool emu_engine_help(void)
{
    return false;
}

void emu_engine_stop(void) {}

void emu_engine_forget_code(const void *base, size_t n_bytes)
{
    (void)base;
    (void)n_bytes;
}
