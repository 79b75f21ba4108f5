#include "run/program.h"

#include "base/units.h"

#include <assert.h>

const struct name_value category_names[] = {
    { "compute", CATEGORY_COMPUTE },
    { "recompute", CATEGORY_RECOMPUTE },
    { "reference", CATEGORY_REFERENCE },
    { "tensor_comm", CATEGORY_TENSOR_COMM },
    { "pipeline_comm", CATEGORY_PIPELINE_COMM },
    { "pipeline_bubble", CATEGORY_PIPELINE_BUBBLE },
    { "context_comm", CATEGORY_CONTEXT_COMM },
    { "expert_comm", CATEGORY_EXPERT_COMM },
    { "data_comm_exposed", CATEGORY_DATA_COMM_EXPOSED },
    { "data_comm_hidden", CATEGORY_DATA_COMM_HIDDEN },
    { "optimizer", CATEGORY_OPTIMIZER },
    { "offload_exposed", CATEGORY_OFFLOAD_EXPOSED },
    { "input_wait", CATEGORY_INPUT_WAIT },
    { "other", CATEGORY_OTHER },
    { NULL, 0 },
};

double breakdown_passes_s(const double parts_s[CATEGORY_N])
{
    return parts_s[CATEGORY_COMPUTE] + parts_s[CATEGORY_RECOMPUTE] +
           parts_s[CATEGORY_REFERENCE];
}

void program_init(struct program *p)
{
    *p = (struct program) { .repeat = { .from = -1, .to = -1 },
                            .forwards = { .from = -1, .to = -1 },
                            .tag.number = -1,
                            .chunk = -1 };
}

void program_release(struct program *p)
{
    VEC_RELEASE(&p->tasks);
    VEC_RELEASE(&p->marks);
    VEC_RELEASE(&p->comms);
    VEC_RELEASE(&p->passes);
    for (int64_t i = 0; i < p->fusions.n; i++) {
        VEC_RELEASE(&p->fusions.v[i]->tensors);
        free(p->fusions.v[i]);
    }
    VEC_RELEASE(&p->fusions);
}

static int32_t add(struct program *p, struct task t)
{
    t.tag = p->tag;
    t.chunk = p->chunk;
    t.mark = -1;
    VEC_PUSH(&p->tasks, t);
    return (int32_t)(p->tasks.n - 1);
}

int32_t program_kernel(struct program *p, enum stream stream, enum category part,
                       double host_s, double alone_s, double shared_s)
{
    return add(p, (struct task) {
                      .stream = stream,
                      .part = part,
                      .after = { -1, -1 },
                      .comm = -1,
                      .fusion = -1,
                      .pass = -1,
                      .receives = -1,
                      .sends = -1,
                      .host_ps = units_ps(host_s),
                      .alone_ps = units_ps(alone_s),
                      .shared_ps = units_ps(shared_s),
                  });
}

int32_t program_collective(struct program *p, enum category part, double host_s,
                           int32_t comm, int32_t after)
{
    return program_collective_on(p, STREAM_COMM, part, host_s, comm, after);
}

/* Messages between two ranks are not checked. */
static double check_s(const struct program *p, int32_t comm)
{
    const struct coll_plan *plan = p->comms.v[comm].plan;
    return plan->op == COLL_SENDRECV
               ? 0
               : framework_check_s(p->check, plan->n_ranks, plan->n_nodes > 1);
}

int32_t program_collective_on(struct program *p, enum stream stream, enum category part,
                              double host_s, int32_t comm, int32_t after)
{
    host_s += check_s(p, comm);
    int32_t task = program_kernel(p, stream, part, host_s, 0, 0);
    p->tasks.v[task].comm = comm;
    p->tasks.v[task].after[0] = after;
    return task;
}

int32_t program_pass(struct program *p, int32_t pass)
{
    int32_t index = program_kernel(p, STREAM_COMPUTE, CATEGORY_COMPUTE, 0, 0, 0);
    struct task *t = &p->tasks.v[index];
    t->pass = pass;
    t->sync = true;
    t->alone_ps = t->shared_ps = p->passes.v[pass].time_ps;
    return index;
}

void program_follow(struct program *p, int32_t task, int32_t after)
{
    if (after < 0)
        return;
    struct task *t = &p->tasks.v[task];
    int slot = t->after[0] >= 0;
    assert(t->after[slot] < 0);
    t->after[slot] = after;
}

int32_t program_fusion(struct program *p, enum category part, struct fusion *fusion)
{
    VEC_PUSH(&p->fusions, fusion);
    fusion->task = program_kernel(p, STREAM_COMM, part, 0, 0, 0);
    p->tasks.v[fusion->task].fusion = (int32_t)(p->fusions.n - 1);
    return fusion->task;
}

int32_t program_comm(struct program *p, const struct coll_plan *plan)
{
    VEC_PUSH(&p->comms, ((struct comm) { .channel = CHANNEL_DATA, .plan = plan }));
    return (int32_t)(p->comms.n - 1);
}
