#include "base/child.h"

#include "base/clock.h"
#include "base/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Runs argv in the child; what goes wrong is written to a pipe that closes otherwise. */
static void become(const char *const argv[], int report)
{
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        execv(argv[0], (char *const *)argv);
    const ssize_t written = write(report, "x", 1);
    _exit(written == 1 ? 127 : 126);
}

/* A child that runs argv; -1 with err set. */
static pid_t start(const char *const argv[], struct err *err)
{
    int ends[2];
    char none;
    fflush(stdout);
    if (pipe(ends))
        return err_set(err, "%s: cannot be started: %s", argv[0], strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child == 0)
        become(argv, ends[1]);
    const int why = errno;
    close(ends[1]);
    const bool failed = child > 0 && read(ends[0], &none, 1) == 1;
    close(ends[0]);
    if (child < 0)
        return err_set(err, "%s: cannot be started: %s", argv[0], strerror(why));
    if (failed) {
        waitpid(child, NULL, 0);
        return err_set(err, "%s: cannot be run", argv[0]);
    }
    return child;
}

/* Polls, for there is no wait with a limit; 20 ms are short for a measurement. */
static pid_t wait_until(pid_t child, int *status, double until_s)
{
    const struct timespec pause = { 0, 20000000 };
    pid_t done;
    while ((done = waitpid(child, status, WNOHANG)) == 0 && clock_s() < until_s)
        nanosleep(&pause, NULL);
    return done;
}

/* Asks it to end; after ten seconds it is made to. */
static void end_child(pid_t child)
{
    int status;
    kill(child, SIGTERM);
    if (wait_until(child, &status, clock_s() + 10) == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
}

int child_run(const char *const argv[], double limit_s, struct err *err)
{
    int status = 0;
    pid_t child = start(argv, err);
    if (child < 0)
        return -1;
    ending_set_child(child);
    pid_t done = wait_until(child, &status, clock_s() + limit_s);
    if (done == 0)
        end_child(child);
    ending_set_child(0);
    if (done < 0)
        return err_set(err, "%s: cannot be waited for: %s", argv[0], strerror(errno));
    if (done == 0) {
        return err_set(err, "%s: did not end within %.0f s", argv[0], limit_s);
    }
    if (WIFSIGNALED(status))
        return err_set(err, "%s: was killed by signal %d (%s)", argv[0],
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status);
}
