/* Events of a trace: names, memory, tasks, arrows: see trace_state.h. */
#include "trace/trace_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t thread_of(const struct shown *s, int thread)
{
    return s->r.gpu * THREADS + thread + 1;
}

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
    snprintf(name, sizeof(name), "GPU %d %s (rank %" PRId64 ")", (int)s->r.gpu, what,
             (int64_t)s->r.number);
    metadata(t, s->r.instance, tid, "thread_name", name, 0);
    metadata(t, s->r.instance, tid, "thread_sort_index", NULL, tid);
}

void trace_name_rank(struct trace *t, const struct shown *s, bool new_process)
{
    bool used[STREAM_N] = { false };
    char name[160];
    if (new_process) {
        int64_t left = s->r.instance;
        const struct cluster_group *g = t->groups.cluster->groups;
        for (; left >= g->count; g++)
            left -= g->count;
        snprintf(name, sizeof(name), "instance %" PRId64 ": %s", (int64_t)s->r.instance,
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

void trace_memory(struct trace *t, struct shown *s, int64_t at_ps,
                  const int64_t held_B[LEDGER_KINDS])
{
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
        trace_json_text(j, ledger_kind_names[i]);
        trace_json_text(j, "\":");
        trace_json_int(j, held_B[i]);
    }
    trace_json_text(j, "}}");
}

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

void trace_complete(struct trace *t, const struct shown *s, int thread,
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
                           : names_of(category_names, (int)seen->task->part));
    trace_json_text(j, "\"");
    arguments(t, s, seen);
}

static void arrow(struct trace *t, const struct shown *s, char phase, int thread,
                  int64_t message, int64_t at_ps)
{
    struct trace_json *j = &t->json;
    trace_json_event(j, phase, s->r.instance, thread_of(s, thread), at_ps);
    trace_json_text(j, ",\"name\":\"message\",\"cat\":\"message\",\"id\":");
    trace_json_int(j, s->shown * t->n_messages + message);
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
    arrow(t, s, 's', THREAD_STREAMS + (int)seen->task->stream, seen->task->sends,
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
    arrow(t, s, 'f', THREAD_STREAMS + STREAM_COMPUTE, s->flow, seen->begun_ps);
    s->flow = -1;
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
