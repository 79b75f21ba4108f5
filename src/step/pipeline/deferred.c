#include "step/pipeline/deferred.h"

#include "step/comms.h"
#include "step/issue.h"
#include "step/pass/block_comms.h"
#include "step/pass/pass_block.h"
#include "step/pass/pass_memory.h"
#include "step/pass/tensor_ends.h"
#include "step/update/gradients.h"

static const char weight[] = "logits_wgrad", product[] = "logits";

/* The head among the stage's blocks; -1: it is elsewhere, or trains no such matrix. */
static int32_t head_of(const struct stage *stage, int32_t *op)
{
    int32_t last = stage->list.n_blocks - 1;
    if (last < 0)
        return -1;
    const struct op_block *head = &stage->list.blocks[last];
    *op = block_comms_find(head->backward, head->n_backward, weight);
    return *op < 0 ? -1 : last;
}

/* Bytes of what the product makes, which is as wide as its gradient. */
static double output_B(const struct op_block *head)
{
    int32_t at = block_comms_find(head->forward, head->n_forward, product);
    return at < 0 || head->forward[at].n_outs == 0
               ? 0
               : (double)head->forward[at].outs[0].size_B;
}

/* Elements of the gradients that it completes; a tied matrix is the embedding's. */
static double trained(const struct stage *stage, const struct op_block *head,
                      const struct op *op)
{
    double sum = 0;
    if (model_ties_head(&stage->s->model))
        return stage->embedding_frozen ? 0 : (double)stage->embedding_elements;
    for (int32_t i = 0; i < op->grad_n; i++)
        sum += (double)head->params[op->grad_first + i].elements;
    return sum;
}

int deferred_plan(struct stage *stage, struct builder *b, struct err *err)
{
    struct deferred *d = &stage->deferred;
    const struct parallelism *p = &stage->s->parallel;
    *d = (struct deferred) { .gather = -1 };
    if (!p->stages.deferred_wgrads || (d->block = head_of(stage, &d->op)) < 0)
        return 0;
    const struct op_block *head = &stage->list.blocks[d->block];
    d->microbatches = p->stages.deferred_wgrads;
    d->elements = trained(stage, head, &head->backward[d->op]);
    d->kept_B = tensor_ends_stream_B(stage) + output_B(head);
    if (!p->split.sequence_parallel || p->tensor == 1)
        return 0;
    d->gather = comms_add(b, CHANNEL_TENSOR, COLL_ALL_GATHER,
                          tensor_ends_stream_B(stage) * (double)p->tensor, err);
    if (d->gather < 0)
        return -1;
    comms_overlapped(b, b->step->program.comms.v[d->gather].plan);
    return 0;
}

bool deferred_leaves(const struct stage *stage, struct pass_ref ref)
{
    return ref.kind == PASS_BACKWARD && ref.microbatch < stage->deferred.microbatches &&
           ref.chunk == stage->s->parallel.stages.virtual_stages - 1;
}

/* The gather of the next input begins with the product before; -1: no group. */
static int32_t gather(struct builder *b)
{
    if (b->stage->deferred.gather < 0)
        return -1;
    return program_collective_on(&b->step->program, STREAM_TENSOR, CATEGORY_TENSOR_COMM,
                                 block_comms_host_s(b->stage),
                                 b->stage->deferred.gather, b->last_kernel);
}

void deferred_run(struct builder *b, int64_t microbatches)
{
    const struct deferred *d = &b->stage->deferred;
    int64_t n = d->microbatches < microbatches ? d->microbatches : microbatches;
    struct ledger *l = &b->step->ledger;
    b->pass.part = CATEGORY_COMPUTE;
    b->pass.first = false;
    issue_tag(b, WORK_WEIGHT, 0);
    int32_t gathered = n > 0 ? gather(b) : -1;
    for (int64_t i = 0; i < n; i++) {
        issue_tag(b, WORK_WEIGHT, i);
        l->microbatch = (int32_t)i;
        issue_wait(b, gathered);
        gathered = i + 1 < n ? gather(b) : -1;
        pass_backward_op(b, d->block, d->op);
        gradients_accumulate_elements(b, d->elements);
        ledger_free(l, LEDGER_ACTIVATIONS, (int64_t)d->kept_B);
    }
    pass_free_transient(b);
}
