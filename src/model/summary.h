/* What a model file was understood as: parameters by part, arithmetic and bytes a token.
 * All sums are of its operator list. */
#ifndef MODEL_SUMMARY_H
#define MODEL_SUMMARY_H

#include "model/ops.h"

enum summary_part {
    SUMMARY_EMBEDDING,
    SUMMARY_ATTENTION,
    SUMMARY_STATE,   /* mixers that keep a state */
    SUMMARY_MLP,     /* dense MLPs, and experts that all tokens go through */
    SUMMARY_EXPERTS, /* those that tokens are routed to, and their routers */
    SUMMARY_NORMS,
    SUMMARY_VISION, /* a tower that reads pictures, and its projector */
    SUMMARY_HEAD,   /* what is not the embedding's own matrix */
    SUMMARY_IDLE,   /* held, and not run: a tower that reads sounds */
    SUMMARY_PARTS
};
extern const struct name_value summary_part_names[];

/* One kind of layers, or an end of the model. */
struct summary_block {
    const char *name; /* "layer", "dense_layer", "embedding", ... */
    int64_t repeat;
    int64_t parameters;            /* of one */
    double forward_flops;          /* of one, a token of its stream */
    double kept_B[OP_PRECISION_N]; /* activations kept for backward, likewise */
    bool is_layer;
};

enum { SUMMARY_BLOCKS_MAX = 16 };

struct model_summary {
    int64_t parameters, active; /* with the experts of one token */
    int64_t
        with_head; /* parameters with the head that is trained, which encoders' leave
                          out; two classes where the head has some */
    int64_t parts[SUMMARY_PARTS];
    int64_t sequence; /* tokens that attention looks at, in what follows */
    /* FLOPs a token: causal attention counts the half that it needs, training is three
     * times forward (MODEL.md, 1.2) */
    double forward_flops, training_flops;
    double
        kv_B; /* bytes of keys and values that a 16-bit cache keeps a token; 0: none */
    int32_t n_blocks;
    struct summary_block blocks[SUMMARY_BLOCKS_MAX];
};

/* Of a model for sequences of so many tokens, with the kernels of a profile and
 * attention of that kind. The arena holds the blocks' names. -1 with err set where no
 * list can be made of it. */
int model_summarise(struct model_summary *out, struct arena *arena,
                    const struct model *m, int64_t sequence,
                    const struct framework *framework, enum op_attention attention,
                    struct err *err);

#endif
