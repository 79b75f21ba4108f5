/* Two towers that are trained against each other (CLIP, SigLIP): what makes one vector of
 * a picture or a text, and the products of those of a batch with those of all replicas.
 *
 * open_clip (src/open_clip/loss.py, ClipLoss with local_loss and gather_with_grad):
 * features of both towers are gathered from all replicas, each rank makes logits of its
 * own pictures with all texts and of its own texts with all pictures, and gradients of
 * what was gathered are reduced and scattered. */
#include "model/build/build.h"

const struct row build_contrast_f[] = {
    { ROW_STREAM, "first_token", .read = { NARROW(1, O) }, .write = { NARROW(1, O) },
      .keep = { KEEP(NARROW(1, O), "pooler_wgrad") } },
    { ROW_LINEAR, .part = MODULE_POOLER },
    /* squares, their sum, a root, a division; twice */
    { ROW_OWNER, "features_norm", MODULE_SCALE, .launches = 6,
      .read = { NARROW(3, PE) }, .write = { NARROW(2, PE) },
      .keep = { KEEP(NARROW(1, PE), "features_norm_bwd"),
                KEEP(NARROW(1, PG), "contrast_wgrad|features_norm_bwd") } },
    { ROW_LINEAR, .part = MODULE_CONTRAST },
    /* scale, cast, log-softmax and its mean, twice */
    { ROW_STREAM, "contrast_loss", .launches = 10, .read = { FP32(4, PL) },
      .write = { FP32(3, PL) }, .made = FP32(2, PL),
      .keep = { KEEP(FP32(2, PL), "contrast_loss_bwd") } },
    ROW_END,
};

const struct row build_contrast_b[] = {
    { ROW_STREAM, "contrast_loss_bwd", .launches = 8, .read = { FP32(4, PL) },
      .write = { FP32(2, PL) }, .made = FP32(1, PL) },
    { ROW_DGRAD, .part = MODULE_CONTRAST },
    { ROW_WGRAD, .part = MODULE_CONTRAST },
    { ROW_OWNER_BWD, "features_norm_bwd", MODULE_SCALE, .launches = 8,
      .read = { NARROW(5, PE) }, .write = { NARROW(3, PE) }, .made = NARROW(1, PE) },
    { ROW_DGRAD, .part = MODULE_POOLER },
    { ROW_WGRAD, .part = MODULE_POOLER },
    { ROW_BIAS, .part = MODULE_POOLER },
    { ROW_STREAM, "first_token_bwd", .read = { NARROW(1, O) },
      .write = { WIDE(1, X) } },
    ROW_END,
};

/* SigLIP's pooling (transformers, models/siglip/modeling_siglip.py,
 * SiglipMultiheadAttentionPoolingHead): a learned query attends to all patches; a norm and
 * an MLP of its result. */
static const struct row pool_f[] = {
    { ROW_STREAM, "pool_cast", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, A), "value_wgrad") } },
    { ROW_LINEAR, .part = MODULE_QUERY, .keep = { KEEP(NARROW(1, O), "pool_bwd") } },
    { ROW_LINEAR, .part = MODULE_KEY, .keep = { KEEP(NARROW(1, X), "pool_bwd") } },
    { ROW_LINEAR, .part = MODULE_VALUE, .keep = { KEEP(NARROW(1, X), "pool_bwd") } },
    { ROW_OWNER, "pool", MODULE_PROBE, .launches = 2, .read = { NARROW(2, X) },
      .write = { NARROW(1, O) }, .keep = { KEEP(NARROW(1, O), "out_wgrad|pool_bwd") } },
    { ROW_LINEAR, .part = MODULE_OUT, .keep = { KEEP(NARROW(1, O), "norm_bwd") } },
    { ROW_OWNER, "norm#", MODULE_NORM, .read = { WIDE(1, O) },
      .write = { NARROW(1, O) }, .keep = { KEEP(NARROW(1, O), "up_wgrad") } },
    { ROW_LINEAR, .part = MODULE_UP, .keep = { KEEP(NARROW(1, F), "activation_bwd") } },
    { ROW_STREAM, "activation", .read = { NARROW(1, F) }, .write = { NARROW(1, F) },
      .keep = { KEEP(NARROW(1, F), "down_wgrad") } },
    { ROW_LINEAR, .part = MODULE_DOWN },
    { ROW_STREAM, "pool_sum", .read = { NARROW(2, O) }, .write = { NARROW(1, O) } },
    ROW_END,
};

static const struct row pool_b[] = {
    { ROW_DGRAD, .part = MODULE_DOWN },
    { ROW_WGRAD, .part = MODULE_DOWN },
    { ROW_BIAS, .part = MODULE_DOWN },
    { ROW_STREAM, "activation_bwd", .read = { NARROW(2, F) },
      .write = { NARROW(1, F) } },
    { ROW_DGRAD, .part = MODULE_UP },
    { ROW_WGRAD, .part = MODULE_UP },
    { ROW_BIAS, .part = MODULE_UP },
    { ROW_OWNER_BWD, "norm#_bwd", MODULE_NORM, .launches = 2, .read = { WIDE(4, O) },
      .write = { WIDE(1, O) } },
    { ROW_DGRAD, .part = MODULE_OUT },
    { ROW_WGRAD, .part = MODULE_OUT },
    { ROW_BIAS, .part = MODULE_OUT },
    { ROW_OWNER_BWD, "pool_bwd", MODULE_PROBE, .launches = 4, .read = { NARROW(4, X) },
      .write = { NARROW(2, X) } },
    { ROW_WGRAD, .part = MODULE_QUERY },
    { ROW_BIAS, .part = MODULE_QUERY },
    { ROW_DGRAD, .part = MODULE_KEY },
    { ROW_WGRAD, .part = MODULE_KEY },
    { ROW_BIAS, .part = MODULE_KEY },
    { ROW_DGRAD, .part = MODULE_VALUE },
    { ROW_WGRAD, .part = MODULE_VALUE },
    { ROW_BIAS, .part = MODULE_VALUE },
    { ROW_STREAM, "pool_sum_bwd", .read = { NARROW(2, X) }, .write = { WIDE(1, X) } },
    ROW_END,
};

static const struct build_step pool_steps_f[] = { STEP(pool_f, 0), STEPS_END };
static const struct build_step pool_steps_b[] = { STEP(pool_b, 0), STEPS_END };

void build_pool(struct build *b, struct op_block *block)
{
    const struct model *m = b->m;
    double *e = b->sizes[OP_EMBEDDING];
    int64_t h = m->hidden, one = b->s->batch, all = op_tokens(b->s);
    enum dtype dtype = b->linears[MODULE_LOGITS].dtype;
    const struct {
        enum module part;
        int64_t rows, k, n;
    } rows[] = {
        { MODULE_QUERY, one, h, h },         { MODULE_KEY, all, h, h },
        { MODULE_VALUE, all, h, h },         { MODULE_OUT, one, h, h },
        { MODULE_UP, one, h, m->mlp.width }, { MODULE_DOWN, one, m->mlp.width, h },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        b->linears[rows[i].part] = (struct linear) { .rows = rows[i].rows,
                                                     .k = rows[i].k,
                                                     .n = rows[i].n,
                                                     .batch = 1,
                                                     .bias = true,
                                                     .owned = true,
                                                     .dtype = dtype };
    e[SYM_O] = (double)(one * h);
    e[SYM_F] = (double)(one * m->mlp.width);
    b->module = OP_EMBEDDING;
    b->elements = e;
    struct keep given = { .term = WIDE(1, A),
                          .until = b->flags & HAS_AMP ? NULL : "value_wgrad" };
    build_block(b, block, "vision_pool", 1, pool_steps_f, pool_steps_b, given);
}
