/* What the writers of a step share: kernels, waits and collectives of the program. */
#include "step/builder.h"
#include "step/smddp.h"

void build_wait(struct builder *b, int32_t task)
{
    if (task < 0)
        return;
    if (b->waits[0] >= 0 && b->waits[1] >= 0) /* a kernel has two places: one more */
        build_kernel(b, b->part, 0, 0, 0);
    b->waits[b->waits[0] >= 0] = task;
}

void build_mark_memory(struct builder *b)
{
    struct program *p = &b->step->program;
    if (!b->step->ledger.marks || b->last_kernel < 0 ||
        p->tasks.v[b->last_kernel].mark >= 0)
        return;
    p->tasks.v[b->last_kernel].mark = (int32_t)p->marks.n;
    VEC_PUSH(&p->marks, ledger_mark(&b->step->ledger));
}

void build_tag(struct builder *b, enum work work, int64_t number)
{
    b->step->program.tag = (struct tag) { .work = work, .number = (int32_t)number };
}

void build_label(struct builder *b, const char *label)
{
    b->step->program.tasks.v[b->last_kernel].tag.label = label;
}

int32_t build_kernel(struct builder *b, enum category part, double host_s,
                     double alone_s, double shared_s)
{
    struct program *p = &b->step->program;
    build_mark_memory(b);
    int32_t task = program_kernel(p, STREAM_COMPUTE, part, host_s, alone_s, shared_s);
    program_follow(p, task, b->waits[0]);
    program_follow(p, task, b->waits[1]);
    p->tasks.v[task].receives = b->receives;
    b->waits[0] = b->waits[1] = b->receives = -1;
    b->last_kernel = task;
    return task;
}

void build_beside(struct builder *b, const struct coll_plan *plan)
{
    b->shared = kernel_beside(b->gpu, b->shared, plan->sm_frac, plan->memory_Bps);
}

int32_t build_stream(struct builder *b, enum category part, double host_s, double bytes)
{
    return build_kernel(b, part, host_s, kernel_stream_s(b->gpu, bytes, kernel_alone),
                        kernel_stream_s(b->gpu, bytes, b->shared));
}

void build_host_pause(struct builder *b, double seconds)
{
    struct program *p = &b->step->program;
    if (seconds <= 0 || p->tasks.n == 0)
        return;
    p->tasks.v[p->tasks.n - 1].sync = true;
    build_kernel(b, CATEGORY_OTHER, seconds, 0, 0);
    build_label(b, "host pause");
}

void build_close(struct builder *b)
{
    build_wait(b, b->overlapped);
    build_wait(b, b->gathered);
    b->overlapped = b->gathered = -1;
    int32_t task = build_kernel(b, CATEGORY_COMPUTE, 0, 0, 0);
    b->step->program.tasks.v[task].sync = true;
    pass_free_transient(b);
}

/* Gathers of sharded parameters: SMDDP's where it can; MiCS gathers between nodes
 * first, where its groups have several GPUs in each. */
static enum coll_algorithm algorithm_of(const struct builder *b, enum channel channel,
                                        enum coll_op op, double size_B)
{
    struct ranks r = groups_of(b->request->groups, channel, b->plans_rank);
    struct coll_group g;
    struct err ignored = { 0 };
    if (op != COLL_ALL_GATHER || channel != CHANNEL_SHARD ||
        groups_spans(b->request->groups, &r, &g, &ignored) < 0 || g.n_spans != 1 ||
        g.spans[0].n_instances < 2)
        return COLL_AUTO;
    if (!smddp_gather_refuses(b->s, size_B / (double)ranks_count(&r)))
        return COLL_SMDDP;
    return b->s->parallel.shard_hierarchical && g.spans[0].n_gpus > 1 ? COLL_MICS
                                                                      : COLL_AUTO;
}

/* Share of the NICs that a collective over replicas or shards uses, by whose they are
 * in the group's nodes (MODEL.md, 8.12). */
static double nics_frac(const struct builder *b, enum channel channel)
{
    bool over_data = channel == CHANNEL_DATA || channel == CHANNEL_WORLD ||
                     channel == CHANNEL_SHARD || channel == CHANNEL_REPLICA ||
                     channel == CHANNEL_EXPERT_DATA || channel == CHANNEL_WHOLE_DATA;
    const struct fabric *f = b->s->fabric;
    struct coll_group g;
    struct err ignored = { 0 };
    if (!over_data || !f)
        return 1;
    struct ranks r = groups_of(b->request->groups, channel, b->plans_rank);
    if (groups_spans(b->request->groups, &r, &g, &ignored) < 0)
        return 1;
    const struct coll_span *span = &g.spans[0];
    const struct instance *inst = b->s->cluster.groups[0].instance;
    if (span->n_instances < 2 || span->n_gpus < 2)
        return 1;
    for (int32_t i = 1; i < span->n_gpus; i++)
        for (int32_t k = 0; k < i; k++)
            if (instance_nic_of_gpu(inst, span->gpus[i]) ==
                instance_nic_of_gpu(inst, span->gpus[k]))
                return f->shared_frac;
    return f->split_frac;
}

int32_t build_comm(struct builder *b, enum channel channel, enum coll_op op,
                   double size_B, struct err *err)
{
    struct program *p = &b->step->program;
    for (int64_t i = p->comms.n - 1; i >= 0; i--) {
        const struct comm *c = &p->comms.v[i];
        if (c->has_request && c->channel == channel && c->request.op == op &&
            c->request.size_B == size_B)
            return (int32_t)i;
    }
    bool gradients =
        channel == CHANNEL_DATA || channel == CHANNEL_WORLD || channel == CHANNEL_SHARD;
    struct comm c = {
        .channel = channel,
        .has_request = true,
        .network_frac = (gradients ? b->fw->network_frac : 1) * nics_frac(b, channel),
        .request = { .op = op,
                     .algorithm = algorithm_of(b, channel, op, size_B),
                     .protocol = b->s->software.protocol,
                     .limits = b->s->software.limits,
                     .size_B = size_B,
                     .nccl = b->s->software.nccl,
                     .graph_launch = true },
    };
    if (plans_make(&b->plans, &c, b->plans_rank, &c.plan, err) < 0)
        return -1;
    VEC_PUSH(&p->comms, c);
    return (int32_t)(p->comms.n - 1);
}

bool build_is_last_stage(const struct builder *b, int64_t rank)
{
    return groups_stage(b->request->groups, rank) == b->s->parallel.pipeline - 1;
}

enum coll_op build_reduction(const struct builder *b)
{
    const struct parallelism *p = &b->s->parallel;
    if (!states_are_sharded(b->s))
        return COLL_ALL_REDUCE;
    bool to_owner = p->library == LIBRARY_SMP && p->sharding == SHARDING_OPTIMIZER;
    return to_owner ? COLL_REDUCE : COLL_REDUCE_SCATTER;
}

int64_t block_parameters(const struct op_block *block)
{
    int64_t n = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        n += block->params[i].elements;
    return n;
}

enum replica_group build_replica_group(const struct builder *b,
                                       const struct op_param *p)
{
    if (p->expert && b->s->parallel.expert > 1)
        return REPLICAS_EXPERTS;
    return p->whole && !shard_is_full(b) ? REPLICAS_ALL : REPLICAS_DATA;
}

int64_t build_held(const struct builder *b, enum replica_group h)
{
    int64_t n = 0;
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        for (int32_t k = 0; k < block->n_params; k++)
            if (build_replica_group(b, &block->params[k]) == h)
                n += block->repeat * block->params[k].elements;
    }
    return n;
}

int64_t build_ranks(const struct builder *b, enum replica_group h)
{
    const struct parallelism *p = &b->s->parallel;
    const int64_t n = p->data * p->context;
    return h == REPLICAS_EXPERTS ? n / p->expert
           : h == REPLICAS_ALL   ? n * p->tensor
                                 : n;
}

double build_shards(const struct builder *b, enum replica_group h)
{
    if (!states_are_sharded(b->s))
        return 1;
    return (double)(h == REPLICAS_DATA ? b->s->parallel.shard_degree
                                       : build_ranks(b, h));
}

enum channel build_replica_channel(enum replica_group h)
{
    static const enum channel channels[] = { [REPLICAS_DATA] = CHANNEL_DATA,
                                             [REPLICAS_EXPERTS] = CHANNEL_EXPERT_DATA,
                                             [REPLICAS_ALL] = CHANNEL_WHOLE_DATA };
    return channels[h];
}

const struct states *build_states_held(const struct builder *b, enum replica_group h)
{
    return h == REPLICAS_DATA ? &b->states : &b->others[h];
}

const struct states *build_states(const struct builder *b, const struct op_param *p)
{
    return build_states_held(b, build_replica_group(b, p));
}

int32_t build_load_batch(struct builder *b)
{
    enum { BYTES_PER_TOKEN = 3 * 8 }; /* ids, mask, types or labels as int64 */
    double bytes = (double)op_tokens(&b->settings) * BYTES_PER_TOKEN;
    double time_s = bytes / b->s->cluster.groups[0].instance->host_pinned_Bps;
    int32_t task = program_kernel(&b->step->program, STREAM_COPY, CATEGORY_OTHER,
                                  b->fw->dispatch_forward_s, time_s, time_s);
    b->step->program.tasks.v[task].tag.label = "load batch";
    return task;
}
