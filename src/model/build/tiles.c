/* A dense MLP in tiles of the tokens ("mlp_tiles"), as DeepSpeed's TiledMLP
 * (runtime/sequence_parallel/ulysses_sp.py, Arctic's long sequence training): forward
 * keeps its input alone, and backward runs each tile forward again before its gradients.
 * What is between the first product and the last exists for one tile (MODEL.md, 2.19). */
#include "model/build/build.h"

#include <math.h>
#include <string.h>

/* Whether the result is of all tokens, a sum over tiles, or run again in backward, with
 * which operator. */
static const struct {
    const char *name;
    bool whole, sums;
    const char *again;
} parts[] = {
    { "gate", false, false, "gate_dgrad" },
    { "up", false, false, "up_dgrad" },
    { "activation", false, false, "activation_bwd" },
    { "multiply", false, false, "multiply_bwd" },
    { "down", true, false, "down_dgrad" },
    { "down_dgrad", false, false, NULL },
    { "down_wgrad", true, true, NULL },
    { "multiply_bwd", false, false, NULL },
    { "activation_bwd", false, false, NULL },
    { "gate_dgrad", true, false, NULL },
    { "gate_wgrad", true, true, NULL },
    { "up_dgrad", true, false, NULL },
    { "up_wgrad", true, true, NULL },
};

static struct op *named(struct op *ops, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (ops[i].module == OP_MLP && strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

/* The time of a forward operator is its gradient's once more: a product has the sizes of
 * that of its input, and what moves memory adds its bytes. */
static void run_again(struct op *with, const struct op *forward)
{
    if (with->kind == OP_GEMM)
        with->slower = 2 * fmax(1, with->slower);
    with->flops += forward->flops;
    with->read_B += forward->kind == OP_GEMM ? 0 : forward->read_B;
    with->write_B += forward->kind == OP_GEMM ? 0 : forward->write_B;
    with->launches += forward->launches;
    with->dispatches += forward->dispatches;
}

static void cut(struct op *op, int64_t tiles, bool whole, bool sums)
{
    op->launches *= (int32_t)tiles;
    op->dispatches *= (int32_t)tiles;
    if (op->kind == OP_GEMM)
        build_cut_product(op, tiles, sums);
    for (int32_t j = 0; j < op->n_outs && !whole; j++)
        op->outs[j].size_B = (op->outs[j].size_B + tiles - 1) / tiles;
}

static int64_t tiles_of(const struct build *b, int64_t rows)
{
    int64_t columns = b->m->hidden, tiles = b->s->mlp_tiles;
    if (tiles == OP_TILES_ALST)
        tiles = (op_tokens(b->s) / b->s->batch + columns - 1) / columns;
    return tiles < rows ? tiles : rows;
}

void build_tiles(const struct build *b, struct op_block *layer)
{
    struct op *up = named(layer->forward, layer->n_forward, "up");
    int64_t tiles = up && !layer->routes ? tiles_of(b, up->m) : 0;
    if (tiles <= 1)
        return;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct op *op = named(layer->forward, layer->n_forward, parts[i].name),
                  *with = parts[i].again ? named(layer->backward, layer->n_backward,
                                                 parts[i].again)
                                         : NULL;
        if (op && with)
            run_again(with, op);
        if (!op)
            op = named(layer->backward, layer->n_backward, parts[i].name);
        if (op)
            cut(op, tiles, parts[i].whole, parts[i].sums);
    }
}
