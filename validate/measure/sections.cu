#include "sections.h"

#include "task.h"

#include <math.h>
#include <string.h>

enum { TRIES_MOST = 8 };

/* In the order in which they run. The share is of the budget; what a section leaves
 * goes to those after it. */
static const struct section {
    const char *name;
    section_fn *run;
    double share;
    bool each_gpu; /* else once, for all */
    bool several;  /* only where there are several GPUs */
    bool items;    /* counts what it measures (measure_next), and can go on after one */
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

/* A fault of a kernel spoils its process for good: a section that counts its items
 * goes on in another, after the item that was at fault. Returns 0 when it came to
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
        enum task_ending end = task_run(o, &t, task_take_row);
        if (end == TASK_ENDED)
            return 0;
        bool went_on = o->last_item > t.skip;
        if (!s->items || end == TASK_LATE || (end == TASK_FAILED && !went_on) ||
            measure_now_s() > t.deadline_s)
            return -1;
        t.skip = o->last_item + (end == TASK_KILLED); /* the one at fault has no row */
    }
    return -1;
}

/* --- which are run, and for how long ---------------------------------------------- */

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

int sections_run(struct output *o)
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
            if (output_save(o, false))
                return -1;
        }
    }
    return output_save(o, true);
}

const char *sections_name(int i)
{
    return i < SECTIONS_N ? sections[i].name : NULL;
}

static bool is_section(const char *name, size_t n)
{
    for (int i = 0; i < SECTIONS_N; i++)
        if (strlen(sections[i].name) == n && strncmp(sections[i].name, name, n) == 0)
            return true;
    return false;
}

bool sections_known(const char *names)
{
    for (;; names++) {
        size_t n = strcspn(names, ",");
        if (!is_section(names, n))
            return false;
        names += n;
        if (!*names)
            return true;
    }
}
