/* tuner/worker.c: a forked child behind a socket pair.
 *
 *   request   size_t n | n bytes
 *   answer    header (status, text, n) | n bytes
 *
 * What the child prints to stderr (a runtime's last words) goes to a file in memory and is quoted when it dies.
 * Tested by tests/tuner/test_worker.c.    SPDX-License-Identifier: MIT
 */
#include "tuner/worker.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
    worker_serve serve;
    void *user;
    pid_t pid; /* 0: no child */
    int socket, words;
};

typedef struct answer_header {
    moesaic_status status;
    moesaic_text text;
    size_t n_bytes;
} answer_header;

/* --- bytes --- */

static bool write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        ssize_t done = send(fd, p, n, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* False at the end of the stream, and with errno ETIMEDOUT when deadline_s (0: none) passes. */
static bool wait_readable(int fd, double deadline_s)
{
    for (;;) {
        double left_s = deadline_s > 0 ? deadline_s - clock_now_s() : 3600;
        if (left_s <= 0) {
            errno = ETIMEDOUT;
            return false;
        }
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int n = poll(&p, 1, (int)(left_s * 1000) + 1);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}

static bool read_all(int fd, void *bytes, size_t n, double deadline_s)
{
    char *p = bytes;
    while (n) {
        if (!wait_readable(fd, deadline_s))
            return false;
        ssize_t done = read(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = ECONNRESET;
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* n bytes into a growing text. */
static bool read_str(int fd, size_t n, double deadline_s, str *out)
{
    char piece[16384];
    while (n) {
        size_t part = n < sizeof piece ? n : sizeof piece;
        if (!read_all(fd, piece, part, deadline_s))
            return false;
        str_add_bytes(out, piece, part);
        n -= part;
    }
    return true;
}

/* --- the child --- */

static bool serve_one(const worker *w, int fd, void **state)
{
    size_t n;
    str request = {0}, answer = {0};
    answer_header header = {.status = MOESAIC_OK};
    if (!read_all(fd, &n, sizeof n, 0) || !read_str(fd, n, 0, &request))
        return false;
    header.status = request.failed
                        ? moesaic_fail(&header.text, MOESAIC_E_NOMEM, "no memory")
                        : w->serve(w->user, state, str_text(&request), n, &answer, &header.text);
    header.n_bytes = answer.failed ? 0 : answer.n;
    if (answer.failed)
        header.status = moesaic_fail(&header.text, MOESAIC_E_NOMEM, "no memory for an answer");
    bool sent = write_all(fd, &header, sizeof header) && write_all(fd, answer.s, header.n_bytes);
    str_free(&request);
    str_free(&answer);
    return sent;
}

static _Noreturn void child_main(const worker *w, int fd, int words, pid_t parent)
{
    void *state = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signal(SIGINT, SIG_IGN); /* a terminal's Ctrl-C is the parent's to handle */
    dup2(words, STDERR_FILENO);
    while (serve_one(w, fd, &state))
        continue;
    _exit(0);
}

static moesaic_status start(worker *w, moesaic_text *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return moesaic_fail(err, MOESAIC_E_STATE, "cannot start a worker: %s", strerror(errno));
    int words = memfd_create("moesaic worker", MFD_CLOEXEC);
    pid_t parent = getpid(), pid = words < 0 ? -1 : fork();
    if (pid == 0) {
        close(pair[0]);
        child_main(w, pair[1], words, parent);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        if (words >= 0)
            close(words);
        return moesaic_fail(err, MOESAIC_E_STATE, "cannot start a worker: %s", strerror(errno));
    }
    w->pid = pid;
    w->socket = pair[0];
    w->words = words;
    return MOESAIC_OK;
}

/* --- the parent --- */

moesaic_status worker_new(worker_serve serve, void *user, worker **out, moesaic_text *err)
{
    worker *w = calloc(1, sizeof *w);
    *out = w;
    if (!w)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a worker");
    w->serve = serve;
    w->user = user;
    return MOESAIC_OK;
}

/* Reap the child; its wait status. */
static int reap(worker *w)
{
    int how = 0;
    while (waitpid(w->pid, &how, 0) < 0 && errno == EINTR)
        continue;
    close(w->socket);
    close(w->words);
    w->pid = 0;
    return how;
}

void worker_stop(worker *w)
{
    if (!w->pid)
        return;
    kill(w->pid, SIGKILL);
    reap(w);
}

void worker_free(worker *w)
{
    if (!w)
        return;
    worker_stop(w);
    free(w);
}

moesaic_status worker_send(worker *w, const void *request, size_t n_bytes, moesaic_text *err)
{
    for (int tries = 0; tries < 2; tries++) {
        moesaic_status status = w->pid ? MOESAIC_OK : start(w, err);
        if (status != MOESAIC_OK)
            return status;
        if (write_all(w->socket, &n_bytes, sizeof n_bytes) &&
            write_all(w->socket, request, n_bytes))
            return MOESAIC_OK;
        worker_stop(w); /* it died between two requests */
    }
    return moesaic_fail(err, MOESAIC_E_STATE, "a worker dies before it takes a request");
}

/* The last line that the child printed to stderr, or "". */
static void last_words(const worker *w, char *out, size_t n_bytes)
{
    off_t end = lseek(w->words, 0, SEEK_END);
    off_t from = end > (off_t)n_bytes - 1 ? end - ((off_t)n_bytes - 1) : 0;
    ssize_t n = end > 0 ? pread(w->words, out, (size_t)(end - from), from) : 0;
    out[n > 0 ? n : 0] = 0;
    size_t length = strlen(out);
    while (length && (out[length - 1] == '\n' || out[length - 1] == ' '))
        out[--length] = 0;
    char *line = strrchr(out, '\n');
    if (line)
        memmove(out, line + 1, strlen(line + 1) + 1);
}

static moesaic_status say_death(worker *w, moesaic_text *err)
{
    char words[256];
    last_words(w, words, sizeof words);
    int how = reap(w);
    const char *separator = words[0] ? ": " : "";
    if (WIFSIGNALED(how))
        return moesaic_fail(err, MOESAIC_E_LAUNCH, "the process died of signal %d (%s)%s%s",
                            WTERMSIG(how), strsignal(WTERMSIG(how)), separator, words);
    return moesaic_fail(err, MOESAIC_E_LAUNCH, "the process ended with status %d%s%s",
                        WEXITSTATUS(how), separator, words);
}

moesaic_status worker_receive(worker *w, double limit_s, str *answer, moesaic_text *err)
{
    answer_header header;
    double deadline_s = limit_s > 0 ? clock_now_s() + limit_s : 0;
    if (!w->pid)
        return moesaic_fail(err, MOESAIC_E_STATE, "no request was sent");
    if (!read_all(w->socket, &header, sizeof header, deadline_s) ||
        !read_str(w->socket, header.n_bytes, deadline_s, answer)) {
        if (errno != ETIMEDOUT)
            return say_death(w, err);
        worker_stop(w);
        return moesaic_fail(err, MOESAIC_E_TIMEOUT, "no answer within %g s", limit_s);
    }
    if (header.status != MOESAIC_OK && err)
        *err = header.text;
    if (answer->failed)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for an answer");
    return header.status;
}
