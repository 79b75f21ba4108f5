/* smsim-measure: options, sections in processes of their own, and the output file. */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_BAD_INPUT = 3, ROW_MOST = 1 << 16, DEVICES_MOST = 16 };
enum { TRIES_MOST = 8 };

static const double grace_s = 60; /* beyond its deadline a section is ended */

/* In the order in which they run. The share is of the budget; what a section leaves
 * goes to those after it. */
static const struct section {
    const char *name;
    section_fn *run;
    double share;
    bool each_gpu; /* else once, for all */
    bool several;  /* only where there are several GPUs */
    bool items; /* counts what it measures (measure_next), and can go on behind one */
} sections[] = {
    { "memory", section_memory, 0.01, true, false, false },
    { "launch", section_launch, 0.01, true, false, false },
    { "stream", section_stream, 0.03, true, false, true },
    { "kernels", section_kernels, 0.08, true, false, true },
    { "gemm", section_gemm, 0.45, true, false, true },
    { "attention", section_attention, 0.07, true, false, true },
    { "copy", section_copy, 0.05, true, false, false },
    { "peer", section_peer, 0.05, true, true, false },
    { "collective", section_collective, 0.08, false, false, false },
    { "clock", section_clock, 0.07, true, false, false },
    { "step", section_step, 0.1, false, false, false },
};
enum { SECTIONS_N = sizeof(sections) / sizeof(sections[0]) };

/* --- the output file -------------------------------------------------------------- */

struct text {
    char *s;
    size_t n, cap;
};

static void add(struct text *t, const char *s, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        t->cap = 2 * (t->n + n + 1);
        t->s = (char *)realloc(t->s, t->cap);
        if (!t->s)
            abort();
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

struct output {
    const struct measure_options *options;
    struct text devices, rows; /* objects, with commas between them */
    int n_devices;
    int64_t last_item; /* of the rows that came: see measure_next */
    char driver[64], date[32];
};

static void add_object(struct text *t, const char *line, size_t n)
{
    add(t, t->n ? ",\n        " : "        ", t->n ? 10 : 8);
    add(t, line, n);
}

static int write_to(const struct output *o, FILE *out, bool complete)
{
    fprintf(out,
            "{\n    \"format\": \"smsim-measure\",\n    \"version\": 1,\n"
            "    \"complete\": %s,\n    \"date\": \"%s\",\n    \"driver\": \"%s\",\n"
            "    \"cuda\": %d,\n    \"cublas\": %d,\n",
            complete ? "true" : "false", o->date, o->driver, CUDART_VERSION,
            CUBLAS_VERSION);
#ifdef SMSIM_NO_NCCL
    fprintf(out, "    \"nccl\": null,\n");
#else
    fprintf(out, "    \"nccl\": true,\n");
#endif
    fprintf(out, "    \"devices\": [\n%s\n    ],\n    \"rows\": [\n%s\n    ]\n}\n",
            o->devices.s, o->rows.s ? o->rows.s : "");
    return ferror(out) ? -1 : 0;
}

/* Written beside and renamed: the file is valid at every moment. */
static int save(const struct output *o, bool complete)
{
    char temp[4096];
    snprintf(temp, sizeof(temp), "%s.part", o->options->out);
    FILE *out = fopen(temp, "w");
    if (!out) {
        fprintf(stderr, "smsim-measure: %s: %s\n", temp, strerror(errno));
        return -1;
    }
    int rc = write_to(o, out, complete);
    rc |= fclose(out);
    if (rc || rename(temp, o->options->out)) {
        fprintf(stderr, "smsim-measure: %s: %s\n", o->options->out, strerror(errno));
        remove(temp);
        return -1;
    }
    return 0;
}

/* --- processes -------------------------------------------------------------------- */

/* A section on one device, and how far earlier tries came. */
struct task {
    const char *name;
    section_fn *run;
    int device;
    const struct measure_step *step; /* NULL: the section has none */
    int64_t skip;                    /* items */
    double deadline_s;
};

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

typedef void line_fn(struct output *o, const char *line, size_t n);

/* Hands whole lines over until the child is done or late; -1 when it was late. */
static int read_lines(struct output *o, int fd, double until_s, line_fn *take)
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

static void take_row(struct output *o, const char *line, size_t n)
{
    static const char key[] = ", \"item\": ";
    char text[ROW_MOST + 1];
    memcpy(text, line, n);
    text[n] = '\0';
    const char *item = strstr(text, key);
    if (item)
        o->last_item = atoll(item + strlen(key));
    add_object(&o->rows, line, n);
}

static void take_device(struct output *o, const char *line, size_t n)
{
    add_object(&o->devices, line, n);
}

static void add_failure(struct output *o, const struct task *t, const char *why)
{
    char row[200];
    int n = snprintf(row, sizeof(row),
                     "{\"kind\": \"section\", \"device\": %d, \"name\": \"%s\", "
                     "\"error\": \"%s\"}",
                     t->device, t->name, why);
    add_object(&o->rows, row, (size_t)n);
    fprintf(stderr, "smsim-measure: %s on gpu%d %s\n", t->name, t->device, why);
}

/* What a try came to. */
enum ending { ENDED, FAILED, KILLED, LATE };

/* Runs a section in a process; what went wrong is a row. */
static enum ending run_task(struct output *o, const struct task *t, line_fn *take)
{
    int fds[2], status = 0;
    if (pipe(fds))
        return LATE;
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
        return late ? LATE : KILLED;
    }
    return WEXITSTATUS(status) ? FAILED : ENDED;
}

/* A fault of a kernel spoils its process for good: a section that counts its items
 * goes on in another, behind the item that was at fault. Returns 0 when it came to
 * its end. */
static int run_section(struct output *o, const struct section *s, int index,
                       double seconds)
{
    struct task t = { s->name, s->run, 0, NULL, 0, measure_now_s() + seconds };
    if (s->each_gpu)
        t.device = index;
    else if (s->run == section_step)
        t.step = &o->options->steps[index];
    for (int i = 0; i < TRIES_MOST; i++) {
        o->last_item = t.skip;
        enum ending end = run_task(o, &t, take_row);
        if (end == ENDED)
            return 0;
        bool went_on = o->last_item > t.skip;
        if (!s->items || end == LATE || (end == FAILED && !went_on) ||
            measure_now_s() > t.deadline_s)
            return -1;
        t.skip = o->last_item + (end == KILLED); /* the one at fault has no row */
    }
    return -1;
}

/* --- what there is ---------------------------------------------------------------- */

/* In a process of its own: the number of GPUs, or why there are none. */
static int count_devices(int *n, char *why, size_t size)
{
    int fds[2];
    if (pipe(fds))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        char text[256] = "";
        int count = 0;
        cudaError_t status = cudaGetDeviceCount(&count);
        if (status != cudaSuccess)
            snprintf(text, sizeof(text), "-%s", cudaGetErrorString(status));
        else
            snprintf(text, sizeof(text), "%d", count);
        ssize_t put = write(fds[1], text, strlen(text));
        _exit(put < 0);
    }
    close(fds[1]);
    ssize_t got = read(fds[0], why, size - 1);
    close(fds[0]);
    waitpid(child, NULL, 0);
    why[got > 0 ? got : 0] = '\0';
    *n = got > 0 && why[0] != '-' ? atoi(why) : 0;
    if (*n > 0)
        return 0;
    if (why[0] == '-')
        memmove(why, why + 1, strlen(why));
    else
        snprintf(why, size, "no GPU is visible");
    return -1;
}

static void read_driver(struct output *o)
{
    FILE *in = fopen("/proc/driver/nvidia/version", "r");
    char line[512] = "", *at;
    snprintf(o->driver, sizeof(o->driver), "unknown");
    if (!in)
        return;
    if (fgets(line, sizeof(line), in) && (at = strstr(line, "Module")))
        for (at += strlen("Module"); *at; at++)
            if (*at >= '0' && *at <= '9' && sscanf(at, "%63[0-9.]", o->driver) == 1)
                break;
    fclose(in);
}

static bool is_asked(const struct measure_options *options, const char *name)
{
    const char *at = options->sections;
    size_t n = strlen(name);
    if (!at)
        return true;
    for (; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return false;
}

static bool is_run(const struct output *o, const struct section *s)
{
    return is_asked(o->options, s->name) && !(s->several && o->n_devices < 2) &&
           !(s->run == section_step && o->options->n_steps == 0);
}

/* How often a section is run: on each GPU, of each step, or once. */
static int times_of(const struct output *o, const struct section *s)
{
    if (s->run == section_step)
        return o->options->n_steps;
    return s->each_gpu ? o->n_devices : 1;
}

/* Of the budget; every step wants the share of one. */
static double share_of(const struct output *o, const struct section *s)
{
    if (!is_run(o, s))
        return 0;
    return s->run == section_step ? s->share * o->options->n_steps : s->share;
}

static void say_begun(const struct output *o, const struct section *s, int index,
                      double seconds)
{
    const struct measure_step *step = &o->options->steps[index];
    fprintf(stderr, "%-10s ", s->name);
    if (s->run == section_step)
        fprintf(stderr, "%s, batch %lld x %lld", step->model, (long long)step->batch,
                (long long)step->sequence);
    else if (s->each_gpu)
        fprintf(stderr, "gpu%d", index);
    else
        fprintf(stderr, "all GPUs");
    fprintf(stderr, "  up to %.0f s ... ", seconds);
}

static int run_all(struct output *o)
{
    double end = measure_now_s() + o->options->budget_s, shares = 0;
    for (int i = 0; i < SECTIONS_N; i++)
        shares += share_of(o, &sections[i]);
    for (int i = 0; i < SECTIONS_N; i++) {
        const struct section *s = &sections[i];
        int times = is_run(o, s) ? times_of(o, s) : 0;
        for (int k = 0; k < times; k++) {
            double part = share_of(o, s) / times, begun = measure_now_s();
            double seconds = fmax((end - begun) * part / shares, 1);
            shares -= part;
            say_begun(o, s, k, seconds);
            int rc = run_section(o, s, k, seconds);
            fprintf(stderr, "%s after %.0f s\n", rc ? "failed" : "done",
                    measure_now_s() - begun);
            if (save(o, false))
                return -1;
        }
    }
    return save(o, true);
}

static int measure(const struct measure_options *options)
{
    struct output o;
    char why[256];
    time_t now = time(NULL);
    memset(&o, 0, sizeof(o));
    o.options = options;
    if (count_devices(&o.n_devices, why, sizeof(why))) {
        fprintf(stderr, "smsim-measure: no GPU to measure: %s\n", why);
        return EXIT_BAD_INPUT;
    }
    o.n_devices = o.n_devices > DEVICES_MOST ? DEVICES_MOST : o.n_devices;
    strftime(o.date, sizeof(o.date), "%Y-%m-%d", gmtime(&now));
    read_driver(&o);
    for (int gpu = 0; gpu < o.n_devices; gpu++) {
        struct task t = {
            "device", section_device, gpu, NULL, 0, measure_now_s() + 60
        };
        if (run_task(&o, &t, take_device) != ENDED) {
            fprintf(stderr, "smsim-measure: gpu%d does not answer\n", gpu);
            return EXIT_BAD_INPUT;
        }
    }
    int rc = run_all(&o);
    free(o.devices.s);
    free(o.rows.s);
    return rc ? EXIT_BAD_INPUT : 0;
}

/* --- options ---------------------------------------------------------------------- */

static void print_help(void)
{
    printf("smsim-measure --out FILE [OPTION]...\n\n"
           "Measures the GPUs of this machine; smsim calibrate reads the result.\n\n"
           "  --out FILE          the result, as JSON; kept whole while it grows\n"
           "  --budget SECONDS    about how long it may take (600)\n"
           "  --sections A,B,...  only these:");
    for (int i = 0; i < SECTIONS_N; i++)
        printf(" %s", sections[i].name);
    printf(
        "\n  --model FILE        a training step of this config.json, too; may be "
        "given\n"
        "                      again, for further steps\n"
        "  --batch N           sequences on each GPU of the --model before it (4)\n"
        "  --sequence N        tokens of each, likewise (512)\n"
        "  --steps N           repetitions of each step (20)\n"
        "  --fp16              16-bit numbers are fp16 (bf16 where the GPU has it)\n");
}

static int wrong(const char *word, const char *what)
{
    fprintf(stderr, "smsim-measure: %s: %s (see --help)\n", word, what);
    return EXIT_USAGE;
}

static bool read_number(const char *text, double least, double most, double *v)
{
    char *end;
    *v = strtod(text, &end);
    return end != text && *end == '\0' && *v >= least && *v <= most;
}

static int add_step(struct measure_options *o, const char *model)
{
    if (o->n_steps == MEASURE_STEPS_MOST)
        return wrong("--model", "is given too often");
    o->steps[o->n_steps++] = { model, 4, 512 };
    return 0;
}

/* --batch and --sequence are of the step begun last. */
static int set_step(struct measure_options *o, const char *name, const char *value)
{
    double v = 0;
    if (o->n_steps == 0)
        return wrong(name, "stands behind the --model that it is of");
    struct measure_step *step = &o->steps[o->n_steps - 1];
    if (strcmp(name, "--batch") == 0 && read_number(value, 1, 1e5, &v))
        step->batch = (int64_t)v;
    else if (strcmp(name, "--sequence") == 0 && read_number(value, 8, 1e5, &v))
        step->sequence = (int64_t)v;
    else
        return wrong(name, "is no such number");
    return 0;
}

/* Words with a value; 0, or an exit code. */
static int set_option(struct measure_options *o, const char *name, const char *value)
{
    double v = 0;
    if (strcmp(name, "--out") == 0)
        o->out = value;
    else if (strcmp(name, "--model") == 0)
        return add_step(o, value);
    else if (strcmp(name, "--batch") == 0 || strcmp(name, "--sequence") == 0)
        return set_step(o, name, value);
    else if (strcmp(name, "--sections") == 0)
        o->sections = value;
    else if (strcmp(name, "--budget") == 0 && read_number(value, 1, 1e6, &v))
        o->budget_s = v;
    else if (strcmp(name, "--steps") == 0 && read_number(value, 1, 1e4, &v))
        o->timed = (int64_t)v;
    else
        return wrong(name, "no such option, or not such a value");
    return 0;
}

int main(int argc, char **argv)
{
    struct measure_options o = {};
    o.budget_s = 600;
    o.timed = 20;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help();
            return 0;
        }
        if (strcmp(argv[i], "--fp16") == 0) {
            o.fp16 = true;
            continue;
        }
        if (i + 1 == argc)
            return wrong(argv[i], "needs a value");
        int rc = set_option(&o, argv[i], argv[i + 1]);
        if (rc)
            return rc;
        i++;
    }
    if (!o.out)
        return wrong("--out", "is missing");
    return measure(&o);
}
