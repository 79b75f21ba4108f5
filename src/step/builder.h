/* A step while it is written: the program and the ledger so far, and what is at hand.
 * What was planned before is in the stage, and does not change.
 *
 *   stage        which blocks the stage holds
 *   replicas     which ranks hold the same parameter, and what of it
 *   comms        collectives of the program
 *   issue        kernels and waits
 *   block_comms  collectives between the operators of a block
 *     tensor       within the tensor group
 *     tensor_ends  between modules that it shares in unlike ways
 *     dispatch     experts' tokens by each dispatcher
 *     exchange     keys and values of context groups, tokens of expert groups
 *   recompute    what checkpoints keep, and what is computed again
 *   offload      checkpoints and states on the host
 *     offload_layers   what the first layers have saved
 *     offload_modules  what modules of layers have saved
 *   wire         plans of a bucket, its stages, compression
 *   smddp        SMDDP's fusion buffers, and when its AllGather runs
 *   servers      parameter servers: who owns what, staleness
 *   buckets      gradients into buckets, as each library does it
 *   param_gather gathers of parameters that were updated in shards
 *   shard_units  units of sharded parameters: what is gathered together
 *   shard_comms  their gathers, scatters of their gradients
 *   shard_adapters thin matrices of adapters, units inside their layer's
 *   shard        when units come and go
 *   pass_memory  what the operators of a block allocate and free
 *   stretch      operators that were written before, copied
 *   gradients    what backward completes: made, handed on, added to the sum
 *   pass_block   forward and backward of one block
 *   deferred     the gradient of the head's matrix, after all passes
 *   pass         forward and backward of a chunk's layers
 *   reference    forwards without gradients, of the policy and what it is compared with
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

#include "model/saved.h"
#include "step/pipeline/schedule.h"
#include "step/stage.h"

/* Where what a forward keeps for backward is booked, if it is kept. */
enum keep {
    KEEP_ACTIVATIONS,
    KEEP_WORKSPACE, /* recomputed */
    KEEP_NOTHING
};

/* What the host and the GPU spend on passes of blocks. */
struct host_spent {
    double host_s, gpu_s;
    int32_t launches;   /* of kernels */
    double check_s;     /* of host_s: checks before collectives */
    double deviation_s; /* of the host's time: a standard deviation */
};

/* The pass at hand, and the microbatch. */
struct pass_cursor {
    bool first, reduces; /* the microbatch is the first; its gradients are reduced */
    enum pass_kind kind; /* of backward: which of its operators run */
    bool pairs;          /* it runs next to another microbatch's, which hides the
                            exchange of tokens */
    bool defers;         /* one of the head's is left to the end of all passes */
    int32_t chunk;
    enum category part;   /* of its kernels */
    enum keep keep;       /* of the forward at hand */
    bool ungraded;        /* no backward follows: nothing is kept */
    bool adapters_off;    /* the operators of adapters are not run */
    bool stops_early;     /* recomputation ends with the last tensor that is needed */
    bool from_checkpoint; /* the block's input is one, in GPU memory */
    bool gradient_came;   /* of the next layer's output: the pass holds it */
    struct host_spent again; /* on what is computed again, until its backward */
};

/* What the next kernel has to wait for. */
struct next_kernel {
    int32_t waits[2];   /* tasks; -1: none */
    int32_t receives;   /* message; -1: none */
    int32_t overlapped; /* collective, if it is no gradient of weights; -1: none */
    int32_t gathered;   /* collective, if it is one; -1: none */
    int32_t experts;    /* exchange of tokens, if it is ...; -1: none */
    int32_t until;      /* ... this operator of the block; -1: of the next pass */
    const struct op_comm *ring; /* messages that the next operator overlaps with;
                                   NULL */
};

/* Blocks that the GPU has not passed yet when the host frees them: tensors of a whole
 * group, and a rank's parts of such. */
struct late_blocks {
    enum ledger_kind kind;   /* as which they are booked */
    int64_t whole_B, part_B; /* of each */
    int32_t n_whole, n_part;
};

/* What a pass frees while the host waits for nobody. */
struct late_pass {
    struct late_blocks blocks;
    struct host_spent spent;
};

/* Tensors that die in the pass. */
struct pass_tensors {
    int64_t transient_B; /* workspace that dies when the next operator has run */
    int64_t made_B[8];   /* gradients that do, and are sums of their own */
    int32_t n_made;
    int64_t *ended_B; /* gradients that die when backward has ended; in the arena */
    int64_t n_ended;
    int64_t locals_B[32]; /* that which dies when attention's function returns */
    int32_t n_locals;
    bool has_workspace[2];   /* cuBLAS, of forward's and backward's thread */
    bool has_gathered[2];    /* the buffers that forward and backward gather into */
    struct late_blocks late; /* what the forward at hand has freed and the GPU has not
                                passed */
    struct late_pass ahead;  /* all that the pass at hand frees so */
    bool makes_local;        /* the operator at hand does */
    bool saves;              /* what it makes is kept, whatever the layer keeps */
    bool skips_input;        /* which it does not allocate again */
    uint32_t drops; /* bits of its outs that its module makes again for backward */
    bool again;     /* it is run for that */
};

/* Plans made last: those of one bucket. */
struct bucket_plans {
    double size_B; /* on the wire; -1: none yet */
    int32_t n_stages;
    int32_t stages[COLL_AT_N + 1]; /* indices of comms */
    enum stream streams[COLL_AT_N + 1];
};

/* Gradients on their way, before compression. */
struct bucket_state {
    double filled_B, limit_B;        /* of the bucket being filled */
    double others_B[REPLICA_GROUPS]; /* those of what others than data ranks hold */
    struct bucket_plans plans;
    struct fusion *fusion; /* of the microbatch at hand; NULL: none */
    int32_t n_sent;        /* buckets of it */
    int32_t last_comm;     /* task of the last collective sent; -1: none */
};

/* Tensors that modules have saved, on the host. */
struct saved_state {
    bool active;              /* of the layer at hand */
    bool late;                /* its copies run with the next pass of the kind */
    int32_t loads[OP_SAVERS]; /* tasks of its modules' copies back; -1: there */
    int32_t next;             /* block of the layer after it in the pass; -1: none */
    int32_t ahead[OP_SAVERS]; /* tasks of those, as far as they have begun */
    bool begun[OP_SAVERS];
};

/* Checkpoints on the host. */
struct offload_state {
    bool keeps;         /* the forward at hand does not offload its own */
    int32_t last_store; /* task of the last copied out; -1: none */
    int64_t n_loads;    /* copied back for the backward at hand ... */
    int64_t n_inputs;   /* ... of so many */
    int32_t *loads;     /* last kernels before them */
    int32_t begin;      /* kernel before the pass's backward */
    int32_t *layers;    /* last copies of whole layers, either way; NULL: none yet */
    struct saved_state saved;
};

/* What the head returns to all ranks. */
struct output_state {
    int32_t task;   /* of the last broadcast; -1: none */
    int64_t held_B; /* of microbatches, received so far */
};

struct units_state; /* shard_units.h */
struct stretches;   /* stretch.h */

/* Units of sharded parameters. */
struct shard_state {
    struct units_state *chunks;    /* [chunks] */
    struct units_state *reference; /* of the model that is compared with, alike; NULL */
    struct units_state *units;     /* of the chunk at hand; NULL: whole parameters */
};

/* Passes measured in isolation. */
struct measured_passes {
    struct measured_stage *stage; /* shared with stages like it: private to measure.c */
    int32_t *passes; /* [chunks][PASS_N][PASS_VARIANTS] of the program; -1: none yet */
    int32_t *alike;  /* [chunks] the first chunk whose passes take what its passes do */
};

struct builder {
    const struct stage *stage;
    struct step *step;
    struct kernel_share shared; /* what collectives leave of the GPU */
    int32_t last_kernel;        /* task; -1: none yet */
    struct next_kernel next;
    struct pass_cursor pass;
    struct pass_tensors tensors;
    struct late_blocks filling;  /* of forwards before the first backward */
    struct late_blocks unpassed; /* of a backward pass, during the forward after it */
    struct host_spent forward;   /* on the last one */
    struct bucket_state buckets;
    struct offload_state offload;
    struct output_state outputs;
    struct shard_state shard;
    struct measured_passes measured;
    struct stretches *stretches; /* of layers, written so far; NULL: not kept */
    int32_t **ready; /* [chunks][blocks] gathers that the next forward waits for; NULL:
                        none (any more) */
    bool
        *seen[2]; /* [chunks] a backward has run: gradients are there, or (1) those that
                      come with the gradient of the input */
};

#endif
