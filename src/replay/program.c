#include "replay/program.h"

#include "base/units.h"

const struct name_value part_names[] = {
    { "compute", PART_COMPUTE },
    { "recompute", PART_RECOMPUTE },
    { "tensor_comm", PART_TENSOR_COMM },
    { "pipeline_comm", PART_PIPELINE_COMM },
    { "pipeline_bubble", PART_PIPELINE_BUBBLE },
    { "context_comm", PART_CONTEXT_COMM },
    { "expert_comm", PART_EXPERT_COMM },
    { "data_comm_exposed", PART_DATA_COMM_EXPOSED },
    { "data_comm_hidden", PART_DATA_COMM_HIDDEN },
    { "optimizer", PART_OPTIMIZER },
    { "offload_exposed", PART_OFFLOAD_EXPOSED },
    { "other", PART_OTHER },
    { NULL, 0 },
};

void program_init(struct program *p)
{
    *p = (struct program) { .repeat = { .from = -1, .to = -1 } };
}

void program_release(struct program *p)
{
    VEC_RELEASE(&p->tasks);
    VEC_RELEASE(&p->comms);
    for (int64_t i = 0; i < p->fusions.n; i++) {
        VEC_RELEASE(&p->fusions.v[i]->tensors);
        free(p->fusions.v[i]);
    }
    VEC_RELEASE(&p->fusions);
}

int32_t program_kernel(struct program *p, enum stream stream, enum part part,
                       double host_s, double alone_s, double shared_s)
{
    VEC_PUSH(&p->tasks, ((struct task) {
                            .stream = stream,
                            .part = part,
                            .after = -1,
                            .comm = -1,
                            .fusion = -1,
                            .host_ps = units_ps(host_s),
                            .alone_ps = units_ps(alone_s),
                            .shared_ps = units_ps(shared_s),
                        }));
    return (int32_t)(p->tasks.n - 1);
}

int32_t program_collective(struct program *p, enum part part, double host_s,
                           int32_t comm, int32_t after)
{
    VEC_PUSH(&p->tasks, ((struct task) {
                            .stream = STREAM_COMM,
                            .part = part,
                            .after = after,
                            .comm = comm,
                            .fusion = -1,
                            .host_ps = units_ps(host_s),
                        }));
    return (int32_t)(p->tasks.n - 1);
}

int32_t program_fusion(struct program *p, enum part part, struct fusion *fusion)
{
    VEC_PUSH(&p->fusions, fusion);
    fusion->task = program_kernel(p, STREAM_COMM, part, 0, 0, 0);
    p->tasks.v[fusion->task].fusion = (int32_t)(p->fusions.n - 1);
    return fusion->task;
}

int32_t program_comm(struct program *p, const struct coll_plan *plan)
{
    VEC_PUSH(&p->comms, plan);
    return (int32_t)(p->comms.n - 1);
}
