/* Slices within slices of the compute stream: see trace_state.h. */
#include "trace/trace_state.h"

#include <stdio.h>

static const struct name_value work_texts[] = {
    { "forward", WORK_FORWARD },
    { "backward", WORK_BACKWARD },
    { "weight gradients", WORK_WEIGHT },
    { "update", WORK_UPDATE },
    { NULL, 0 },
};

/* Passes whose kernels are seen one by one ------------------------------------------- */

static void open_slice(struct trace *t, const struct shown *s, const char *name,
                       const char *category, int64_t at_ps)
{
    struct trace_json *j = &t->json;
    trace_event(t, s, 'B', THREAD_STREAMS + STREAM_COMPUTE, at_ps);
    trace_json_text(j, ",\"name\":\"");
    trace_json_text(j, name);
    trace_json_text(j, "\",\"cat\":\"");
    trace_json_text(j, category);
    trace_json_text(j, "\"");
}

static void open_pass(struct trace *t, struct shown *s,
                      const struct observed_task *seen)
{
    const struct tag *tag = &seen->task->tag;
    struct trace_json *j = &t->json;
    char name[64];
    const char *what = names_of(work_texts, (int)tag->work);
    if (tag->number >= 0)
        snprintf(name, sizeof(name), "%s %d", what, (int)tag->number);
    else
        snprintf(name, sizeof(name), "%s", what);
    open_slice(t, s, name, "pass", seen->begun_ps);
    trace_json_text(j, ",\"args\":{\"stage\":");
    trace_json_int(j, s->r.stage);
    if (tag->number >= 0) {
        trace_json_text(j, ",\"microbatch\":");
        trace_json_int(j, tag->number);
    }
    if (seen->task->chunk >= 0) {
        trace_json_text(j, ",\"chunk\":");
        trace_json_int(j, seen->task->chunk);
    }
    trace_json_text(j, "}}");
    s->pass = (struct open_pass) { .work = tag->work,
                                   .number = tag->number,
                                   .chunk = seen->task->chunk };
}

static void close_slice(struct trace *t, const struct shown *s)
{
    trace_event(t, s, 'E', THREAD_STREAMS + STREAM_COMPUTE, s->pass.ended_ps);
    trace_json_text(&t->json, "}");
}

void trace_nest_end(struct trace *t, struct shown *s)
{
    if (s->pass.recomputes)
        close_slice(t, s);
    if (s->pass.work != WORK_OTHER)
        close_slice(t, s);
    s->pass = (struct open_pass) { .work = WORK_OTHER };
}

static bool is_of(const struct open_pass *p, const struct task *task)
{
    return p->work == task->tag.work && p->number == task->tag.number &&
           p->chunk == task->chunk;
}

void trace_nest_kernel(struct trace *t, struct shown *s,
                       const struct observed_task *seen)
{
    const struct task *task = seen->task;
    bool in_pass = task->pass < 0 && task->tag.label && task->tag.work != WORK_OTHER &&
                   task->tag.work != WORK_BUCKET;
    bool again = in_pass && task->part == CATEGORY_RECOMPUTE;
    if (s->pass.work != WORK_OTHER && (!in_pass || !is_of(&s->pass, task)))
        trace_nest_end(t, s);
    if (s->pass.recomputes && !again) {
        close_slice(t, s);
        s->pass.recomputes = false;
    }
    if (!in_pass)
        return;
    if (s->pass.work == WORK_OTHER)
        open_pass(t, s, seen);
    if (again && !s->pass.recomputes) {
        open_slice(t, s, "recomputation", "recompute", seen->begun_ps);
        trace_json_text(&t->json, "}");
        s->pass.recomputes = true;
    }
    s->pass.ended_ps = seen->ended_ps;
}

/* Passes that were measured as a whole ----------------------------------------------- */

static void part_slice(struct trace *t, const struct shown *s, const char *name,
                       enum category part, int64_t from_ps, int64_t to_ps)
{
    struct trace_json *j = &t->json;
    trace_event(t, s, 'X', THREAD_STREAMS + STREAM_COMPUTE, from_ps);
    trace_json_text(j, ",\"dur\":");
    trace_json_span_us(j, from_ps, to_ps);
    trace_json_text(j, ",\"name\":\"");
    trace_json_text(j, name);
    trace_json_text(j, "\",\"cat\":\"");
    trace_json_text(j, names_of(category_names, (int)part));
    trace_json_text(j, "\",\"args\":{\"is\":\"all of it, in one piece\"}}");
}

void trace_nest_parts(struct trace *t, const struct shown *s,
                      const struct observed_task *seen)
{
    static const struct {
        enum category part;
        const char *name;
    } parts[] = {
        { CATEGORY_RECOMPUTE, "recomputation" },
        { CATEGORY_REFERENCE, "reference's forward" },
        { CATEGORY_TENSOR_COMM, "tensor communication" },
        { CATEGORY_CONTEXT_COMM, "context communication" },
        { CATEGORY_EXPERT_COMM, "expert communication" },
        { CATEGORY_DATA_COMM_EXPOSED, "gathers of parameters, exposed" },
        { CATEGORY_OTHER, "waiting for the host" },
    };
    const struct pass_cost *pass = &s->r.program->passes.v[seen->task->pass];
    const int64_t least_ps = 1000;
    double scale =
        (double)(seen->ended_ps - seen->begun_ps) / (double)(pass->time_ps + 1);
    enum { PARTS = sizeof(parts) / sizeof(*parts) };
    int64_t length_ps[PARTS], left_ps = seen->ended_ps - seen->begun_ps;
    for (size_t i = 0; i < PARTS; i++) {
        length_ps[i] = (int64_t)(scale * (double)pass->parts_ps[parts[i].part]);
        length_ps[i] = length_ps[i] < left_ps ? length_ps[i] : left_ps;
        if (length_ps[i] < least_ps)
            length_ps[i] = 0;
        left_ps -= length_ps[i];
    }
    /* recomputation begins the pass, the others end it; written in the order of time */
    int64_t at_ps = seen->begun_ps;
    for (size_t k = 0; k < PARTS; k++) {
        size_t i = k == 0 ? 0 : PARTS - k;
        if (length_ps[i] > 0)
            part_slice(t, s, parts[i].name, parts[i].part, at_ps, at_ps + length_ps[i]);
        at_ps += length_ps[i] + (k == 0 ? left_ps : 0);
    }
}
