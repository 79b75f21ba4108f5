/* The operators of a step, forward and backward, in the order of smsim's lists: layers
 * with norms before or after their blocks, between embedding and head. */
#include "step_build.h"

#include <stdlib.h>

static void layer_weights(struct step_builder *b, struct step_layer *l)
{
    int64_t h = b->h, f = b->t->ffn;
    struct step_plan *p = b->p;
    bool beta = !b->t->rms;
    l->w_norm1 = step_weight(p, h, true);
    l->b_norm1 = beta ? step_weight(p, h, false) : -1;
    l->w_qkv = step_weight(p, 3 * h * h, false);
    l->b_qkv = b->t->bias ? step_weight(p, 3 * h, false) : -1;
    l->w_out = step_weight(p, h * h, false);
    l->b_out = b->t->bias ? step_weight(p, h, false) : -1;
    l->w_norm2 = step_weight(p, h, true);
    l->b_norm2 = beta ? step_weight(p, h, false) : -1;
    l->w_gate = b->t->gated ? step_weight(p, h * f, false) : -1;
    l->w_up = step_weight(p, h * f, false);
    l->b_up = b->t->bias ? step_weight(p, f, false) : -1;
    l->w_down = step_weight(p, h * f, false);
    l->b_down = b->t->bias ? step_weight(p, h, false) : -1;
}

static int layer_post(struct step_builder *b, struct step_layer *l, int x)
{
    float share = b->t->hidden_dropout;
    l->in = x;
    int y = step_attention(b, l, x);
    y = step_dropout(b, "dropout1", y, b->rows, b->h, share, &l->mask1);
    l->sum1 = step_sum(b, "residual1", y, x, false);
    l->mid = step_norm(b, "norm1", l->sum1, l->w_norm1, l->b_norm1, &l->stats1);
    y = step_mlp(b, l, l->mid);
    y = step_dropout(b, "dropout2", y, b->rows, b->h, share, &l->mask2);
    l->sum2 = step_sum(b, "residual2", y, l->mid, false);
    return step_norm(b, "norm2", l->sum2, l->w_norm2, l->b_norm2, &l->stats2);
}

static int layer_post_bwd(struct step_builder *b, struct step_layer *l, int dy)
{
    int dsum =
        step_norm_bwd(b, "norm2_bwd", dy, l->sum2, l->stats2, l->w_norm2, l->b_norm2);
    int d = step_dropout_bwd(b, "dropout2_bwd", dsum, l->mask2, b->rows, b->h);
    d = step_mlp_bwd(b, l, d, l->mid);
    d = step_sum(b, "residual2_sum_bwd", d, dsum, true);
    dsum = step_norm_bwd(b, "norm1_bwd", d, l->sum1, l->stats1, l->w_norm1, l->b_norm1);
    d = step_dropout_bwd(b, "dropout1_bwd", dsum, l->mask1, b->rows, b->h);
    d = step_attention_bwd(b, l, d, l->in);
    return step_sum(b, "residual1_sum_bwd", d, dsum, true);
}

static int layer_pre(struct step_builder *b, struct step_layer *l, int x)
{
    float share = b->t->hidden_dropout;
    l->in = x;
    l->normed1 = step_norm(b, "norm1", x, l->w_norm1, l->b_norm1, &l->stats1);
    int y = step_attention(b, l, l->normed1);
    y = step_dropout(b, "dropout1", y, b->rows, b->h, share, &l->mask1);
    l->mid = step_sum(b, "residual1", y, x, false);
    l->normed2 = step_norm(b, "norm2", l->mid, l->w_norm2, l->b_norm2, &l->stats2);
    y = step_mlp(b, l, l->normed2);
    y = step_dropout(b, "dropout2", y, b->rows, b->h, share, &l->mask2);
    return step_sum(b, "residual2", y, l->mid, false);
}

static int layer_pre_bwd(struct step_builder *b, struct step_layer *l, int dy)
{
    int d = step_dropout_bwd(b, "dropout2_bwd", dy, l->mask2, b->rows, b->h);
    d = step_mlp_bwd(b, l, d, l->normed2);
    d = step_norm_bwd(b, "norm2_bwd", d, l->mid, l->stats2, l->w_norm2, l->b_norm2);
    int dmid = step_sum(b, "residual2_sum_bwd", d, dy, true);
    d = step_dropout_bwd(b, "dropout1_bwd", dmid, l->mask1, b->rows, b->h);
    d = step_attention_bwd(b, l, d, l->normed1);
    d = step_norm_bwd(b, "norm1_bwd", d, l->in, l->stats1, l->w_norm1, l->b_norm1);
    return step_sum(b, "residual1_sum_bwd", d, dmid, true);
}

void step_build(struct step_plan *p)
{
    struct step_builder b = { p, &p->model, p->batch * p->sequence, p->model.hidden };
    struct step_embedding e = {};
    struct step_logits h = {};
    struct step_layer *layers =
        (struct step_layer *)calloc((size_t)b.t->layers, sizeof(*layers));
    if (!layers)
        abort();
    int x = step_embed(&b, &e);
    for (int64_t i = 0; i < b.t->layers; i++) {
        layer_weights(&b, &layers[i]);
        x = b.t->post_norm ? layer_post(&b, &layers[i], x)
                           : layer_pre(&b, &layers[i], x);
    }
    step_head(&b, &h, &e, x);
    int d = step_head_bwd(&b, &h);
    for (int64_t i = b.t->layers - 1; i >= 0; i--)
        d = b.t->post_norm ? layer_post_bwd(&b, &layers[i], d)
                           : layer_pre_bwd(&b, &layers[i], d);
    step_embed_bwd(&b, &e, d);
    p->ops[p->n_ops - 1].t[STEP_TENSORS - 1] =
        h.losses; /* read when the step is done */
    free(layers);
}
