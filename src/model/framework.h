/* How one software stack trains: which kernels are fused, what the host spends on each
 * operator, how gradients are bucketed and reduced, what the optimizer does.
 *
 * Read from models/frameworks/NAME.json: one file per framework and software
 * generation, never per measured row; each number says in "provenance" what it was
 * fitted to. */
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
    OPTIMIZER_LION,
    OPTIMIZER_MUON,
    OPTIMIZER_ADAM4BIT,
    OPTIMIZER_LION8BIT,
    OPTIMIZER_RMSPROP,
    OPTIMIZER_ADAGRAD,
    OPTIMIZER_ADEMAMIX,
    OPTIMIZER_ADEMAMIX8BIT,
    OPTIMIZER_SGD_PLAIN, /* without momentum */
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
    FRAMEWORK_ATTENTION_CUDNN,   /* the same, asked for cuDNN's kernel on Blackwell */
    FRAMEWORK_ATTENTION_FLASH,   /* flash-attention or Triton's */
    FRAMEWORK_ATTENTION_ENGINE   /* Transformer Engine's choice */
};

/* Which arithmetic shares a kernel. */
struct framework_kernels {
    enum framework_attention attention; /* where the job leaves it open */
    bool fused_qkv;                     /* one product makes q, k and v */
    bool fused_softmax;                 /* scale, mask and softmax in one kernel */
    bool fused_softmax_dropout;         /* and the dropout after it */
    /* the fused kernel needs sequences x heads of a GPU to be a multiple of this; 0:
     * any number */
    int64_t softmax_multiple;
    int64_t softmax_longest; /* and sequences no longer; 0: any length */
    bool softmax_wide;       /* where it is not fused, it is in fp32 */
    bool all_loaded;         /* with the context, not each when it is first called */
    bool fused_bias;         /* products add their bias themselves */
    bool pads_products;      /* rows of products are padded to whole pieces */
    bool fused_bias_gelu;    /* else: the activation's kernel adds the bias before it */
    bool fused_dropout_add;  /* bias, dropout and residual sum in one kernel */
    bool fused_norm;         /* one kernel a norm, forward and backward */
    bool fused_gate;         /* an activation and its gate are one kernel */
    bool fused_activation;   /* else: as many kernels as an eager module's arithmetic */
    bool fused_rope;         /* rotary embedding of q and k in one kernel ... */
    bool fused_rope_unscaled; /* where cosines and sines have no scale of their own */
    bool rope_in_place;       /* flash-attention's on q, k and v of one product */
    bool value_view;          /* v is a view of that product's result, which so stays */
    bool split_rope;          /* else: of the documents of a pack one by one */
    bool fp8_norm;            /* norms write fp8 for the products after them */
    /* bytes that quantizing to 8 and to 4 bits moves, over those counted */
    double fp8_cast, fp4_cast;
};

/* Cross-entropy over the vocabulary. */
struct framework_loss {
    bool in_place;  /* cross-entropy of several kernels on one fp32 copy */
    bool fused;     /* cross-entropy in one kernel, its gradient in place */
    bool compiled;  /* the same by torch.compile, its gradient apart */
    bool modules;   /* head, cast to fp32 and loss are modules that a pipeline may put
                       on stages of their own */
    double share;   /* of the head's weights, what counts in shares of stages */
    double logit_B; /* loss: bytes moved per logit, forward and backward */
    /* loss over a split vocabulary: bytes per logit that its backward makes with
     * the gradient */
    double split_B;
    bool kept; /* the last stage holds its 16-bit logits through backward */
};

/* Rates of kernels, against the operator list's bytes and the GPU's file. */
struct framework_rates {
    double stream_factor; /* bytes moved by memory-bound operators over the list's */
    double stream_factor_16bit; /* the same where products read 16-bit numbers */
    double score_factor;        /* of operators on attention scores, in its place */
    double stream_sm_B; /* what memory-bound operators move at most on an SM in a clock;
                           0: as much as memory gives */
    /* rate of its fused attention over that of the GPU's file */
    double flash_forward, flash_backward;
    bool flash2; /* it is flash-attention 2, with a rate of its own where the GPU's file
                    knows it */
    bool flash3; /* it is as fast as flash-attention 3 (cuDNN 9), likewise */
    double flash_sinks; /* of these, where each head has a learned score of nothing */
};

/* How long tensors live. */
struct framework_tensors {
    /* a checkpoint is computed again up to the last tensor that backward needs */
    bool recompute_stops;
    bool record_stream;    /* blocks that other streams use come back later than the
                              host frees them */
    bool gather_buffers;   /* what products gather is in two that stay */
    bool fp8_weights_kept; /* cast once a step, not in every microbatch */
    /* one copy of these is kept; backward transposes it wherever products read the other
     * order */
    bool fp8_weights_transposed;
    bool keeps_softmax_input; /* PyTorch <= 1.10 keeps it for backward */
};

/* The host's time for each rank of a group to check, before a collective, that all begin
 * the same one: of groups in a node, and over nodes. */
struct check_times {
    double inside_s, apart_s;
};

/* What the host spends, and how it spreads. */
struct framework_host {
    double dispatch_forward_s, dispatch_backward_s; /* of one operator */
    double dispatch_optimizer_s;                    /* of one optimizer kernel */
    double dispatch_collective_s; /* of one collective of a tensor group ... */
    double dispatch_wide_s;       /* ... of eight ranks or more */
    struct check_times check;
    /* by which the ranks of a tensor group come apart before a collective: standard
     * deviation */
    double collective_skew_s;
    double
        microbatch_s; /* once a microbatch, with the GPU idle: reading the loss, data */
    double stage_message_s; /* for each message to or from a neighbouring stage, with
                               the GPU idle: looking for it now and then */
    /* standard deviation of the host's time for a pass of a block over its mean:
     * smooths the switch between host- and GPU-bound */
    double launch_jitter;
    /* the same of tensor groups, which wait for the slowest of their hosts */
    double launch_jitter_tensor;
};

/* Tensor parallelism, and the pipeline's sends. */
struct framework_tensor {
    bool overlap; /* backward's sums of activations during weight gradients */
    /* products that share their input are modules which sum its gradient one by one;
     * else together (MODEL.md, 8.24) */
    bool sums_each_input;
    /* sequence parallelism: products keep their input as it was gathered, and
     * backward does not gather it again */
    bool keeps_gathered;
    /* logits are gathered as a list of a tensor a rank, which are joined */
    bool list_gather;
    /* sequence parallelism: gathers and scatters are of whole sequences' parts in the
     * order of ranks, which one more kernel puts in order of sequences */
    bool copies;
    /* sequence parallelism: what products read quantized is quantized, then gathered */
    bool gathers_quantized;
    /* share of all its bytes that pass within the products that overlap with them, cut
     * into pieces */
    double hidden_frac;
    bool hidden_asked; /* that is off unless it is asked for (--tp-comm-overlap) */
    bool
        pieces; /* where it is asked for, products and messages are cut into one piece a
                    rank: all but one of the messages overlap */
    bool send_overlap; /* Megatron: stages go on while they send */
};

/* Layers of experts. */
struct framework_experts {
    /* the host's time of a layer of experts, over the sum of its operators'; where its
     * pieces alternate with another microbatch's, times the second, too; 0: 1 */
    double host, host_pairs;
    bool looped;       /* products of one expert after the other, over a few streams;
                          else one kernel for all */
    double dispatch_s; /* the host's, of each kernel of such a loop */
    /* fp8 operands of one expert after the other, in so many kernels each; 0: all
     * experts in one */
    int64_t fp8_kernels;
    bool sorted;        /* what comes from other ranks is sorted by expert, and back */
    bool fused_permute; /* tokens are copied to and from experts by one kernel each */
    /* a token's shares of its experts weigh the activation, so that nothing reads the
     * last product's result again */
    bool weighted_activation;
    bool joined_gate; /* the gate's product is in one kernel with the other's */
    /* limits before the gate's activation and biases after the last product are
     * operators of their own, these in fp32 */
    bool eager_biases;
    /* quantized products apply the activation and quantize its result, and backward its
     * gradient's, in one kernel for all experts */
    bool fused;
    bool padded_fp8; /* rows of fp8 products are padded by copies */
    /* rows are added up by index, as PyTorch does: bytes that this moves on an SM in a
     * clock, and a token's shares weigh its experts' results before; 0: as copies */
    double scatter_sm_B;
    /* small kernels of the router and of counting tokens, forward and backward; 0: as
     * many as the list says */
    int64_t router_kernels[2];
    double router_dispatch_s; /* the host's, of each of these */
    /* where tokens are not padded to a capacity, the host reads how many each expert
     * gets, which takes it this long from the copy's end on; 0: it does not */
    double read_counts_s;
    /* experts run one after the other, each after so many reads of the host; 0: the host
     * reads all counts at once */
    int64_t turn_reads;
};

/* Gradients: how they are added up and held. */
struct framework_gradients {
    double accumulate_B; /* bytes moved per parameter when a microbatch adds its own */
    double accumulate_16bit_B; /* the same where products read 16-bit numbers */
    bool keeps_gradients;      /* they are zeroed, not freed, between steps */
    /* products add to these themselves, and autograd is given one 16-bit tensor for
     * each weight of a layer, which all layers share (MODEL.md, 5.6) */
    bool dummy_gradients;
    /* held per parameter where products read 16-bit numbers: sums in fp32, copies;
     * 0: as the precision has it */
    double gradient_16bit_B;
    /* held in addition to sums in 16 bits, from step to step: what reducing and updating
     * made of them and did not free */
    double copies_16bit_B;
    /* of a parameter's fp32 copy, held in addition to its 16 bits; 0: all four */
    double master_16bit_B;
    double
        update_16bit_B; /* taken per parameter while its rank updates it; 0: likewise */
    bool reduce_every_microbatch; /* in every accumulation step, not only the last */
    int gradient_dtype;           /* on the wire; -1: that of the parameters */
    int gradient_dtype_16bit;
};

/* Gradients: how they are reduced. */
struct framework_reduction {
    bool overlap;              /* reduce buckets during backward */
    bool overlap_param_gather; /* gather updated parameters during the next forwards */
    int64_t first_bucket_B, bucket_B; /* 0: one bucket */
    /* bytes moved per gradient byte: into a bucket and out, or into the flat
     * parameter of a sharded unit */
    double bucket_copy_B;
    bool scatters;   /* what updates in shards gets its own sums alone, also under a
                      library that sums on all ranks */
    double reduce_s; /* once a reduction of all gradients: ranks wait for each other */
    double network_frac; /* share of the nodes' NICs that its communicators use */
    double cycle_s;      /* Horovod: fusion cycle; 0: none */
};

/* Sharded parameters. */
struct framework_shard {
    /* by which the ranks that shard parameters come apart over a unit: standard
     * deviation over the unit's time */
    double unit_spread;
    /* sharded parameters are gathered and their gradients scattered tensor by
     * tensor, not unit by unit */
    bool tensors;
    bool synchronous; /* they overlap with nothing */
    /* backward gathers the unit before while it is in one; else after its scatter */
    bool backward_prefetch;
    /* of the host before the gather of a unit, which it issues when the GPU has left the
     * unit that was dropped two before (FSDP's limit of gathers); 0: it is far ahead */
    double unit_gather_s;
    bool adapter_units; /* each thin matrix of an adapter is a unit of its own */
    /* of the host for each rank of such a collective, with the GPU idle: lists of a
     * part a rank; 0: no such lists */
    double part_s;
};

struct framework {
    const char *name;
    const char *summary;
    struct framework_kernels kernels;
    struct framework_loss loss;
    struct framework_rates rates;
    struct framework_tensors tensors;
    struct framework_host host;
    struct framework_tensor tensor;
    struct framework_experts experts;
    struct framework_gradients gradients;
    struct framework_reduction reduction;
    struct framework_shard shard;
    /* update */
    struct framework_optimizer optimizers[OPTIMIZER_N];
    const char *library; /* default "library" of parallelism: "ddp", "horovod", ... */
    const char *backend; /* default "backend": "nccl", "smddp" */
    enum provenance_kind provenance_kind;
    bool unmeasured;        /* no step of it served a fit or a test */
    const char *provenance; /* "group: where its numbers are from", a line a group */
};

/* What the host spends on one kernel of the optimizer. */
double framework_optimizer_dispatch_s(const struct framework *fw,
                                      const struct framework_optimizer *o);

/* The host's time of a layer of experts over the sum of its operators'; `pairs`: pieces
 * of two microbatches alternate (--overlap-moe-expert-parallel-comm). */
double framework_experts_host(const struct framework *fw, bool pairs);

/* Whether tensor groups can pass part of their bytes within products; and the share that
 * a group of so many ranks passes so where a scenario asks for it, or says nothing. */
bool framework_hides(const struct framework *fw);
double framework_hidden_frac(const struct framework *fw, int64_t ranks, bool asked);

/* What the host spends on a collective of a tensor group of so many ranks. */
double framework_collective_dispatch_s(const struct framework *fw, int64_t ranks);

/* What a check before a collective takes. */
double framework_check_s(struct check_times each, int64_t ranks, bool apart);

/* How far the ranks of a tensor group come apart before a collective that all wait for
 * (MODEL.md, 8.9). */
double framework_skew_s(const struct framework *fw, int64_t ranks);

/* The share of a unit's time by which ranks that shard its parameters wait for the
 * slowest of them, beyond what a node's eight do (MODEL.md, 8.22). */
double framework_unit_wait_frac(const struct framework *fw, int64_t ranks);

/* What host and GPU lose to each other in work that takes the one host_s, with standard
 * deviation deviation_s, and the other gpu_s: the host lags and catches up at
 * random (MODEL.md, 4.2). */
double framework_host_lost_s(double deviation_s, double host_s, double gpu_s);

/* The framework profile of that name; NULL after reporting at `where`. */
const struct framework *framework_get(struct cfg_loader *loader, const char *name,
                                      struct cfg where);

#endif
