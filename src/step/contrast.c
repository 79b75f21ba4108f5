#include "step/contrast.h"

#include "step/comms.h"
#include "step/pass/block_comms.h"
#include "step/stage.h"

/* Vectors of a rank's pairs, in the type of products. */
static double features_B(const struct stage *stage)
{
    const struct model_ends *e = &stage->s->model.ends;
    double towers = e->gathers_texts ? 1 : 2;
    return towers * (double)stage->settings.batch * (double)e->embed *
           dtype_bytes(op_compute_dtype(stage->s->training.precision));
}

static int add(struct builder *b, int32_t block, bool backward, const char *op,
               enum coll_op kind, struct err *err)
{
    const struct op_block *list = &b->stage->list.blocks[block];
    struct block_comms *c = &b->stage->comms[block];
    double all_B = features_B(b->stage) * (double)b->stage->s->parallel.data;
    int32_t at = block_comms_find(backward ? list->backward : list->forward,
                                  backward ? list->n_backward : list->n_forward, op);
    if (at < 0)
        return 0;
    struct op_comm k = { .op = at,
                         .after = !backward,
                         .times = 1,
                         .stream = STREAM_GROUP,
                         .part = CATEGORY_DATA_COMM_EXPOSED,
                         .workspace_B = (int64_t)all_B };
    k.comm = comms_add(b, CHANNEL_DATA, kind, all_B, err);
    if (k.comm < 0 || comms_alone_s(b, k.comm, &k.time_s, err) < 0)
        return -1;
    c->v[backward][c->n[backward]++] = k;
    return 0;
}

int contrast_plan(struct builder *b, struct err *err)
{
    const struct scenario *s = b->stage->s;
    if (s->model.ends.head != MODEL_HEAD_CONTRAST || s->parallel.data <= 1)
        return 0;
    int32_t head = b->stage->list.n_blocks - 1;
    return add(b, head, false, "features_norm", COLL_ALL_GATHER, err) < 0 ||
                   add(b, head, true, "features_norm_bwd", COLL_REDUCE_SCATTER, err) < 0
               ? -1
               : 0;
}
