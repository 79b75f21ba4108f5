/* The operators of one training step of a transformer on one GPU: what is computed, how
 * many bytes it moves, what it allocates and what is kept for backward. Kernel times,
 * memory and parameter counts all come from this one list.
 *
 *   op_list
 *     block "embedding"  x 1      forward ops | backward ops | parameter tensors
 *     block "layer"      x 24     (listed once; all equal)
 *     block "head"       x 1
 *
 * A step runs the blocks' forward ops in order and their backward ops in reverse order
 * of blocks (a block's own backward list is in order of execution). Sizes are per
 * microbatch and per GPU, after division by the tensor degree. Tables with the byte
 * coefficients: MODEL.md, "Operator lists". */
#ifndef MODEL_OPS_H
#define MODEL_OPS_H

#include "base/arena.h"
#include "base/err.h"
#include "model/formats.h"
#include "model/framework.h"
#include "model/lora.h"
#include "model/model.h"

#include <string.h>

enum op_kind {
    OP_GEMM,   /* matrix product C[m,n] += A[m,k] B[k,n], `batch` of them */
    OP_FLASH,  /* fused attention; n_heads x batch sequences of m queries over n keys */
    OP_STREAM, /* memory-bound: norm, softmax, dropout, activation, sum, copy, loss */
    OP_SCAN,   /* a kernel of a state's scan: the larger of arithmetic and traffic */
};

/* Parts of a model that a tensor group shares or does not: see model/share.h. */
enum op_module { OP_EMBEDDING, OP_ATTENTION, OP_MLP, OP_HEAD, OP_MODULES };

enum op_outs { OP_OUTS_MAX = 4 };

/* A tensor an operator makes. Kept ones live until the block's backward has used them
 * (kept_until, an index into the block's backward ops); others die when the next
 * operator has run. */
struct op_out {
    int64_t size_B;
    int32_t kept_until; /* backward op after which it is freed; -1: not kept */
};

struct op {
    const char *name; /* "qkv", "scores", "softmax", ...: the same in every report */
    enum op_kind kind;
    enum op_module module;
    enum dtype dtype; /* of the arithmetic (GEMM, FLASH) */
    int64_t m, n, k,
        batch;             /* GEMM; FLASH: queries, keys, head_dim, sequences x heads */
    bool scores;           /* STREAM over attention scores */
    bool scattered;        /* STREAM: rows are added up by index */
    bool causal, backward; /* FLASH; `backward` is set on every backward operator */
    int64_t window;        /* FLASH: keys that a query sees in some of the layers ... */
    double windowed;       /* ... which share of them; 0: none */
    int64_t pieces;  /* FLASH: over as many parts of the keys, as they come; 0: one */
    bool sinks;      /* FLASH: a learned score of nothing for each head */
    bool flash3;     /* FLASH: flash-attention 3 (MODEL.md, 3.26) */
    bool cudnn;      /* FLASH: cuDNN's (MODEL.md, 3.30) */
    bool efficient;  /* FLASH: the memory-efficient kernel (MODEL.md, 3.29) */
    bool uneven;     /* FLASH: values have other columns than keys */
    double products; /* FLASH: the block's other FLOP over its attention's (3.28) */
    double slower;   /* times as long as the sizes say; 0: once */
    double flops;
    double read_B, write_B; /* global memory traffic, each operand once */
    double ungraded;    /* share of its time where no gradient follows; 0: all of it */
    int32_t launches;   /* kernels */
    int32_t dispatches; /* operators the host issues (an autograd node counts one) */
    int32_t loops;      /* kernels of single experts that these issue one by one */
    int32_t eager;      /* small kernels of the router, an operator each */
    bool adapter;       /* of a low-rank adapter: not run where that is off */
    bool reads_counts;  /* the host waits for what came before the operator */
    int32_t turns; /* experts that ran one by one before it: the host waited for each */
    int32_t serial; /* GEMM: the batch comes in so many products, one after the other;
                           0: in one */
    struct op_out outs[OP_OUTS_MAX];
    int32_t n_outs;
    uint32_t regions;           /* of a forward one, bits (model/regions.h) */
    int32_t grad_first, grad_n; /* parameter tensors of the block whose gradients are
                                   complete when this (backward) operator has run */
    int32_t thin; /* 1 + the adapter's parameter tensor that it is the first operator of
                     its pass to read; 0: none */
};

struct op_param {
    const char *name; /* "attention.query.weight" */
    int64_t elements; /* on this GPU */
    bool whole;       /* of a module that the tensor group does not share */
    bool expert;      /* of experts: split over the expert group */
    bool hidden;      /* weight of a product of a layer: Muon's */
    bool matrix;      /* weight of a product: autocast keeps a 16-bit copy of it */
    bool quantized;   /* its products read it in fewer than 16 bits */
    bool frozen;      /* without gradient and optimizer states */
    bool adapter;     /* a thin matrix of a low-rank adapter */
    double stored_B;  /* frozen: bytes an element; 0: as the precision keeps it */
};

struct op_block {
    const char *name;
    int64_t repeat;          /* equal blocks in a row */
    int64_t tokens, columns; /* of its residual stream, on this GPU; whole columns */
    struct op *forward, *backward;
    int32_t n_forward, n_backward;
    struct op_param *params;
    int32_t n_params;
    bool routes; /* its tokens, to experts */
};

struct op_list {
    struct op_block *blocks;
    int32_t n_blocks;
    int32_t n_ends; /* blocks of the head, which are the last: it, or its modules */
};

enum op_precision {
    OP_FP32,
    OP_TF32,
    OP_FP16, /* 16-bit parameters, fp32 master weights in the optimizer */
    OP_BF16,
    OP_FP8, /* and by other recipes (recipe.h) */
    OP_FP8_CURRENT,
    OP_FP8_BLOCKWISE,
    OP_MXFP8,
    OP_NVFP4,
    OP_AMP_FP16, /* autocast over fp32 parameters */
    OP_AMP_BF16,
    OP_AMP_FP8,
    OP_PRECISION_N,
};

enum op_attention {
    OP_ATTENTION_UNFUSED,
    OP_ATTENTION_FUSED_SOFTMAX,
    OP_ATTENTION_EFFICIENT, /* one kernel without scores in memory, slower than flash */
    OP_ATTENTION_FLASH,
    OP_ATTENTION_FLASH3, /* flash-attention 3, of Hopper alone */
    OP_ATTENTION_CUDNN,  /* that of cuDNN, on Hopper and Blackwell */
    OP_ATTENTION_N
};

extern const struct name_value op_precision_names[];
extern const struct name_value op_attention_names[];

/* Whether one kernel makes the result without scores in memory. */
bool op_attention_is_fused(enum op_attention a);

/* Whether it is flash-attention, of any version. */
bool op_attention_is_flash(enum op_attention a);

/* How the ranks that share a sequence attend to all of it (MODEL.md, R11.2 to
 * R11.4). */
enum op_context {
    OP_CONTEXT_RING,   /* all keys and values come to each one part after the other */
    OP_CONTEXT_GATHER, /* each gathers them */
    OP_CONTEXT_HEADS,  /* each has some heads, of the whole sequence */
    OP_CONTEXT_BOTH /* inner groups deal heads out, a ring of such groups has the keys
                          and values */
};

/* Who brings tokens to experts of other ranks, and into their order (MODEL.md, R11.9). */
enum op_dispatch {
    OP_DISPATCH_SORTED,   /* an exchange between copies into order */
    OP_DISPATCH_PERMUTED, /* DeepEP: tokens as they lie; one copy after they have come */
    OP_DISPATCH_PADDED,   /* Hybrid-EP: likewise, and that copy pads rows, too */
};

/* loss_chunks: as Liger's fused linear cross-entropy; and at most */
enum { OP_CHUNKS_LIGER = -1, OP_CHUNKS_MAX = 1 << 16 };
enum { OP_TILES_ALST = -1 }; /* mlp_tiles: a tile has as many tokens as columns */

struct op_settings {
    int64_t batch;     /* sequences of a microbatch on this GPU */
    int64_t sequence;  /* tokens of each */
    int64_t document;  /* packed: tokens that fused attention stays within; 0: all */
    int64_t predicted; /* positions a sequence predicts (masked LM); 0: all */
    int64_t decoder;   /* tokens of a decoder's sequence after an encoder; 0: as many */
    int64_t memory;    /* tokens that cross-attention reads; 0: as many */
    enum op_precision precision;
    int32_t loss_chunks; /* of tokens, whose logits exist one after the other; 0: one */
    bool raw_loss;       /* cross-entropy reads 16-bit logits as they are */
    bool whole_loss;     /* each rank of a tensor group has that of all words */
    int32_t mlp_tiles; /* of tokens, whose dense MLPs run one after the other; 0: one */
    int64_t sm_arch;   /* least compute capability of the GPUs */
    /* layers at the begin and the end whose products read 16 bits though others read
     * fewer */
    int64_t first_16bit, last_16bit;
    struct op_formats formats; /* of modules that have their own */
    bool quantized_parameters; /* weights are held as their products read them */
    enum op_attention attention;
    bool masked; /* fused attention computes all pairs, whichever count */
    const struct framework *framework;
    int64_t tensor;        /* tensor-parallel degree */
    int64_t context;       /* ranks that share a sequence; 0: one */
    int64_t context_inner; /* of OP_CONTEXT_BOTH: ranks that heads are dealt out to */
    enum op_context context_method;
    int64_t expert; /* ranks that share the experts of a layer; 0: one */
    int64_t
        expert_tensor; /* tensor degree of experts; 0: `tensor`. Below it tokens of a
                                rank alone are routed: needs sequence_parallel */
    double expert_imbalance; /* load of the fullest expert over the mean; 0: 1 */
    /* experts take so many of their mean share of tokens: their capacity; 0: all */
    double expert_capacity;
    bool pads_experts; /* those with fewer are padded to it */
    enum op_dispatch dispatch;
    bool sequence_parallel;
    bool copies_keys; /* ranks beyond the key-value heads hold copies of them */
    /* SMP's tensor groups (model/share.h) */
    bool best_effort; /* modules that the degree does not divide stay whole */
    bool prescaled;   /* the group's ranks are fed the same samples */
    bool whole_ends;  /* embedding and head are not split */
    bool slices;      /* the residual stream is split by columns ... */
    bool by_columns;  /* ... and the products that read it by those of their input */
    int64_t vocab_padding; /* pad the vocabulary to a multiple; 0: as it is */
    int64_t replicas;      /* whose vectors two towers are trained against; 0: one */
    struct lora lora;      /* adapters of a frozen model; rank 0: none */
};

/* How many parts the rows of experts and their columns are in, where the ranks of a
 * tensor group route tokens of their own; 1 part of rows: they do not. */
int64_t op_expert_rows_over(const struct op_settings *s, const struct model *m);
/* Ranks of a tensor group that hold the same key-value head (copies_keys); 1: each has
 * its own. Columns of keys and of values, copies counted. */
int64_t op_keys_copies(const struct model *m, const struct op_settings *s);
int64_t op_keys_width(const struct model *m, const struct op_settings *s);
int64_t op_values_width(const struct model *m, const struct op_settings *s);

/* Tokens of a microbatch on this GPU. */
int64_t op_tokens(const struct op_settings *s);

/* Ranks of a context group that heads are dealt out to, and between which keys and
 * values go round or are gathered; their product is the group. */
int64_t op_head_ranks(const struct op_settings *s);
int64_t op_ring_ranks(const struct op_settings *s);

/* Rows of experts' products a token: its experts, as far as their capacity goes, and
 * what pads them; 1 of a dense model. */
double op_experts_each(const struct model *m, const struct op_settings *s);

/* fp32 parameters that products read in fewer bits. */
bool op_is_autocast(enum op_precision p);
enum dtype op_parameter_dtype(enum op_precision p); /* as kept by the model */
enum dtype op_compute_dtype(enum op_precision p);   /* of matrix products */

/* The list for a model; memory in the arena. Fails when sizes overflow what 64 bits of
 * bytes hold, or when the model needs what is not supported. */
int op_list_make(struct op_list *list, struct arena *arena, const struct model *m,
                 const struct op_settings *s, struct err *err);

/* The same but for layers and ends that are not trained by themselves, of which freeze.c
 * makes op_list_make. */
int op_list_make_base(struct op_list *list, struct arena *arena, const struct model *m,
                      const struct op_settings *s, struct err *err);

/* Sums over the list, repeats counted. */
int64_t op_list_parameters(const struct op_list *list);
int64_t op_block_parameters(const struct op_block *block); /* of one repeat */

/* Whether a block has a forward operator of that name. */
static inline bool op_block_has(const struct op_block *block, const char *forward)
{
    for (int32_t i = 0; i < block->n_forward; i++)
        if (strcmp(block->forward[i].name, forward) == 0)
            return true;
    return false;
}

/* Those that are trained, and bytes of those that are not, as they are stored (an
 * element that the precision keeps has `kept_B`). */
int64_t op_list_trained(const struct op_list *list);
int64_t op_block_trained(const struct op_block *block);
double op_block_frozen_B(const struct op_block *block, double kept_B);
double op_param_stored_B(const struct op_param *p, double kept_B);
bool op_block_is_layer(const struct op_block *block); /* of the stack, not its ends */
/* of a module that predicts further tokens, whose layer is one, too */
bool op_block_is_mtp(const struct op_block *block);
int64_t op_block_kept_B(const struct op_block *block); /* activations kept, one block */

/* Whether checkpoints by operators keep what that forward operator makes: fused
 * attention, and the first, third, ... product of a layer; not batches of them, nor
 * products that read fp8: to PyTorch other operators (torchtitan's
 * parallelize_llama.py, _save_list). */
bool op_block_saves(const struct op_block *block, int32_t forward);

#endif
