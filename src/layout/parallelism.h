/* Parallelism itself: degrees, what is sharded, who reduces and moves, and the sizes of
 * a step that these divide. Numbers of ranks: world = data x context x pipeline x
 * tensor. Filled in by the scenario layer; constant after that. */
#ifndef LAYOUT_PARALLELISM_H
#define LAYOUT_PARALLELISM_H

#include "hardware/transfer.h"
#include "model/ops.h"

enum checkpointing {
    CHECKPOINT_NONE,
    CHECKPOINT_SELECTIVE,
    CHECKPOINT_FULL,
    CHECKPOINT_GROUP,
    CHECKPOINT_OPERATORS /* as FULL, but what op_block_saves names is kept */
};
enum schedule {
    SCHEDULE_GPIPE,
    SCHEDULE_1F1B,
    SCHEDULE_INTERLEAVED,
    SCHEDULE_ZB_H1,
    SCHEDULE_SMP_SIMPLE,
    SCHEDULE_SMP_INTERLEAVED,
    SCHEDULE_LOOPED_BFS,
    SCHEDULE_ZB_INTERLEAVED,
    SCHEDULE_ZB_V,
    SCHEDULE_DUALPIPE_V
};
enum sharding { SHARDING_NONE, SHARDING_OPTIMIZER, SHARDING_GRADIENTS, SHARDING_FULL };
enum offload { OFFLOAD_NONE, OFFLOAD_OPTIMIZER, OFFLOAD_PARAMETERS }; /* to the host */
enum compression { COMPRESSION_NONE, COMPRESSION_FP16, COMPRESSION_INT8 };

/* How a tensor group exchanges activations (MODEL.md, R5). T is the activation of the
 * group's sequences: SMP's group works on `tensor` times the sequences of a rank unless
 * prescaled_batch is set. */
enum tensor_policy {
    TENSOR_MEGATRON,    /* two all-reduces of T a layer and pass */
    TENSOR_SMP_SPEED,   /* as Megatron, between a gather and a slice at both ends */
    TENSOR_SMP_SCATTER, /* optimize "memory": products split by input columns, each
                           reduce-scattered: 9 T a layer and pass (default interpretation) */
    TENSOR_SMP_GATHER /* optimize "memory", the other interpretation: inputs are gathered and
                           outputs scattered: 4 T a layer and pass */
};

/* How far SMP's forwards run ahead of the first backward. */
enum forward_policy {
    FORWARD_EAGER, /* as many microbatches as active_microbatches lets in (default) */
    FORWARD_PACED  /* pipeline - i on stage i, as 1F1B */
};

/* Who cuts the model into stages; see layout/partition.h. */
enum partition_method {
    PARTITION_UNIFORM,    /* equal counts of layers (Megatron, DeepSpeed "uniform") */
    PARTITION_PARAMETERS, /* least largest sum of parameters (DeepSpeed) */
    PARTITION_TYPE,       /* "type:transformer": least largest count of layers */
    PARTITION_TYPE_ENDS,  /* "type:transformer|embedding": embedding and head count
                            too */
    PARTITION_COMPUTE,    /* each stage is left when its share of products is passed;
                            stages may hold the head alone (nanotron) */
    PARTITION_SMP,        /* SMP's costs over embedding, layers and head in a row */
    PARTITION_SMP_TREE,   /* SMP's algorithm over the module tree, D'Hondt included */
    PARTITION_MANUAL,     /* stage_layers */
    /* equal counts of layers, of which embedding, head, or both are one each
     * (Megatron) */
    PARTITION_UNIFORM_EMBEDDING,
    PARTITION_UNIFORM_HEAD,
    PARTITION_UNIFORM_BOTH
};

enum outputs { OUTPUTS_NONE, OUTPUTS_LOSS, OUTPUTS_LOGITS }; /* broadcast by SMP */

extern const struct name_value parallelism_offload_names[], parallelism_tensor_names[],
    parallelism_partition_names[], parallelism_schedule_names[],
    parallelism_sharding_names[], checkpointing_names[], context_comm_names[],
    parallelism_reference_names[], parallelism_muon_names[],
    parallelism_dispatcher_names[], parallelism_expert_overlap_names[];

/* How sequences of unequal length become batches. */
enum lengths_padded {
    LENGTHS_LONGEST, /* padded to the longest of a micro-batch */
    LENGTHS_MAX,     /* padded to the longest of all */
    LENGTHS_PACKED   /* joined to sequences of that length */
};

struct lengths {
    enum lengths_padded padded;
    double mean, max; /* tokens; mean 0: all have sequence_length */
    int64_t document; /* packed, and attended to one by one: tokens; 0: not */
};

/* What an optimizer holds of a parameter in other formats than fp32; bytes, 0: fp32. */
struct optimizer_dtypes {
    double master_B, first_moment_B, second_moment_B;
};

/* How Muon orthogonalises what a tensor group holds in parts. */
enum muon_tensor {
    MUON_DUPLICATED,  /* gathered, by each rank */
    MUON_DISTRIBUTED, /* by parts, whose Gram matrices are summed */
    MUON_BLOCKWISE    /* each part as if it were all */
};

/* Where the log-probabilities come from that a policy's are compared with. */
enum reference_model {
    REFERENCE_NONE,     /* the loss compares with none */
    REFERENCE_SEPARATE, /* a model with weights of its own */
    REFERENCE_SHARED,   /* the frozen weights, without their adapters */
    REFERENCE_PRECOMPUTED
};

/* Training on preferences (MODEL.md, 2.20). */
struct preference {
    int64_t sequences;       /* of a sample: 2 of pairs; 0: one */
    int64_t policy_forwards; /* of a microbatch, without gradients */
    int64_t reference_forwards;
    enum reference_model reference;
};

struct training {
    int64_t sequence_length; /* as computed */
    struct lengths lengths;
    int64_t micro_batch_size; /* samples per GPU and microbatch */
    int64_t microbatches;     /* sharing one pipeline fill */
    int64_t accumulation;     /* gradient_accumulation_steps */
    int64_t
        global_batch_size; /* = micro_batch_size x microbatches x accumulation x data */
    enum op_precision precision;
    bool quantized_parameters; /* weights are held as their products read them */
    int64_t first_16bit,
        last_16bit; /* layers whose products read 16 bits nevertheless */
    struct optimizer_dtypes states;
    bool no_master_weights; /* 16-bit parameters are updated as they are */
    bool weight_average;    /* a copy that follows them after each step */
    int gradient_dtype;     /* enum dtype on the wire; -1: the framework's */
    enum optimizer optimizer;
    int64_t muon_steps; /* iterations */
    enum muon_tensor muon_tensor;
    enum checkpointing checkpointing;
    int64_t checkpoint_group; /* layers per checkpoint: 1 of FULL, N of GROUP, INT64_MAX
                                 of "contiguous" (all layers of a stage) */
    int64_t
        checkpoint_every; /* FULL: the last of so many layers alone has one; else 1 */
    int64_t checkpoint_block;   /* FULL: the first so many layers of a chunk alone; else
                                   0 */
    uint32_t recompute_modules; /* SELECTIVE: bits of enum op_region */
    uint32_t graphs;            /* CUDA graphs: bits of enum op_graph */
    double gradient_clipping;   /* norm; its all-reduce precedes the update; 0: none */
    enum op_attention attention;
    int attention_word;   /* as written (scenario/attention.h); ATTENTION_OPEN: not */
    int mask_word;        /* likewise, attention_masks */
    bool masked;          /* fused attention reads a mask, and computes all pairs */
    bool fused_softmax;   /* in SMP v1's tensor-parallel layers, or by its script */
    bool framework_named; /* the file names the profile */
    int32_t mlp_tiles;    /* of a microbatch's tokens; 0: one; OP_TILES_ALST */
    int32_t loss_chunks;  /* of a microbatch's tokens; 0: one; OP_CHUNKS_LIGER */
    bool updates_in_backward; /* each tensor as its gradient is made, which is freed */
    bool raw_loss;            /* cross-entropy reads logits as they are */
    int64_t vocab_padding;    /* 0: as it is */
    struct lora lora;         /* rank 0: all parameters are trained */
    int64_t predicted_positions; /* masked LM: per sequence; 0: every position */
    int64_t mtp_layers;          /* modules that predict further tokens */
    bool mtp_repeated;           /* they are one, run so often */
    struct op_formats formats;   /* of modules that have their own */
    int64_t decoder_length;      /* after an encoder, in tokens; 0: sequence_length */
    const char *task;            /* head when not the model's own; NULL otherwise */
    struct preference preference;
    const struct framework *framework;
    int64_t samples, epochs, steps; /* 0: not given */
};

/* How a tensor group splits a layer. */
struct parallelism_split {
    bool sequence_parallel;
    bool whole_loss; /* each rank has all logits, gathered, and their loss */
    enum tensor_policy tensor_policy;
    bool infers_tensor;        /* SMP's, chosen by default of two interpretations */
    bool prescaled_batch;      /* the ranks of a tensor group are fed the same batch */
    bool distribute_embedding; /* SMP: embedding and head are split by words */
    bool overlaps;             /* sums and gathers, with the gradients of backward */
    /* of the tensor group's bytes, within products; the framework's unless
     * "overlap_tensor" says otherwise */
    double hidden_frac;
};

/* How a pipeline's stages are cut and scheduled. */
struct parallelism_stages {
    int64_t virtual_stages; /* chunks of layers a stage has; 1: one */
    enum schedule schedule;
    int64_t active_microbatches;        /* SMP: in flight at most (R6); 0: no limit */
    enum forward_policy forward_policy; /* of SMP's schedules */
    bool infers_forward;                /* SMP's forward_policy, likewise */
    enum outputs broadcast_outputs; /* what forward returns to all ranks of the group */
    enum partition_method partition;
    double memory_weight; /* of SMP's partitioner, 0 (compute only) to 1 */
    /* [pipeline x virtual_stages] of PARTITION_MANUAL: by chunk, then stage: the
     * order of execution */
    const int64_t *layers;
    /* microbatches of a fill whose gradient of the head's matrix is made after all
     * passes; 0: none, INT64_MAX: all */
    int64_t deferred_wgrads;
    /* which of the pipeline x virtual_stages parts, in order of execution, has the layers
     * that predict further tokens; -1: the head's */
    int64_t mtp_part;
    bool whole_messages; /* each rank of a tensor group sends all of them, not a part */
};

/* Which states are sharded, and how they are gathered. */
struct parallelism_shard {
    enum sharding strategy;
    /* ranks over which states are sharded; divides data x context */
    int64_t degree;
    int64_t unit_layers;     /* layers gathered at once; INT64_MAX: the whole model */
    bool hierarchical;       /* gather between nodes first, then inside (MiCS) */
    int64_t prefetch;        /* units gathered ahead of the one in use */
    bool backward_prefetch;  /* in backward, too (FSDP's backward_prefetch) */
    bool adapter_units;      /* thin matrices of adapters are units of their own */
    int64_t in_flight;       /* gathers at once (FSDP's rate limiter: 2); 0: no limit */
    bool reshard;            /* parameters are dropped after forward, gathered again */
    bool no_sync;            /* gradients stay whole until the last accumulation step */
    enum offload offload;    /* states kept in host memory */
    int64_t bucket_elements; /* of a reduce-scatter; 0: one a unit */
    int64_t persistence_elements; /* smaller tensors stay whole on each rank */
    /* tensors whose next use is farther are dropped after recomputation; 0: none is */
    int64_t reuse_elements;
    int64_t live_elements; /* prefetch stops at so many gathered; 0: no limit */
};

/* Who reduces gradients, and how. */
struct parallelism_reduce {
    int library; /* who buckets and reduces: enum library of scenario/libraries.h */
    int backend; /* who moves the bytes: enum backend, ibid. */
    int64_t first_bucket_B, bucket_B; /* 0: all gradients in one bucket */
    bool overlap;                     /* gradients are reduced during backward */
    /* updated parameters are gathered during the forwards that follow */
    bool overlap_param_gather;
    bool gradient_as_bucket_view; /* no copies into and out of buckets */
    enum compression compression;
    double fusion_cycle_s;   /* Horovod; 0: none */
    int64_t server_replicas; /* neighbours that hold a copy of each server's keys */
    bool asynchronous;       /* workers push and pull without waiting for each other */
    bool broadcast_buffers;  /* DDP sends the model's buffers before every forward */
};

/* Who moves experts' tokens: NCCL's all-to-all with a copy for each expert, all-gathers
 * of all tokens, or kernels with a copy for each rank and node. */
enum dispatcher {
    DISPATCHER_ALLTOALL,
    DISPATCHER_ALLGATHER,
    DISPATCHER_DEEPEP,
    DISPATCHER_HYBRIDEP
};
enum expert_overlap {
    EXPERT_OVERLAP_NONE,
    EXPERT_OVERLAP_SHARED,      /* with the expert that all tokens go through */
    EXPERT_OVERLAP_MICROBATCHES /* with the other pass of a pair, in 1F1B */
};

/* How experts' tokens travel (MODEL.md, R11.5, R11.12). */
struct parallelism_dispatch {
    enum dispatcher kind;
    enum expert_overlap overlap;
    int64_t sms;                                      /* of DeepEP and Hybrid-EP */
    bool fp8;                                         /* they dispatch 8 bits */
    const struct transfer *transfers[TRANSFER_KINDS]; /* theirs */
};

struct parallelism {
    /* degrees */
    int64_t tensor, pipeline;
    int64_t context; /* groups of neighbours inside D */
    int64_t expert;  /* groups of neighbours among the ranks of a stage */
    /* tensor degree of the experts, part of the tensor degree; 0: that. Below it the
     * ranks of a stage are dealt out anew to experts: expert_tensor fastest, then
     * expert, then replicas of experts (MODEL.md, R11.8) */
    int64_t expert_tensor;
    int64_t data; /* what remains of the world: world / (tensor pipeline context) */
    /* batches side by side: data, but data x tensor under SMP without
     * prescaled_batch, whose tensor ranks bring their own */
    int64_t replicas;
    /* a permutation of D, P, T; the right-most varies fastest. D has data x context
     * ranks */
    char placement[4];
    /* generation of SMP whose dictionary is given; 0: none. The library's row says what
     * that means */
    int smp;
    struct parallelism_split split;
    struct parallelism_stages stages;
    /* experts and long sequences */
    enum op_context context_comm;
    int64_t context_inner; /* of "alltoall+ring": ranks of the all-to-all; else 0 */
    struct parallelism_dispatch dispatch;
    double expert_imbalance; /* load of the fullest rank over the mean; 1: even */
    double expert_exponent;  /* of a power law of loads, which gives that; 0: none */
    double expert_capacity;  /* experts take so many mean shares at most; 0: all */
    bool expert_padding;     /* those with fewer are padded to it */
    struct parallelism_shard shard;
    struct parallelism_reduce reduce;
    /* activations in host memory */
    bool offload_activations; /* those at checkpoints */
    uint32_t offload_modules; /* those that modules save: bits of enum op_saver */
    int64_t offload_layers;   /* all that the first so many save */
    /* loaded back so many ahead: passes of a pipeline's stage, or layers (MODEL.md,
     * R9) */
    int64_t activation_loading_horizon;
};

/* What a schedule asks of its stages and microbatches (MODEL.md, R6). */
struct schedule_traits {
    bool chunks; /* a stage has several */
    bool folds; /* two, placed as a V: stage i has the i-th and the i-th from the end */
    bool splits; /* backwards of the input and of the weights are passes of their own */
    bool rounds; /* microbatches are a multiple of the stages */
    bool pairs;  /* forwards run next to a backward of another microbatch */
    bool fills;  /* as many microbatches as all chunks of all stages, at least */
};
const struct schedule_traits *parallelism_schedule(enum schedule schedule);

/* Sequences of a sample, and of a microbatch of one GPU; forwards without gradients of a
 * microbatch, whose weights are the policy's or a reference model's. */
int64_t training_sample_sequences(const struct training *t);
int64_t training_sequences(const struct training *t);
int64_t training_ungraded_forwards(const struct training *t);

/* Tensor degree of the experts, whether they are folded over tensor ranks, and ranks
 * that hold the same part of the same experts. */
int64_t parallelism_expert_tensor(const struct parallelism *p);
bool parallelism_folds_experts(const struct parallelism *p);
int64_t parallelism_expert_replicas(const struct parallelism *p);

#endif
