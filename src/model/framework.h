/* How one software stack trains: which kernels are fused, what the host spends on each
 * operator, how gradients are bucketed and reduced, what the optimizer does.
 *
 * Read from models/frameworks/NAME.json: one file per framework and software generation, never per
 * measured row; each number says in "provenance" what it was fitted to. */
#ifndef MODEL_FRAMEWORK_H
#define MODEL_FRAMEWORK_H

#include "config/cfg.h"
#include "config/provenance.h"
#include "hardware/dtype.h"

enum optimizer {
    OPTIMIZER_ADAM,
    OPTIMIZER_LAMB,
    OPTIMIZER_ADAM8BIT,
    OPTIMIZER_ADAFACTOR,
    OPTIMIZER_SGD,
    OPTIMIZER_N,
};

extern const struct name_value optimizer_names[];

/* One update: memory traffic, kernels, and what the host does alone. */
struct framework_optimizer {
    double bytes; /* moved per parameter */
    int64_t
        kernels_per_tensor; /* one kernel after the other on each parameter tensor; 0:
                                   a few kernels over all tensors */
    double dispatch_s;      /* of one of its kernels; 0: as the framework's others */
    double fixed_s;         /* the host's, with the GPU idle */
};

/* Whose attention runs under the profile where the job does not say. */
enum framework_attention {
    FRAMEWORK_ATTENTION_TRANSFORMERS, /* the model's: by release and family */
    FRAMEWORK_ATTENTION_UNFUSED,
    FRAMEWORK_ATTENTION_SOFTMAX, /* scale, mask and softmax in one kernel */
    FRAMEWORK_ATTENTION_SDPA,    /* PyTorch's scaled_dot_product_attention */
    FRAMEWORK_ATTENTION_FLASH,   /* flash-attention or Triton's */
    FRAMEWORK_ATTENTION_ENGINE   /* Transformer Engine's choice */
};

struct framework {
    const char *name;
    const char *summary;
    /* kernels */
    enum framework_attention attention; /* where the job leaves it open */
    bool fused_qkv;                     /* one product makes q, k and v */
    bool fused_softmax;                 /* scale, mask and softmax in one kernel */
    bool fused_softmax_dropout;         /* and the dropout behind it */
    int64_t softmax_multiple; /* the fused kernel needs sequences x heads of a GPU to be
                                 a multiple of this; 0: any number */
    int64_t softmax_longest;  /* and sequences no longer; 0: any length */
    bool softmax_wide;        /* where it is not fused, it is in fp32 */
    bool fused_bias;          /* products add their bias themselves */
    bool fused_bias_gelu;   /* else: the activation's kernel adds the bias before it */
    bool fused_dropout_add; /* bias, dropout and residual sum in one kernel */
    bool fused_norm;        /* one kernel a norm, forward and backward */
    bool fused_gate;        /* an activation and its gate are one kernel */
    bool fused_activation;  /* else: as many kernels as an eager module's arithmetic */
    bool fused_rope;        /* rotary embedding of q and k in one kernel */
    bool split_rope;        /* else: of the documents of a pack one by one */
    bool loss_in_place;     /* cross-entropy of several kernels on one fp32 copy */
    bool fused_loss;        /* cross-entropy in one kernel, its gradient in place */
    bool compiled_loss;     /* the same by torch.compile, its gradient beside */
    bool recompute_stops;   /* a checkpoint is computed again up to the last tensor that
                                 backward needs */
    bool fp8_norm;          /* norms write fp8 for the products behind them */
    bool record_stream;    /* blocks that other streams use come back behind the host */
    bool fp8_weights_kept; /* cast once a step, not in every microbatch */
    bool keeps_softmax_input; /* PyTorch <= 1.10 keeps it for backward */
    double stream_factor; /* bytes moved by memory-bound operators over the list's */
    double stream_factor_16bit; /* the same where products read 16-bit numbers */
    double score_factor;        /* of operators on attention scores, in its place */
    double logit_bytes;         /* loss: bytes moved per logit, forward and backward */
    double split_loss_B; /* loss over a split vocabulary: bytes per logit that its
                                   backward makes beside the gradient */
    double flash_forward,
        flash_backward; /* rate of its fused attention over that of the
                                             GPU's file */
    /* host */
    double dispatch_forward_s, dispatch_backward_s; /* of one operator */
    double dispatch_optimizer_s;                    /* of one optimizer kernel */
    double dispatch_collective_s; /* of one collective of a tensor group ... */
    double dispatch_wide_s;       /* ... of eight ranks or more */
    double
        collective_skew_s; /* by which the ranks of a tensor group come apart before a
                                 collective: standard deviation */
    double
        microbatch_s; /* once a microbatch, with the GPU idle: reading the loss, data */
    double launch_jitter; /* standard deviation of the host's time for a pass of a block
                            over its mean: softens the switch between host- and
                            GPU-bound */
    double
        launch_jitter_tensor; /* the same of tensor groups, which wait for the slowest
                                   of their hosts */
    /* tensor parallelism */
    bool
        tensor_overlap; /* backward's sums of activations beside gradients of weights */
    bool sums_each_input; /* products that share their input are modules which sum its
                             gradient one by one; else together (MODEL.md, 8.24) */
    bool keeps_gathered;  /* sequence parallelism: products keep their input as it was
                            gathered, and backward does not gather it again */
    double tensor_hidden_frac; /* share of all its bytes that pass within the products
                                  beside them, cut into pieces */
    bool send_overlap;         /* Megatron: stages go on while they send */
    /* gradients */
    double accumulate_B; /* bytes moved per parameter when a microbatch adds its own */
    double accumulate_16bit_B; /* the same where products read 16-bit numbers */
    bool keeps_gradients;      /* they are zeroed, not freed, between steps */
    bool dummy_gradients; /* products add to these themselves, and autograd is given one
                             16-bit tensor for each weight of a layer, which all layers
                             share (MODEL.md, 5.6) */
    double
        gradient_16bit_B; /* held per parameter where products read 16-bit numbers: sums
                                in fp32, copies; 0: as the precision has it */
    double
        master_16bit_B; /* of a parameter's fp32 copy, held beside its 16 bits; 0: all
                              four */
    double
        update_16bit_B; /* taken per parameter while its rank updates it; 0: likewise */
    bool reduce_every_microbatch; /* in every accumulation step, not only the last */
    int gradient_dtype;           /* on the wire; -1: that of the parameters */
    int gradient_dtype_16bit;
    bool overlap;              /* reduce buckets during backward */
    bool overlap_param_gather; /* gather updated parameters during the next forwards */
    int64_t first_bucket_B, bucket_B; /* 0: one bucket */
    double
        bucket_copy_B; /* bytes moved per gradient byte: into a bucket and out, or into
                             the flat parameter of a sharded unit */
    double reduce_s; /* once a reduction of all gradients: ranks wait for each other */
    double
        unit_spread; /* by which the ranks that shard parameters come apart over a unit:
                           standard deviation over the unit's time */
    bool shard_tensors; /* sharded parameters are gathered and their gradients scattered
                           tensor by tensor, not unit by unit */
    bool shard_synchronous; /* they run beside nothing */
    bool backward_prefetch; /* backward gathers the unit before while it is in one; else
                               behind its scatter */
    double shard_part_s; /* of the host for each rank of such a collective, with the GPU
                            idle: lists of a part a rank; 0: no such lists */
    double network_frac; /* share of the nodes' NICs that its communicators use */
    double cycle_s;      /* Horovod: fusion cycle; 0: none */
    /* update */
    struct framework_optimizer optimizers[OPTIMIZER_N];
    const char *library; /* default "library" of parallelism: "ddp", "horovod", ... */
    const char *backend; /* default "backend": "nccl", "smddp" */
    enum provenance_kind provenance_kind;
    const char *provenance; /* "group: where its numbers are from", a line a group */
};

/* What the host spends on one kernel of the optimizer. */
double framework_optimizer_dispatch_s(const struct framework *fw,
                                      const struct framework_optimizer *o);

/* What the host spends on a collective of a tensor group of so many ranks. */
double framework_collective_dispatch_s(const struct framework *fw, int64_t ranks);

/* How far the ranks of a tensor group come apart before a collective that all wait for
 * (MODEL.md, 8.9). */
double framework_skew_s(const struct framework *fw, int64_t ranks);

/* The share of a unit's time by which ranks that shard its parameters wait for the
 * slowest of them, beyond what a node's eight do (MODEL.md, 8.22). */
double framework_unit_wait_frac(const struct framework *fw, int64_t ranks);

/* What host and GPU lose to each other in work that takes the one host_s, with standard
 * deviation deviation_s, and the other gpu_s: the host falls behind and catches up at
 * random (MODEL.md, 4.2). */
double framework_host_lost_s(double deviation_s, double host_s, double gpu_s);

/* The framework profile of that name; NULL after reporting at `where`. */
const struct framework *framework_get(struct cfg_loader *loader, const char *name,
                                      struct cfg where);

#endif
