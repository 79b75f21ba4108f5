/* Forward and backward of one microbatch: kernels in the order of issue, tensors
 * allocated and freed, gradients handed to their buckets. */
#include "replay/builder.h"

#include <math.h>

static double dispatch_s(const struct builder *b, const struct op *op)
{
    double each = op->backward ? b->fw->dispatch_backward_s : b->fw->dispatch_forward_s;
    return each * op->dispatches;
}

/* Times ----------------------------------------------------------------------------- */

static double traffic_factor(const struct builder *b, const struct op *op)
{
    if (op->scores && b->fw->score_factor > 0)
        return b->fw->score_factor;
    return b->half ? b->fw->stream_factor_16bit : b->fw->stream_factor;
}

static void time_ops(struct builder *b, const struct op *ops, int32_t n,
                     double *times[2])
{
    for (int side = 0; side < 2; side++) {
        times[side] = ARENA_ARRAY(b->arena, n, double);
        struct kernel_share share = side ? b->shared : kernel_alone;
        for (int32_t i = 0; i < n; i++)
            times[side][i] =
                kernel_op_s(b->gpu, &ops[i], traffic_factor(b, &ops[i]), share);
    }
}

void pass_time_blocks(struct builder *b)
{
    b->times = ARENA_ARRAY(b->arena, b->list.n_blocks, struct block_times);
    for (int32_t i = 0; i < b->list.n_blocks; i++) {
        const struct op_block *block = &b->list.blocks[i];
        time_ops(b, block->forward, block->n_forward, b->times[i].forward_s);
        time_ops(b, block->backward, block->n_backward, b->times[i].backward_s);
    }
}

/* Operators ------------------------------------------------------------------------- */

static void allocate_outs(struct builder *b, const struct op *op)
{
    struct ledger *l = &b->step->ledger;
    int64_t transient_B = 0;
    for (int32_t i = 0; i < op->n_outs; i++) {
        int64_t size = ledger_round(op->outs[i].size_B);
        bool kept = op->outs[i].kept_until >= 0;
        ledger_alloc(l, kept ? LEDGER_ACTIVATIONS : LEDGER_WORKSPACE, size);
        if (!kept)
            transient_B += size;
    }
    ledger_free(l, LEDGER_WORKSPACE, b->transient_B);
    b->transient_B = transient_B;
}

static void emit_op(struct builder *b, const struct op *op, double alone_s,
                    double shared_s)
{
    program_kernel(&b->step->program, STREAM_COMPUTE, PART_COMPUTE, dispatch_s(b, op),
                   alone_s, shared_s);
    b->step->flops += op->flops;
    allocate_outs(b, op);
}

/* Frees what the forward operators kept for this backward operator. */
static void free_kept(struct builder *b, const struct op_block *block, int32_t backward)
{
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t j = 0; j < block->forward[i].n_outs; j++)
            if (block->forward[i].outs[j].kept_until == backward)
                ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS,
                            block->forward[i].outs[j].size_B);
}

/* The host falls behind and catches up at random; over a block its lead is lost in part
 * where host and GPU are about equally fast (MODEL.md, "Host"). */
static void soften(struct builder *b, double host_s, double gpu_s)
{
    double width = b->fw->host_spread * host_s;
    if (width <= 0)
        return;
    double lost = width * log1p(exp(-fabs(gpu_s - host_s) / width));
    program_kernel(&b->step->program, STREAM_COMPUTE, PART_OTHER, 0, lost, lost);
}

/* Autocast's 16-bit copies of a block's weights: made in forward, dropped in backward. */
static int64_t autocast_B(const struct builder *b, const struct op_block *block)
{
    double bytes = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        if (block->params[i].matrix)
            bytes += b->states.autocast_B * (double)block->params[i].elements;
    return (int64_t)bytes;
}

static void forward_block(struct builder *b, const struct op_block *block,
                          const struct block_times *t)
{
    double host_s = 0, gpu_s = 0;
    ledger_alloc(&b->step->ledger, LEDGER_ACTIVATIONS, autocast_B(b, block));
    for (int32_t i = 0; i < block->n_forward; i++) {
        emit_op(b, &block->forward[i], t->forward_s[0][i], t->forward_s[1][i]);
        host_s += dispatch_s(b, &block->forward[i]);
        gpu_s += t->forward_s[0][i];
    }
    soften(b, host_s, gpu_s);
}

void pass_forward(struct builder *b)
{
    for (int32_t i = 0; i < b->list.n_blocks; i++)
        for (int64_t k = 0; k < b->list.blocks[i].repeat; k++)
            forward_block(b, &b->list.blocks[i], &b->times[i]);
}

/* Gradients that an operator completes: allocated by the first microbatch, added to by
 * the others, reduced by those that reduce. */
static int complete_gradients(struct builder *b, const struct op_block *block,
                              const struct op *op, struct err *err)
{
    for (int32_t i = 0; i < op->grad_n; i++) {
        const struct op_param *p = &block->params[op->grad_first + i];
        double bytes = (double)p->elements * b->states.gradient_B;
        if (b->first && !b->fw->keeps_gradients)
            ledger_alloc(&b->step->ledger, LEDGER_GRADIENTS, (int64_t)bytes);
        else /* added to the sum behind this operator */
            b->transient_B += ledger_workspace(&b->step->ledger, (int64_t)bytes);
        if (b->reduces && b->s->parallel.overlap &&
            buckets_add(b, p->elements, err) < 0)
            return -1;
    }
    return 0;
}

static int backward_block(struct builder *b, const struct op_block *block,
                          const struct block_times *t, struct err *err)
{
    double host_s = 0, gpu_s = 0;
    for (int32_t i = 0; i < block->n_backward; i++) {
        const struct op *op = &block->backward[i];
        emit_op(b, op, t->backward_s[0][i], t->backward_s[1][i]);
        free_kept(b, block, i);
        if (complete_gradients(b, block, op, err) < 0)
            return -1;
        host_s += dispatch_s(b, op);
        gpu_s += t->backward_s[0][i];
    }
    ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS, autocast_B(b, block));
    soften(b, host_s, gpu_s);
    return 0;
}

/* Adding a microbatch's gradients to the sum, unscaling them, casting: bytes per
 * parameter. The first microbatch has nothing to add to. */
static void accumulate(struct builder *b, const struct op_block *block)
{
    double elements = (double)block_parameters(block);
    double each_B = b->half ? b->fw->accumulate_16bit_B : b->fw->accumulate_B;
    double bytes = each_B * elements * (b->first ? 0.5 : 1);
    if (bytes > 0)
        build_stream(b, PART_COMPUTE, b->fw->dispatch_backward_s, bytes);
}

int pass_backward(struct builder *b, struct err *err)
{
    for (int32_t i = b->list.n_blocks - 1; i >= 0; i--) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat; k++) {
            if (backward_block(b, block, &b->times[i], err) < 0)
                return -1;
            accumulate(b, block);
        }
    }
    return 0;
}
