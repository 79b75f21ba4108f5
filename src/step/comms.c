#include "step/comms.h"

#include "step/update/smddp.h"

void comms_overlapped(struct builder *b, const struct coll_plan *plan)
{
    b->shared =
        kernel_overlapped(b->stage->gpu, b->shared, plan->sm_frac, plan->memory_Bps);
}

/* Gathers of sharded parameters: SMDDP's where it can; MiCS gathers between nodes
 * first, where its groups have several GPUs in each. */
static enum coll_algorithm algorithm_of(const struct stage *stage, enum channel channel,
                                        enum coll_op op, double size_B)
{
    struct ranks r = groups_of(stage->request->groups, channel, stage->rank);
    struct coll_group g;
    struct err ignored = { 0 };
    if (op != COLL_ALL_GATHER || channel != CHANNEL_SHARD ||
        groups_spans(stage->request->groups, &r, &g, &ignored) < 0 || g.n_spans != 1 ||
        g.spans[0].n_instances < 2)
        return COLL_AUTO;
    if (!smddp_gather_refuses(stage->s, size_B / (double)ranks_count(&r)))
        return COLL_SMDDP;
    return stage->s->parallel.shard.hierarchical && g.spans[0].n_gpus > 1 ? COLL_MICS
                                                                          : COLL_AUTO;
}

/* Share of the NICs that a collective over replicas or shards uses, by whose they are
 * in the group's nodes (MODEL.md, 8.12). */
static double nics_frac(const struct stage *stage, enum channel channel)
{
    bool over_data = channel == CHANNEL_DATA || channel == CHANNEL_WORLD ||
                     channel == CHANNEL_SHARD || channel == CHANNEL_REPLICA ||
                     channel == CHANNEL_EXPERT_DATA || channel == CHANNEL_WHOLE_DATA;
    const struct fabric *f = stage->s->fabric;
    struct coll_group g;
    struct err ignored = { 0 };
    if (!over_data || !f)
        return 1;
    struct ranks r = groups_of(stage->request->groups, channel, stage->rank);
    if (groups_spans(stage->request->groups, &r, &g, &ignored) < 0)
        return 1;
    const struct coll_span *span = &g.spans[0];
    const struct instance *inst = stage->s->cluster.groups[0].instance;
    if (span->n_instances < 2 || span->n_gpus < 2)
        return 1;
    for (int32_t i = 1; i < span->n_gpus; i++)
        for (int32_t k = 0; k < i; k++)
            if (instance_nic_of_gpu(inst, span->gpus[i]) ==
                instance_nic_of_gpu(inst, span->gpus[k]))
                return f->shared_frac;
    return f->split_frac;
}

int32_t comms_add(struct builder *b, enum channel channel, enum coll_op op,
                  double size_B, struct err *err)
{
    return comms_add_tokens(b, channel, op, size_B, NULL, err);
}

int32_t comms_add_tokens(struct builder *b, enum channel channel, enum coll_op op,
                         double size_B, const struct coll_tokens *tokens,
                         struct err *err)
{
    struct program *p = &b->step->program;
    for (int64_t i = p->comms.n - 1; i >= 0; i--) {
        const struct comm *c = &p->comms.v[i];
        if (c->has_request && c->channel == channel && c->request.op == op &&
            c->request.size_B == size_B && coll_tokens_same(c->request.tokens, tokens))
            return (int32_t)i;
    }
    bool gradients =
        channel == CHANNEL_DATA || channel == CHANNEL_WORLD || channel == CHANNEL_SHARD;
    struct comm c = {
        .channel = channel,
        .has_request = true,
        .network_frac = (gradients ? b->stage->fw->reduction.network_frac : 1) *
                        nics_frac(b->stage, channel),
        .request = { .op = op,
                     .algorithm = tokens ? COLL_TOKENS
                                         : algorithm_of(b->stage, channel, op, size_B),
                     .tokens = tokens,
                     .protocol = b->stage->s->software.protocol,
                     .limits = b->stage->s->software.limits,
                     .size_B = size_B,
                     .nccl = b->stage->s->software.nccl,
                     .graph_launch = true },
    };
    if (plans_make_kept(b->stage->request->kept, &b->stage->plans, &c, b->stage->rank,
                        &c.plan, err) < 0)
        return -1;
    VEC_PUSH(&p->comms, c);
    return (int32_t)(p->comms.n - 1);
}

/* What the collective takes alone: on the folded net, which counts all groups. */
int comms_alone_s(struct builder *b, int32_t comm, double *time_s, struct err *err)
{
    const struct comm *c = &b->step->program.comms.v[comm];
    struct plans plans = { b->stage->arena, b->stage->request->folded,
                           b->stage->request->groups, NULL, b->stage->request->rings };
    const struct coll_plan *plan = c->plan;
    if (b->stage->request->folded != b->stage->net &&
        plans_make(&plans, c, b->stage->rank, &plan, err) < 0)
        return -1;
    *time_s = coll_plan_time_s(plan, b->stage->request->folded);
    return 0;
}
