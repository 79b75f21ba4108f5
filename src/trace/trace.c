/* A run as it is seen, rank by rank: see trace.h. */
#include "trace/trace_state.h"

#include "base/xmalloc.h"

#include <stdlib.h>

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
        *s = (struct shown) { .r = run->ranks[i], .flow = -1 };
        s->gpu = (struct trace_busy) { .what = "kernels",
                                       .instance = s->r.instance,
                                       .gpu = s->r.gpu };
        s->host = s->gpu;
        s->host.what = "host";
        t->is_shown[s->r.number] = true;
        if (shown_of[s->r.pipeline] == 0)
            shown_of[s->r.pipeline] = ++n_shown;
        s->shown = shown_of[s->r.pipeline] - 1;
        if (s->r.program->n_messages > t->n_messages)
            t->n_messages = s->r.program->n_messages;
    }
    t->sent = xcalloc((size_t)(n_shown * t->n_messages) / 8 + 1, 1);
    free(shown_of);
}

static double share_of(int64_t busy_ps, int64_t time_ps)
{
    return time_ps > 0 ? (double)busy_ps / (double)time_ps : 0;
}

/* Kernels, and what a measured pass has of them and of the host. */
static void kernel_busy(struct trace *t, struct shown *s,
                        const struct observed_task *seen)
{
    const struct task *task = seen->task;
    const struct pass_cost *pass =
        task->pass >= 0 ? &s->r.program->passes.v[task->pass] : NULL;
    double gpu = pass ? share_of(pass->gpu_busy_ps, pass->time_ps) : 1;
    double host = pass ? share_of(pass->host_busy_ps, pass->time_ps) : 0;
    if (task->stream != STREAM_COMPUTE)
        return;
    trace_busy_add(&s->gpu, &t->json, seen->begun_ps, seen->ended_ps, gpu);
    if (host > 0)
        trace_busy_add(&s->host, &t->json, seen->begun_ps, seen->ended_ps, host);
}

static void on_begin(void *arg, const struct observed_run *run)
{
    struct trace *t = arg;
    t->groups = *run->groups;
    choose(t, run);
    for (int64_t i = 0; i < t->n; i++) {
        bool known = false;
        for (int64_t k = i - 1; k >= 0 && !known; k--)
            known = t->shown[k].r.instance == t->shown[i].r.instance;
        trace_name_rank(t, &t->shown[i], !known);
        if (t->shown[i].r.program->marks.n > 0)
            trace_memory(t, &t->shown[i], 0, t->shown[i].r.program->marks.v[0].live_B);
    }
}

static void on_task(void *arg, const struct observed_task *seen)
{
    struct trace *t = arg;
    if (seen->rank >= t->n)
        return;
    struct shown *s = &t->shown[seen->rank];
    const struct task *task = seen->task;
    char name[OBSERVED_NAME_MAX];
    int thread = THREAD_STREAMS + (int)task->stream;
    const struct ledger_mark *mark =
        task->mark >= 0 ? &s->r.program->marks.v[task->mark] : NULL;
    if (mark)
        trace_memory(t, s, seen->begun_ps, mark->high_B);
    if (seen->ended_ps > seen->begun_ps)
        trace_complete(t, s, thread, seen, observed_name(s->r.program, task, name));
    kernel_busy(t, s, seen);
    if (task->sends >= 0)
        trace_sends(t, s, seen);
    trace_receives(t, s, seen);
    if (mark)
        trace_memory(t, s, seen->ended_ps, mark->live_B);
    trace_repeats(t, s, seen);
}

static void on_issued(void *arg, const struct observed_task *seen)
{
    struct trace *t = arg;
    if (seen->rank >= t->n)
        return;
    char name[OBSERVED_NAME_MAX];
    struct shown *s = &t->shown[seen->rank];
    trace_busy_add(&s->host, &t->json, seen->begun_ps, seen->ended_ps, 1);
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

/* In whole percents of the capacity, for instances that are shown. */
static void on_links(void *arg, const struct observed_links *l)
{
    struct trace *t = arg;
    struct trace_json *j = &t->json;
    bool known = false;
    for (int64_t i = 0; i < t->n && !known; i++)
        known = t->shown[i].r.instance == l->instance;
    if (!known)
        return;
    trace_json_event(j, 'C', l->instance, 0, l->from_ps);
    trace_json_text(j, ",\"name\":\"busiest links (percent)\",\"args\":{\"NIC\":");
    trace_json_int(j, (int64_t)(l->nic_frac * 100 + 0.5));
    trace_json_text(j, ",\"NVLink\":");
    trace_json_int(j, (int64_t)(l->nvlink_frac * 100 + 0.5));
    trace_json_text(j, "}}");
}

static void on_end(void *arg)
{
    struct trace *t = arg;
    for (int64_t i = 0; i < t->n; i++) {
        trace_busy_end(&t->shown[i].gpu, &t->json);
        trace_busy_end(&t->shown[i].host, &t->json);
    }
}

struct trace *trace_new(const char *path, int64_t n_ranks, struct err *err)
{
    struct trace *t = xcalloc(1, sizeof(*t));
    if (file_out_open(&t->file, path, err)) {
        free(t);
        return NULL;
    }
    t->most = n_ranks;
    t->json.out = t->file.stream;
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
    free(t->shown);
    free(t->is_shown);
    free(t->sent);
    free(t);
}

int trace_close(struct trace *t, struct err *err)
{
    trace_json_text(&t->json, "\n]}\n");
    trace_json_flush(&t->json);
    int rc = file_out_commit(&t->file, err);
    release(t);
    return rc;
}

void trace_abandon(struct trace *t)
{
    file_out_abandon(&t->file);
    release(t);
}
