#include "step/pass/recompute.h"

#include "step/pass/tensor_ends.h"

int32_t recompute_region(const struct stage *stage, const struct op_block *block,
                         int32_t at)
{
    return op_region_of(block, at, stage->s->training.recompute_modules);
}

int32_t recompute_region_user(const struct stage *stage, const struct op_block *block,
                              int32_t instance)
{
    return op_region_user(block, instance, stage->s->training.recompute_modules);
}

bool recompute_drops(const struct stage *stage, const struct op_block *block,
                     int32_t at, int32_t out)
{
    return op_region_drops(block, at, out, stage->s->training.recompute_modules);
}

bool recompute_runs_again(const struct stage *stage, const struct op_block *block,
                          int32_t at)
{
    int32_t region = recompute_region(stage, block, at);
    return region >= 0 && recompute_region_user(stage, block, region) >= 0;
}

bool recompute_saves(const struct stage *stage, const struct op_block *block,
                     int32_t at)
{
    return stage->s->training.checkpointing == CHECKPOINT_OPERATORS &&
           op_block_is_layer(block) && op_block_saves(block, at);
}

/* Layers that keep one input together with layer k of a slice; 0: it is not recomputed
 * as a whole. One in so many is, counted through all chunks of the rank (MODEL.md,
 * 8.23). */
int64_t recompute_group(const struct stage *stage, struct slice slice, int64_t k)
{
    const struct training *t = &stage->s->training;
    enum checkpointing c = t->checkpointing;
    if (c == CHECKPOINT_NONE || c == CHECKPOINT_SELECTIVE ||
        !op_block_is_layer(&stage->list.blocks[slice.block]) ||
        stage->list.blocks[slice.block].n_backward ==
            0 || /* no gradient comes so far */
        (slice.first_layer + k + 1) % t->checkpoint_every != 0 ||
        (t->checkpoint_block > 0 &&
         op_block_is_mtp(&stage->list.blocks[slice.block])) ||
        (t->checkpoint_block > 0 && slice.in_chunk + k >= t->checkpoint_block))
        return 0;
    return c == CHECKPOINT_GROUP ? t->checkpoint_group : 1;
}

/* The input of a layer, which is what a checkpoint keeps (MODEL.md, R9); by operators
 * its last product, too, which nobody needs. */
static int64_t input_of(const struct stage *stage, double stream_B)
{
    int n = stage->s->training.checkpointing == CHECKPOINT_OPERATORS ? 2 : 1;
    return n * model_streams(&stage->s->model) * (int64_t)stream_B;
}

int64_t recompute_input_B(const struct stage *stage)
{
    return input_of(stage, tensor_ends_stream_B(stage));
}

int64_t recompute_inputs(const struct stage *stage, int32_t chunk)
{
    const struct chunk_slices *c = &stage->chunks[chunk];
    int64_t n = 0;
    for (int32_t i = 0; i < c->n; i++)
        for (int64_t k = 0; k < c->v[i].repeat; k++) {
            int64_t group = recompute_group(stage, c->v[i], k);
            n += group > 0 && k % group == 0;
        }
    return n;
}

static int64_t saved_B(const struct stage *stage, const struct op_block *block)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t j = 0;
             recompute_saves(stage, block, i) && j < block->forward[i].n_outs; j++)
            if (block->forward[i].outs[j].kept_until >= 0)
                sum += block->forward[i].outs[j].size_B;
    return sum;
}

int64_t recompute_kept_B(const struct stage *stage, int32_t index)
{
    const struct op_block *block = &stage->list.blocks[index];
    int64_t every = stage->s->training.checkpoint_every;
    int64_t group =
                recompute_group(stage, (struct slice) { .block = index }, every - 1),
            sum = 0;
    if (group > 0 && every == 1)
        return input_of(stage, tensor_ends_block_B(stage, block)) /
                   (group < block->repeat ? group : block->repeat) +
               saved_B(stage, block);
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t j = 0; j < block->forward[i].n_outs; j++)
            if (block->forward[i].outs[j].kept_until >= 0 &&
                !recompute_drops(stage, block, i, j))
                sum += block->forward[i].outs[j].size_B;
    return sum;
}
