#include "report/trace.h"

#include "base/file.h"
#include "report/trace_busy.h"

#include <string.h>

/* Threads of a GPU: its host, its streams, and the buffers of fusions. */
enum {
    THREAD_HOST,
    THREAD_STREAMS,
    THREAD_BUFFERS = THREAD_STREAMS + STREAM_N,
    THREADS
};

struct shown {
    struct observed_rank r;
    int64_t flow;                 /* message that the next kernel receives; -1: none */
    int64_t board;                /* index of its pipeline among those shown */
    int64_t held_B[LEDGER_KINDS]; /* memory, as it was said last */
    struct trace_busy gpu, host;
    int64_t period_ps; /* end of the task that the repeated stretch begins behind */
};

struct trace {
    struct file_out file;
    struct observer observer;
    struct trace_json json;
    int64_t most;
    int64_t n; /* ranks shown */
    struct shown *shown;
    int64_t n_numbers; /* of the cluster's ranks */
    bool *is_shown;    /* [n_numbers] */
    int64_t n_messages;
    uint8_t *sent; /* [boards x messages] bits: an arrow has begun */
    struct groups groups;
};

static int64_t thread_of(const struct shown *s, int thread)
{
    return s->r.gpu * THREADS + thread + 1;
}

/* Names and order of processes and threads -------------------------------------------- */

static void metadata(struct trace *t, int64_t pid, int64_t tid, const char *what,
                     const char *name, int64_t index)
{
    struct trace_json *j = &t->json;
    trace_json_event(j, 'M', pid, tid, 0);
    trace_json_text(j, ",\"name\":\"");
    trace_json_text(j, what);
    trace_json_text(j,
                    name ? "\",\"args\":{\"name\":" : "\",\"args\":{\"sort_index\":");
    if (name)
        trace_json_string(j, name);
    else
        trace_json_int(j, index);
    trace_json_text(j, "}}");
}

static void name_thread(struct trace *t, const struct shown *s, int thread,
                        const char *what)
{
    char name[128];
    int64_t tid = thread_of(s, thread);
    snprintf(name, sizeof(name), "GPU %d %s (rank %lld)", (int)s->r.gpu, what,
             (long long)s->r.number);
    metadata(t, s->r.instance, tid, "thread_name", name, 0);
    metadata(t, s->r.instance, tid, "thread_sort_index", NULL, tid);
}

static void name_rank(struct trace *t, const struct shown *s, bool new_process)
{
    bool used[STREAM_N] = { false };
    char name[160];
    if (new_process) {
        int64_t left = s->r.instance;
        const struct cluster_group *g = t->groups.cluster->groups;
        for (; left >= g->count; g++)
            left -= g->count;
        snprintf(name, sizeof(name), "instance %lld: %s", (long long)s->r.instance,
                 g->instance->name);
        metadata(t, s->r.instance, 0, "process_name", name, 0);
        metadata(t, s->r.instance, 0, "process_sort_index", NULL, s->r.instance);
    }
    for (int64_t i = 0; i < s->r.program->tasks.n; i++)
        used[s->r.program->tasks.v[i].stream] = true;
    name_thread(t, s, THREAD_HOST, "host");
    for (int i = 0; i < STREAM_N; i++)
        if (used[i])
            name_thread(t, s, THREAD_STREAMS + i, names_of(stream_names, i));
    if (s->r.program->fusions.n > 0)
        name_thread(t, s, THREAD_BUFFERS, "fused buffers");
}

/* What is shown ---------------------------------------------------------------------- */

static void choose(struct trace *t, const struct observed_run *run)
{
    int64_t n_boards = 0;
    t->n_numbers = run->groups->cluster->n_gpus;
    t->n = run->n_ranks < t->most ? run->n_ranks : t->most;
    t->shown = xcalloc((size_t)t->n + 1, sizeof(*t->shown));
    t->is_shown = xcalloc((size_t)t->n_numbers + 1, sizeof(bool));
    int64_t *board_of = xcalloc((size_t)t->n_numbers + 1, sizeof(int64_t));
    for (int64_t i = 0; i < t->n; i++) {
        struct shown *s = &t->shown[i];
        *s = (struct shown) { .r = run->ranks[i], .flow = -1 };
        s->gpu = (struct trace_busy) { .what = "kernels",
                                       .instance = s->r.instance,
                                       .gpu = s->r.gpu };
        s->host = s->gpu;
        s->host.what = "host";
        t->is_shown[s->r.number] = true;
        if (board_of[s->r.pipeline] == 0)
            board_of[s->r.pipeline] = ++n_boards;
        s->board = board_of[s->r.pipeline] - 1;
        if (s->r.program->n_messages > t->n_messages)
            t->n_messages = s->r.program->n_messages;
    }
    t->sent = xcalloc((size_t)(n_boards * t->n_messages) / 8 + 1, 1);
    free(board_of);
}

static void memory(struct trace *t, struct shown *s, int64_t at_ps,
                   const int64_t held_B[LEDGER_KINDS])
{
    static const char *const kinds[LEDGER_KINDS] = { "parameters", "gradients",
                                                     "optimizer",  "activations",
                                                     "buffers",    "workspace" };
    struct trace_json *j = &t->json;
    if (memcmp(s->held_B, held_B, sizeof(s->held_B)) == 0)
        return;
    memcpy(s->held_B, held_B, sizeof(s->held_B));
    trace_json_event(j, 'C', s->r.instance, 0, at_ps);
    trace_json_text(j, ",\"name\":\"memory of GPU ");
    trace_json_int(j, s->r.gpu);
    trace_json_text(j, " (bytes, stage ");
    trace_json_int(j, s->r.stage);
    trace_json_text(j, ")\",\"args\":{");
    for (int i = 0; i < LEDGER_KINDS; i++) {
        trace_json_text(j, i ? ",\"" : "\"");
        trace_json_text(j, kinds[i]);
        trace_json_text(j, "\":");
        trace_json_int(j, held_B[i]);
    }
    trace_json_text(j, "}}");
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
        name_rank(t, &t->shown[i], !known);
        if (t->shown[i].r.program->marks.n > 0)
            memory(t, &t->shown[i], 0, t->shown[i].r.program->marks.v[0].live_B);
    }
}

/* Tasks ------------------------------------------------------------------------------- */

static void arguments(struct trace *t, const struct shown *s,
                      const struct observed_task *seen)
{
    const struct task *task = seen->task;
    struct trace_json *j = &t->json;
    trace_json_text(j, ",\"args\":{\"task\":");
    trace_json_int(j, observed_index(s->r.program, task));
    if (task->tag.number >= 0) {
        trace_json_text(j, task->tag.work == WORK_BUCKET ? ",\"bucket\":"
                                                         : ",\"microbatch\":");
        trace_json_int(j, task->tag.number);
    }
    if (seen->met_ps > seen->begun_ps) {
        trace_json_text(j, ",\"waited_us\":");
        trace_json_us(j, seen->met_ps - seen->begun_ps);
    }
    if (task->pass >= 0)
        trace_json_text(j, ",\"measured\":\"once, in isolation\"");
    trace_json_text(j, "}}");
}

static void complete(struct trace *t, const struct shown *s, int thread,
                     const struct observed_task *seen, const char *name)
{
    struct trace_json *j = &t->json;
    trace_json_event(j, 'X', s->r.instance, thread_of(s, thread), seen->begun_ps);
    trace_json_text(j, ",\"dur\":");
    trace_json_us(j, seen->ended_ps - seen->begun_ps);
    trace_json_text(j, ",\"name\":\"");
    trace_json_text(j, name);
    trace_json_text(j, "\",\"cat\":\"");
    trace_json_text(j, thread == THREAD_HOST
                           ? "host"
                           : names_of(part_names, (int)seen->task->part));
    trace_json_text(j, "\"");
    arguments(t, s, seen);
}

static void arrow(struct trace *t, const struct shown *s, char phase, int thread,
                  int64_t message, int64_t at_ps)
{
    struct trace_json *j = &t->json;
    trace_json_event(j, phase, s->r.instance, thread_of(s, thread), at_ps);
    trace_json_text(j, ",\"name\":\"message\",\"cat\":\"message\",\"id\":");
    trace_json_int(j, s->board * t->n_messages + message);
    trace_json_text(j, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* Whether the rank that the message goes to is shown. */
static bool peer_is_shown(const struct trace *t, const struct shown *s,
                          enum channel channel)
{
    const struct layout *l = &t->groups.layout;
    struct layout_index i = layout_index(l, s->r.number);
    int64_t by = channel == CHANNEL_NEXT ? 1 : l->pipeline - 1;
    i.p = (i.p + by) % l->pipeline;
    return t->is_shown[layout_rank(l, i)];
}

static void sends(struct trace *t, const struct shown *s,
                  const struct observed_task *seen)
{
    const struct comm *c = &s->r.program->comms.v[seen->task->comm];
    int64_t bit = s->board * t->n_messages + seen->task->sends;
    if (!peer_is_shown(t, s, c->channel))
        return;
    t->sent[bit / 8] |= (uint8_t)(1u << (bit % 8));
    arrow(t, s, 's', THREAD_STREAMS + (int)seen->task->stream, seen->task->sends,
          seen->begun_ps);
}

static void receives(struct trace *t, struct shown *s, const struct observed_task *seen)
{
    const struct task *task = seen->task;
    if (task->receives >= 0) {
        int64_t bit = s->board * t->n_messages + task->receives;
        s->flow = t->sent[bit / 8] & (1u << (bit % 8)) ? task->receives : -1;
    }
    if (s->flow < 0 || task->stream != STREAM_COMPUTE ||
        seen->ended_ps == seen->begun_ps)
        return;
    arrow(t, s, 'f', THREAD_STREAMS + STREAM_COMPUTE, s->flow, seen->begun_ps);
    s->flow = -1;
}

/* Periods that were not replayed are counted where they belong. */
static void repeats(struct trace *t, struct shown *s, const struct observed_task *seen)
{
    const struct repeat *r = &s->r.program->repeat;
    struct trace_json *j = &t->json;
    int32_t index = observed_index(s->r.program, seen->task);
    if (r->from < 0 || r->extra <= 0 || (index != r->from && index != r->to))
        return;
    if (index == r->from) {
        s->period_ps = seen->ended_ps;
        return;
    }
    trace_json_event(j, 'i', s->r.instance,
                     thread_of(s, THREAD_STREAMS + (int)seen->task->stream),
                     seen->ended_ps);
    trace_json_text(j, ",\"s\":\"t\",\"name\":\"");
    trace_json_int(j, r->extra);
    trace_json_text(j, " more accumulation steps like the last one are not shown\","
                       "\"args\":{\"each_us\":");
    trace_json_us(j, seen->ended_ps - s->period_ps);
    trace_json_text(j, "}}");
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
        memory(t, s, seen->begun_ps, mark->high_B);
    if (seen->ended_ps > seen->begun_ps)
        complete(t, s, thread, seen, observed_name(s->r.program, task, name));
    kernel_busy(t, s, seen);
    if (task->sends >= 0)
        sends(t, s, seen);
    receives(t, s, seen);
    if (mark)
        memory(t, s, seen->ended_ps, mark->live_B);
    repeats(t, s, seen);
}

static void on_issued(void *arg, const struct observed_task *seen)
{
    struct trace *t = arg;
    if (seen->rank >= t->n)
        return;
    char name[OBSERVED_NAME_MAX];
    struct shown *s = &t->shown[seen->rank];
    trace_busy_add(&s->host, &t->json, seen->begun_ps, seen->ended_ps, 1);
    complete(t, s, THREAD_HOST, seen, observed_name(s->r.program, seen->task, name));
}

static void on_buffer(void *arg, const struct observed_task *seen,
                      const struct coll_plan *plan)
{
    struct trace *t = arg;
    if (seen->rank < t->n)
        complete(t, &t->shown[seen->rank], THREAD_BUFFERS, seen,
                 names_of(coll_op_names, (int)plan->op));
}

/* Thousandths of the capacity. */
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

int64_t trace_events(const struct trace *t)
{
    return t->json.events;
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
