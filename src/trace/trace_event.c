/* Events of a trace: names, memory, tasks, arrows: see trace_state.h. */
#include "trace/trace_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A rank is a process; numbers of processes and threads are above 0, which readers take
 * for the system's own. */
static int64_t process_of(const struct shown *s)
{
    return s->r.number + 1;
}

static int64_t thread_of(const struct shown *s, int thread)
{
    return s->index * THREADS + thread + 1;
}

void trace_event(struct trace *t, const struct shown *s, char phase, int thread,
                 int64_t at_ps)
{
    trace_json_event(&t->json, phase, process_of(s), thread_of(s, thread), at_ps);
}

/* Names ------------------------------------------------------------------------------ */

/* With `text` NULL a number of "sort_index". */
static void metadata(struct trace *t, const struct shown *s, int64_t tid,
                     const char *what, const char *key, const char *text,
                     int64_t number)
{
    struct trace_json *j = &t->json;
    trace_json_event(j, 'M', process_of(s), tid, 0);
    trace_json_text(j, ",\"name\":\"");
    trace_json_text(j, what);
    trace_json_text(j, "\",\"args\":{\"");
    trace_json_text(j, key);
    trace_json_text(j, "\":");
    if (text)
        trace_json_string(j, text);
    else
        trace_json_int(j, number);
    trace_json_text(j, "}}");
}

static void name_thread(struct trace *t, const struct shown *s, int thread,
                        const char *what)
{
    int64_t tid = thread_of(s, thread);
    metadata(t, s, tid, "thread_name", "name", what, 0);
    metadata(t, s, tid, "thread_sort_index", "sort_index", NULL, tid);
}

/* "stage 3, rank 24 (represents 64 ranks)" */
static void name_process(struct trace *t, const struct shown *s)
{
    const struct layout *l = &t->groups.layout;
    int64_t all = t->n_numbers / (l->pipeline > 0 ? l->pipeline : 1);
    int64_t simulated = t->of_stage[s->r.stage];
    char name[160];
    int n = l->pipeline > 1 ? snprintf(name, sizeof(name), "stage %" PRId64 ", ",
                                       (int64_t)s->r.stage)
                            : 0;
    n += snprintf(name + n, sizeof(name) - (size_t)n, "rank %" PRId64,
                  (int64_t)s->r.number);
    if (simulated == 1 && all > 1)
        snprintf(name + n, sizeof(name) - (size_t)n, " (represents %" PRId64 " ranks)",
                 all);
    else if (simulated < all)
        snprintf(name + n, sizeof(name) - (size_t)n,
                 " (one of %" PRId64 " that represent %" PRId64 " ranks)", simulated,
                 all);
    metadata(t, s, thread_of(s, THREAD_HOST), "process_name", "name", name, 0);
    metadata(t, s, thread_of(s, THREAD_HOST), "process_sort_index", "sort_index", NULL,
             s->index);
}

static void label_process(struct trace *t, const struct shown *s)
{
    char label[160];
    int64_t left = s->r.instance;
    const struct cluster_group *g = t->groups.cluster->groups;
    for (; left >= g->count; g++)
        left -= g->count;
    snprintf(label, sizeof(label), "GPU %d of instance %" PRId64 ", %s", (int)s->r.gpu,
             (int64_t)s->r.instance, g->instance->name);
    metadata(t, s, thread_of(s, THREAD_HOST), "process_labels", "labels", label, 0);
}

void trace_name_rank(struct trace *t, const struct shown *s)
{
    bool used[STREAM_N] = { false };
    name_process(t, s);
    label_process(t, s);
    for (int64_t i = 0; i < s->r.program->tasks.n; i++)
        used[s->r.program->tasks.v[i].stream] = true;
    name_thread(t, s, THREAD_HOST, "host");
    for (int i = 0; i < STREAM_N; i++)
        if (used[i])
            name_thread(t, s, THREAD_STREAMS + i, names_of(stream_names, i));
    if (s->r.program->fusions.n > 0)
        name_thread(t, s, THREAD_BUFFERS, "fused buffers");
}

/* Tasks ------------------------------------------------------------------------------ */

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
    if (task->chunk >= 0) {
        trace_json_text(j, ",\"chunk\":");
        trace_json_int(j, task->chunk);
    }
    if (seen->met_ps > seen->begun_ps) {
        trace_json_text(j, ",\"waited_us\":");
        trace_json_span_us(j, seen->begun_ps, seen->met_ps);
    }
    if (task->pass >= 0)
        trace_json_text(j, ",\"measured\":\"once, in isolation\"");
    trace_json_text(j, "}}");
}

bool trace_complete(struct trace *t, const struct shown *s, int thread,
                    const struct observed_task *seen, const char *name)
{
    const int64_t ps_per_ns = 1000;
    struct trace_json *j = &t->json;
    if (seen->ended_ps / ps_per_ns <= seen->begun_ps / ps_per_ns)
        return false;
    trace_event(t, s, 'X', thread, seen->begun_ps);
    trace_json_text(j, ",\"dur\":");
    trace_json_span_us(j, seen->begun_ps, seen->ended_ps);
    trace_json_text(j, ",\"name\":\"");
    trace_json_text(j, name);
    trace_json_text(j, "\",\"cat\":\"");
    trace_json_text(j, thread == THREAD_HOST
                           ? "host"
                           : names_of(category_names, (int)seen->task->part));
    trace_json_text(j, "\"");
    arguments(t, s, seen);
    return true;
}

/* Arrows ----------------------------------------------------------------------------- */

static void arrow(struct trace *t, const struct shown *s, char phase, int thread,
                  const char *what, int64_t id, int64_t at_ps)
{
    struct trace_json *j = &t->json;
    trace_event(t, s, phase, thread, at_ps);
    trace_json_text(j, ",\"name\":\"");
    trace_json_text(j, what);
    trace_json_text(j, "\",\"cat\":\"");
    trace_json_text(j, what);
    trace_json_text(j, "\",\"id\":");
    trace_json_int(j, id);
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

void trace_sends(struct trace *t, const struct shown *s,
                 const struct observed_task *seen)
{
    const struct comm *c = &s->r.program->comms.v[seen->task->comm];
    int64_t bit = s->shown * t->n_messages + seen->task->sends;
    if (!peer_is_shown(t, s, c->channel))
        return;
    t->sent[bit / 8] |= (uint8_t)(1u << (bit % 8));
    arrow(t, s, 's', THREAD_STREAMS + (int)seen->task->stream, "message", bit,
          seen->begun_ps);
}

void trace_receives(struct trace *t, struct shown *s, const struct observed_task *seen)
{
    const struct task *task = seen->task;
    if (task->receives >= 0) {
        int64_t bit = s->shown * t->n_messages + task->receives;
        bool is_sent = t->sent[bit / 8] & (1u << (bit % 8));
        s->flow = is_sent ? task->receives : -1;
    }
    if (s->flow < 0 || task->stream != STREAM_COMPUTE ||
        seen->ended_ps == seen->begun_ps)
        return;
    arrow(t, s, 'f', THREAD_STREAMS + STREAM_COMPUTE, "message",
          s->shown * t->n_messages + s->flow, seen->begun_ps);
    s->flow = -1;
}

void trace_gradients(struct trace *t, struct shown *s, const struct observed_task *seen)
{
    const struct task *task = seen->task;
    int32_t index = observed_index(s->r.program, task);
    int thread = THREAD_STREAMS + (int)task->stream;
    for (int k = 0; k < 2; k++) {
        int32_t e = trace_edges_find(s->edges, task->after[k], index);
        if (e < 0 || !(s->begun[e / 8] & (1u << (e % 8))))
            continue;
        s->begun[e / 8] &= (uint8_t) ~(1u << (e % 8));
        arrow(t, s, 'f', thread, "gradients", s->first_edge + e, seen->begun_ps);
    }
    for (int32_t e = s->edges->first[index]; e < s->edges->first[index + 1]; e++) {
        s->begun[e / 8] |= (uint8_t)(1u << (e % 8));
        arrow(t, s, 's', thread, "gradients", s->first_edge + e, seen->begun_ps);
    }
}

void trace_repeats(struct trace *t, struct shown *s, const struct observed_task *seen)
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
    trace_event(t, s, 'i', THREAD_STREAMS + (int)seen->task->stream, seen->ended_ps);
    trace_json_text(j, ",\"s\":\"t\",\"name\":\"");
    trace_json_int(j, r->extra);
    trace_json_text(j, " more accumulation steps like the last one are not shown\","
                       "\"args\":{\"each_us\":");
    trace_json_span_us(j, s->period_ps, seen->ended_ps);
    trace_json_text(j, "}}");
}

/* Counters --------------------------------------------------------------------------- */

static void counter(struct trace *t, const struct shown *s, int64_t at_ps,
                    const char *name)
{
    trace_event(t, s, 'C', THREAD_HOST, at_ps);
    trace_json_text(&t->json, ",\"name\":\"");
    trace_json_text(&t->json, name);
    trace_json_text(&t->json, "\",\"args\":{\"");
}

static void count_shares(struct trace *t, const struct shown *s, const char *name,
                         const struct trace_shares *x)
{
    int64_t before = 0;
    for (int32_t i = 0; i <= x->n; i++) {
        int64_t percent = i < x->n ? trace_shares_percent(x, i) : 0;
        if (percent == before)
            continue;
        counter(t, s, i * x->stretch_ps, name);
        trace_json_text(&t->json, "busy\":");
        trace_json_int(&t->json, percent);
        trace_json_text(&t->json, "}}");
        before = percent;
    }
}

static void count_levels(struct trace *t, const struct shown *s)
{
    const struct trace_levels *l = &s->memory;
    for (int32_t i = 0; i < l->n; i++) {
        if (i > 0 && memcmp(l->held_B[i], l->held_B[i - 1], sizeof(*l->held_B)) == 0)
            continue;
        counter(t, s, i * l->stretch_ps, "memory (bytes)");
        for (int k = 0; k < LEDGER_KINDS; k++) {
            trace_json_text(&t->json, k ? ",\"" : "");
            trace_json_text(&t->json, ledger_kind_names[k]);
            trace_json_text(&t->json, "\":");
            trace_json_int(&t->json, l->held_B[i][k]);
        }
        trace_json_text(&t->json, "}}");
    }
}

void trace_count(struct trace *t)
{
    for (int64_t i = 0; i < t->n; i++) {
        count_shares(t, &t->shown[i], "GPU busy (percent)", &t->shown[i].gpu);
        count_shares(t, &t->shown[i], "host busy (percent)", &t->shown[i].host);
        count_levels(t, &t->shown[i]);
    }
    for (int64_t i = 0; i < t->n_links; i++) {
        const struct shown *s = &t->shown[t->links[i].rank];
        count_shares(t, s, "busiest network card (percent)", &t->links[i].nic);
        count_shares(t, s, "busiest NVLink (percent)", &t->links[i].nvlink);
    }
}
