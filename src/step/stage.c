/* Which blocks of the model a stage holds, and its chunks. */
#include "step/stage.h"

#include <string.h>

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How often the part holds the model's block i, whose first layer (or the layer after
 * it) is number `layer`. */
static int64_t held(const struct partition_part *part, const struct op_list *model,
                    int32_t i, int64_t layer)
{
    const struct op_block *block = &model->blocks[i];
    int64_t from = part->first_layer, to = from + part->n_layers;
    if (op_block_is_mtp(block))
        return strcmp(block->name, "mtp_head") == 0 ? part->has_head : part->has_mtp;
    if (op_block_is_layer(block))
        return at_least(0, at_most(to, layer + block->repeat) - at_least(from, layer));
    if (i == 0)
        return part->has_embedding;
    if (i >= model->n_blocks - model->n_ends)
        return i == model->n_blocks - model->n_ends ? part->has_head : part->has_loss;
    return from <= layer && layer < to;
}

/* The same for chunk c of the stage; the head that the stream returns to is the chunk
 * after all others, of the first stage. */
static int64_t held_by(const struct partition *parts, int64_t stage, int64_t c,
                       const struct op_list *model, int32_t i, int64_t layer)
{
    bool returns = parts->head_returns && i == model->n_blocks - 1;
    if (returns || c == parts->n_chunks)
        return returns && stage == 0 && c == parts->n_chunks;
    int64_t part = partition_part(parts->n_stages, parts->folds, stage, c);
    return held(&parts->parts[part], model, i, layer);
}

/* A stage keeps its own copy of the embedding, where a tied head or a module that predicts
 * further tokens is on another than the first: one more tensor of that block, complete
 * with backward operator `last`. */
static void own_embedding(struct stage *stage, const struct op_list *model,
                          struct op_block *block, const char *last)
{
    struct op *ops = ARENA_ARRAY(stage->arena, block->n_backward, struct op);
    struct op_param *params =
        ARENA_ARRAY(stage->arena, block->n_params + 1, struct op_param);
    int32_t at = -1;
    for (int32_t i = 0; i < block->n_backward; i++) {
        ops[i] = block->backward[i];
        if (strcmp(ops[i].name, last) == 0 && ops[i].grad_n == 0)
            at = i;
    }
    if (at < 0)
        return;
    for (int32_t i = 0; i < block->n_params; i++)
        params[i] = block->params[i];
    params[block->n_params] = model->blocks[0].params[0];
    ops[at].grad_first = block->n_params;
    ops[at].grad_n = params[block->n_params].frozen ? 0 : 1;
    block->params = params;
    block->n_params++;
    block->backward = ops;
}

/* The stage's own list: the model's blocks that any of its chunks holds. */
static void list_blocks(struct stage *stage, const struct op_list *model,
                        const struct partition *parts, int64_t number)
{
    int64_t n_chunks = partition_chunks(parts), layer = 0;
    stage->list.blocks = ARENA_ARRAY(stage->arena, model->n_blocks, struct op_block);
    stage->chunks = ARENA_ARRAY(stage->arena, n_chunks, struct chunk_slices);
    for (int64_t c = 0; c < n_chunks; c++)
        stage->chunks[c].v = ARENA_ARRAY(stage->arena, model->n_blocks, struct slice);
    for (int32_t i = 0; i < model->n_blocks; i++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < n_chunks; c++) {
            int64_t n = held_by(parts, number, c, model, i, layer);
            if (n > 0)
                stage->chunks[c].v[stage->chunks[c].n++] =
                    (struct slice) { .block = stage->list.n_blocks, .repeat = n };
            sum += n;
        }
        bool of_stack =
            op_block_is_layer(&model->blocks[i]) && !op_block_is_mtp(&model->blocks[i]);
        layer += of_stack ? model->blocks[i].repeat : 0;
        if (sum == 0)
            continue;
        struct op_block *block = &stage->list.blocks[stage->list.n_blocks++];
        *block = model->blocks[i];
        block->repeat = sum;
    }
}

/* Numbers the rank's layers from 0, chunk by chunk. */
static void number_layers(struct stage *stage, int64_t n_chunks)
{
    int64_t n = 0;
    for (int64_t c = 0; c < n_chunks; c++) {
        int64_t before = n;
        for (int32_t i = 0; i < stage->chunks[c].n; i++) {
            struct slice *slice = &stage->chunks[c].v[i];
            if (!op_block_is_layer(&stage->list.blocks[slice->block]))
                continue;
            slice->first_layer = n;
            slice->in_chunk = n - before;
            n += slice->repeat;
        }
    }
}

int64_t stage_part(const struct stage *stage, int64_t chunk)
{
    const struct partition *parts = stage->request->parts;
    int64_t number = stage->number;
    if (chunk >= parts->n_chunks) /* the head to which the stream returns */
        return parts->n_stages * parts->n_chunks;
    return partition_part(parts->n_stages, parts->folds, number, chunk);
}

bool stage_ends(const struct stage *stage, int64_t chunk)
{
    const struct partition *parts = stage->request->parts;
    return stage_part(stage, chunk) == parts->n_stages * parts->n_chunks - 1;
}

bool stage_is_last(const struct stage *stage, int64_t rank)
{
    const struct partition *parts = stage->request->parts;
    return groups_stage(stage->request->groups, rank) ==
           partition_stage(parts->n_stages, parts->folds,
                           parts->n_stages * parts->n_chunks - 1);
}

int stage_parts(struct partition *parts, struct arena *arena, const struct scenario *s,
                const struct op_list *model, struct err *err)
{
    if (s->parallel.pipeline > 1)
        return stages_partition(parts, arena, s, model, err);
    struct partition_part *all = ARENA_NEW(arena, struct partition_part);
    *all = (struct partition_part) { .n_layers = INT64_MAX / 2,
                                     .has_embedding = true,
                                     .has_head = true,
                                     .has_mtp = true,
                                     .has_loss = true };
    *parts = (struct partition) { .n_stages = 1, .n_chunks = 1, .parts = all };
    return 0;
}

/* The matrix of words is on the first stage; one other may need it. */
static void own_copies(struct stage *stage, const struct op_list *model)
{
    const struct partition *parts = stage->request->parts;
    int64_t number = stage->number;
    bool tied = model_ties_head(&stage->s->model);
    if (stage->s->parallel.pipeline == 1 || number == 0)
        return;
    for (int32_t i = 0; i < stage->list.n_blocks; i++) {
        struct op_block *block = &stage->list.blocks[i];
        if (tied && number == partition_head_stage(parts) && !op_block_is_mtp(block) &&
            block->n_backward > 0 && block->forward[0].module == OP_HEAD)
            own_embedding(stage, model, block, "logits_dgrad");
        if (!tied && strcmp(block->name, "mtp_input") == 0) {
            own_embedding(stage, model, block, "word_scatter");
            return; /* the last whose backward runs */
        }
    }
}

void stage_cut(struct stage *stage, const struct op_list *model)
{
    const struct partition *parts = stage->request->parts;
    list_blocks(stage, model, parts, stage->number);
    number_layers(stage, partition_chunks(parts));
    stage->embedding_elements = model->blocks[0].params[0].elements;
    stage->embedding_frozen = model->blocks[0].params[0].frozen;
    own_copies(stage, model);
}

double stage_width_B(const struct stage *stage)
{
    return stage->half ? 2 : 4;
}
