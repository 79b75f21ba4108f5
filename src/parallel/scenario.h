/* A scenario: one training job on one cluster, read from the file a user writes, with
 * every default filled in and every rule checked. What it says stays as it is after
 * loading.
 *
 * The job's parallelism comes from the SageMaker dictionary ("distribution"), from
 * smsim's own words ("parallelism"), or both, translated into one `struct parallelism`.
 * Numbers of ranks: world = data x context x pipeline x tensor. */
#ifndef PARALLEL_SCENARIO_H
#define PARALLEL_SCENARIO_H

#include "hardware/cluster.h"
#include "model/ops.h"

enum checkpointing {
    CHECKPOINT_NONE,
    CHECKPOINT_SELECTIVE,
    CHECKPOINT_FULL,
    CHECKPOINT_GROUP
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
enum compression { COMPRESSION_NONE, COMPRESSION_FP16, COMPRESSION_INT8 };

extern const struct name_value library_names[], backend_names[], schedule_names[],
    sharding_names[], compression_names[], checkpointing_names[];

struct training {
    int64_t sequence_length;
    int64_t micro_batch_size; /* sequences per GPU and microbatch */
    int64_t microbatches;     /* sharing one pipeline fill */
    int64_t accumulation;     /* gradient_accumulation_steps */
    int64_t
        global_batch_size; /* = micro_batch_size x microbatches x accumulation x data */
    enum op_precision precision;
    int gradient_dtype; /* enum dtype on the wire; -1: the framework's */
    enum optimizer optimizer;
    enum checkpointing checkpointing;
    int64_t checkpoint_group; /* layers per checkpoint of CHECKPOINT_GROUP */
    enum op_attention attention;
    int64_t vocab_padding;       /* 0: as it is */
    int64_t predicted_positions; /* masked LM: per sequence; 0: every position */
    const char *task;            /* head when not the model's own; NULL otherwise */
    const struct framework *framework;
    int64_t samples, epochs, steps; /* 0: not given */
};

struct parallelism {
    int64_t tensor, pipeline, context, expert,
        data; /* data: what remains of the world */
    int64_t virtual_stages;
    bool sequence_parallel;
    enum schedule schedule;
    enum sharding sharding;
    int64_t shard_degree;             /* ranks over which states are sharded */
    enum library library;             /* who buckets and reduces */
    enum backend backend;             /* who moves the bytes */
    int64_t first_bucket_B, bucket_B; /* 0: all gradients in one bucket */
    bool overlap;
    enum compression compression;
    double fusion_cycle_s; /* Horovod; 0: none */
    char placement[4];     /* a permutation of D, P, T; the right-most varies fastest */
};

struct software { /* versions; NULL: not given */
    const char *pytorch, *nccl, *smddp, *smp, *efa, *sagemaker_sdk;
    struct cfg environment; /* object of strings, or absent */
    int protocol; /* FABRIC_PROTO_* that NCCL is held to; -1: its own choice */
    const char *protocol_why; /* who holds it to that; NULL when nobody does */
    const char *algorithm; /* NCCL_ALGO as "ring", "tree", "nvls" or "nvls-tree"; NULL:
                               NCCL's own choice */
};

struct scenario {
    const char *name;
    struct cluster cluster;
    struct model model;
    struct training training;
    struct parallelism parallel;
    struct software software;
    const struct fabric *fabric; /* between nodes; NULL when one node */
    const char **notes;          /* parameters accepted without effect, and why */
    int32_t n_notes;
};

/* Reads a scenario from the root of a document. All memory lives in the loader. Every
 * error of the file is reported; -1 when there was any. Keys that this version does not
 * simulate are refused by name. */
int scenario_read(struct scenario *s, struct cfg_loader *loader, struct cfg root);

int64_t scenario_world(const struct scenario *s); /* ranks */

/* Updates of one job by samples x epochs or steps; 0 when the file names neither. */
int64_t scenario_job_steps(const struct scenario *s);

/* The settings under which the operator list of one GPU is made. */
struct op_settings scenario_op_settings(const struct scenario *s);

#endif
