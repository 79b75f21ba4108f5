/* A loss in chunks of the tokens ("loss_chunks"): logits, their loss and the gradients of
 * both exist for one chunk at a time, and each chunk adds to the gradient of the head's
 * matrix. So do Liger's fused linear cross-entropy (linkedin/Liger-Kernel,
 * ops/fused_linear_cross_entropy.py) and DeepSpeed's TiledFusedLogitsLoss
 * (runtime/sequence_parallel/ulysses_sp.py), which make gradients in forward: nothing is
 * computed twice (MODEL.md, 2.18). */
#include "model/build/build.h"

#include <math.h>
#include <string.h>

/* What is of all words, and of which only products of gradients make something of all
 * tokens. Casts of the matrix come once. */
static const struct {
    const char *name;
    bool whole, sums;
} parts[] = {
    { "logits", false, false },
    { "logit_softcap", false, false },
    { "loss", false, false },
    { "loss_bwd", false, false },
    { "logit_softcap_bwd", false, false },
    { "logits_dgrad", true, false },
    { "logits_wgrad", true, true },
};

static double result_B(const struct op *op)
{
    return fmax(dtype_element_B(op->dtype), 2) * (double)op->m * (double)op->n;
}

static double operands_B(const struct op *op)
{
    return (double)op->batch *
           (dtype_element_B(op->dtype) * (double)op->k * (double)(op->m + op->n) +
            result_B(op));
}

/* One product a chunk. Each reads the weights, or reads and writes their gradient. */
void build_cut_product(struct op *op, int64_t chunks, bool sums)
{
    double whole_B = operands_B(op);
    int64_t *rows = sums ? &op->k : &op->m;
    *rows = (*rows + chunks - 1) / chunks;
    op->batch *= chunks;
    op->serial = (int32_t)chunks;
    op->read_B += operands_B(op) - whole_B;
    if (sums)
        op->read_B += (double)(chunks - 1) * result_B(op);
}

static void cut(struct op *ops, int32_t n, const char *name, int64_t chunks, bool whole,
                bool sums)
{
    for (int32_t i = 0; i < n; i++) {
        struct op *op = &ops[i];
        if (strcmp(op->name, name) != 0)
            continue;
        op->launches *= (int32_t)chunks;
        op->dispatches *= (int32_t)chunks;
        if (op->kind == OP_GEMM)
            build_cut_product(op, chunks, sums);
        for (int32_t j = 0; j < op->n_outs && !whole; j++)
            op->outs[j].size_B = (op->outs[j].size_B + chunks - 1) / chunks;
    }
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Liger's chunks hold about as many logits as the head's input has numbers. */
static int64_t liger_chunks(const struct linear *l)
{
    int64_t least = ceil_div(l->rows, ceil_div(l->n, l->k)), rows = 1;
    while (rows < least)
        rows *= 2;
    return ceil_div(l->rows, rows);
}

void build_chunks(const struct build *b, struct op_block *head)
{
    const struct linear *l = &b->linears[MODULE_LOGITS];
    int64_t chunks = b->s->loss_chunks;
    if (l->n == 0) /* a tower's: it has no words */
        return;
    if (chunks == OP_CHUNKS_LIGER && l->rows > 0)
        chunks = liger_chunks(l);
    if (chunks > l->rows)
        chunks = l->rows;
    if (chunks > OP_CHUNKS_MAX)
        chunks = OP_CHUNKS_MAX;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && chunks > 1; i++) {
        cut(head->forward, head->n_forward, parts[i].name, chunks, parts[i].whole,
            parts[i].sums);
        cut(head->backward, head->n_backward, parts[i].name, chunks, parts[i].whole,
            parts[i].sums);
    }
}
