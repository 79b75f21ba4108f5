#include "step/replicas.h"

#include "scenario/libraries.h"

enum coll_op replicas_reduction(const struct builder *b)
{
    const struct parallelism *p = &b->s->parallel;
    if (!states_are_sharded(b->s))
        return COLL_ALL_REDUCE;
    bool to_owner = library_has(library_of(p)->reduces_to_owner, (int)p->sharding);
    return to_owner ? COLL_REDUCE : COLL_REDUCE_SCATTER;
}

enum replica_group replicas_of(const struct builder *b, const struct op_param *p)
{
    if (p->expert && b->s->parallel.expert > 1)
        return REPLICAS_EXPERTS;
    return p->whole && !states_shard_parameters(b->s) ? REPLICAS_ALL : REPLICAS_DATA;
}

int64_t replicas_held(const struct builder *b, enum replica_group h)
{
    int64_t n = 0;
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        for (int32_t k = 0; k < block->n_params; k++)
            if (replicas_of(b, &block->params[k]) == h)
                n += block->repeat * block->params[k].elements;
    }
    return n;
}

int64_t replicas_ranks(const struct builder *b, enum replica_group h)
{
    const struct parallelism *p = &b->s->parallel;
    const int64_t n = p->data * p->context;
    return h == REPLICAS_EXPERTS ? n / p->expert
           : h == REPLICAS_ALL   ? n * p->tensor
                                 : n;
}

double replicas_shards(const struct builder *b, enum replica_group h)
{
    if (!states_are_sharded(b->s))
        return 1;
    return (double)(h == REPLICAS_DATA ? b->s->parallel.shard_degree
                                       : replicas_ranks(b, h));
}

enum channel replicas_channel(enum replica_group h)
{
    static const enum channel channels[] = { [REPLICAS_DATA] = CHANNEL_DATA,
                                             [REPLICAS_EXPERTS] = CHANNEL_EXPERT_DATA,
                                             [REPLICAS_ALL] = CHANNEL_WHOLE_DATA };
    return channels[h];
}

const struct states *replicas_states(const struct builder *b, enum replica_group h)
{
    return h == REPLICAS_DATA ? &b->states : &b->others[h];
}

const struct states *replicas_states_of(const struct builder *b,
                                        const struct op_param *p)
{
    return replicas_states(b, replicas_of(b, p));
}
