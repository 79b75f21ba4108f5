/* Gradients into buckets, as data-parallel libraries do it.
 *
 *   DDP        buckets in the order of readiness (rebuilt so after the first
 *              iteration), the first small, each sent when it is full
 *   SMDDP      balanced fusion buffers: equal parts of all gradients, cut anywhere
 *   Horovod    whatever is ready at a tick of its cycle (fusion.h)
 *   servers    buckets as DDP's, pushed to the owners of their keys, and pulled */
#include "step/update/buckets.h"

#include "scenario/libraries.h"
#include "step/comms.h"
#include "step/replicas.h"
#include "step/update/servers.h"
#include "step/update/smddp.h"
#include "step/wire.h"

/* DDP, and servers ----------------------------------------------------------------- */

/* Megatron's first stage and chunk alone have buckets: what others reduce is not on the
 * critical path (megatron/core/distributed/distributed_data_parallel.py, get_model of
 * megatron/training/training.py). */
double buckets_limit_B(const struct stage *stage, int32_t chunk)
{
    bool first = chunk == 0 && stage->number == 0;
    bool none = library_of(&stage->s->parallel)->buckets_by_chunk && !first;
    return none ? 0 : (double)stage->s->parallel.reduce.bucket_B;
}

static void begin_buckets(struct builder *b)
{
    const struct parallelism *p = &b->stage->s->parallel;
    b->buckets.limit_B = (double)(p->reduce.first_bucket_B ? p->reduce.first_bucket_B
                                                           : p->reduce.bucket_B);
}

static int send_bucket(struct builder *b, struct err *err)
{
    if (b->buckets.filled_B <= 0)
        return 0;
    if (wire_plan(b, b->buckets.filled_B, err) < 0)
        return -1;
    wire_send(b, b->buckets.filled_B);
    b->buckets.filled_B = 0;
    b->buckets.limit_B = (double)b->stage->s->parallel.reduce.bucket_B;
    return 0;
}

static int fill_bucket(struct builder *b, double bytes, struct err *err)
{
    b->buckets.filled_B += bytes;
    if (buckets_limit_B(b->stage, b->pass.chunk) <= 0 ||
        b->buckets.filled_B < b->buckets.limit_B)
        return 0;
    return send_bucket(b, err);
}

/* SMDDP ---------------------------------------------------------------------------- */

static void begin_buffers(struct builder *b)
{
    double all_B = (double)op_list_trained(&b->stage->list) * b->stage->wire.gradient_B;
    b->buckets.limit_B =
        smddp_buffer_B(all_B, (double)b->stage->s->parallel.reduce.bucket_B);
}

/* Tensors are cut where a buffer is full. */
static int fill_buffers(struct builder *b, double bytes, struct err *err)
{
    double limit = b->buckets.limit_B;
    b->buckets.filled_B += bytes;
    for (; limit > 0 && b->buckets.filled_B >= limit * (1 - 1e-12);
         b->buckets.filled_B -= limit) {
        if (wire_plan(b, limit, err) < 0)
            return -1;
        wire_send(b, limit);
    }
    return 0;
}

static int end_buffers(struct builder *b, struct err *err)
{
    if (b->buckets.filled_B < 1) /* what rounding has left */
        b->buckets.filled_B = 0;
    return send_bucket(b, err);
}

/* Horovod -------------------------------------------------------------------------- */

static void begin_fusion(struct builder *b)
{
    struct fusion *f = xcalloc(1, sizeof(*f));
    f->threshold_B = (double)b->stage->s->parallel.reduce.bucket_B;
    f->cycle_s = b->stage->s->parallel.reduce.fusion_cycle_s;
    f->plan = wire_fused_plan;
    f->arg = wire_fused_new(b->stage);
    b->buckets.fusion = f;
    b->buckets.last_comm =
        program_fusion(&b->step->program, CATEGORY_DATA_COMM_EXPOSED, f);
}

static int add_to_fusion(struct builder *b, double bytes, struct err *err)
{
    int32_t ready = (int32_t)b->step->program.tasks.n - 1;
    (void)err;
    VEC_PUSH(&b->buckets.fusion->tensors, ((struct fusion_tensor) { ready, bytes }));
    return 0;
}

static int end_fusion(struct builder *b, struct err *err)
{
    (void)b;
    (void)err;
    return 0;
}

/* ---------------------------------------------------------------------------------- */

static const struct gradient_reduction buckets_reduction = { begin_buckets, fill_bucket,
                                                             send_bucket, COLL_AUTO };
static const struct gradient_reduction smddp_reduction = { begin_buffers, fill_buffers,
                                                           end_buffers, COLL_SMDDP };
static const struct gradient_reduction fusion_reduction = { begin_fusion, add_to_fusion,
                                                            end_fusion, COLL_AUTO };
static const struct gradient_reduction servers_reduction = { begin_buckets, fill_bucket,
                                                             send_bucket,
                                                             COLL_SERVERS };

/* Inside one node SMDDP and parameter servers leave all to NCCL; so does SMDDP with
 * SMP, which takes its AllGather alone. Only replicas of whole models have a way other
 * than NCCL's buckets. */
static const struct gradient_reduction *reduction_of(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    bool one_node = s->cluster.n_instances == 1;
    if (p->tensor * p->pipeline * p->context * p->expert > 1 ||
        library_of(p)->smp.dictionary || p->shard.strategy != SHARDING_NONE)
        return &buckets_reduction;
    if (library_of(p)->fuses_by_cycle)
        return &fusion_reduction;
    if (library_of(p)->servers && !one_node)
        return &servers_reduction;
    if (smddp_reduces(s))
        return &smddp_reduction;
    return &buckets_reduction;
}

static void choose_reduction(struct stage *stage)
{
    stage->wire.reduction = reduction_of(stage->s);
    wire_init(stage);
    if (stage->wire.reduction == &smddp_reduction)
        stage->wire.library = smddp_library(stage->arena, stage->s);
    if (stage->wire.reduction == &servers_reduction)
        stage->wire.library = servers_library(stage->arena, stage->s, &stage->list);
}

int buckets_plan(struct stage *stage, struct builder *b, double size_B, struct err *err)
{
    if (!stage->wire.reduction)
        choose_reduction(stage);
    if (stage->wire.reduction == &smddp_reduction) {
        begin_buffers(b);
        size_B = b->buckets.limit_B;
    }
    return replicas_ranks(stage, REPLICAS_DATA) > 1 ? wire_plan(b, size_B, err) : 0;
}

void buckets_begin(struct builder *b)
{
    b->buckets.n_sent = 0;
    if (b->pass.reduces &&
        b->stage->wire.reduction) /* none: units scatter their gradients */
        b->stage->wire.reduction->begin(b);
}

/* Gradients of what others than data ranks hold are summed over those. */
static int send_others(struct builder *b, enum replica_group h, struct err *err)
{
    double bytes = b->buckets.others_B[h] * b->stage->wire.frac;
    b->buckets.others_B[h] = 0;
    if (bytes <= 0 || replicas_ranks(b->stage, h) == 1)
        return 0;
    int32_t comm =
        comms_add(b, replicas_channel(h), replicas_reduction(b->stage), bytes, err);
    if (comm < 0)
        return -1;
    wire_send_by(b, bytes / b->stage->wire.frac, comm);
    return 0;
}

static int add_others(struct builder *b, enum replica_group h, double bytes,
                      struct err *err)
{
    double limit_B = buckets_limit_B(b->stage, b->pass.chunk);
    b->buckets.others_B[h] += bytes;
    return limit_B <= 0 || b->buckets.others_B[h] < limit_B ? 0
                                                            : send_others(b, h, err);
}

int buckets_add(struct builder *b, const struct op_param *p, struct err *err)
{
    double bytes = (double)p->elements * b->stage->wire.gradient_B;
    enum replica_group h = replicas_of(b->stage, p);
    if (h != REPLICAS_DATA)
        return add_others(b, h, bytes, err);
    return replicas_ranks(b->stage, h) > 1
               ? b->stage->wire.reduction->add(b, bytes, err)
               : 0;
}

/* A chunk of Megatron's has buckets of its own. */
int buckets_leave_chunk(struct builder *b, struct err *err)
{
    const struct parallelism *p = &b->stage->s->parallel;
    if (!b->pass.reduces || !p->reduce.overlap || !library_of(p)->buckets_by_chunk ||
        p->stages.virtual_stages == 1 || states_shard_parameters(b->stage->s))
        return 0;
    return b->stage->wire.reduction->end(b, err) < 0 ||
                   send_others(b, REPLICAS_EXPERTS, err) < 0 ||
                   send_others(b, REPLICAS_ALL, err) < 0
               ? -1
               : 0;
}

/* All gradients at once, after backward, when reduction does not overlap with it. */
static int add_all(struct builder *b, struct err *err)
{
    for (int32_t i = b->stage->list.n_blocks - 1; i >= 0; i--) {
        const struct op_block *block = &b->stage->list.blocks[i];
        for (int64_t k = 0; k < block->repeat; k++)
            for (int32_t j = block->n_params - 1; j >= 0; j--)
                if (!block->params[j].frozen &&
                    buckets_add(b, &block->params[j], err) < 0)
                    return -1;
    }
    return 0;
}

/* The last bucket, and what it costs that ranks wait for each other. */
int buckets_end(struct builder *b, struct err *err)
{
    if (!b->stage->s->parallel.reduce.overlap && add_all(b, err) < 0)
        return -1;
    if (b->stage->wire.reduction->end(b, err) < 0 ||
        send_others(b, REPLICAS_EXPERTS, err) < 0 ||
        send_others(b, REPLICAS_ALL, err) < 0)
        return -1;
    double wait_s = b->stage->fw->reduction.reduce_s;
    if (wait_s > 0) {
        int32_t after = b->buckets.last_comm;
        b->buckets.last_comm =
            program_kernel(&b->step->program, STREAM_COMM, CATEGORY_DATA_COMM_EXPOSED,
                           0, wait_s, wait_s);
        b->step->program.tasks.v[b->buckets.last_comm].after[0] = after;
    }
    return 0;
}

/* Buffers of transformers are the ids of positions, int64. */
int buckets_broadcast(struct builder *b, struct err *err)
{
    const struct parallelism *p = &b->stage->s->parallel;
    struct program *program = &b->step->program;
    bool wanted = p->reduce.broadcast_buffers && library_of(p)->broadcasts_buffers &&
                  scenario_world(b->stage->s) > 1 &&
                  b->stage->s->model.ends.positions > 0;
    if (!wanted)
        return 0;
    struct coll_plan *plan = ARENA_NEW(b->stage->arena, struct coll_plan);
    if (wire_broadcast(b->stage, (double)b->stage->s->model.ends.positions * 8, plan,
                       err) < 0)
        return -1;
    int32_t sent = program_collective(program, CATEGORY_DATA_COMM_EXPOSED,
                                      b->stage->fw->host.dispatch_forward_s,
                                      program_comm(program, plan), -1);
    int32_t next = program_kernel(program, STREAM_COMPUTE, CATEGORY_COMPUTE, 0, 0, 0);
    program->tasks.v[next].after[0] = sent;
    return 0;
}
