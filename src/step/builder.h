/* What the writers of a step share: the scenario, the operator list with its times, and
 * the state of the pass at hand. Private to src/step/.
 *
 *   stage        which blocks the stage holds
 *   replicas     which ranks hold the same parameter, and what of it
 *   comms        collectives of the program
 *   issue        kernels and waits
 *   block_comms  collectives between the operators of a block
 *     tensor       within the tensor group
 *     tensor_ends  between modules that it shares in unlike ways
 *     exchange     keys and values of context groups, tokens of expert groups
 *   recompute    what checkpoints keep, and what is computed again
 *   offload      checkpoints and states on the host
 *   wire         plans of a bucket, its stages, compression
 *   smddp        SMDDP's fusion buffers, and when its AllGather runs
 *   servers      parameter servers: who owns what, staleness
 *   buckets      gradients into buckets, as each library does it
 *   param_gather gathers of parameters that were updated in shards
 *   shard        gathers of sharded parameters, scatters of their gradients
 *   pass_memory  what the operators of a block allocate and free
 *   pass_block   forward and backward of one block
 *   pass         forward and backward of a chunk's layers
 *   measure      passes replayed in isolation
 *   model_group  what ranks of several stages do together
 *   pipeline     the passes of a stage, messages between stages
 *   zero         flat buffers of DeepSpeed's ZeRO 1 and 2
 *   update       the optimizer
 *   step         set-up and accumulation steps
 *   reps         which ranks are simulated
 *
 * A file calls those above it alone.
 */
#ifndef STEP_BUILDER_H
#define STEP_BUILDER_H

#include "cost/kernel.h"
#include "layout/partition.h"
#include "scenario/stages.h"
#include "scenario/states.h"
#include "step/schedule.h"
#include "step/step.h"

/* Kernel times of one block, with the GPU alone [0] and beside a collective [1]. */
struct block_times {
    double *forward_s[2], *backward_s[2];
};

/* How gradients get onto the wire; wire_init fills it in. */
struct wire {
    const struct gradient_reduction *reduction; /* NULL: not chosen yet */
    double gradient_B;                          /* of one element, before compression */
    double frac;                                /* bytes on the wire for each of them */
    double compress_B; /* moved by kernels per byte of gradient, to and from the wire */
    const struct coll_library *library; /* of SMDDP and of parameter servers */
    int32_t n_stages;                   /* plans made last: those of one bucket */
    int32_t stages[COLL_AT_N + 1];      /* indices of comms */
    enum stream streams[COLL_AT_N + 1];
    struct fusion *fusion; /* of the microbatch at hand; NULL: none */
    int32_t n_sent;        /* buckets of it */
};

/* A collective before or after an operator of a block. */
struct op_comm {
    int32_t op;      /* index into the block's forward or backward list */
    bool after;      /* else before */
    bool overlapped; /* sums: with the products that make gradients of weights; gathers:
                        until the first of these */
    int32_t comm;    /* of the program */
    int32_t both;    /* of rings in backward: with the gradients; -1: no ring there */
    bool ring;       /* messages beside the operator's pieces: see exchange.c */
    enum stream stream;
    enum category part;
    int64_t workspace_B; /* for what arrives */
    double time_s;       /* each, alone */
    int32_t times;       /* one after the other */
};

struct block_comms {
    int32_t n[2]; /* forward [0], backward [1] */
    struct op_comm *v[2];
};

/* Ranks that hold the same copy of a parameter, over which its gradient is summed and
 * its states are sharded. */
enum replica_group {
    REPLICAS_DATA,    /* those of the data group */
    REPLICAS_EXPERTS, /* those of it that have the same experts */
    REPLICAS_ALL,     /* those of the data and tensor groups: what SMP leaves whole */
    REPLICA_GROUPS
};

/* Blocks of a chunk of the stage, in order: `repeat` of the block of the list. */
struct slice {
    int32_t block;
    int64_t repeat;
    int64_t first_layer; /* number of its first among the rank's layers; else 0 */
};

struct chunk_slices {
    int32_t n;
    struct slice *v;
};

/* Where what a forward keeps for backward is booked, if it is kept. */
enum keep {
    KEEP_ACTIVATIONS,
    KEEP_WORKSPACE, /* recomputed */
    KEEP_NOTHING
};

/* What the host and the GPU spend on passes of blocks. */
struct host_spent {
    double host_s, gpu_s;
    double deviation_s; /* of the host's time: a standard deviation */
};

/* A pass as it was measured in isolation. */
struct measured {
    bool known;
    struct pass_cost cost;
    struct ledger_change memory;
    double flops;
};

struct units;         /* sharded units, private to shard.c */
struct param_buckets; /* of a chunk, private to param_gather.c */

struct builder {
    struct step *step;
    struct arena *arena;
    const struct scenario *s;
    const struct framework *fw;
    const struct gpu *gpu;
    const struct net *net;
    struct states states;
    struct states
        others[REPLICA_GROUPS]; /* of parameters that others than data ranks hold */
    struct op_list list;
    struct block_times *times;  /* [blocks] */
    struct kernel_share shared; /* what collectives leave of the GPU */
    bool half;                  /* products read 16-bit numbers */
    int64_t transient_B;        /* workspace that dies when the next operator has run */
    int64_t made_B[8];          /* gradients that do, and are sums of their own */
    int32_t n_made;
    int64_t locals_B[32]; /* that which dies when attention's function returns */
    int32_t n_locals;
    bool makes_local;        /* the operator at hand does */
    bool saves;              /* what it makes is kept, whatever the layer keeps */
    bool from_checkpoint;    /* the block's input is one, in GPU memory */
    bool skips_input;        /* which the operator at hand does not allocate again */
    struct host_spent again; /* on what is computed again, until its backward */
    /* the microbatch at hand */
    bool first, reduces;
    int32_t chunk;
    /* the bucket being filled: gradients before compression */
    double bucket_B, bucket_limit_B;
    double others_B[REPLICA_GROUPS]; /* those of what others than data ranks hold */
    int32_t last_comm;               /* task of the last collective sent; -1: none */
    double plan_B; /* size on the wire of the plan made last; see wire.c */
    struct wire wire;
    /* the stage */
    const struct step_request *request;
    struct plans plans;
    int64_t plans_rank; /* whose groups the plans are for */
    struct op_settings settings;
    struct chunk_slices *chunks;
    struct block_comms *comms;  /* [blocks] of the tensor group */
    int64_t embedding_elements; /* of the word embedding, on this GPU */
    struct units *chunk_units;  /* [chunks] of sharded parameters */
    struct units *units;        /* of the chunk at hand; NULL: whole parameters */
    struct param_buckets
        *param_buckets; /* [chunks] gathered beside forward; NULL: none */
    int32_t **ready; /* [chunks][blocks] gathers that the next forward waits for; NULL:
                        none (any more) */
    /* the pass at hand */
    enum category part;  /* of its kernels */
    enum keep keep;      /* of the forward at hand */
    enum pass_kind kind; /* of backward: which of its operators run */
    bool stops_early;    /* recomputation ends with the last tensor that is needed */
    bool splits;         /* gradients of weights have a pass of their own */
    bool detail;         /* passes are written operator by operator */
    bool gradient_came;  /* of the next layer's output: the pass holds it */
    int32_t waits[2];    /* tasks that the next kernel follows; -1: none */
    int32_t overlapped;  /* collective that the next kernel that is no gradient of
                              weights follows; -1: none */
    int32_t
        gathered; /* collective that the next gradient of weights follows; -1: none */
    const struct op_comm *ring; /* beside which the next operator runs; NULL: none */
    int32_t receives;           /* message that the next kernel waits for; -1: none */
    int32_t last_kernel;        /* task; -1: none yet */
    struct measured_stage *measured; /* its passes, shared with stages like it */
    int32_t *
        passes; /* [chunks][PASS_N][2] of the program: as measured.c has them; -1: none yet */
    bool keeps_checkpoints; /* the forward at hand does not offload its own */
    int32_t last_store;     /* task of the last checkpoint copied out; -1: none */
    int64_t n_loads;        /* checkpoints copied back for the backward at hand ... */
    int64_t n_checkpoints;  /* ... of so many */
    int32_t *loads;         /* last kernels before them */
    int32_t backward_begin; /* kernel before the pass's backward */
    double flops_before;    /* of the step, before the period that repeats */
    bool *seen;             /* [chunks] a backward has run: gradients are there */
    int32_t outputs;        /* task of the last broadcast of outputs; -1: none */
    int64_t outputs_B;      /* of microbatches, received so far */
};

#endif
