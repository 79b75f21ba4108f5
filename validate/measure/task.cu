#include "task.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROW_MOST = 1 << 16 };

static const double grace_s = 60; /* beyond its deadline a section is ended */

/* In the child. Only rows go down the pipe; it ends with the parent. */
static void run_child(const struct output *o, const struct task *t, int fd)
{
    struct measure m;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(&m, 0, sizeof(m));
    m.options = o->options;
    m.device = t->device;
    m.step = t->step;
    m.n_devices = o->n_devices;
    m.deadline_s = t->deadline_s;
    m.skip = t->skip;
    m.rows = fdopen(fd, "w");
    int rc = measure_open(&m);
    if (rc == 0)
        rc = t->run(&m);
    if (rc) {
        fprintf(stderr, "%s ... ", m.error);
        m.item = 0;
        row_begin(&m, "section");
        row_text(&m, "name", t->name);
        row_error(&m);
        row_end(&m);
    }
    fclose(m.rows);
    _exit(rc ? 1 : 0); /* the driver cleans up; its own exit may hang on a lost GPU */
}

/* Hands whole lines over until the child is done or late; -1 when it was late. */
static int read_lines(struct output *o, int fd, double until_s, task_line_fn *take)
{
    char buffer[ROW_MOST];
    size_t n = 0;
    for (;;) {
        struct pollfd p = { fd, POLLIN, 0 };
        double left = until_s - measure_now_s();
        if (left <= 0 || poll(&p, 1, (int)(1e3 * left) + 1) == 0)
            return -1;
        ssize_t got = read(fd, buffer + n, sizeof(buffer) - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        n += (size_t)got;
        char *end;
        while ((end = (char *)memchr(buffer, '\n', n))) {
            size_t line = (size_t)(end - buffer);
            take(o, buffer, line);
            memmove(buffer, end + 1, n - line - 1);
            n -= line + 1;
        }
        if (n == sizeof(buffer))
            n = 0; /* no row is so long: the child writes nonsense */
    }
}

void task_take_row(struct output *o, const char *line, size_t n)
{
    static const char key[] = ", \"item\": ";
    char text[ROW_MOST + 1];
    memcpy(text, line, n);
    text[n] = '\0';
    const char *item = strstr(text, key);
    if (item)
        o->last_item = atoll(item + strlen(key));
    output_add(&o->rows, line, n);
}

void task_take_device(struct output *o, const char *line, size_t n)
{
    output_add(&o->devices, line, n);
}

static void add_failure(struct output *o, const struct task *t, const char *why)
{
    char row[200];
    int n = snprintf(row, sizeof(row),
                     "{\"kind\": \"section\", \"device\": %d, \"name\": \"%s\", "
                     "\"error\": \"%s\"}",
                     t->device, t->name, why);
    output_add(&o->rows, row, (size_t)n);
    fprintf(stderr, "smsim-measure: %s on gpu%d %s\n", t->name, t->device, why);
}

enum task_ending task_run(struct output *o, const struct task *t, task_line_fn *take)
{
    int fds[2], status = 0;
    if (pipe(fds))
        return TASK_LATE;
    pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        run_child(o, t, fds[1]);
    }
    close(fds[1]);
    int late = child < 0 || read_lines(o, fds[0], t->deadline_s + grace_s, take);
    close(fds[0]);
    if (child > 0) {
        if (late)
            kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    if (late || WIFSIGNALED(status)) {
        add_failure(o, t,
                    child < 0 ? "could not be started"
                    : late    ? "did not end in time"
                              : "was killed");
        return late ? TASK_LATE : TASK_KILLED;
    }
    return WEXITSTATUS(status) ? TASK_FAILED : TASK_ENDED;
}
