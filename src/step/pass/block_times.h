/* What is constant of each operator of a block while passes are written. */
#ifndef STEP_PASS_BLOCK_TIMES_H
#define STEP_PASS_BLOCK_TIMES_H

#include "step/stage.h"

/* A tensor that forward keeps for backward. */
struct kept_tensor {
    int64_t size_B;
    bool saved; /* whatever is recomputed */
    bool drops; /* its module drops it, and makes it again */
};

/* A forward operator among the local variables of attention's function. */
struct op_scope {
    bool begins;    /* the function has returned */
    bool local;     /* what it makes is one */
    bool saves;     /* it is kept whatever is recomputed */
    bool again;     /* its module is run again in backward */
    uint32_t drops; /* bits: of what it makes, that its module drops */
};

/* Lists of forward [0] and backward [1] operators, but for kernels' times, which are of
 * the GPU alone [0] and overlapped with a collective [1]. */
struct block_times {
    double *forward_s[2], *backward_s[2];
    double *host_s[2];       /* in a graph or by itself */
    bool *is_weight[2];      /* makes the gradient of a weight */
    struct op_scope *scopes; /* [forward] */
    struct kept_tensor *kept;
    int32_t *kept_starts; /* [backward + 1] of the last operator to need them */
};

/* Of all blocks, with collectives that leave so much of the GPU. Stages of a scenario
 * share what they have alike. */
void block_times_make(struct stage *stage, struct kernel_share shared);

/* The host's times once more, into the lists that are there: of another framework. */
void block_times_host(struct stage *stage);

/* What the host takes of a block over its operators' own times. */
double block_times_host_factor(const struct stage *stage, int32_t block);

/* What the kernels of a block take alone, by enum op_kind. */
void block_times_kinds(const struct stage *stage, int32_t block,
                       double kinds_s[OP_STREAM + 1]);

#endif
