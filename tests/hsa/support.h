/* tests/hsa/support.h: what the tests of the HSA layer share.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_TESTS_HSA_SUPPORT_H
#define MOESAIC_TESTS_HSA_SUPPORT_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, HSA_STATUS_SUCCESS)

/* The status of the AMD extension that has an enumeration of its own. */
#define INVALID_MEMORY_POOL ((hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL)

/* Fixtures: open the library before, close it after. */
int open_hsa(void **state);
int close_hsa(void **state);

hsa_agent_t cpu_agent(void);
hsa_agent_t gpu_agent(void);

/* The n-th pool of an agent. */
hsa_amd_memory_pool_t pool_of(hsa_agent_t agent, unsigned n);

hsa_signal_t new_signal(hsa_signal_value_t initial);

/* Wait, at most ten seconds, until the signal has the value. */
void must_become(hsa_signal_t signal, hsa_signal_value_t value);

/* Run on another thread in a moment; join_later waits for its end. */
void run_later(void (*function)(void *), void *argument);
void join_later(void);

/* The same without a thread for what must still not have happened. */
void a_moment(void);

#endif
