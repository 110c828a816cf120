/* tests/hsa/support.c: see support.h.    SPDX-License-Identifier: MIT */
#include "tests/hsa/support.h"

#include "tests/hsa/engine.h"

#include <pthread.h>
#include <unistd.h>

enum { MOMENT_US = 20000 };
#define TEN_SECONDS_NS UINT64_C(10000000000)

hsa_status_t hsa_init(void);
hsa_status_t hsa_shut_down(void);

int open_hsa(void **state)
{
    (void)state;
    engine_reset();
    return hsa_init() != HSA_STATUS_SUCCESS;
}

int close_hsa(void **state)
{
    (void)state;
    return hsa_shut_down() != HSA_STATUS_SUCCESS;
}

typedef struct wanted {
    uint32_t left;
    uint64_t handle;
} wanted;

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
    wanted *w = data;
    w->handle = agent.handle;
    return w->left-- ? HSA_STATUS_SUCCESS : HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
    return take_agent((hsa_agent_t){pool.handle}, data);
}

static hsa_agent_t agent_at(uint32_t index)
{
    wanted w = {index, 0};
    assert_int_equal(hsa_iterate_agents(take_agent, &w), HSA_STATUS_INFO_BREAK);
    return (hsa_agent_t){w.handle};
}

hsa_agent_t cpu_agent(void)
{
    return agent_at(0);
}

hsa_agent_t gpu_agent(void)
{
    return agent_at(1);
}

hsa_amd_memory_pool_t pool_of(hsa_agent_t agent, unsigned n)
{
    wanted w = {n, 0};
    assert_int_equal(hsa_amd_agent_iterate_memory_pools(agent, take_pool, &w),
                     HSA_STATUS_INFO_BREAK);
    return (hsa_amd_memory_pool_t){w.handle};
}

hsa_signal_t new_signal(hsa_signal_value_t initial)
{
    hsa_signal_t signal;
    OK(hsa_signal_create(initial, 0, NULL, &signal));
    return signal;
}

void must_become(hsa_signal_t signal, hsa_signal_value_t value)
{
    assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, value,
                                               TEN_SECONDS_NS, HSA_WAIT_STATE_BLOCKED),
                     value);
}

static pthread_t thread;
static void (*later)(void *);

static void *run(void *argument)
{
    a_moment();
    later(argument);
    return NULL;
}

void run_later(void (*function)(void *), void *argument)
{
    later = function;
    assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
}

void join_later(void)
{
    pthread_join(thread, NULL);
}

void a_moment(void)
{
    usleep(MOMENT_US);
}
