/* One training step as a list of operators over planned memory. Names are those of
 * smsim's operator lists. Activations get offsets by when they are first and last used;
 * weights, gradients and the optimizer's state lie in arrays of equal order. */
#ifndef SMSIM_MEASURE_STEP_PLAN_H
#define SMSIM_MEASURE_STEP_PLAN_H

#include "product.h"
#include "step_model.h"

enum step_kind {
    STEP_LINEAR,  /* t1 = t0 W^T */
    STEP_DGRAD,   /* t1 = t0 W */
    STEP_WGRAD,   /* gradient of W = t1^T t0: inputs t0, gradients of results t1 */
    STEP_BATCHED, /* t2 = t0 t1, with offsets into each */
    STEP_BIAS_ADD,
    STEP_BIAS_GRAD,
    STEP_SOFTMAX,
    STEP_SOFTMAX_BWD, /* t1 = f(t0); t2 = f'(t0, t1) */
    STEP_DROPOUT,
    STEP_DROPOUT_BWD, /* t0 to t1 by mask t2 */
    STEP_ADD,         /* t2 = t0 + t1 */
    STEP_ACTIVATION,
    STEP_ACTIVATION_BWD, /* t1 = f(t0); t2 = t0 f'(t1) */
    STEP_MULTIPLY,
    STEP_MULTIPLY_BWD, /* t2 = t0 t1; of t0: t3, t4 by t1, t2 */
    STEP_NORM,
    STEP_NORM_BWD, /* t1 = f(t0), stats t2; t3 = f'(t0, t1, t2) */
    STEP_MERGE,
    STEP_SPLIT,
    STEP_MERGE_QKV,
    STEP_ROPE,
    STEP_ROPE_BWD, /* t0 in place */
    STEP_GATHER,
    STEP_SCATTER,  /* rows of a table, by the index `which` */
    STEP_TIED_SUM, /* gradient of W += t0 */
    STEP_LOSS,
    STEP_LOSS_BWD, /* losses t1, lse t2 of logits t0; t1 from t0, t2 */
};

enum { STEP_TENSORS = 6 };

struct step_op {
    const char *name;
    enum step_kind kind;
    bool backward;
    int t[STEP_TENSORS];   /* tensors; -1: none */
    int64_t weight[2];     /* elements into the weights; -1: none */
    int64_t rows, columns; /* of the result */
    int64_t depth;         /* of products */
    int64_t offset[2];     /* elements into t0 and t1 of a batched product */
    struct product product;
    int which;          /* index: 0 words, 1 positions, 2 types, 3 labels */
    int64_t ready_from; /* gradients from here on are complete after it */
};

struct step_tensor {
    int64_t size_B, at_B; /* offset among the activations */
    int first, last;      /* operators that use it */
};

struct step_plan {
    struct step_model model;
    int64_t batch, sequence;
    enum measure_dtype dtype;
    struct step_op *ops;
    struct step_tensor *tensors;
    int n_ops, n_tensors, cap_ops, cap_tensors;
    int64_t n_weights;     /* elements, padded */
    int64_t *ones, n_ones; /* pairs (offset, count): weights that start at 1 */
    int64_t activations_B; /* peak */
    int64_t most_columns;
};

/* Builds the list and plans its memory. */
int step_plan_make(struct measure *m, struct step_plan *p,
                   const struct step_model *model, enum measure_dtype dtype);
void step_plan_free(struct step_plan *p);

/* For the builders. Out of memory ends the program. */
int step_tensor(struct step_plan *p, int64_t size_B);
int step_tensor_16(struct step_plan *p, int64_t elements);
struct step_op *step_add(struct step_plan *p, const char *name, enum step_kind kind,
                         int t0, int t1, int t2);
int64_t step_weight(struct step_plan *p, int64_t elements, bool ones);

/* The blocks; the embedding makes the residual stream, the head its gradient. */
void step_build(struct step_plan *p);

#endif
