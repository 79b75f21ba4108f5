/* A scenario: one training job on one cluster, read from the file a user writes, with
 * every default filled in and every rule checked. What it says stays as it is after
 * loading.
 *
 * The job's parallelism comes from the SageMaker dictionary ("distribution"), from
 * smsim's own words ("parallelism"), or both, translated into one `struct parallelism`.
 * Numbers of ranks: world = data x context x pipeline x tensor. What describes a step
 * is read and checked here; what the replay does not simulate yet, it refuses. */
#ifndef PARALLEL_SCENARIO_H
#define PARALLEL_SCENARIO_H

#include "hardware/cluster.h"
#include "hardware/nccl_limits.h"
#include "model/ops.h"
#include "parallel/assumed.h"

enum checkpointing {
    CHECKPOINT_NONE,
    CHECKPOINT_SELECTIVE,
    CHECKPOINT_FULL,
    CHECKPOINT_GROUP,
    CHECKPOINT_OPERATORS /* as FULL, but what op_block_saves names is kept */
};
enum library {
    LIBRARY_DDP,
    LIBRARY_FSDP,
    LIBRARY_DEEPSPEED,
    LIBRARY_MEGATRON,
    LIBRARY_SMP,
    LIBRARY_HOROVOD,
    LIBRARY_PARAMETER_SERVER
};
enum backend { BACKEND_NCCL, BACKEND_SMDDP };
enum schedule {
    SCHEDULE_GPIPE,
    SCHEDULE_1F1B,
    SCHEDULE_INTERLEAVED,
    SCHEDULE_ZB_H1,
    SCHEDULE_SMP_SIMPLE,
    SCHEDULE_SMP_INTERLEAVED
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
                           reduce-scattered: 9 T a layer and pass (default reading) */
    TENSOR_SMP_GATHER   /* optimize "memory", the other reading: inputs are gathered and
                           outputs scattered: 4 T a layer and pass */
};

/* How far SMP's forwards run ahead of the first backward. */
enum forward_policy {
    FORWARD_EAGER, /* as many microbatches as active_microbatches lets in (default) */
    FORWARD_PACED  /* pipeline - i on stage i, as 1F1B */
};

/* Who cuts the model into stages; see parallel/partition.h. */
enum partition_method {
    PARTITION_UNIFORM,    /* equal counts of layers (Megatron, DeepSpeed "uniform") */
    PARTITION_PARAMETERS, /* least largest sum of parameters (DeepSpeed) */
    PARTITION_TYPE,       /* "type:transformer": least largest count of layers */
    PARTITION_TYPE_ENDS, /* "type:transformer|embedding": embedding and head count too */
    PARTITION_SMP,       /* SMP's costs over embedding, layers and head in a row */
    PARTITION_SMP_TREE,  /* SMP's algorithm over the module tree, D'Hondt included */
    PARTITION_MANUAL     /* stage_layers */
};

enum outputs { OUTPUTS_NONE, OUTPUTS_LOSS, OUTPUTS_LOGITS }; /* broadcast by SMP */

extern const struct name_value offload_names[], tensor_policy_names[],
    partition_names[], library_names[], backend_names[], schedule_names[],
    sharding_names[], checkpointing_names[];

struct training {
    int64_t sequence_length;
    int64_t micro_batch_size; /* sequences per GPU and microbatch */
    int64_t microbatches;     /* sharing one pipeline fill */
    int64_t accumulation;     /* gradient_accumulation_steps */
    int64_t
        global_batch_size; /* = micro_batch_size x microbatches x accumulation x data */
    enum op_precision precision;
    bool masterless;    /* 16-bit parameters are updated as they are */
    int gradient_dtype; /* enum dtype on the wire; -1: the framework's */
    enum optimizer optimizer;
    enum checkpointing checkpointing;
    int64_t checkpoint_group; /* layers per checkpoint: 1 of FULL, N of GROUP, INT64_MAX
                                 of "contiguous" (all layers of a stage) */
    int64_t
        checkpoint_every; /* FULL: the last of so many layers alone has one; else 1 */
    double gradient_clipping; /* norm; its all-reduce precedes the update; 0: none */
    enum op_attention attention;
    int attention_word;    /* as written (parallel/attention.h); ATTENTION_OPEN: not */
    bool fused_softmax;    /* in SMP v1's tensor-parallel layers, or by its script */
    bool framework_named;  /* the file names the profile */
    int64_t vocab_padding; /* 0: as it is */
    int64_t predicted_positions; /* masked LM: per sequence; 0: every position */
    int64_t decoder_length;      /* behind an encoder, in tokens; 0: sequence_length */
    const char *task;            /* head when not the model's own; NULL otherwise */
    const struct framework *framework;
    int64_t samples, epochs, steps; /* 0: not given */
};

struct parallelism {
    /* degrees */
    int64_t tensor, pipeline;
    int64_t context;  /* groups of neighbours inside D */
    int64_t expert;   /* groups of neighbours inside D; divides data x context */
    int64_t data;     /* what remains of the world: world / (tensor pipeline context) */
    int64_t replicas; /* batches side by side: data, but data x tensor under SMP without
                         prescaled_batch, whose tensor ranks bring their own */
    char placement[4]; /* a permutation of D, P, T; the right-most varies fastest. D has
                          data x context ranks */
    int smp;           /* SageMaker's model parallel library: 0 none, 1 v1, 2 v2 */
    /* tensor */
    bool sequence_parallel;
    enum tensor_policy tensor_policy;
    bool infers_tensor;        /* SMP's, chosen by default of two readings ... */
    bool infers_forward;       /* ... likewise forward_policy */
    bool prescaled_batch;      /* the ranks of a tensor group are fed the same batch */
    bool distribute_embedding; /* SMP: embedding and head are split by words */
    /* pipeline */
    int64_t virtual_stages; /* chunks of layers a stage has; 1: one */
    enum schedule schedule;
    int64_t active_microbatches;        /* SMP: in flight at most (R6); 0: no limit */
    enum forward_policy forward_policy; /* of SMP's schedules */
    enum outputs broadcast_outputs; /* what forward returns to all ranks of the group */
    enum partition_method partition;
    double memory_weight;        /* of SMP's partitioner, 0 (compute only) to 1 */
    const int64_t *stage_layers; /* [pipeline x virtual_stages] of PARTITION_MANUAL: by
                                    chunk, then stage: the order of execution */
    /* experts and long sequences */
    enum op_context context_comm;
    double expert_imbalance; /* load of the fullest expert over the mean; 1: even */
    /* sharding */
    enum sharding sharding;
    int64_t shard_degree;      /* ranks over which states are sharded; divides data x
 context */
    int64_t shard_unit_layers; /* layers gathered at once; INT64_MAX: the whole model */
    bool shard_hierarchical;   /* gather between nodes first, then inside (MiCS) */
    int64_t shard_prefetch;    /* units gathered ahead of the one in use */
    bool shard_backward_prefetch; /* in backward, too (FSDP's backward_prefetch) */
    int64_t shard_in_flight; /* gathers at once (FSDP's rate limiter: 2); 0: no limit */
    bool shard_reshard;      /* parameters are dropped after forward, gathered again */
    enum offload offload;    /* states kept in host memory */
    int64_t shard_bucket_elements;      /* of a reduce-scatter; 0: one a unit */
    int64_t shard_persistence_elements; /* smaller tensors stay whole on each rank */
    int64_t
        shard_reuse_elements;    /* tensors whose next use is farther are dropped behind
                                     recomputation; 0: none is */
    int64_t shard_live_elements; /* prefetch stops at so many gathered; 0: no limit */
    /* who reduces and moves */
    enum library library;             /* who buckets and reduces */
    enum backend backend;             /* who moves the bytes */
    int64_t first_bucket_B, bucket_B; /* 0: all gradients in one bucket */
    bool overlap;                     /* gradients are reduced beside backward */
    bool overlap_param_gather;    /* updated parameters are gathered beside the forwards
                                  that follow */
    double tensor_hidden_frac;    /* of the tensor group's bytes, within products; the
                                  framework's unless "overlap_tensor" says otherwise */
    bool gradient_as_bucket_view; /* no copies into and out of buckets */
    enum compression compression;
    double fusion_cycle_s;   /* Horovod; 0: none */
    int64_t server_replicas; /* neighbours that hold a copy of each server's keys */
    bool asynchronous;       /* workers push and pull without waiting for each other */
    bool broadcast_buffers;  /* DDP sends the model's buffers before every forward */
    /* activations in host memory */
    bool offload_activations;           /* those at checkpoints */
    int64_t activation_loading_horizon; /* loaded back so many ahead: passes of a
                                           pipeline's stage, or layers (MODEL.md, R9) */
};

struct software { /* versions; NULL: not given */
    const char *pytorch, *transformers, *nccl, *smddp, *horovod, *smp, *efa,
        *sagemaker_sdk;
    struct cfg environment; /* object of strings, or absent */
    int protocol; /* the one FABRIC_PROTO_* that NCCL is held to; -1: its own choice */
    struct nccl_limits limits;        /* what NCCL_ALGO, NCCL_PROTO and launchers take
                                         from that choice */
    bool has_protocol, has_algorithm; /* NCCL_PROTO, NCCL_ALGO are set */
    bool no_nvls;                     /* NCCL_NVLS_ENABLE=0 */
    bool simple_on_efa;               /* the launcher holds NCCL to Simple there */
};

/* What lies beyond a step; read by the campaign layer. Absent where not written. */
struct scenario_sections {
    struct cfg storage, input, job, uncertainty;
};

struct scenario {
    const char *name;
    struct cluster cluster;
    struct model model;
    struct training training;
    struct parallelism parallel;
    struct software software;
    const struct fabric *fabric; /* between nodes; NULL when one node */
    struct scenario_sections sections;
    const char **notes; /* parameters without effect, or taken in a way to be told */
    int32_t n_notes;
    struct assumptions assumed; /* what the file leaves open, as it was decided */
};

/* Reads a scenario from the root of a document. All memory lives in the loader. Every
 * error of the file is reported; -1 when there was any. */
int scenario_read(struct scenario *s, struct cfg_loader *loader, struct cfg root);

/* The same, where what a job would run with, but hardly as meant, is an error, too: two
 * names of one parameter that disagree, parameters beside "parameters". */
int scenario_check(struct scenario *s, struct cfg_loader *loader, struct cfg root);

int64_t scenario_world(const struct scenario *s); /* ranks */

/* Whether SMP's execution servers run the passes: a stage may be visited twice. */
bool schedule_is_smp(enum schedule schedule);

/* Updates of an epoch, the last of which may be short of samples; 0 when the file names
 * no samples. */
int64_t scenario_epoch_steps(const struct scenario *s);

/* Updates of one job by samples x epochs or steps; 0 when the file names neither. */
int64_t scenario_job_steps(const struct scenario *s);

/* A bucket of gradients of DeepSpeed's, by default: ZeRO's reduce_bucket_size
 * (deepspeed/runtime/zero/config.py), MEMORY_OPT_ALLREDUCE_SIZE without ZeRO
 * (deepspeed/runtime/engine.py). */
enum { DEEPSPEED_BUCKET_ELEMENTS = 500000000 };

/* Bytes of a library's bucket, by default: the ranks over which gradients are summed, and
 * bytes of a gradient. 0: it reduces by units. */
int64_t library_bucket_B(enum library library, int64_t ranks, double gradient_B);

/* DeepSpeed without ZeRO reduces all gradients behind backward, bucket by bucket
 * (allreduce_gradients of deepspeed/runtime/engine.py). */
bool library_reduces_behind(enum library library, enum sharding sharding);

/* The settings under which the operator list of one GPU is made. */
struct op_settings scenario_op_settings(const struct scenario *s);

#endif
