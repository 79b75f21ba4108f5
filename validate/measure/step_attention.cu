/* Attention: q, k and v in one product; scale, mask and softmax in one kernel. Tokens
 * are s x b with b fastest, so that the products read q, k and v where the product left
 * them. */
#include "step_build.h"

/* One of the products of attention: which of its operands are strided into qkv, and
 * where; A and B as in product.h. */
static void batched(struct step_builder *b, const char *name,
                    enum product_layout layout, const int t[3], int strided,
                    int64_t part, const int64_t size[3], bool backward)
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

int step_attention(struct step_builder *b, struct step_layer *l, int x)
{
    const struct step_model *m = b->t;
    struct step_plan *p = b->p;
    int64_t s = p->sequence, d = m->head_dim, pairs = p->batch * m->heads * s;
    const int64_t ssd[3] = { s, s, d }, sds[3] = { s, d, s };
    l->qkv = step_linear(b, "qkv", x, l->w_qkv, 3 * b->h, b->h);
    step_bias_add(b, "qkv_bias_add", l->qkv, l->b_qkv, 3 * b->h);
    if (m->rotary)
        step_sized(step_add(p, "rope", STEP_ROPE, l->qkv, -1, -1), b->rows, 3 * b->h);
    int scores = step_tensor_16(p, pairs * s);
    const int t0[3] = { l->qkv, l->qkv, scores };
    batched(b, "scores", PRODUCT_TN, t0, 3, 1, ssd, false);
    l->probs = step_tensor_16(p, pairs * s);
    step_sized(step_add(p, "softmax", STEP_SOFTMAX, scores, l->probs, -1), pairs, s);
    l->dropped = step_dropout(b, "probs_dropout", l->probs, pairs, s,
                              m->attention_dropout, &l->probs_mask);
    int context = step_tensor_rows(b, b->h);
    const int t1[3] = { l->dropped, l->qkv, context };
    batched(b, "context", PRODUCT_NN, t1, 2, 2, sds, false);
    l->context = step_tensor_rows(b, b->h);
    step_sized(step_add(p, "context_copy", STEP_MERGE, context, l->context, -1),
               b->rows, b->h);
    int y = step_linear(b, "out", l->context, l->w_out, b->h, b->h);
    step_bias_add(b, "out_bias_add", y, l->b_out, b->h);
    return y;
}

/* dq, dk and dv, put together again. */
static int attention_core_bwd(struct step_builder *b, struct step_layer *l,
                              int dcontext)
{
    const struct step_model *m = b->t;
    struct step_plan *p = b->p;
    int64_t s = p->sequence, d = m->head_dim, pairs = p->batch * m->heads * s;
    const int64_t ssd[3] = { s, s, d }, sds[3] = { s, d, s };
    int dprobs = step_tensor_16(p, pairs * s), dv = step_tensor_rows(b, b->h);
    const int t0[3] = { dcontext, l->qkv, dprobs };
    const int t1[3] = { l->dropped, dcontext, dv };
    batched(b, "dprobs", PRODUCT_TN, t0, 2, 2, ssd, true);
    batched(b, "dvalue", PRODUCT_NT, t1, 0, 0, sds, true);
    int d2 = step_dropout_bwd(b, "probs_dropout_bwd", dprobs, l->probs_mask, pairs, s);
    int dscores = step_tensor_16(p, pairs * s);
    step_backward(step_sized(
        step_add(p, "softmax_bwd", STEP_SOFTMAX_BWD, d2, l->probs, dscores), pairs, s));
    int dq = step_tensor_rows(b, b->h), dk = step_tensor_rows(b, b->h);
    const int t2[3] = { dscores, l->qkv, dq }, t3[3] = { dscores, l->qkv, dk };
    batched(b, "dquery", PRODUCT_NN, t2, 2, 1, sds, true);
    batched(b, "dkey", PRODUCT_NT, t3, 2, 0, sds, true);
    int dqkv = step_tensor_rows(b, 3 * b->h);
    struct step_op *op = step_backward(step_sized(
        step_add(p, "qkv_copy_bwd", STEP_MERGE_QKV, dq, dk, dv), b->rows, b->h));
    op->t[3] = dqkv;
    return dqkv;
}

int step_attention_bwd(struct step_builder *b, struct step_layer *l, int dy, int x)
{
    static const char *const out[] = { "out_dgrad", "out_wgrad", "out_bias" };
    static const char *const qkv[] = { "qkv_dgrad", "qkv_wgrad", "qkv_bias" };
    int dmerged =
        step_linear_bwd(b, out, dy, l->context, l->w_out, l->b_out, b->h, b->h);
    int dcontext = step_tensor_rows(b, b->h);
    step_backward(step_sized(
        step_add(b->p, "context_copy_bwd", STEP_SPLIT, dmerged, dcontext, -1), b->rows,
        b->h));
    int dqkv = attention_core_bwd(b, l, dcontext);
    if (b->t->rotary)
        step_backward(
            step_sized(step_add(b->p, "rope_bwd", STEP_ROPE_BWD, dqkv, -1, -1), b->rows,
                       3 * b->h));
    return step_linear_bwd(b, qkv, dqkv, x, l->w_qkv, l->b_qkv, 3 * b->h, b->h);
}
