#include "step/issue.h"

const struct next_kernel issue_after_nothing = { .waits = { -1, -1 },
                                                 .receives = -1,
                                                 .overlapped = -1,
                                                 .gathered = -1,
                                                 .experts = -1,
                                                 .until = -1 };

void issue_wait(struct builder *b, int32_t task)
{
    if (task < 0)
        return;
    if (b->next.waits[0] >= 0 &&
        b->next.waits[1] >= 0) /* a kernel has two places: one more */
        issue_kernel(b, b->pass.part, 0, 0, 0);
    b->next.waits[b->next.waits[0] >= 0] = task;
}

void issue_mark_memory(struct builder *b)
{
    struct program *p = &b->step->program;
    if (!b->step->ledger.marks || b->last_kernel < 0 ||
        p->tasks.v[b->last_kernel].mark >= 0)
        return;
    p->tasks.v[b->last_kernel].mark = (int32_t)p->marks.n;
    VEC_PUSH(&p->marks, ledger_mark(&b->step->ledger));
}

void issue_tag(struct builder *b, enum work work, int64_t number)
{
    b->step->program.tag = (struct tag) { .work = work, .number = (int32_t)number };
    b->step->program.chunk = -1;
}

void issue_label(struct builder *b, const char *label)
{
    b->step->program.tasks.v[b->last_kernel].tag.label = label;
}

int32_t issue_kernel(struct builder *b, enum category part, double host_s,
                     double alone_s, double shared_s)
{
    struct program *p = &b->step->program;
    issue_mark_memory(b);
    int32_t task = program_kernel(p, STREAM_COMPUTE, part, host_s, alone_s, shared_s);
    program_follow(p, task, b->next.waits[0]);
    program_follow(p, task, b->next.waits[1]);
    p->tasks.v[task].receives = b->next.receives;
    b->next.waits[0] = b->next.waits[1] = b->next.receives = -1;
    b->last_kernel = task;
    return task;
}

int32_t issue_stream(struct builder *b, enum category part, double host_s, double bytes)
{
    return issue_kernel(b, part, host_s,
                        kernel_stream_s(b->stage->gpu, bytes, kernel_alone),
                        kernel_stream_s(b->stage->gpu, bytes, b->shared));
}

void issue_host_pause(struct builder *b, double seconds)
{
    struct program *p = &b->step->program;
    if (seconds <= 0 || p->tasks.n == 0)
        return;
    p->tasks.v[p->tasks.n - 1].sync = true;
    issue_kernel(b, CATEGORY_OTHER, seconds, 0, 0);
    issue_label(b, "host pause");
}

void issue_host_read(struct builder *b, int32_t task, double seconds)
{
    struct program *p = &b->step->program;
    if (seconds <= 0 || task < 0)
        return;
    int32_t read = program_kernel(p, STREAM_COPY, CATEGORY_OTHER, 0, seconds, seconds);
    program_follow(p, read, task);
    p->tasks.v[read].sync = true;
    p->tasks.v[read].tag.label = "host reads";
}

int32_t issue_load_batch(struct builder *b)
{
    enum { BYTES_PER_TOKEN = 3 * 8 }; /* ids, mask, types or labels as int64 */
    double bytes = (double)op_tokens(&b->stage->settings) * BYTES_PER_TOKEN;
    double time_s = bytes / b->stage->s->cluster.groups[0].instance->host_pinned_Bps;
    int32_t task =
        program_kernel(&b->step->program, STREAM_COPY, CATEGORY_OTHER,
                       b->stage->fw->host.dispatch_forward_s, time_s, time_s);
    b->step->program.tasks.v[task].tag.label = "load batch";
    return task;
}
