/* What is before the layers and after them: embedding, head and loss. */
#include "step_build.h"

static int gather(struct step_builder *b, const char *name, int64_t table, int which)
{
    int y = step_tensor_rows(b, b->h);
    struct step_op *op =
        step_sized(step_add(b->p, name, STEP_GATHER, y, -1, -1), b->rows, b->h);
    op->weight[0] = table;
    op->which = which;
    return y;
}

int step_embed(struct step_builder *b, struct step_embedding *e)
{
    const struct step_model *t = b->t;
    e->word = step_weight(b->p, t->vocab * b->h, false);
    e->position = t->positions ? step_weight(b->p, t->positions * b->h, false) : -1;
    e->type = t->types ? step_weight(b->p, t->types * b->h, false) : -1;
    int x = gather(b, "word_gather", e->word, 0);
    if (t->positions)
        x = step_sum(b, "position_sum", x, gather(b, "position_gather", e->position, 1),
                     false);
    if (t->types)
        x = step_sum(b, "token_type_sum", x, gather(b, "token_type_gather", e->type, 2),
                     false);
    e->sum = x;
    if (t->embedding_norm) {
        e->w_norm = step_weight(b->p, b->h, true);
        e->b_norm = step_weight(b->p, b->h, false);
        x = step_norm(b, "norm", x, e->w_norm, e->b_norm, &e->stats);
    }
    return step_dropout(b, "dropout", x, b->rows, b->h, t->hidden_dropout, &e->mask);
}

static void scatter(struct step_builder *b, const char *name, int dy, int into,
                    int64_t table, int which, int64_t entries)
{
    struct step_op *op = step_backward(
        step_sized(step_add(b->p, name, STEP_SCATTER, dy, into, -1), b->rows, b->h));
    op->weight[0] = into < 0 ? table : -1;
    op->which = which;
    op->depth = entries;
}

void step_embed_bwd(struct step_builder *b, struct step_embedding *e, int d)
{
    const struct step_model *t = b->t;
    d = step_dropout_bwd(b, "dropout_bwd", d, e->mask, b->rows, b->h);
    if (t->embedding_norm)
        d = step_norm_bwd(b, "norm_bwd", d, e->sum, e->stats, e->w_norm, e->b_norm);
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
    step_backward(step_sized(step_add(b->p, "tied_sum", STEP_TIED_SUM, part, -1, -1),
                             t->vocab, b->h))
        ->weight[0] = e->word;
}

void step_head(struct step_builder *b, struct step_logits *l,
               const struct step_embedding *e, int x)
{
    const struct step_model *t = b->t;
    struct step_plan *p = b->p;
    bool beta = !t->rms;
    l->in = l->last = x;
    if (!t->post_norm) {
        l->w_norm = step_weight(p, b->h, true);
        l->b_norm = beta ? step_weight(p, b->h, false) : -1;
        l->last = step_norm(b, "final_norm", x, l->w_norm, l->b_norm, &l->stats);
    }
    if (t->masked_head) {
        l->w_dense = step_weight(p, b->h * b->h, false);
        l->b_dense = step_weight(p, b->h, false);
        l->w_dense_norm = step_weight(p, b->h, true);
        l->b_dense_norm = step_weight(p, b->h, false);
        l->dense = step_linear(b, "dense", x, l->w_dense, b->h, b->h);
        step_bias_add(b, "dense_bias_add", l->dense, l->b_dense, b->h);
        l->active = step_tensor_rows(b, b->h);
        step_sized(
            step_add(p, "dense_activation", STEP_ACTIVATION, l->dense, l->active, -1),
            b->rows, b->h);
        l->last = step_norm(b, "dense_norm", l->active, l->w_dense_norm,
                            l->b_dense_norm, &l->dense_stats);
    }
    l->w_logits = t->tied ? e->word : step_weight(p, t->vocab * b->h, false);
    l->b_logits = t->masked_head ? step_weight(p, t->vocab, false) : -1;
    l->logits = step_linear(b, "logits", l->last, l->w_logits, t->vocab, b->h);
    if (t->masked_head)
        step_bias_add(b, "logits_bias_add", l->logits, l->b_logits, t->vocab);
    l->losses = step_tensor(p, 4 * b->rows);
    l->lse = step_tensor(p, 4 * b->rows);
    step_sized(step_add(p, "loss", STEP_LOSS, l->logits, l->losses, l->lse), b->rows,
               t->vocab);
}

int step_head_bwd(struct step_builder *b, struct step_logits *l)
{
    static const char *const logits[] = { "logits_dgrad", "logits_wgrad",
                                          "logits_bias" };
    static const char *const dense[] = { "dense_dgrad", "dense_wgrad", "dense_bias" };
    const struct step_model *t = b->t;
    struct step_plan *p = b->p;
    int d = l->logits; /* in place */
    step_backward(step_sized(step_add(p, "loss_bwd", STEP_LOSS_BWD, d, d, l->lse),
                             b->rows, t->vocab));
    d = step_linear_bwd(b, logits, d, l->last, l->w_logits, l->b_logits, t->vocab,
                        b->h);
    if (t->masked_head) {
        d = step_norm_bwd(b, "dense_norm_bwd", d, l->active, l->dense_stats,
                          l->w_dense_norm, l->b_dense_norm);
        int before = step_tensor_rows(b, b->h);
        step_backward(step_sized(step_add(p, "dense_activation_bwd",
                                          STEP_ACTIVATION_BWD, d, l->dense, before),
                                 b->rows, b->h));
        d = step_linear_bwd(b, dense, before, l->in, l->w_dense, l->b_dense, b->h,
                            b->h);
    }
    if (!t->post_norm)
        d = step_norm_bwd(b, "final_norm_bwd", d, l->in, l->stats, l->w_norm,
                          l->b_norm);
    return d;
}
