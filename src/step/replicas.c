#include "step/replicas.h"

#include "model/recipe.h"
#include "scenario/libraries.h"

enum coll_op replicas_reduction_sharded(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    if (states_sum_whole(s))
        return COLL_ALL_REDUCE;
    bool to_owner =
        library_has(library_of(p)->reduces_to_owner, (int)p->shard.strategy);
    return to_owner ? COLL_REDUCE : COLL_REDUCE_SCATTER;
}

enum coll_op replicas_reduction(const struct stage *stage)
{
    return states_are_sharded(stage->s) ? replicas_reduction_sharded(stage->s)
                                        : COLL_ALL_REDUCE;
}

enum replica_group replicas_of(const struct stage *stage, const struct op_param *p)
{
    const struct parallelism *of = &stage->s->parallel;
    if (p->expert && (of->expert > 1 || parallelism_folds_experts(of)))
        return REPLICAS_EXPERTS;
    return p->whole && !states_shard_parameters(stage->s) ? REPLICAS_ALL
                                                          : REPLICAS_DATA;
}

int64_t replicas_held(const struct stage *stage, enum replica_group h)
{
    int64_t n = 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++) {
        const struct op_block *block = &stage->list.blocks[i];
        for (int32_t k = 0; k < block->n_params; k++)
            if (!block->params[k].frozen && replicas_of(stage, &block->params[k]) == h)
                n += block->repeat * block->params[k].elements;
    }
    return n;
}

int64_t replicas_ranks(const struct stage *stage, enum replica_group h)
{
    const struct parallelism *p = &stage->s->parallel;
    const int64_t n = p->data * p->context;
    return h == REPLICAS_EXPERTS ? parallelism_expert_replicas(p)
           : h == REPLICAS_ALL   ? n * p->tensor
                                 : n;
}

double replicas_shards(const struct stage *stage, enum replica_group h)
{
    if (!states_are_sharded(stage->s))
        return 1;
    return (double)(h == REPLICAS_DATA ? stage->s->parallel.shard.degree
                                       : replicas_ranks(stage, h));
}

enum channel replicas_channel(enum replica_group h)
{
    static const enum channel channels[] = { [REPLICAS_DATA] = CHANNEL_DATA,
                                             [REPLICAS_EXPERTS] = CHANNEL_EXPERT_DATA,
                                             [REPLICAS_ALL] = CHANNEL_WHOLE_DATA };
    return channels[h];
}

const struct states *replicas_states(const struct stage *stage, enum replica_group h)
{
    return h == REPLICAS_DATA ? &stage->states : &stage->others[h];
}

struct states replicas_states_of(const struct stage *stage, const struct op_param *p)
{
    struct states states = *replicas_states(stage, replicas_of(stage, p));
    if (p->quantized)
        states.parameter_B = states.quantized_B;
    if (p->hidden)
        states.optimizer_B = states.hidden_optimizer_B;
    if (!p->frozen)
        return states;
    states = states_frozen(&states);
    double kept_B = dtype_bytes(op_parameter_dtype(stage->s->training.precision));
    states.parameter_B *= op_param_stored_B(p, kept_B) / kept_B;
    if (p->stored_B > 0 && p->stored_B < kept_B)
        states.autocast_B = 0; /* not fp32: it is not cast */
    return states;
}

double replicas_gather_B(const struct stage *stage, const struct op_param *p)
{
    const struct training *t = &stage->s->training;
    return p->quantized && t->quantized_parameters
               ? op_recipe_of(t->precision)->gather_B
               : dtype_bytes(op_parameter_dtype(t->precision));
}

double replicas_held_gather_B(const struct stage *stage, enum replica_group h)
{
    double bytes = 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++) {
        const struct op_block *block = &stage->list.blocks[i];
        for (int32_t k = 0; k < block->n_params; k++) {
            const struct op_param *p = &block->params[k];
            if (!p->frozen && replicas_of(stage, p) == h)
                bytes +=
                    (double)(block->repeat * p->elements) * replicas_gather_B(stage, p);
        }
    }
    return bytes;
}
