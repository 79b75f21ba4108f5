#include "scenario/stages.h"

#include "model/regions.h"
#include "scenario/libraries.h"
#include "scenario/states.h"

#include <string.h>

/* What "operators" keeps of a block. */
static double saved_B(const struct op_block *b)
{
    double saved = 0;
    for (int32_t i = 0; i < b->n_forward; i++)
        for (int32_t j = 0; op_block_saves(b, i) && j < b->forward[i].n_outs; j++)
            if (b->forward[i].outs[j].kept_until >= 0)
                saved += (double)b->forward[i].outs[j].size_B;
    return saved;
}

/* Activations a block keeps of one microbatch: all, all but the scores' ("selective"),
 * or its input, once for so many layers as one checkpoint spans. */
static double kept_B(const struct scenario *s, const struct op_block *b, bool layer)
{
    const struct training *t = &s->training;
    double kept = (double)op_block_kept_B(b);
    if (t->checkpointing == CHECKPOINT_NONE || !layer)
        return kept;
    if (t->checkpointing == CHECKPOINT_SELECTIVE) {
        for (int32_t i = 0; i < b->n_forward; i++)
            for (int32_t j = 0; j < b->forward[i].n_outs; j++)
                if (op_region_drops(b, i, j, t->recompute_modules))
                    kept -= (double)b->forward[i].outs[j].size_B;
        return kept;
    }
    double tokens = (double)training_sequences(t) * (double)t->sequence_length;
    double width_B =
        (double)s->model.hidden * (double)dtype_bytes(op_compute_dtype(t->precision));
    if (t->checkpointing == CHECKPOINT_OPERATORS)
        return 2 * tokens * width_B + saved_B(b);
    double every = (double)t->checkpoint_every;
    double chunk = (double)(s->model.layers + s->model.decoder_layers) /
                   (double)(s->parallel.pipeline * s->parallel.stages.virtual_stages);
    if (t->checkpoint_block > 0 && (double)t->checkpoint_block < chunk)
        every = chunk / (double)t->checkpoint_block;
    return tokens * width_B / (double)t->checkpoint_group / every +
           kept * (every - 1) / every;
}

static struct partition_module module_of(const struct scenario *s,
                                         const struct op_block *b, struct states st)
{
    struct partition_module m = { .layer =
                                      op_block_is_layer(b) && !op_block_is_mtp(b) };
    for (int32_t i = 0; i < b->n_forward; i++)
        m.compute += b->forward[i].flops;
    for (int32_t i = 0; i < b->n_backward; i++)
        m.compute += b->backward[i].flops;
    for (int32_t i = 0; i < b->n_params; i++)
        m.parameters += (double)b->params[i].elements;
    double each_B = dtype_bytes(op_parameter_dtype(s->training.precision));
    double optimizer_B = op_block_is_layer(b) ? st.hidden_optimizer_B : st.optimizer_B;
    double state_B = st.parameter_B + st.gradient_B + optimizer_B;
    m.memory = (double)op_block_trained(b) * state_B +
               op_block_frozen_B(b, each_B) * st.parameter_B / each_B +
               kept_B(s, b, m.layer);
    return m;
}

/* What nanotron counts of a module: attention as if it had as many heads of keys as of
 * queries, the MLP, and the head (get_block_compute_costs of models/llama.py), of whose
 * weights a profile may count less. */
static double weights_of(const struct scenario *s, const struct op_block *b)
{
    const struct model *m = &s->model;
    double h = (double)m->hidden;
    if (op_block_is_layer(b) && !op_block_is_mtp(b))
        return 4 * (double)m->attention.q_width * h +
               (m->mlp.gated ? 3 : 2) * (double)m->mlp.width * h;
    return strcmp(b->name, "head") == 0
               ? s->training.framework->loss.share * (double)m->ends.vocab * h
               : 0;
}

int stages_partition(struct partition *p, struct arena *arena, const struct scenario *s,
                     const struct op_list *list, struct err *err)
{
    struct states st = states_of(s);
    int64_t n = 0;
    for (int32_t i = 0; i < list->n_blocks; i++)
        n += list->blocks[i].repeat;
    struct partition_module *modules = ARENA_ARRAY(arena, n, struct partition_module);
    int64_t at = 0;
    for (int32_t i = 0; i < list->n_blocks; i++) {
        struct partition_module m = module_of(s, &list->blocks[i], st);
        m.mtp = op_block_is_mtp(&list->blocks[i]) &&
                strcmp(list->blocks[i].name, "mtp_head") != 0;
        m.weights = weights_of(s, &list->blocks[i]);
        for (int64_t k = 0; k < list->blocks[i].repeat; k++)
            modules[at++] = m;
    }
    const struct parallelism *par = &s->parallel;
    struct partition_request q = {
        .method = par->stages.partition,
        .n_stages = par->pipeline,
        .n_chunks = par->stages.virtual_stages,
        .memory_weight = par->stages.memory_weight,
        .layers = par->stages.layers,
        .mtp_part = s->training.mtp_layers > 0 ? par->stages.mtp_part + 1 : 0,
        .modules = modules,
        .n_modules = n,
        .tied = model_ties_head(&s->model),
        .returns = library_of(par)->shares_on_one_stage &&
                   schedule_is_smp(par->stages.schedule),
        .folds = parallelism_schedule(par->stages.schedule)->folds,
    };
    return partition_make(p, arena, &q, err);
}
