/* What the writers of a step share: the scenario, the operator list with its times, and
 * the state of the pass at hand. Private to src/step/.
 *
 *   step.c     set-up and accumulation steps
 *   build.c    kernels, waits and collectives, for all of these
 *   pipeline.c the passes of a stage, messages between stages
 *   stage.c    which blocks the stage holds
 *   pass.c     forward and backward of a chunk's layers, and what is recomputed
 *   pass_block.c  kernels of one block
 *   pass_memory.c  the memory they take
 *   buckets.c  gradients into buckets, as each library does it
 *   wire.c     what a bucket's way over the wire is: plans, stages, compression
 *   smddp.c    SMDDP's fusion buffers, and when its AllGather runs
 *   servers.c  parameter servers: who owns what, staleness
 *   tensor.c   collectives within the tensor group
 *   tensor_ends.c  between modules that it shares in unlike ways
 *   exchange.c keys and values of context groups, tokens of expert groups
 *   shard.c    gathers of sharded parameters, scatters of their gradients
 *   param_gather.c  gathers of parameters that were updated in shards
 *   measure.c  passes replayed in isolation
 *   model_group.c  what ranks of several stages do together
 *   update.c   the optimizer
 *   zero.c     flat buffers of DeepSpeed's ZeRO 1 and 2
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

/* A kernel of the compute stream, behind all it has to wait for. */
int32_t build_kernel(struct builder *b, enum category part, double host_s,
                     double alone_s, double shared_s);

/* Tells what memory the kernel written last holds: all that was booked since the one
 * before. */
void build_mark_memory(struct builder *b);

/* The copy of a batch from pinned host memory, which forward waits for; its task. */
int32_t build_load_batch(struct builder *b);

/* Tasks added from now on belong to that. */
void build_tag(struct builder *b, enum work work, int64_t number);

/* The kernel written last is that operator. */
void build_label(struct builder *b, const char *label);

/* The next kernel follows that task. */
void build_wait(struct builder *b, int32_t task);

/* A pass ends: the host waits for all it has issued. */
void build_close(struct builder *b);

/* Checkpoints of activations, in GPU memory or (offload.c) on the host: made by a
 * forward, a backward of n of them begins, each is used. */
bool offload_stores(const struct builder *b); /* whether they leave the GPU */
void offload_checkpoint(struct builder *b, int64_t size_B);
void offload_begin_backward(struct builder *b, int64_t n);
void load_checkpoint(struct builder *b, int64_t size_B);

/* In pipelines the horizon counts passes: what to load when (of an order), the loads
 * that may begin with its pass `at` (booked in the ledger's events for so many
 * microbatches), and the wait of that pass for its own; the load of n checkpoints, for
 * who replays a backward alone. Without an order nothing is loaded so. */
struct load_order;
struct load_order *offload_order(struct builder *b, const struct pass_list *order);
int64_t offload_lead(const struct load_order *o); /* passes before the last period that
                                                     load as those before them */
void offload_begin_loads(struct builder *b, const struct load_order *o, int64_t at,
                         int64_t recorded);
void offload_await(struct builder *b, const struct load_order *o, int64_t at);
int32_t offload_load_pass(struct builder *b, int64_t n, int64_t size_B);

/* What of the states is on the GPU while nothing is gathered (MODEL.md, R8.6). The
 * parameters' own shards are step.c's to leave out. */
struct states offload_states(const struct builder *b, struct states states);

/* A rank's shard of parameters comes from the host before it is gathered (yields what
 * the gather follows), that of gradients goes there behind the scatter. Nothing where
 * shards are on the GPU. */
int32_t offload_load_shard(struct builder *b, double size_B, int32_t after);
void offload_store_shard(struct builder *b, double size_B, int32_t after);

/* The update of a rank's elements by its host; false where the GPU has to do it. */
bool offload_update(struct builder *b, double elements);

/* Index of the collective of a channel, of that size; -1 after an error. */
int32_t build_comm(struct builder *b, enum channel channel, enum coll_op op,
                   double size_B, struct err *err);

/* Kernels will run beside that collective: they have at most the SMs and the memory
 * bandwidth that it leaves (b->shared). Before pass_time_blocks. */
void build_beside(struct builder *b, const struct coll_plan *plan);

/* A memory-bound kernel that is not of the operator list; yields its task. */
int32_t build_stream(struct builder *b, enum category part, double host_s,
                     double bytes);

/* Time that the host spends while the GPU waits for it: the host first waits for all it
 * has issued. Nothing when there is no such time. */
void build_host_pause(struct builder *b, double seconds);

/* Elements of its parameters, one layer of it. */
int64_t block_parameters(const struct op_block *block);

/* Whether the rank (of the world) is of the pipeline's last stage. */
bool build_is_last_stage(const struct builder *b, int64_t rank);

/* What becomes of a bucket of gradients over the ranks that hold the same: a sum for
 * all; where states are sharded, parts to their owners; under SMP all of it to the one
 * rank that owns that slice of its flat buffer. */
enum coll_op build_reduction(const struct builder *b);

/* Which ranks hold a parameter; the elements that such hold; how many they are, and
 * their channel; into how many shards, each a rank's to update, those are divided; the
 * states of an element that such hold, of a parameter's elements. */
enum replica_group build_replica_group(const struct builder *b,
                                       const struct op_param *p);
int64_t build_held(const struct builder *b, enum replica_group h);
int64_t build_ranks(const struct builder *b, enum replica_group h);
double build_shards(const struct builder *b, enum replica_group h);
enum channel build_replica_channel(enum replica_group h);
const struct states *build_states_held(const struct builder *b, enum replica_group h);
const struct states *build_states(const struct builder *b, const struct op_param *p);

/* zero.c: whether DeepSpeed keeps parameters and optimizer states in flat buffers;
 * these, before the first step; what an update holds beside them. */
bool zero_flattens(const struct builder *b);
void zero_allocate_states(struct builder *b);
void zero_update(struct builder *b);

/* stage.c: how the model is cut, for all stages; the blocks of the stage at hand and its
 * chunks, out of those of the model. */
int stage_parts(struct partition *parts, struct arena *arena, const struct scenario *s,
                const struct op_list *model, struct err *err);
void stage_cut(struct builder *b, const struct op_list *model);

/* tensor.c: the collectives of all blocks. tensor_add plans one of the tensor group and
 * puts it where `place` says (operator, side, times, workspace). */
int tensor_plan(struct builder *b, struct err *err);
int tensor_add(struct builder *b, int32_t block, bool backward, struct op_comm place,
               enum coll_op op, double size_B, struct err *err);
double tensor_dispatch_s(const struct builder *b); /* the host's, of one collective */
int tensor_alone_s(struct builder *b, int32_t comm, double *time_s, struct err *err);
/* Index of the first of the names ("a|b") that the operators have; -1: none. */
int32_t tensor_find_op(const struct op *ops, int32_t n, const char *names);
bool tensor_weight_op(const struct op *op); /* makes the gradient of a weight */

/* tensor_ends.c: collectives between modules that the tensor group shares in unlike
 * ways, before and behind the others of a block; what a stage does with the stream that
 * comes in its part; bytes of the stream of a rank between layers, and of its message
 * to the next stage. */
enum { TENSOR_ENDS_MAX = 6 }; /* of a block and direction */
int tensor_ends_before(struct builder *b, int32_t block, struct err *err);
int tensor_ends_behind(struct builder *b, int32_t block, struct err *err);
int tensor_ends_gather(struct builder *b, const struct chunk_slices *chunk,
                       bool backward, struct err *err);
double tensor_stream_B(const struct builder *b);
double tensor_message_B(const struct builder *b);

/* exchange.c: adds the collectives of context and expert groups to b->comms; an
 * operator in pieces, each beside the message that brings the keys of the next. */
enum { EXCHANGES_MAX = 8 }; /* of a block and direction */
int exchange_plan(struct builder *b, struct err *err);
void exchange_pieces(struct builder *b, const struct op_comm *ring, const struct op *op,
                     const double host_alone_shared_s[3]);

/* pass.c: kernel times of all blocks; one pass of a chunk (its backward completes the
 * gradients that are reduced). */
void pass_time_blocks(struct builder *b);
int pass_write(struct builder *b, enum pass_kind kind, int32_t chunk, struct err *err);

/* The core of attention: what selective checkpointing computes again. */
bool pass_is_core(const struct builder *b, const struct op *op);

/* What checkpoints by operators keep, and do not compute again. */
bool pass_saves(const struct builder *b, const struct op_block *block, int32_t at);

/* pass_memory.c: what an operator makes, while that of the one before is freed if
 * nobody keeps it (or at once); the gradient of a parameter, made to be added to its
 * sum; what forward kept for this operator of backward; autocast's 16-bit copies of a
 * block's weights, made in forward and dropped in backward (a sharded unit is gathered
 * in 16 bits). pass_scope before a forward operator of the block, pass_leave_scope
 * behind the last: local variables live until their function returns. */
void pass_allocate(struct builder *b, const struct op *op);
void pass_free_transient(struct builder *b);
void pass_make_gradient(struct builder *b, double made_B, double sum_B);
/* Whether autograd is given a dummy for the gradient of that parameter, which the
 * product has added to the sum itself; bytes of all dummies (MODEL.md, 5.6). */
bool pass_has_dummy(const struct builder *b, const struct op_block *block,
                    const struct op_param *p);
int64_t pass_dummies_B(const struct builder *b);
void pass_free_kept(struct builder *b, const struct op_block *block, int32_t backward);
int64_t pass_autocast_B(const struct builder *b, const struct op_block *block);
void pass_scope(struct builder *b, const struct op_block *block, int32_t at);
void pass_leave_scope(struct builder *b);

/* Adding a microbatch's gradients to the sum, unscaling them, casting: bytes per
 * parameter. The first microbatch has nothing to add to. */
void pass_accumulate(struct builder *b, const struct op_block *block);

/* Bytes of a checkpoint, and how many a chunk has. */
int64_t pass_checkpoint_B(const struct builder *b);
int64_t pass_checkpoints(const struct builder *b, int32_t chunk);

/* Activations that one layer of the block keeps for backward. */
int64_t pass_kept_B(const struct builder *b, int32_t block);

/* Blocks one by one, for the writers of passes. */
void pass_forward_block(struct builder *b, int32_t block);
int pass_backward_block(struct builder *b, int32_t block, struct err *err);

/* pipeline.c */

/* The passes of one accumulation step; its last backwards may reduce beside compute. */
int pipeline_passes(struct builder *b, const struct pass_list *order,
                    int64_t accumulated, bool reduces, struct err *err);

/* measure.c: set-up, when all else is planned; the pass in isolation, measured once for
 * all stages like this one, and its index among the program's passes. */
void measure_begin(struct builder *b);
int measure_pass(struct builder *b, enum pass_kind kind, int32_t chunk, bool first,
                 const struct measured **out, int32_t *index, struct err *err);

/* What a middle layer takes, for reports and for comparison with layer benchmarks: its
 * kernels and the collectives of its tensor group, recomputation in the backward. */
int measure_layer(struct builder *b, struct err *err);

/* shard.c: set-up; around the forward and backward of each unit. */
int shard_plan(struct builder *b, struct err *err);
void shard_begin(struct builder *b, int32_t chunk); /* a pass of the chunk */
int shard_enter(struct builder *b, int32_t unit, bool backward, struct err *err);
int shard_leave(struct builder *b, int32_t unit, bool backward, struct err *err);
bool shard_is_full(const struct builder *b);

/* Behind the update; bytes of tensors that stay whole on each rank beside its shards. */
int shard_end(struct builder *b, struct err *err);
int64_t shard_persistent_B(const struct builder *b);

/* Whether a pass of a pipeline gathers, drops, scatters or begins to hold gradients:
 * else all it needs is there, and stays. */
bool shard_changes(const struct builder *b, enum pass_kind kind, int32_t chunk);

/* param_gather.c: set-up; before the first pass of a step; whether the next pass of the
 * chunk waits for gathers, and its wait before block `at`; behind the update. */
int param_gather_plan(struct builder *b, struct err *err);
void param_gather_begin(struct builder *b);
bool param_gather_awaited(const struct builder *b, enum pass_kind kind, int32_t chunk);
void param_gather_enter(struct builder *b, int32_t chunk, int32_t at);
int param_gather_end(struct builder *b, struct err *err);

/* buckets.c: buckets_begin before a microbatch's backward; buckets_add as a parameter
 * tensor's gradient becomes ready; buckets_end behind the last. buckets_plan makes the
 * plan of a bucket of that size (of the usual one, before times are taken, since it
 * decides what is left of the GPU). */
int buckets_plan(struct builder *b, double size_B, struct err *err);
double buckets_limit_B(const struct builder *b); /* of the chunk at hand; 0: none */
void buckets_begin(struct builder *b);
int buckets_leave_chunk(struct builder *b, struct err *err);
int buckets_add(struct builder *b, const struct op_param *p, struct err *err);
int buckets_end(struct builder *b, struct err *err);

/* Broadcasts the model's buffers to all ranks, where DDP does so before forward. */
int buckets_broadcast(struct builder *b, struct err *err);

/* update.c */
void update_parameters(struct builder *b);

/* model_group.c: behind the forward of a microbatch, what the last stage's returns goes
 * to all ranks of the model group; at the end of the accumulation step it has come.
 * Behind the reduction of gradients, where stages share an embedding; before the
 * update, when gradients are clipped. */
bool group_keeps_outputs(const struct scenario *s); /* of all microbatches */
int group_broadcast_output(struct builder *b, struct err *err);
void group_take_outputs(struct builder *b);
int group_sum_embeddings(struct builder *b, struct err *err);
int group_sum_norms(struct builder *b, struct err *err);

#endif
