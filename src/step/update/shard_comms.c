#include "step/update/shard_comms.h"

#include "step/comms.h"
#include "step/issue.h"
#include "step/pass/offload.h"
#include "step/stage.h"

void shard_await_dropped(struct builder *b)
{
    enum { GATHERS = 2 };
    struct units_state *u = b->shard.units;
    if (u->n_dropped - u->n_awaited >= GATHERS)
        issue_host_read(b, u->dropped[u->n_awaited++ % TURNS],
                        b->stage->fw->shard.unit_gather_s);
}

void shard_note_dropped(struct builder *b)
{
    struct units_state *u = b->shard.units;
    u->dropped[u->n_dropped++ % TURNS] = b->last_kernel;
}

/* Lists of a part for each rank cost the host time before the collective, and it waits
 * for the GPU first (MODEL.md, R8.3). */
static void make_lists(struct builder *b, int32_t n)
{
    double each_s =
        (double)b->stage->s->parallel.shard.degree * b->stage->fw->shard.part_s;
    if (each_s <= 0)
        return;
    issue_wait(b, b->buckets.last_comm);
    int32_t task = issue_kernel(b, CATEGORY_OTHER, 0, 0, 0);
    b->step->program.tasks.v[task].sync = true;
    issue_kernel(b, CATEGORY_OTHER, n * each_s, 0, 0);
    issue_label(b, "lists of parts");
}

/* Lists' parts lie apart from what the collective moves: they are copied from or to it
 * on its stream, and what they gather into is zeroed first. Yields the last task. */
static int32_t copy_lists(struct builder *b, int32_t after, double elements,
                          double passes)
{
    if (b->stage->fw->shard.part_s <= 0 || elements <= 0)
        return after;
    double bytes = passes * elements * stage_width_B(b->stage);
    int32_t task =
        program_kernel(&b->step->program, STREAM_SHARD, CATEGORY_DATA_COMM_EXPOSED, 0,
                       kernel_stream_s(b->stage->gpu, bytes, kernel_alone),
                       kernel_stream_s(b->stage->gpu, bytes, b->shared));
    program_follow(&b->step->program, task, after);
    b->step->program.tasks.v[task].tag.label = "copy lists of parts";
    return task;
}

/* The last task of the gathers; -1: there are none. -2 after an error. */
static int32_t gather_from(struct builder *b, enum channel channel, struct gathers g,
                           int32_t after, struct err *err)
{
    int32_t task = -1;
    if (g.n == 0 || g.elements <= 0)
        return -1;
    double size_B = g.elements / g.n * stage_width_B(b->stage);
    int32_t comm = comms_add(b, channel, COLL_ALL_GATHER, size_B, err);
    if (comm < 0)
        return -2;
    make_lists(b, g.n);
    double shard_B = g.elements * stage_width_B(b->stage) /
                     (double)b->stage->s->parallel.shard.degree;
    if (channel == CHANNEL_SHARD)
        after = offload_load_shard(b, shard_B, after);
    for (int32_t i = 0; i < g.n; i++)
        task = program_collective_on(
            &b->step->program, STREAM_SHARD, CATEGORY_DATA_COMM_EXPOSED,
            b->stage->fw->host.dispatch_forward_s, comm, after);
    return copy_lists(b, task, g.elements, 3);
}

/* Those of all that are no experts, then of those. */
int shard_gather(struct builder *b, const struct unit *v, struct gathers g,
                 int32_t after, int32_t *task, struct err *err)
{
    double frac = v->elements > 0 ? g.elements / v->elements : 0;
    struct gathers experts = { g.n, v->experts * frac };
    g.elements -= experts.elements;
    int32_t shared = gather_from(b, CHANNEL_SHARD, g, after, err);
    int32_t own =
        shared < -1 ? -2 : gather_from(b, CHANNEL_EXPERT_DATA, experts, after, err);
    if (own < -1)
        return -1;
    if (shared >= 0 || own >= 0)
        *task = own >= 0 ? own : shared;
    return 0;
}

static int scatter_experts(struct builder *b, const struct unit *v, struct err *err)
{
    double size_B = v->summed_experts * states_wire_B(b->stage->s);
    if (size_B <= 0)
        return 0;
    int32_t comm = comms_add(b, CHANNEL_EXPERT_DATA, COLL_REDUCE_SCATTER, size_B, err);
    if (comm < 0)
        return -1;
    b->buckets.last_comm = program_collective_on(
        &b->step->program, STREAM_SHARD, CATEGORY_DATA_COMM_EXPOSED,
        b->stage->fw->host.dispatch_backward_s, comm, b->last_kernel);
    return 0;
}

/* The shards' sums over their replicas. */
static int sum_replicas(struct builder *b, double size_B, struct err *err)
{
    const struct parallelism *p = &b->stage->s->parallel;
    if (!b->pass.reduces || p->data * p->context <= p->shard.degree)
        return 0;
    size_B /= (double)p->shard.degree;
    int32_t comm = comms_add(b, CHANNEL_REPLICA, COLL_ALL_REDUCE, size_B, err);
    if (comm < 0)
        return -1;
    b->buckets.last_comm = program_collective(
        &b->step->program, CATEGORY_DATA_COMM_EXPOSED,
        b->stage->fw->host.dispatch_backward_s, comm, b->buckets.last_comm);
    return 0;
}

int shard_scatter(struct builder *b, const struct unit *v, struct err *err)
{
    double size_B = (v->summed - v->summed_experts) * states_wire_B(b->stage->s);
    if (v->summed <= 0)
        return 0; /* nothing of it is trained */
    if (b->stage->fw->reduction.bucket_copy_B > 0) {
        issue_stream(b, CATEGORY_COMPUTE, b->stage->fw->host.dispatch_backward_s,
                     b->stage->fw->reduction.bucket_copy_B * size_B);
        issue_label(b, "gradients to flat parameter");
    }
    if (scatter_experts(b, v, err) < 0)
        return -1;
    if (v->tensors == 0)
        return 0;
    int32_t comm =
        comms_add(b, CHANNEL_SHARD, COLL_REDUCE_SCATTER, size_B / v->tensors, err);
    if (comm < 0)
        return -1;
    make_lists(b, v->tensors);
    for (int32_t i = 0; i < v->tensors; i++)
        b->buckets.last_comm = program_collective_on(
            &b->step->program, STREAM_SHARD, CATEGORY_DATA_COMM_EXPOSED,
            b->stage->fw->host.dispatch_backward_s, comm, b->last_kernel);
    b->buckets.last_comm = copy_lists(b, b->buckets.last_comm, v->summed, 2);
    if (b->stage->fw->shard.synchronous)
        issue_wait(b, b->buckets.last_comm);
    if (sum_replicas(b, size_B, err) < 0)
        return -1;
    offload_store_shard(b, size_B / (double)b->stage->s->parallel.shard.degree,
                        b->buckets.last_comm);
    return 0;
}
