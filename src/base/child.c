#include "base/child.h"

#include "base/clock.h"
#include "base/ending.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NO_EXEC = 127 };

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
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return err_set(err, "%s: cannot be started: %s", argv[0], strerror(errno));
    if (child == 0) {
        if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
            execv(argv[0], (char *const *)argv);
        _exit(EXIT_NO_EXEC);
    }
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
    if (WEXITSTATUS(status) == EXIT_NO_EXEC)
        return err_set(err, "%s: cannot be run", argv[0]);
    return WEXITSTATUS(status);
}
