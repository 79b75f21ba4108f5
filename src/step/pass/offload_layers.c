#include "step/pass/offload_layers.h"

#include "step/issue.h"
#include "step/stage.h"

/* Tensors of 2^18 elements and more leave the GPU (TransformerEngine 2.10,
 * pytorch/cpu_offload.py, _check_if_offload); here they all count as 16-bit ones. */
enum { LEAST_B = 2 << 18 };

static int64_t offloaded(const struct stage *stage)
{
    return stage->s->parallel.offload_layers;
}

/* Layers of the stack: those that predict further tokens are after it. */
static bool is_of_stack(const struct op_block *block)
{
    return op_block_is_layer(block) && !op_block_is_mtp(block);
}

static int64_t layers_of(const struct stage *stage, int32_t chunk)
{
    const struct chunk_slices *c = &stage->chunks[chunk];
    int64_t n = 0;
    for (int32_t i = 0; i < c->n; i++)
        if (is_of_stack(&stage->list.blocks[c->v[i].block]))
            n += c->v[i].repeat;
    return n;
}

static const struct op_block *block_of(const struct stage *stage, int32_t chunk,
                                       int64_t layer)
{
    const struct chunk_slices *c = &stage->chunks[chunk];
    for (int32_t i = 0; i < c->n; i++) {
        const struct op_block *block = &stage->list.blocks[c->v[i].block];
        int64_t first = c->v[i].first_layer;
        if (is_of_stack(block) && layer >= first && layer < first + c->v[i].repeat)
            return block;
    }
    return NULL;
}

static bool leaves(const struct op_out *out)
{
    return out->kept_until >= 0 && out->size_B >= LEAST_B;
}

/* Bytes of a block's tensors that leave; books them as gone (-1), or back (1). */
static int64_t move(struct builder *b, const struct op_block *block, int booked)
{
    int64_t sum_B = 0;
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t j = 0; j < block->forward[i].n_outs; j++) {
            int64_t size_B = block->forward[i].outs[j].size_B;
            if (!leaves(&block->forward[i].outs[j]))
                continue;
            sum_B += size_B;
            if (booked < 0)
                ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS, ledger_round(size_B));
            else if (booked > 0)
                ledger_alloc(&b->step->ledger, LEDGER_ACTIVATIONS,
                             ledger_round(size_B));
        }
    return sum_B;
}

/* One stream has both directions, one after the other. */
static int32_t copy(struct builder *b, int64_t size_B, const char *label)
{
    double rate_Bps = b->stage->s->cluster.groups[0].instance->host_pinned_Bps;
    double time_s = (double)size_B / rate_Bps;
    int32_t task = program_kernel(&b->step->program, STREAM_STORE,
                                  CATEGORY_OFFLOAD_EXPOSED, 0, time_s, time_s);
    b->step->program.tasks.v[task].tag.label = label;
    program_follow(&b->step->program, task, b->last_kernel);
    return task;
}

/* Of n layers the first k are gone when the pass enters layer n - k + i: the copy of
 * layer i is awaited there. */
static void enter_forward(struct builder *b, int32_t chunk, int64_t layer, int64_t n)
{
    int64_t k = offloaded(b->stage), gone = layer - (n - k);
    int32_t *copies = b->offload.layers;
    if (layer > 0 && layer - 1 < k)
        copies[layer - 1] = copy(b, move(b, block_of(b->stage, chunk, layer - 1), 0),
                                 "layer to the host");
    if (gone < 0)
        return;
    issue_wait(b, copies[gone]);
    move(b, block_of(b->stage, chunk, gone), -1);
}

/* Layer i begins to come back when the pass enters layer n - 1 - k + i. */
static void enter_backward(struct builder *b, int32_t chunk, int64_t layer, int64_t n)
{
    int64_t k = offloaded(b->stage), back = layer - (n - 1 - k);
    int32_t *copies = b->offload.layers;
    if (back >= 0 && back < k)
        copies[back] =
            copy(b, move(b, block_of(b->stage, chunk, back), 1), "layer from the host");
    if (layer < k)
        issue_wait(b, copies[layer]);
}

void offload_layers_enter(struct builder *b, bool backward, int32_t chunk,
                          int32_t slice, int64_t k)
{
    struct slice s = b->stage->chunks[chunk].v[slice];
    int64_t n = layers_of(b->stage, chunk);
    if (offloaded(b->stage) == 0 || !is_of_stack(&b->stage->list.blocks[s.block]))
        return;
    if (!b->offload.layers)
        b->offload.layers = ARENA_ARRAY(b->stage->arena, n, int32_t);
    if (backward)
        enter_backward(b, chunk, s.first_layer + k, n);
    else
        enter_forward(b, chunk, s.first_layer + k, n);
}
