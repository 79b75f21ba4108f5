/* Modules of a layer whose saved tensors may go to host memory (Megatron-LM's
 * --offload-modules; megatron/core/transformer/transformer_config.py and
 * megatron/core/pipeline_parallel/fine_grained_activation_offload.py, core_v0.19.0):
 * which tensors each has, when forward is done with them, which backward operators
 * need them (MODEL.md, R9.2). */
#ifndef MODEL_SAVED_H
#define MODEL_SAVED_H

#include "model/ops.h"

enum op_saver {
    OP_SAVER_ATTENTION_NORM, /* "attn_norm": a norm that no product has inside */
    OP_SAVER_QKV,            /* "qkv_linear": inputs of attention's first products */
    OP_SAVER_CORE,           /* "core_attn": queries, keys, values */
    OP_SAVER_OUT,            /* "attn_proj": attention's result */
    OP_SAVER_MLP_NORM,       /* "mlp_norm": as attn_norm */
    OP_SAVER_EXPERTS,        /* "expert_fc1": tokens of experts */
    OP_SAVER_ACTIVATION,     /* "moe_act": what experts' activation reads */
    OP_SAVERS
};
extern const struct name_value op_saver_names[];

enum { OP_SAVED_MAX = 12 };

/* What a module of a block has saved. */
struct op_saved {
    int32_t after;                /* forward operator after which it is copied */
    int32_t first, last;          /* backward operators that need some of it */
    int64_t copied_B;             /* bytes that are copied, each way */
    int32_t n;                    /* tensors that leave the GPU ... */
    int64_t size_B[OP_SAVED_MAX]; /* ... of that size */
};

/* For the modules of bits 1 << module, without what recomputation (bits of enum
 * op_region) makes again, and without tensors below the least size that is offloaded.
 * `after` is -1 where a module has nothing. Blocks that are no layers have none. */
void op_saved_find(const struct op_block *b, uint32_t modules, uint32_t regions,
                   struct op_saved out[OP_SAVERS]);

#endif
