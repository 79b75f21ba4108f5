/* Gradients of parameters as backward makes them. */
#include "step/update/gradients.h"

#include "model/graphs.h"
#include "step/issue.h"
#include "step/pass/pass_memory.h"
#include "step/replicas.h"
#include "step/stage.h"
#include "step/update/buckets.h"

#include <math.h>

/* Whether a parameter's gradient goes on the wire as soon as it is made. */
static bool sends(const struct builder *b)
{
    return b->pass.reduces && b->stage->s->parallel.reduce.overlap &&
           !states_shard_parameters(b->stage->s);
}

/* Whether the sum of the gradients is made now: a shard of whole ones is when these are
 * scattered. */
static bool begins_sum(const struct builder *b)
{
    return states_hold_whole(b->stage->s) ? b->pass.reduces : b->pass.first;
}

int gradients_complete(struct builder *b, const struct op_block *block,
                       const struct op *op, struct err *err)
{
    for (int32_t i = 0; i < op->grad_n; i++) {
        const struct op_param *p = &block->params[op->grad_first + i];
        const struct states states = replicas_states_of(b->stage, p);
        double sum_B = (double)p->elements * states.gradient_B;
        double made_B = states_shard_parameters(b->stage->s)
                            ? sum_B
                            : (double)p->elements * states.made_B;
        if (b->stage->s->training.updates_in_backward)
            pass_make_gradient(b, made_B, sum_B);
        else if (begins_sum(b) && !states_keep_gradients(b->stage->s))
            ledger_alloc(&b->step->ledger, LEDGER_GRADIENTS, (int64_t)sum_B);
        else if (!pass_has_dummy(b->stage, block, p)) /* added to the sum after it */
            pass_make_gradient(b, made_B, sum_B);
        if (sends(b) && buckets_add(b, p, err) < 0)
            return -1;
    }
    return 0;
}

int gradients_send(struct builder *b, const struct op_block *block, const struct op *op,
                   struct err *err)
{
    for (int32_t i = 0; i < op->grad_n && sends(b); i++)
        if (buckets_add(b, &block->params[op->grad_first + i], err) < 0)
            return -1;
    return 0;
}

/* Bytes that adding a whole gradient to the whole sum moves, for each element. FSDP2
 * keeps the sum as wide as it is reduced (_fsdp_param.py, to_accumulated_grad_if_needed
 * and accumulate_unsharded_grad_if_needed). */
static double whole_sum_B(const struct builder *b)
{
    double made_B = stage_width_B(b->stage), sum_B = states_wire_B(b->stage->s);
    double first_B = sum_B > made_B && !b->pass.reduces ? made_B + sum_B : 0;
    return b->pass.first ? first_B : made_B + 2 * sum_B;
}

void gradients_accumulate_elements(struct builder *b, double elements)
{
    double each_B = b->stage->half ? b->stage->fw->gradients.accumulate_16bit_B
                                   : b->stage->fw->gradients.accumulate_B;
    if (each_B > 0)
        each_B = fmax(0, each_B + states_sums_wider_B(b->stage->s));
    double bytes = each_B * elements * (b->pass.first ? 0.5 : 1);
    bool whole = states_hold_whole(b->stage->s);
    if (whole)
        bytes = whole_sum_B(b) * elements;
    if (states_shard_parameters(b->stage->s) && !whole &&
        b->stage->s->parallel.pipeline == 1) /* else whole, until the last */
        bytes /= (double)b->stage->s->parallel.shard.degree;
    if (bytes <= 0 || !pass_makes_weights(b->pass.kind))
        return;
    bool captured = b->stage->s->training.graphs >> OP_GRAPH_ITERATION & 1;
    issue_stream(b, CATEGORY_COMPUTE,
                 captured ? 0 : b->stage->fw->host.dispatch_backward_s, bytes);
    issue_label(b, "add gradients");
}

void gradients_accumulate(struct builder *b, const struct op_block *block)
{
    const struct deferred *d = &b->stage->deferred;
    double elements = (double)op_block_trained(block);
    if (b->pass.defers && block == &b->stage->list.blocks[d->block])
        elements -= d->elements;
    gradients_accumulate_elements(b, elements);
}
