/* db/process.c: which process wrote a row, and does it still live?
 *
 * A pid alone is reused; pid, start time and the kernel's boot id together are not.  What cannot be seen from
 * here counts as dead: its candidate is then tried once more, which costs one trial and loses nothing.
 * Source: proc(5), fields pid and starttime of /proc/PID/stat.  Tested by tests/db/test_trial.c.
 * SPDX-License-Identifier: MIT
 */
#include "db/db_int.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void read_line(const char *path, char *out, size_t n)
{
    FILE *file = fopen(path, "re");
    if (!file || !fgets(out, (int)n, file))
        out[0] = 0;
    if (file)
        fclose(file);
    out[strcspn(out, "\n")] = 0;
}

/* Field 22 of /proc/PID/stat, counted after the command's closing parenthesis (field 2, which may hold blanks).
 * A zombie's is as good as none: it will write no more.  -1: no such process. */
static int64_t start_of(int64_t pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    read_line(path, line, sizeof line);
    char *after_name = strrchr(line, ')');
    char state;
    long long start;
    if (!after_name ||
        sscanf(after_name + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld",
               &state, &start) != 2 ||
        state == 'Z')
        return -1;
    return start;
}

void process_self(process_identity *out)
{
    *out = (process_identity){.pid = getpid()};
    if (gethostname(out->host, sizeof out->host - 1) != 0)
        out->host[0] = 0;
    read_line("/proc/sys/kernel/random/boot_id", out->boot_id, sizeof out->boot_id);
    out->start = start_of(out->pid);
}

bool process_lives(const process_identity *identity)
{
    process_identity self;
    process_self(&self);
    return strcmp(identity->boot_id, self.boot_id) == 0 && strcmp(identity->host, self.host) == 0 &&
           identity->start >= 0 && start_of(identity->pid) == identity->start;
}
