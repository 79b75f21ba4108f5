/* What DeepSpeed's ZeRO 1 and 2 allocate in 16 bits, as it stood until 2022
 * (deepspeed/runtime/zero/stage2.py, later stage_1_and_2.py; MODEL.md, 8.14):
 *
 *   parameters |original tensors, freed|flat copy               |
 *   optimizer  |flat shard of the fp32 parameters and moments   |
 *   update     |gradients of its own|joined, 16 bits|joined, fp32|
 *
 * Flat buffers are large single blocks: the allocator cannot make them out of segments
 * that activations have left, nor can most activations use those of the tensors. */
#include "step/update/zero.h"

#include "scenario/libraries.h"
#include "step/replicas.h"

bool zero_flattens(const struct stage *stage)
{
    bool own_optimizer =
        stage->fw->gradients.gradient_16bit_B > 0; /* its bf16 optimizer */
    return library_of(&stage->s->parallel)->flat_shards && stage->half &&
           !own_optimizer && states_shard_updates(stage->s);
}

/* The tensors of the model that are trained or frozen, or their gradients. */
static void book_tensors(struct builder *b, enum ledger_kind kind, bool frozen,
                         bool frees)
{
    struct ledger *l = &b->step->ledger;
    for (int32_t i = 0; i < b->stage->list.n_blocks; i++) {
        const struct op_block *block = &b->stage->list.blocks[i];
        for (int64_t k = 0; k < block->repeat * block->n_params; k++) {
            const struct op_param *p = &block->params[k % block->n_params];
            const struct states s = replicas_states_of(b->stage, p);
            double each_B = kind == LEDGER_PARAMETERS ? s.parameter_B : s.gradient_B;
            if (p->frozen != frozen)
                continue;
            int64_t size_B = (int64_t)((double)p->elements * each_B);
            if (frees)
                ledger_free(l, kind, size_B);
            else
                ledger_alloc(l, kind, size_B);
        }
    }
}

void zero_allocate_states(struct builder *b)
{
    struct ledger *l = &b->step->ledger;
    book_tensors(b, LEDGER_PARAMETERS, true, false);
    book_tensors(b, LEDGER_PARAMETERS, false, false);
    book_tensors(b, LEDGER_PARAMETERS, false, true);
    for (int h = 0; h < REPLICA_GROUPS; h++) {
        const struct states *s = replicas_states(b->stage, (enum replica_group)h);
        double n = (double)replicas_held(b->stage, (enum replica_group)h);
        ledger_alloc(l, LEDGER_PARAMETERS, (int64_t)(n * s->parameter_B));
        ledger_alloc(l, LEDGER_OPTIMIZER, (int64_t)(n * s->optimizer_B));
    }
    if (b->stage->fw->gradients.keeps_gradients)
        book_tensors(b, LEDGER_GRADIENTS, false, false);
}

/* Gradients that other ranks update die when all are reduced; this rank's own are taken
 * to be the first of the list. */
static void free_gradients_of_others(struct builder *b)
{
    double kept[REPLICA_GROUPS] = { 0 };
    for (int32_t i = 0; i < b->stage->list.n_blocks; i++) {
        const struct op_block *block = &b->stage->list.blocks[i];
        for (int64_t k = 0; k < block->repeat * block->n_backward; k++) {
            const struct op *op = &block->backward[k % block->n_backward];
            for (int32_t g = 0; g < op->grad_n; g++) {
                const struct op_param *p = &block->params[op->grad_first + g];
                enum replica_group h = replicas_of(b->stage, p);
                double own =
                    (double)replicas_held(b->stage, h) / replicas_shards(b->stage, h);
                double size_B =
                    (double)p->elements * replicas_states_of(b->stage, p).gradient_B;
                if (kept[h] >= own)
                    ledger_free(&b->step->ledger, LEDGER_GRADIENTS, (int64_t)size_B);
                kept[h] += (double)p->elements;
            }
        }
    }
}

void zero_update(struct builder *b)
{
    const double fp32_B = 4;
    struct ledger *l = &b->step->ledger;
    if (!b->stage->fw->gradients.keeps_gradients &&
        b->stage->s->parallel.shard.strategy == SHARDING_OPTIMIZER)
        free_gradients_of_others(b);
    for (int h = 0;
         h < REPLICA_GROUPS && b->stage->s->parallel.shard.offload == OFFLOAD_NONE;
         h++) {
        double own = (double)replicas_held(b->stage, (enum replica_group)h) /
                     replicas_shards(b->stage, (enum replica_group)h);
        double made_B = replicas_states(b->stage, (enum replica_group)h)->made_B;
        ledger_alloc(l, LEDGER_HELD, (int64_t)(own * made_B));
        ledger_alloc(l, LEDGER_HELD, (int64_t)(own * fp32_B));
        ledger_free(l, LEDGER_HELD, (int64_t)(own * made_B));
        ledger_free(l, LEDGER_HELD, (int64_t)(own * fp32_B));
    }
}
