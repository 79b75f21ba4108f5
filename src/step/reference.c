#include "step/reference.h"

#include "step/pass/pass_block.h"
#include "step/pass/tensor_ends.h"
#include "step/replicas.h"
#include "step/update/shard.h"

int64_t reference_weights_B(const struct stage *stage)
{
    double bytes = 0;
    if (stage->s->training.preference.reference != REFERENCE_SEPARATE ||
        stage->s->parallel.shard.offload == OFFLOAD_PARAMETERS)
        return 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++) {
        const struct op_block *block = &stage->list.blocks[i];
        for (int32_t k = 0; k < block->n_params; k++)
            bytes += (double)(block->repeat * block->params[k].elements) *
                     replicas_states_of(stage, &block->params[k]).parameter_B;
    }
    return (int64_t)bytes + shard_persistent_B(stage);
}

static int forward(struct builder *b, struct err *err)
{
    const struct chunk_slices *c = &b->stage->chunks[0];
    int32_t unit = 0;
    if (tensor_ends_gather(b, c, false, err) < 0)
        return -1;
    for (int32_t i = 0; i < c->n; i++)
        for (int64_t k = 0; k < c->v[i].repeat; k++, unit++) {
            if (shard_enter(b, unit, false, err) < 0 ||
                pass_forward_block(b, c->v[i].block, err) < 0 ||
                shard_leave(b, unit, false, err) < 0)
                return -1;
        }
    return 0;
}

static int reference_forward(struct builder *b, struct err *err)
{
    b->pass.adapters_off = true;
    shard_begin_reference(b);
    int rc = forward(b, err);
    shard_end_reference(b);
    b->pass.adapters_off = false;
    return rc;
}

int reference_forwards(struct builder *b, struct err *err)
{
    const struct preference *p = &b->stage->s->training.preference;
    struct pass_cursor pass = b->pass;
    int rc = 0;
    b->pass.pairs = false;
    b->pass.keep = KEEP_NOTHING;
    b->pass.ungraded = true;
    b->pass.part = CATEGORY_REFERENCE;
    for (int64_t i = 0; i < p->policy_forwards && rc == 0; i++)
        rc = forward(b, err);
    for (int64_t i = 0; i < p->reference_forwards && rc == 0; i++)
        rc = reference_forward(b, err);
    b->pass = pass;
    return rc;
}
