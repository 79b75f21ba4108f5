/* A run as it is seen, rank by rank: see trace.h. */
#include "trace/trace_state.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>

/* Stretches of each counter: fewer where many ranks are shown, as each keeps its own. */
static int32_t stretches(int64_t n_ranks)
{
    enum { ALL = 1 << 16, MOST = 512, LEAST = 16 };
    int64_t n = ALL / (n_ranks > 0 ? n_ranks : 1);
    return (int32_t)(n > MOST ? MOST : n < LEAST ? LEAST : n & ~1);
}

/* Ranks of equal programs share their edges. */
static void choose_edges(struct trace *t)
{
    t->programs = xcalloc((size_t)t->n + 1, sizeof(*t->programs));
    for (int64_t i = 0; i < t->n; i++) {
        struct shown *s = &t->shown[i];
        int64_t k = 0;
        while (k < t->n_programs && t->programs[k].program != s->r.program)
            k++;
        if (k == t->n_programs)
            trace_edges_make(&t->programs[t->n_programs++], s->r.program);
        s->edges = &t->programs[k];
        s->first_edge = t->n_edges;
        s->begun = xcalloc((size_t)s->edges->n / 8 + 1, 1);
        t->n_edges += s->edges->n;
    }
}

static void choose_links(struct trace *t)
{
    t->links = xcalloc((size_t)t->n + 1, sizeof(*t->links));
    for (int64_t i = 0; i < t->n; i++) {
        int64_t k = 0;
        while (k < t->n_links && t->links[k].instance != t->shown[i].r.instance)
            k++;
        if (k < t->n_links)
            continue;
        t->links[t->n_links] =
            (struct shown_links) { t->shown[i].r.instance, i, { 0 }, { 0 } };
        trace_shares_init(&t->links[t->n_links].nic, stretches(t->n));
        trace_shares_init(&t->links[t->n_links++].nvlink, stretches(t->n));
    }
}

static void count_stages(struct trace *t, const struct observed_run *run)
{
    t->of_stage = xcalloc((size_t)run->groups->layout.pipeline + 1, sizeof(int64_t));
    for (int64_t i = 0; i < run->n_ranks; i++)
        t->of_stage[run->ranks[i].stage]++;
}

/* The first ranks of the run, and a number for the pipeline of each. */
static void choose(struct trace *t, const struct observed_run *run)
{
    int64_t n_shown = 0;
    t->n_numbers = run->groups->cluster->n_gpus;
    t->n = run->n_ranks < t->most ? run->n_ranks : t->most;
    t->shown = xcalloc((size_t)t->n + 1, sizeof(*t->shown));
    t->is_shown = xcalloc((size_t)t->n_numbers + 1, sizeof(bool));
    int64_t *shown_of = xcalloc((size_t)t->n_numbers + 1, sizeof(int64_t));
    for (int64_t i = 0; i < t->n; i++) {
        struct shown *s = &t->shown[i];
        *s = (struct shown) { .r = run->ranks[i], .index = i, .flow = -1 };
        trace_shares_init(&s->gpu, stretches(t->n));
        trace_shares_init(&s->host, stretches(t->n));
        trace_levels_init(&s->memory, stretches(t->n));
        t->is_shown[s->r.number] = true;
        if (shown_of[s->r.pipeline] == 0)
            shown_of[s->r.pipeline] = ++n_shown;
        s->shown = shown_of[s->r.pipeline] - 1;
        if (s->r.program->n_messages > t->n_messages)
            t->n_messages = s->r.program->n_messages;
    }
    t->sent = xcalloc((size_t)(n_shown * t->n_messages) / 8 + 1, 1);
    free(shown_of);
    choose_edges(t);
    choose_links(t);
    count_stages(t, run);
}

static double share_of(int64_t busy_ps, int64_t time_ps)
{
    return time_ps > 0 ? (double)busy_ps / (double)time_ps : 0;
}

/* Kernels, and what a measured pass has of them and of the host. */
static void kernel_busy(struct shown *s, const struct observed_task *seen)
{
    const struct task *task = seen->task;
    const struct pass_cost *pass =
        task->pass >= 0 ? &s->r.program->passes.v[task->pass] : NULL;
    double gpu = pass ? share_of(pass->gpu_busy_ps, pass->time_ps) : 1;
    double host = pass ? share_of(pass->host_busy_ps, pass->time_ps) : 0;
    if (task->stream != STREAM_COMPUTE)
        return;
    trace_shares_add(&s->gpu, seen->begun_ps, seen->ended_ps, gpu);
    if (host > 0)
        trace_shares_add(&s->host, seen->begun_ps, seen->ended_ps, host);
}

static void on_begin(void *arg, const struct observed_run *run)
{
    struct trace *t = arg;
    t->groups = *run->groups;
    choose(t, run);
    for (int64_t i = 0; i < t->n; i++) {
        struct shown *s = &t->shown[i];
        trace_name_rank(t, s);
        if (s->r.program->marks.n > 0)
            trace_levels_set(&s->memory, 0, s->r.program->marks.v[0].live_B);
    }
}

/* A task that is long enough to be seen, with what belongs to it: slices that are around
 * it, arrows, slices within it, in the order in which readers nest them. */
static void show_task(struct trace *t, struct shown *s,
                      const struct observed_task *seen)
{
    const struct task *task = seen->task;
    char name[OBSERVED_NAME_MAX];
    if (task->stream == STREAM_COMPUTE && seen->ended_ps > seen->begun_ps)
        trace_nest_kernel(t, s, seen);
    bool shown = trace_complete(t, s, THREAD_STREAMS + (int)task->stream, seen,
                                observed_name(s->r.program, task, name));
    if (shown && task->sends >= 0)
        trace_sends(t, s, seen);
    trace_receives(t, s, seen);
    if (shown)
        trace_gradients(t, s, seen);
    if (shown && task->pass >= 0)
        trace_nest_parts(t, s, seen);
}

static void on_task(void *arg, const struct observed_task *seen)
{
    struct trace *t = arg;
    if (seen->rank >= t->n)
        return;
    struct shown *s = &t->shown[seen->rank];
    const struct task *task = seen->task;
    const struct ledger_mark *mark =
        task->mark >= 0 ? &s->r.program->marks.v[task->mark] : NULL;
    if (mark)
        trace_levels_set(&s->memory, seen->begun_ps, mark->high_B);
    show_task(t, s, seen);
    kernel_busy(s, seen);
    if (mark)
        trace_levels_set(&s->memory, seen->ended_ps, mark->live_B);
    trace_repeats(t, s, seen);
}

static void on_issued(void *arg, const struct observed_task *seen)
{
    struct trace *t = arg;
    if (seen->rank >= t->n)
        return;
    char name[OBSERVED_NAME_MAX];
    struct shown *s = &t->shown[seen->rank];
    trace_shares_add(&s->host, seen->begun_ps, seen->ended_ps, 1);
    trace_complete(t, s, THREAD_HOST, seen,
                   observed_name(s->r.program, seen->task, name));
}

static void on_buffer(void *arg, const struct observed_task *seen,
                      const struct coll_plan *plan)
{
    struct trace *t = arg;
    if (seen->rank < t->n)
        trace_complete(t, &t->shown[seen->rank], THREAD_BUFFERS, seen,
                       names_of(coll_op_names, (int)plan->op));
}

/* Of instances that have ranks in the trace. */
static void on_links(void *arg, const struct observed_links *l)
{
    struct trace *t = arg;
    for (int64_t i = 0; i < t->n_links; i++) {
        struct shown_links *s = &t->links[i];
        if (s->instance != l->instance)
            continue;
        trace_shares_add(&s->nic, l->from_ps, l->to_ps, l->nic_frac);
        trace_shares_add(&s->nvlink, l->from_ps, l->to_ps, l->nvlink_frac);
    }
}

static void on_end(void *arg)
{
    struct trace *t = arg;
    for (int64_t i = 0; i < t->n; i++)
        trace_nest_end(t, &t->shown[i]);
    trace_count(t);
}

static bool is_packed(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

struct trace *trace_new(const char *path, int64_t n_ranks, struct err *err)
{
    struct trace *t = xcalloc(1, sizeof(*t));
    if (file_out_open(&t->file, path, err)) {
        free(t);
        return NULL;
    }
    t->most = n_ranks;
    trace_json_begin(&t->json, t->file.stream, is_packed(path));
    t->observer = (struct observer) {
        .arg = t,
        .begin = on_begin,
        .task = on_task,
        .issued = on_issued,
        .buffer = on_buffer,
        .links = on_links,
        .end = on_end,
    };
    trace_json_text(&t->json, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    return t;
}

const struct observer *trace_observer(const struct trace *t)
{
    return &t->observer;
}

static void release(struct trace *t)
{
    for (int64_t i = 0; i < t->n; i++) {
        trace_shares_release(&t->shown[i].gpu);
        trace_shares_release(&t->shown[i].host);
        trace_levels_release(&t->shown[i].memory);
        free(t->shown[i].begun);
    }
    for (int64_t i = 0; i < t->n_links; i++) {
        trace_shares_release(&t->links[i].nic);
        trace_shares_release(&t->links[i].nvlink);
    }
    for (int64_t i = 0; i < t->n_programs; i++)
        trace_edges_release(&t->programs[i]);
    trace_json_release(&t->json);
    free(t->programs);
    free(t->links);
    free(t->of_stage);
    free(t->shown);
    free(t->is_shown);
    free(t->sent);
    free(t);
}

int trace_close(struct trace *t, struct err *err)
{
    trace_json_text(&t->json, "\n]}\n");
    trace_json_end(&t->json);
    int rc = file_out_commit(&t->file, err);
    release(t);
    return rc;
}

void trace_abandon(struct trace *t)
{
    file_out_abandon(&t->file);
    release(t);
}
