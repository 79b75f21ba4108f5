/* The parts that a step's list of operators is built from. Tensors, masks and
 * statistics are numbers of step_plan.h's tensors, weights are elements into the array
 * of weights; -1: there is none. A forward function adds operators, remembers what its
 * backward needs and returns its result; a backward one takes the gradient of the
 * result (dy) and returns that of the input. */
#ifndef SMSIM_MEASURE_STEP_BUILD_H
#define SMSIM_MEASURE_STEP_BUILD_H

#include "step_plan.h"

struct step_builder {
    struct step_plan *p;
    const struct step_model *t;
    int64_t rows, h; /* tokens, hidden */
};

/* What backward needs of one layer. */
struct step_layer {
    int in, normed1, stats1, qkv, probs, dropped, probs_mask, context, mask1, mid;
    int normed2, stats2, up, gate, silu, active, mask2, sum1, sum2;
    int64_t w_norm1, w_norm2, w_qkv, w_out, w_up, w_gate, w_down;
    int64_t b_norm1, b_norm2, b_qkv, b_out, b_up, b_down;
};

/* Of the embedding. */
struct step_embedding {
    int sum, stats, mask;
    int64_t word, position, type, w_norm, b_norm;
};

/* Of the final norm, BERT's dense layer, logits and loss. */
struct step_logits {
    int in, stats, dense, active, dense_stats, last, logits, losses, lse;
    int64_t w_norm, b_norm, w_dense, b_dense, w_dense_norm, b_dense_norm, w_logits,
        b_logits;
};

/* --- step_words.cu: one operator each, and its result ----------------------------- */

struct step_op *step_sized(struct step_op *op, int64_t rows, int64_t columns);
struct step_op *step_backward(struct step_op *op); /* marks it so */

/* A 16-bit tensor [tokens, columns]. */
int step_tensor_rows(struct step_builder *b, int64_t columns);

/* y[tokens, n] = x[tokens, k] W[n, k]^T */
int step_linear(struct step_builder *b, const char *name, int x, int64_t weight,
                int64_t n, int64_t k);
/* Gradients of its input, which is returned, its weight and its bias: by `names`. */
int step_linear_bwd(struct step_builder *b, const char *const names[3], int dy, int x,
                    int64_t weight, int64_t bias, int64_t n, int64_t k);
/* In place; nothing of models without biases. */
void step_bias_add(struct step_builder *b, const char *name, int y, int64_t bias,
                   int64_t n);

int step_norm(struct step_builder *b, const char *name, int x, int64_t gamma,
              int64_t beta, int *stats);
int step_norm_bwd(struct step_builder *b, const char *name, int dy, int x, int stats,
                  int64_t gamma, int64_t beta);

/* x itself, and no mask, where nothing is dropped. */
int step_dropout(struct step_builder *b, const char *name, int x, int64_t rows,
                 int64_t columns, float share, int *mask);
int step_dropout_bwd(struct step_builder *b, const char *name, int dy, int mask,
                     int64_t rows, int64_t columns);

/* x + y of [tokens, hidden] */
int step_sum(struct step_builder *b, const char *name, int x, int y, bool backward);

/* --- blocks: step_attention.cu, step_mlp.cu --------------------------------------- */

int step_attention(struct step_builder *b, struct step_layer *l, int x);
int step_attention_bwd(struct step_builder *b, struct step_layer *l, int dy, int x);
int step_mlp(struct step_builder *b, struct step_layer *l, int x);
int step_mlp_bwd(struct step_builder *b, struct step_layer *l, int dy, int x);

/* --- step_ends.cu: the embedding makes the residual stream, the head its gradient - */

int step_embed(struct step_builder *b, struct step_embedding *e);
void step_embed_bwd(struct step_builder *b, struct step_embedding *e, int d);
void step_head(struct step_builder *b, struct step_logits *l,
               const struct step_embedding *e, int x);
int step_head_bwd(struct step_builder *b, struct step_logits *l);

#endif
