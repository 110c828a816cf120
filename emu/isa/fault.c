/* emu/isa/fault.c: a host fault in a kernel's memory access becomes a result, not the end of the process.
 *
 * Handlers of memory instructions access host memory directly and check nothing: a page that is not there is
 * found by the host's MMU.  Only armed threads are affected.
 * Tested by tests/hip/test_faults.c.                                          SPDX-License-Identifier: MIT
 */
#include "emu/isa/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* initial-exec: a signal handler must not allocate. */
static _Thread_local emu_fault *armed __attribute__((tls_model("initial-exec")));

static const int signals[] = {SIGSEGV, SIGBUS};
enum { N_SIGNALS = sizeof signals / sizeof signals[0] };
static struct sigaction before[N_SIGNALS];

/* What would have happened without us: the older handler, or the default when the instruction is run again. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *old = &before[number == SIGBUS];
    if (old->sa_flags & SA_SIGINFO)
        old->sa_sigaction(number, info, context);
    else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
        old->sa_handler(number);
    else
        signal(number, SIG_DFL);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    emu_fault *fault = armed;
    if (!fault) {
        pass_on(number, info, context);
        return;
    }
    armed = NULL;
    fault->address = (uintptr_t)info->si_addr;
    siglongjmp(fault->jump, 1);
}

static int take_signal(int i)
{
    struct sigaction now,
        ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (sigaction(signals[i], NULL, &now))
        return errno;
    bool is_ours = now.sa_sigaction == on_fault; /* put back by signal(), it lacks SA_SIGINFO */
    if (is_ours && (now.sa_flags & SA_SIGINFO))
        return 0;
    if (!is_ours)
        before[i] = now;
    return sigaction(signals[i], &ours, NULL) ? errno : 0;
}

int emu_fault_install(void)
{
    int error = 0;
    for (int i = 0; i < N_SIGNALS && !error; i++)
        error = take_signal(i);
    return error;
}

/* Gives the signals back, unless somebody took them after us. */
void emu_fault_remove(void)
{
    struct sigaction now;
    for (int i = 0; i < N_SIGNALS; i++)
        if (!sigaction(signals[i], NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
            now.sa_sigaction == on_fault)
            sigaction(signals[i], &before[i], NULL);
}

void emu_fault_arm(emu_fault *fault)
{
    armed = fault;
}
