/* emu/sim.c: the exported table moesaic_sim: options in, results of the last dispatch out.
 *
 * Owns the process-wide options and the record of the last dispatch.  A fault stays pending until
 * somebody is told: allocations fail as long as it is, and reading it through last_result ends
 * that.
 * Tested by tests/hsa/test_system.c.                               SPDX-License-Identifier: MIT
 */
#include "emu/sim_int.h"

#include "emu/timing/model_version.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static moesaic_sim_options options = {
    .size_bytes = sizeof options,
    .mode = MOESAIC_SIM_TIMED,
    .mfma = MOESAIC_SIM_MFMA_SILICON,
    .order = MOESAIC_SIM_ASCENDING,
};
static moesaic_sim_result last = {.size_bytes = sizeof last};
static uint64_t n_dispatches;
static bool fault_pending;

static bool options_are_valid(const moesaic_sim_options *o)
{
    return o->mode <= MOESAIC_SIM_TIMED && o->mfma <= MOESAIC_SIM_MFMA_SILICON &&
           o->order <= MOESAIC_SIM_SWITCHING && o->host_threads <= 1024 && o->wall_limit_s >= 0 &&
           isfinite(o->wall_limit_s);
}

/* The caller's struct may be older (shorter) than ours: what it does not know keeps its value. */
static size_t common_bytes(uint32_t theirs, size_t ours)
{
    return theirs < ours ? theirs : ours;
}

static bool set_options(const moesaic_sim_options *from)
{
    if (!from || from->size_bytes < sizeof from->size_bytes)
        return false;
    pthread_mutex_lock(&lock);
    moesaic_sim_options wanted = options;
    memcpy(&wanted, from, common_bytes(from->size_bytes, sizeof wanted));
    wanted.size_bytes = sizeof wanted;
    bool ok = options_are_valid(&wanted);
    if (ok)
        options = wanted;
    pthread_mutex_unlock(&lock);
    return ok;
}

static void get_options(moesaic_sim_options *to)
{
    uint32_t size_bytes = to->size_bytes;
    pthread_mutex_lock(&lock);
    memcpy(to, &options, common_bytes(size_bytes, sizeof options));
    pthread_mutex_unlock(&lock);
    to->size_bytes = size_bytes;
}

static void last_result(moesaic_sim_result *to)
{
    uint32_t size_bytes = to->size_bytes;
    pthread_mutex_lock(&lock);
    memcpy(to, &last, common_bytes(size_bytes, sizeof last));
    fault_pending = false;
    pthread_mutex_unlock(&lock);
    to->size_bytes = size_bytes;
}

static uint64_t dispatch_count(void)
{
    pthread_mutex_lock(&lock);
    uint64_t n = n_dispatches;
    pthread_mutex_unlock(&lock);
    return n;
}

const moesaic_sim_api moesaic_sim __attribute__((visibility("default"))) = {
    .abi = MOESAIC_SIM_ABI,
    .model_version = EMU_MODEL_VERSION,
    .calibrated = false,
    .set_options = set_options,
    .get_options = get_options,
    .last_result = last_result,
    .dispatch_count = dispatch_count,
};

bool emu_sim_is_timed(void)
{
    pthread_mutex_lock(&lock);
    bool timed = options.mode == MOESAIC_SIM_TIMED;
    pthread_mutex_unlock(&lock);
    return timed;
}

void emu_sim_finished(const moesaic_sim_result *result)
{
    pthread_mutex_lock(&lock);
    n_dispatches++;
    if (!fault_pending) { /* what still ran beside a faulting kernel must not hide it */
        last = *result;
        last.size_bytes = sizeof last;
        fault_pending = result->status != MOESAIC_SIM_OK;
    }
    pthread_mutex_unlock(&lock);
}

bool emu_sim_fault(char *text, size_t text_bytes)
{
    pthread_mutex_lock(&lock);
    bool pending = fault_pending;
    if (pending)
        snprintf(text, text_bytes, "%s", last.text);
    pthread_mutex_unlock(&lock);
    return pending;
}

/* --- the environment --- */

static bool refuse(char *error, size_t error_bytes, const char *variable, const char *value,
                   const char *allowed)
{
    snprintf(error, error_bytes, "%s: \"%s\" is not understood; use %s", variable, value, allowed);
    return false;
}

/* Index of the variable's value among words; keeps *out when the variable is not set. */
static bool read_word(const char *variable, const char *const words[], int n, int *out)
{
    const char *value = getenv(variable);
    if (!value)
        return true;
    for (int i = 0; i < n; i++)
        if (strcmp(value, words[i]) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bool read_number(const char *variable, double low, double high, double *out)
{
    const char *value = getenv(variable);
    if (!value)
        return true;
    char *end;
    errno = 0;
    double x = strtod(value, &end);
    if (errno || end == value || *end || !(x >= low && x <= high))
        return false;
    *out = x;
    return true;
}

bool emu_sim_options_from_environment(char *error, size_t error_bytes)
{
    moesaic_sim_options o = {.size_bytes = sizeof o};
    get_options(&o);
    int mode = (int)o.mode, mfma = (int)o.mfma, order = (int)o.order;
    double seed = (double)o.seed, threads = o.host_threads;
    const char *name;

    if (!read_word(name = "MOESAIC_SIM_MODE", (const char *const[]){"exact", "timed"}, 2, &mode))
        return refuse(error, error_bytes, name, getenv(name), "exact or timed");
    if (!read_word(name = "MOESAIC_SIM_MFMA", (const char *const[]){"fast", "silicon"}, 2, &mfma))
        return refuse(error, error_bytes, name, getenv(name), "fast or silicon");
    if (!read_word(name = "MOESAIC_SIM_ORDER",
                   (const char *const[]){"ascending", "descending", "switching"}, 3, &order))
        return refuse(error, error_bytes, name, getenv(name), "ascending, descending or switching");
    if (!read_number(name = "MOESAIC_SIM_SEED", 0, 9007199254740992.0, &seed))
        return refuse(error, error_bytes, name, getenv(name), "a number from 0 to 2^53");
    if (!read_number(name = "MOESAIC_SIM_THREADS", 0, 1024, &threads))
        return refuse(error, error_bytes, name, getenv(name),
                      "a number from 0 (all cores) to 1024");
    if (!read_number(name = "MOESAIC_SIM_WALL_LIMIT", 0, 1e9, &o.wall_limit_s))
        return refuse(error, error_bytes, name, getenv(name), "seconds, 0 for no limit");
    o.mode = (moesaic_sim_mode)mode;
    o.mfma = (moesaic_sim_mfma)mfma;
    o.order = (moesaic_sim_order)order;
    o.seed = (uint64_t)seed;
    o.host_threads = (uint32_t)threads;
    return set_options(&o);
}
