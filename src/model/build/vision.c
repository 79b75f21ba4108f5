/* A tower that reads pictures: patches, an encoder's layers, and the projector that
 * hands their result to the language model. Its sequences are crops of pictures. */
#include "model/build/build.h"

#define FIRST_WGRAD "gate_wgrad|up_wgrad|down_wgrad"

/* One product, two with an activation between them, or one before those. The result
 * takes its places among the words. */
static const struct row projector_f[] = {
    { ROW_OWNER, "norm#", MODULE_NORM, .when = HAS_PROJECTOR_NORM,
      .read = { WIDE(1, A) }, .write = { WIDE(1, A) },
      .keep = { KEEP(NARROW(1, A), FIRST_WGRAD, .unless = HAS_AMP) } },
    { ROW_STREAM, "projector_cast", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, A), FIRST_WGRAD) } },
    { ROW_LINEAR, .part = MODULE_GATE, .when = HAS_PROJECTOR_FIRST,
      .keep = { KEEP(NARROW(1, Z), "up_wgrad") } },
    { ROW_LINEAR, .part = MODULE_UP, .when = HAS_PROJECTOR_INSIDE,
      .keep = { KEEP(NARROW(1, F), "projector_activation_bwd") } },
    { ROW_STREAM, "projector_activation", .when = HAS_PROJECTOR_INSIDE,
      .read = { NARROW(1, F) }, .write = { NARROW(1, F) },
      .keep = { KEEP(NARROW(1, F), "down_wgrad") } },
    { ROW_LINEAR, .part = MODULE_DOWN },
    { ROW_STREAM, "picture_scatter", .read = { NARROW(1, X) },
      .write = { WIDE(1, X) } },
    ROW_END,
};

static const struct row projector_b[] = {
    { ROW_STREAM, "picture_gather", .read = { WIDE(1, X) }, .write = { NARROW(1, X) } },
    { ROW_DGRAD, .part = MODULE_DOWN },
    { ROW_WGRAD, .part = MODULE_DOWN },
    { ROW_BIAS, .part = MODULE_DOWN },
    { ROW_STREAM, "projector_activation_bwd", .when = HAS_PROJECTOR_INSIDE,
      .read = { NARROW(2, F) }, .write = { NARROW(1, F) } },
    { ROW_DGRAD, .part = MODULE_UP, .when = HAS_PROJECTOR_INSIDE },
    { ROW_WGRAD, .part = MODULE_UP, .when = HAS_PROJECTOR_INSIDE },
    { ROW_BIAS, .part = MODULE_UP, .when = HAS_PROJECTOR_INSIDE },
    { ROW_DGRAD, .part = MODULE_GATE, .when = HAS_PROJECTOR_FIRST },
    { ROW_WGRAD, .part = MODULE_GATE, .when = HAS_PROJECTOR_FIRST },
    { ROW_STREAM, "projector_cast_bwd", .when = HAS_AMP, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    { ROW_OWNER_BWD, "norm#_bwd", MODULE_NORM, .when = HAS_PROJECTOR_NORM,
      .launches = 2, .read = { WIDE(4, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};

/* GLM-4V: the convolution that merges patches, a product, a norm, and a gated MLP. */
static const struct row gated_f[] = {
    { ROW_STREAM, "projector_cast", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, A), "merge_wgrad") } },
    { ROW_LINEAR, .part = MODULE_MERGE,
      .keep = { KEEP(NARROW(1, X), "merged_wgrad") } },
    { ROW_LINEAR, .part = MODULE_MERGED, .keep = { KEEP(NARROW(1, X), "norm#_bwd") } },
    { ROW_OWNER, "norm#", MODULE_NORM, .read = { NARROW(1, X) },
      .write = { NARROW(1, X) },
      .keep = { KEEP(NARROW(1, X), "projector_activation_bwd") } },
    { ROW_STREAM, "projector_activation", .read = { NARROW(1, X) },
      .write = { NARROW(1, X) }, .keep = { KEEP(NARROW(1, X), "gate_wgrad") } },
    { ROW_LINEAR, .part = MODULE_GATE,
      .keep = { KEEP(NARROW(1, F), "projector_gate_bwd") } },
    { ROW_LINEAR, .part = MODULE_UP,
      .keep = { KEEP(NARROW(1, F), "projector_gate_bwd") } },
    { ROW_STREAM, "projector_gate", .launches = 2, .read = { NARROW(3, F) },
      .write = { NARROW(2, F) },
      .keep = { KEEP(NARROW(1, F), "projector_gate_bwd"),
                KEEP(NARROW(1, F), "down_wgrad") } },
    { ROW_LINEAR, .part = MODULE_DOWN },
    { ROW_STREAM, "picture_scatter", .read = { NARROW(1, X) },
      .write = { WIDE(1, X) } },
    ROW_END,
};
static const struct row gated_b[] = {
    { ROW_STREAM, "picture_gather", .read = { WIDE(1, X) }, .write = { NARROW(1, X) } },
    { ROW_DGRAD, .part = MODULE_DOWN },
    { ROW_WGRAD, .part = MODULE_DOWN },
    { ROW_STREAM, "projector_gate_bwd", .launches = 3, .read = { NARROW(5, F) },
      .write = { NARROW(3, F) } },
    { ROW_DGRAD, .part = MODULE_UP },
    { ROW_WGRAD, .part = MODULE_UP },
    { ROW_DGRAD, .part = MODULE_GATE },
    { ROW_WGRAD, .part = MODULE_GATE },
    { ROW_STREAM, "projector_sum_bwd", .read = { NARROW(2, X) },
      .write = { NARROW(1, X) } },
    { ROW_STREAM, "projector_activation_bwd", .read = { NARROW(2, X) },
      .write = { NARROW(1, X) } },
    { ROW_OWNER_BWD, "norm#_bwd", MODULE_NORM, .launches = 2, .read = { NARROW(4, X) },
      .write = { NARROW(1, X) } },
    { ROW_DGRAD, .part = MODULE_MERGED },
    { ROW_WGRAD, .part = MODULE_MERGED },
    { ROW_DGRAD, .part = MODULE_MERGE },
    { ROW_WGRAD, .part = MODULE_MERGE },
    { ROW_BIAS, .part = MODULE_MERGE },
    { ROW_STREAM, "projector_cast_bwd", .when = HAS_AMP, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};
static const struct build_step gated_steps_f[] = { STEP(gated_f, 0), STEPS_END };
static const struct build_step gated_steps_b[] = { STEP(gated_b, 0), STEPS_END };

static const struct build_step projector_steps_f[] = { STEP(projector_f, 0),
                                                       STEPS_END };
static const struct build_step projector_steps_b[] = { STEP(projector_b, 0),
                                                       STEPS_END };

static struct linear product(const struct build *b, int64_t rows, int64_t k, int64_t n,
                             bool bias)
{
    return (struct linear) { .rows = rows,
                             .k = k,
                             .n = n,
                             .batch = 1,
                             .bias = bias,
                             .owned = true,
                             .dtype = b->linears[MODULE_LOGITS].dtype };
}

/* The last product is DOWN's, the one before it UP's, the first of three GATE's, which
 * has no bias. */
static void set_projector(struct build *b, const struct model_tower *t, int64_t norm)
{
    double *e = b->sizes[OP_EMBEDDING];
    int64_t rows = b->s->batch * t->tokens, n = t->n_products;
    const int64_t *w = t->widths;
    for (int64_t i = 0; i < n; i++)
        b->linears[MODULE_DOWN - (n - 1 - i)] =
            product(b, rows, w[i], w[i + 1], t->bias && !(n == 3 && i == 0));
    e[SYM_H] = (double)norm;
    e[SYM_A] = (double)(rows * w[0]);
    e[SYM_Z] = n == 3 ? (double)(rows * w[1]) : 0;
    e[SYM_F] = n > 1 ? (double)(rows * w[n - 1]) : 0;
    e[SYM_X] = (double)(rows * w[n]);
    b->flags &= ~(HAS_GATE | HAS_EXPERTS | HAS_QUANTIZED | HAS_EAGER_RMS);
    b->flags |= (norm ? HAS_PROJECTOR_NORM : 0) | (n == 3 ? HAS_PROJECTOR_FIRST : 0) |
                (n > 1 ? HAS_PROJECTOR_INSIDE : 0);
}

/* Its norm is a LayerNorm over the language model's columns. */
static void build_gated(struct build *b, struct op_block *block,
                        const struct model_tower *t)
{
    double *e = b->sizes[OP_EMBEDDING];
    int64_t rows = b->s->batch * t->tokens, h = t->widths[1];
    struct model *plain = ARENA_NEW(b->arena, struct model);
    *plain = *b->m;
    plain->norms.rms = false;
    b->m = plain;
    b->linears[MODULE_MERGE] = product(b, rows, t->widths[0], h, true);
    b->linears[MODULE_MERGED] = product(b, rows, h, h, false);
    b->linears[MODULE_GATE] = b->linears[MODULE_UP] =
        product(b, rows, h, t->gate, false);
    b->linears[MODULE_DOWN] = product(b, rows, t->gate, h, false);
    e[SYM_H] = (double)h;
    e[SYM_A] = (double)(rows * t->widths[0]);
    e[SYM_X] = (double)(rows * h);
    e[SYM_F] = (double)(rows * t->gate);
    b->flags &= ~(HAS_GATE | HAS_EXPERTS | HAS_QUANTIZED | HAS_EAGER_RMS);
    b->module = OP_EMBEDDING;
    b->elements = e;
    struct keep given = { .term = WIDE(1, A),
                          .until = b->flags & HAS_AMP ? NULL : "merge_wgrad" };
    build_block(b, block, "projector", 1, gated_steps_f, gated_steps_b, given);
    block->tokens = rows;
}

static void build_projector(struct build *b, struct op_block *block, const char *name,
                            const struct model_tower *t, int64_t norm)
{
    set_projector(b, t, norm);
    b->module = OP_EMBEDDING;
    b->elements = b->sizes[OP_EMBEDDING];
    struct keep given = { .term = WIDE(1, A), .until = FIRST_WGRAD };
    if (norm)
        given.until = "norm_bwd";
    else if (b->flags & HAS_AMP)
        given.until = NULL;
    build_block(b, block, name, 1, projector_steps_f, projector_steps_b, given);
    block->tokens = b->s->batch * t->tokens;
}

int32_t build_tower_blocks(const struct model *m)
{
    const struct model_tower *t = m->tower;
    return !t ? 0
              : 1 + build_stack_blocks(&t->model) + t->model.norms.final + t->pooled +
                    (t->n_products > 0) + (int32_t)t->inner;
}

/* Nothing below it is trained, so nothing is kept. */
static void forward_only(struct op_block *block)
{
    block->n_backward = 0;
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t k = 0; k < block->forward[i].n_outs; k++)
            block->forward[i].outs[k].kept_until = -1;
}

/* No picture is read: its parameters are there, and nothing runs. */
static void idle(struct op_block *block)
{
    block->n_forward = block->n_backward = 0;
}

/* b is left as what comes after the layers needs it. */
static int build_tower_layers(struct build *b, struct op_block *block,
                              struct arena *arena, const struct model_tower *t,
                              const struct op_settings *s, struct err *err)
{
    if (t->model.stages)
        return build_stages(b, block, &t->model, s, STACK_VISION, err) < 0
                   ? -1
                   : build_last_stage(b, arena, &t->model, s, err);
    build_layer(b, block, STACK_VISION);
    return 0;
}

/* Next to adapters in the language model a part is frozen, or trained whole, as if there
 * were none. */
static void train_part(struct lora *own, const struct lora *l, bool adapters,
                       uint32_t bit)
{
    own->rank = adapters && l->trained & bit ? 0 : l->rank;
}

int build_tower(struct op_block *block, struct arena *arena, const struct model *m,
                const struct op_settings *s, struct err *err)
{
    const struct model_tower *t = m->tower;
    struct build b;
    struct op_settings crops = *s;
    crops.batch = s->batch * (t->crops ? t->crops : 1);
    crops.sequence = t->patches;
    bool pair = m->ends.head == MODEL_HEAD_CONTRAST;
    bool adapters = s->lora.rank > 0 && !pair;
    if (!pair)
        crops.lora.targets = crops.lora.trained = 0; /* no adapters are in it */
    train_part(&crops.lora, &s->lora, adapters, LORA_TRAINS_VISION);
    crops.lora.whole = s->lora.frozen & LORA_FREEZES_VISION;
    crops.lora.frozen &= LORA_FREEZES_ALL; /* layers are the language model's */
    crops.predicted = crops.decoder = crops.memory = crops.vocab_padding = 0;
    crops.tensor = 1; /* it is whole on each GPU */
    crops.context = 0;
    crops.sequence_parallel = false;
    if (build_init(&b, arena, &t->model, &crops, err) < 0)
        return -1;
    build_embedding(&b, block);
    block++->name = "vision_embedding";
    if (build_tower_layers(&b, block, arena, t, &crops, err) < 0)
        return -1;
    block += build_stack_blocks(&t->model);
    if (t->model.norms.final) {
        build_head(&b, block);
        block++->name = "vision_norm";
    }
    if (t->pooled)
        build_pool(&b, block++);
    struct op_block *projectors = block;
    train_part(&crops.lora, &s->lora, adapters, LORA_TRAINS_PROJECTOR);
    crops.lora.whole = s->lora.frozen & LORA_FREEZES_PROJECTOR;
    for (int64_t i = 0; i < t->inner; i++)
        build_projector(&b, block++, "vision_projector", t, t->widths[0]);
    if (t->gate > 0)
        build_gated(&b, block++, t);
    else if (t->n_products > 0)
        build_projector(&b, block++, "projector", t, t->norm);
    bool vision = adapters ? !(s->lora.trained & LORA_TRAINS_VISION)
                           : s->lora.frozen & LORA_FREEZES_VISION,
         all = vision && (adapters ? !(s->lora.trained & LORA_TRAINS_PROJECTOR)
                                   : s->lora.frozen & LORA_FREEZES_PROJECTOR);
    for (struct op_block *at = block - build_tower_blocks(m); at < block; at++)
        if (t->crops == 0)
            idle(at);
        else if (at < projectors ? vision : all)
            forward_only(at);
    return 0;
}
