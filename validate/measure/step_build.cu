/* The operators of a step, forward and backward, in the order of smsim's lists with q,
 * k and v in one product and scale, mask and softmax in one kernel. Tokens are s x b
 * with b fastest, so that the products of attention read q, k and v where the product
 * left them. */
#include "step_plan.h"

#include <math.h>
#include <stdlib.h>

/* What backward needs of one layer. */
struct layer {
    int in, normed1, stats1, qkv, probs, dropped, probs_mask, context, mask1, mid;
    int normed2, stats2, up, gate, silu, active, mask2, sum1, sum2;
    int64_t w_norm1, w_norm2, w_qkv, w_out, w_up, w_gate, w_down;
    int64_t b_norm1, b_norm2, b_qkv, b_out, b_up, b_down;
};

struct embedding {
    int sum, normed, stats, mask, out;
    int64_t word, position, type, w_norm, b_norm;
};

struct head {
    int in, normed, stats, dense, active, dense_stats, last, logits, losses, lse;
    int64_t w_norm, b_norm, w_dense, b_dense, w_dense_norm, b_dense_norm, w_logits,
        b_logits;
};

struct builder {
    struct step_plan *p;
    const struct step_model *t;
    int64_t rows, h; /* tokens, hidden */
};

/* --- small words ------------------------------------------------------------------ */

static struct step_op *sized(struct step_op *op, int64_t rows, int64_t columns)
{
    op->rows = rows;
    op->columns = columns;
    return op;
}

static int stream(struct builder *b, int64_t columns)
{
    return step_tensor_16(b->p, b->rows * columns);
}

static int linear(struct builder *b, const char *name, int x, int64_t weight, int64_t n,
                  int64_t k)
{
    int y = stream(b, n);
    struct step_op *op = sized(step_add(b->p, name, STEP_LINEAR, x, y, -1), b->rows, n);
    op->depth = k;
    op->weight[0] = weight;
    return y;
}

static void bias_add(struct builder *b, const char *name, int y, int64_t bias,
                     int64_t n)
{
    if (b->t->bias)
        sized(step_add(b->p, name, STEP_BIAS_ADD, y, -1, -1), b->rows, n)->weight[0] =
            bias;
}

static struct step_op *back(struct step_op *op)
{
    op->backward = true;
    return op;
}

/* Gradients of a product's inputs and weight, and of its bias. Returns the former. */
static int linear_bwd(struct builder *b, const char *const names[3], int dy, int x,
                      int64_t weight, int64_t bias, int64_t n, int64_t k)
{
    int dx = stream(b, k);
    struct step_op *op =
        back(sized(step_add(b->p, names[0], STEP_DGRAD, dy, dx, -1), b->rows, k));
    op->depth = n;
    op->weight[0] = weight;
    op = back(sized(step_add(b->p, names[1], STEP_WGRAD, x, dy, -1), n, k));
    op->depth = b->rows;
    op->weight[0] = weight;
    if (b->t->bias && bias >= 0)
        back(sized(step_add(b->p, names[2], STEP_BIAS_GRAD, dy, -1, -1), b->rows, n))
            ->weight[0] = bias;
    return dx;
}

static int norm(struct builder *b, const char *name, int x, int64_t gamma, int64_t beta,
                int *stats)
{
    int y = stream(b, b->h);
    *stats = step_tensor(b->p, 8 * b->rows);
    struct step_op *op =
        sized(step_add(b->p, name, STEP_NORM, x, y, *stats), b->rows, b->h);
    op->weight[0] = gamma;
    op->weight[1] = beta;
    return y;
}

static int norm_bwd(struct builder *b, const char *name, int dy, int x, int stats,
                    int64_t gamma, int64_t beta)
{
    struct step_op *op =
        back(sized(step_add(b->p, name, STEP_NORM_BWD, dy, x, stats), b->rows, b->h));
    op->weight[0] = gamma;
    op->weight[1] = beta;
    int dx = stream(b, b->h);
    b->p->ops[b->p->n_ops - 1].t[3] = dx;
    return dx;
}

static int dropout(struct builder *b, const char *name, int x, int64_t rows,
                   int64_t columns, float share, int *mask)
{
    *mask = -1;
    if (share <= 0)
        return x;
    int y = step_tensor_16(b->p, rows * columns);
    *mask = step_tensor(b->p, rows * columns);
    sized(step_add(b->p, name, STEP_DROPOUT, x, y, *mask), rows, columns);
    return y;
}

static int dropout_bwd(struct builder *b, const char *name, int dy, int mask,
                       int64_t rows, int64_t columns)
{
    if (mask < 0)
        return dy;
    int dx = step_tensor_16(b->p, rows * columns);
    back(sized(step_add(b->p, name, STEP_DROPOUT_BWD, dy, dx, mask), rows, columns));
    return dx;
}

static int add(struct builder *b, const char *name, int x, int y, bool backward)
{
    int sum = stream(b, b->h);
    sized(step_add(b->p, name, STEP_ADD, x, y, sum), b->rows, b->h)->backward =
        backward;
    return sum;
}

/* --- attention -------------------------------------------------------------------- */

/* One of the products of attention: which of its operands are strided into qkv, and
 * where; A and B as in product.h. */
static void batched(struct builder *b, const char *name, enum product_layout layout,
                    const int t[3], int strided, int64_t part, const int64_t size[3],
                    bool backward)
{
    const struct step_model *m = b->t;
    struct step_op *op = step_add(b->p, name, STEP_BATCHED, t[0], t[1], t[2]);
    int64_t heads = b->p->batch * m->heads, row = heads * 3 * m->head_dim;
    struct product *p = &op->product;
    op->backward = backward;
    p->layout = layout;
    p->dtype = b->p->dtype;
    p->m = size[0];
    p->n = size[1];
    p->k = size[2];
    p->batch = heads;
    if (strided & 1) {
        p->lda = row;
        p->stride_a = 3 * m->head_dim;
    }
    if (strided & 2) {
        p->ldb = row;
        p->stride_b = 3 * m->head_dim;
        op->offset[1] = part * m->head_dim;
    }
    op->rows = heads * size[0];
    op->columns = size[1];
}

static int attention(struct builder *b, struct layer *l, int x)
{
    const struct step_model *m = b->t;
    struct step_plan *p = b->p;
    int64_t s = p->sequence, d = m->head_dim, pairs = p->batch * m->heads * s;
    const int64_t ssd[3] = { s, s, d }, sds[3] = { s, d, s };
    l->qkv = linear(b, "qkv", x, l->w_qkv, 3 * b->h, b->h);
    bias_add(b, "qkv_bias_add", l->qkv, l->b_qkv, 3 * b->h);
    if (m->rotary)
        sized(step_add(p, "rope", STEP_ROPE, l->qkv, -1, -1), b->rows, 3 * b->h);
    int scores = step_tensor_16(p, pairs * s);
    const int t0[3] = { l->qkv, l->qkv, scores };
    batched(b, "scores", PRODUCT_TN, t0, 3, 1, ssd, false);
    l->probs = step_tensor_16(p, pairs * s);
    sized(step_add(p, "softmax", STEP_SOFTMAX, scores, l->probs, -1), pairs, s);
    l->dropped = dropout(b, "probs_dropout", l->probs, pairs, s, m->attention_dropout,
                         &l->probs_mask);
    int context = stream(b, b->h);
    const int t1[3] = { l->dropped, l->qkv, context };
    batched(b, "context", PRODUCT_NN, t1, 2, 2, sds, false);
    l->context = stream(b, b->h);
    sized(step_add(p, "context_copy", STEP_MERGE, context, l->context, -1), b->rows,
          b->h);
    int y = linear(b, "out", l->context, l->w_out, b->h, b->h);
    bias_add(b, "out_bias_add", y, l->b_out, b->h);
    return y;
}

/* dq, dk and dv, put together again. */
static int attention_core_bwd(struct builder *b, struct layer *l, int dcontext)
{
    const struct step_model *m = b->t;
    struct step_plan *p = b->p;
    int64_t s = p->sequence, d = m->head_dim, pairs = p->batch * m->heads * s;
    const int64_t ssd[3] = { s, s, d }, sds[3] = { s, d, s };
    int dprobs = step_tensor_16(p, pairs * s), dv = stream(b, b->h);
    const int t0[3] = { dcontext, l->qkv, dprobs };
    const int t1[3] = { l->dropped, dcontext, dv };
    batched(b, "dprobs", PRODUCT_TN, t0, 2, 2, ssd, true);
    batched(b, "dvalue", PRODUCT_NT, t1, 0, 0, sds, true);
    int d2 = dropout_bwd(b, "probs_dropout_bwd", dprobs, l->probs_mask, pairs, s);
    int dscores = step_tensor_16(p, pairs * s);
    back(sized(step_add(p, "softmax_bwd", STEP_SOFTMAX_BWD, d2, l->probs, dscores),
               pairs, s));
    int dq = stream(b, b->h), dk = stream(b, b->h);
    const int t2[3] = { dscores, l->qkv, dq }, t3[3] = { dscores, l->qkv, dk };
    batched(b, "dquery", PRODUCT_NN, t2, 2, 1, sds, true);
    batched(b, "dkey", PRODUCT_NT, t3, 2, 0, sds, true);
    int dqkv = stream(b, 3 * b->h);
    struct step_op *op = back(
        sized(step_add(p, "qkv_copy_bwd", STEP_MERGE_QKV, dq, dk, dv), b->rows, b->h));
    op->t[3] = dqkv;
    return dqkv;
}

static int attention_bwd(struct builder *b, struct layer *l, int dy, int x)
{
    static const char *const out[] = { "out_dgrad", "out_wgrad", "out_bias" };
    static const char *const qkv[] = { "qkv_dgrad", "qkv_wgrad", "qkv_bias" };
    int dmerged = linear_bwd(b, out, dy, l->context, l->w_out, l->b_out, b->h, b->h);
    int dcontext = stream(b, b->h);
    back(sized(step_add(b->p, "context_copy_bwd", STEP_SPLIT, dmerged, dcontext, -1),
               b->rows, b->h));
    int dqkv = attention_core_bwd(b, l, dcontext);
    if (b->t->rotary)
        back(sized(step_add(b->p, "rope_bwd", STEP_ROPE_BWD, dqkv, -1, -1), b->rows,
                   3 * b->h));
    return linear_bwd(b, qkv, dqkv, x, l->w_qkv, l->b_qkv, 3 * b->h, b->h);
}

/* --- MLP -------------------------------------------------------------------------- */

static int mlp(struct builder *b, struct layer *l, int x)
{
    int64_t f = b->t->ffn;
    if (b->t->gated)
        l->gate = linear(b, "gate", x, l->w_gate, f, b->h);
    l->up = linear(b, "up", x, l->w_up, f, b->h);
    bias_add(b, "up_bias_add", l->up, l->b_up, f);
    l->active = stream(b, f);
    int from = b->t->gated ? l->gate : l->up;
    sized(step_add(b->p, "activation", STEP_ACTIVATION, from, l->active, -1), b->rows,
          f);
    l->silu = l->active;
    if (b->t->gated) {
        l->active = stream(b, f);
        sized(step_add(b->p, "multiply", STEP_MULTIPLY, l->silu, l->up, l->active),
              b->rows, f);
    }
    int y = linear(b, "down", l->active, l->w_down, b->h, f);
    bias_add(b, "down_bias_add", y, l->b_down, b->h);
    return y;
}

static int mlp_bwd(struct builder *b, struct layer *l, int dy, int x)
{
    static const char *const down[] = { "down_dgrad", "down_wgrad", "down_bias" };
    static const char *const gate[] = { "gate_dgrad", "gate_wgrad", "gate_bias" };
    static const char *const up[] = { "up_dgrad", "up_wgrad", "up_bias" };
    int64_t f = b->t->ffn;
    int dactive = linear_bwd(b, down, dy, l->active, l->w_down, l->b_down, b->h, f);
    int dsilu = dactive, dup = -1, dfrom = stream(b, f);
    if (b->t->gated) {
        dsilu = stream(b, f);
        dup = stream(b, f);
        struct step_op *op = back(sized(
            step_add(b->p, "multiply_bwd", STEP_MULTIPLY_BWD, dactive, l->silu, l->up),
            b->rows, f));
        op->t[3] = dsilu;
        op->t[4] = dup;
    }
    back(sized(step_add(b->p, "activation_bwd", STEP_ACTIVATION_BWD, dsilu,
                        b->t->gated ? l->gate : l->up, dfrom),
               b->rows, f));
    if (!b->t->gated)
        return linear_bwd(b, up, dfrom, x, l->w_up, l->b_up, f, b->h);
    int dx = linear_bwd(b, gate, dfrom, x, l->w_gate, -1, f, b->h);
    int dx2 = linear_bwd(b, up, dup, x, l->w_up, -1, f, b->h);
    return add(b, "gate_sum_bwd", dx, dx2, true);
}

/* --- layers ----------------------------------------------------------------------- */

static void layer_weights(struct builder *b, struct layer *l)
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

static int layer_post(struct builder *b, struct layer *l, int x)
{
    float share = b->t->hidden_dropout;
    l->in = x;
    int y = attention(b, l, x);
    y = dropout(b, "dropout1", y, b->rows, b->h, share, &l->mask1);
    l->sum1 = add(b, "residual1", y, x, false);
    l->mid = norm(b, "norm1", l->sum1, l->w_norm1, l->b_norm1, &l->stats1);
    y = mlp(b, l, l->mid);
    y = dropout(b, "dropout2", y, b->rows, b->h, share, &l->mask2);
    l->sum2 = add(b, "residual2", y, l->mid, false);
    return norm(b, "norm2", l->sum2, l->w_norm2, l->b_norm2, &l->stats2);
}

static int layer_post_bwd(struct builder *b, struct layer *l, int dy)
{
    int dsum = norm_bwd(b, "norm2_bwd", dy, l->sum2, l->stats2, l->w_norm2, l->b_norm2);
    int d = dropout_bwd(b, "dropout2_bwd", dsum, l->mask2, b->rows, b->h);
    d = mlp_bwd(b, l, d, l->mid);
    d = add(b, "residual2_sum_bwd", d, dsum, true);
    dsum = norm_bwd(b, "norm1_bwd", d, l->sum1, l->stats1, l->w_norm1, l->b_norm1);
    d = dropout_bwd(b, "dropout1_bwd", dsum, l->mask1, b->rows, b->h);
    d = attention_bwd(b, l, d, l->in);
    return add(b, "residual1_sum_bwd", d, dsum, true);
}

static int layer_pre(struct builder *b, struct layer *l, int x)
{
    float share = b->t->hidden_dropout;
    l->in = x;
    l->normed1 = norm(b, "norm1", x, l->w_norm1, l->b_norm1, &l->stats1);
    int y = attention(b, l, l->normed1);
    y = dropout(b, "dropout1", y, b->rows, b->h, share, &l->mask1);
    l->mid = add(b, "residual1", y, x, false);
    l->normed2 = norm(b, "norm2", l->mid, l->w_norm2, l->b_norm2, &l->stats2);
    y = mlp(b, l, l->normed2);
    y = dropout(b, "dropout2", y, b->rows, b->h, share, &l->mask2);
    return add(b, "residual2", y, l->mid, false);
}

static int layer_pre_bwd(struct builder *b, struct layer *l, int dy)
{
    int d = dropout_bwd(b, "dropout2_bwd", dy, l->mask2, b->rows, b->h);
    d = mlp_bwd(b, l, d, l->normed2);
    d = norm_bwd(b, "norm2_bwd", d, l->mid, l->stats2, l->w_norm2, l->b_norm2);
    int dmid = add(b, "residual2_sum_bwd", d, dy, true);
    d = dropout_bwd(b, "dropout1_bwd", dmid, l->mask1, b->rows, b->h);
    d = attention_bwd(b, l, d, l->normed1);
    d = norm_bwd(b, "norm1_bwd", d, l->in, l->stats1, l->w_norm1, l->b_norm1);
    return add(b, "residual1_sum_bwd", d, dmid, true);
}

/* --- embedding and head ----------------------------------------------------------- */

static int gather(struct builder *b, const char *name, int64_t table, int which)
{
    int y = stream(b, b->h);
    struct step_op *op =
        sized(step_add(b->p, name, STEP_GATHER, y, -1, -1), b->rows, b->h);
    op->weight[0] = table;
    op->which = which;
    return y;
}

static int embed(struct builder *b, struct embedding *e)
{
    const struct step_model *t = b->t;
    e->word = step_weight(b->p, t->vocab * b->h, false);
    e->position = t->positions ? step_weight(b->p, t->positions * b->h, false) : -1;
    e->type = t->types ? step_weight(b->p, t->types * b->h, false) : -1;
    int x = gather(b, "word_gather", e->word, 0);
    if (t->positions)
        x = add(b, "position_sum", x, gather(b, "position_gather", e->position, 1),
                false);
    if (t->types)
        x = add(b, "token_type_sum", x, gather(b, "token_type_gather", e->type, 2),
                false);
    e->sum = x;
    if (t->embedding_norm) {
        e->w_norm = step_weight(b->p, b->h, true);
        e->b_norm = step_weight(b->p, b->h, false);
        x = norm(b, "norm", x, e->w_norm, e->b_norm, &e->stats);
    }
    return dropout(b, "dropout", x, b->rows, b->h, t->hidden_dropout, &e->mask);
}

static void scatter(struct builder *b, const char *name, int dy, int into,
                    int64_t table, int which, int64_t entries)
{
    struct step_op *op =
        back(sized(step_add(b->p, name, STEP_SCATTER, dy, into, -1), b->rows, b->h));
    op->weight[0] = into < 0 ? table : -1;
    op->which = which;
    op->depth = entries;
}

static void embed_bwd(struct builder *b, struct embedding *e, int d)
{
    const struct step_model *t = b->t;
    d = dropout_bwd(b, "dropout_bwd", d, e->mask, b->rows, b->h);
    if (t->embedding_norm)
        d = norm_bwd(b, "norm_bwd", d, e->sum, e->stats, e->w_norm, e->b_norm);
    if (t->types)
        scatter(b, "token_type_scatter", d, -1, e->type, 2, t->types);
    if (t->positions)
        scatter(b, "position_scatter", d, -1, e->position, 1, t->positions);
    if (!t->tied) {
        scatter(b, "word_scatter", d, -1, e->word, 0, t->vocab);
        return;
    }
    int part = step_tensor_16(b->p, t->vocab * b->h);
    scatter(b, "word_scatter", d, part, e->word, 0, t->vocab);
    back(sized(step_add(b->p, "tied_sum", STEP_TIED_SUM, part, -1, -1), t->vocab, b->h))
        ->weight[0] = e->word;
}

static void head(struct builder *b, struct head *l, const struct embedding *e, int x)
{
    const struct step_model *t = b->t;
    struct step_plan *p = b->p;
    bool beta = !t->rms;
    l->in = l->last = x;
    if (!t->post_norm) {
        l->w_norm = step_weight(p, b->h, true);
        l->b_norm = beta ? step_weight(p, b->h, false) : -1;
        l->last = norm(b, "final_norm", x, l->w_norm, l->b_norm, &l->stats);
    }
    if (t->masked_head) {
        l->w_dense = step_weight(p, b->h * b->h, false);
        l->b_dense = step_weight(p, b->h, false);
        l->w_dense_norm = step_weight(p, b->h, true);
        l->b_dense_norm = step_weight(p, b->h, false);
        l->dense = linear(b, "dense", x, l->w_dense, b->h, b->h);
        bias_add(b, "dense_bias_add", l->dense, l->b_dense, b->h);
        l->active = stream(b, b->h);
        sized(step_add(p, "dense_activation", STEP_ACTIVATION, l->dense, l->active, -1),
              b->rows, b->h);
        l->last = norm(b, "dense_norm", l->active, l->w_dense_norm, l->b_dense_norm,
                       &l->dense_stats);
    }
    l->w_logits = t->tied ? e->word : step_weight(p, t->vocab * b->h, false);
    l->b_logits = t->masked_head ? step_weight(p, t->vocab, false) : -1;
    l->logits = linear(b, "logits", l->last, l->w_logits, t->vocab, b->h);
    if (t->masked_head)
        bias_add(b, "logits_bias_add", l->logits, l->b_logits, t->vocab);
    l->losses = step_tensor(p, 4 * b->rows);
    l->lse = step_tensor(p, 4 * b->rows);
    sized(step_add(p, "loss", STEP_LOSS, l->logits, l->losses, l->lse), b->rows,
          t->vocab);
}

static int head_bwd(struct builder *b, struct head *l)
{
    static const char *const logits[] = { "logits_dgrad", "logits_wgrad",
                                          "logits_bias" };
    static const char *const dense[] = { "dense_dgrad", "dense_wgrad", "dense_bias" };
    const struct step_model *t = b->t;
    struct step_plan *p = b->p;
    int d = l->logits; /* in place */
    back(
        sized(step_add(p, "loss_bwd", STEP_LOSS_BWD, d, d, l->lse), b->rows, t->vocab));
    d = linear_bwd(b, logits, d, l->last, l->w_logits, l->b_logits, t->vocab, b->h);
    if (t->masked_head) {
        d = norm_bwd(b, "dense_norm_bwd", d, l->active, l->dense_stats, l->w_dense_norm,
                     l->b_dense_norm);
        int before = stream(b, b->h);
        back(sized(step_add(p, "dense_activation_bwd", STEP_ACTIVATION_BWD, d, l->dense,
                            before),
                   b->rows, b->h));
        d = linear_bwd(b, dense, before, l->in, l->w_dense, l->b_dense, b->h, b->h);
    }
    if (!t->post_norm)
        d = norm_bwd(b, "final_norm_bwd", d, l->in, l->stats, l->w_norm, l->b_norm);
    return d;
}

void step_build(struct step_plan *p)
{
    struct builder b = { p, &p->model, p->batch * p->sequence, p->model.hidden };
    struct embedding e = {};
    struct head h = {};
    struct layer *layers = (struct layer *)calloc((size_t)b.t->layers, sizeof(*layers));
    if (!layers)
        abort();
    int x = embed(&b, &e);
    for (int64_t i = 0; i < b.t->layers; i++) {
        layer_weights(&b, &layers[i]);
        x = b.t->post_norm ? layer_post(&b, &layers[i], x)
                           : layer_pre(&b, &layers[i], x);
    }
    head(&b, &h, &e, x);
    int d = head_bwd(&b, &h);
    for (int64_t i = b.t->layers - 1; i >= 0; i--)
        d = b.t->post_norm ? layer_post_bwd(&b, &layers[i], d)
                           : layer_pre_bwd(&b, &layers[i], d);
    embed_bwd(&b, &e, d);
    p->ops[p->n_ops - 1].t[STEP_TENSORS - 1] =
        h.losses; /* read when the step is done */
    free(layers);
}
