/* What the writers of a step share: the scenario, the operator list with its times, and
 * the state of the pass at hand. Private to src/replay/.
 *
 *   step.c     set-up, accumulation steps
 *   pass.c     forward and backward of the blocks, with the memory they take
 *   buckets.c  gradients into buckets, as each library does it
 *   wire.c     what a bucket's way over the wire is: plans, stages, compression
 *   smddp.c    SMDDP's fusion buffers, and when its AllGather runs
 *   servers.c  parameter servers: who owns what, staleness
 *   update.c   the optimizer
 */
#ifndef REPLAY_BUILDER_H
#define REPLAY_BUILDER_H

#include "cost/kernel.h"
#include "replay/step.h"

/* Kernel times of one block, with the GPU alone [0] and beside a collective [1]. */
struct block_times {
    double *forward_s[2], *backward_s[2];
};

/* How gradients get onto the wire; wire_init fills it in. */
struct wire {
    const struct wire_way *way; /* NULL: not chosen yet */
    double gradient_B;          /* of one element, before compression */
    double frac;                /* bytes on the wire for each of them */
    double compress_B; /* moved by kernels per byte of gradient, to and from the wire */
    const struct coll_library *library; /* of SMDDP and of parameter servers */
    int32_t n_stages;                   /* plans made last: those of one bucket */
    int32_t stages[COLL_AT_N + 1];      /* indices of comms */
    enum stream streams[COLL_AT_N + 1];
    struct fusion *fusion; /* of the microbatch at hand; NULL: none */
};

struct builder {
    struct step *step;
    struct arena *arena;
    const struct scenario *s;
    const struct framework *fw;
    const struct gpu *gpu;
    const struct net *net;
    struct states states;
    struct op_list list;
    struct block_times *times;  /* [blocks] */
    struct kernel_share shared; /* what collectives leave of the GPU */
    bool half;                  /* products read 16-bit numbers */
    int64_t transient_B;        /* workspace that dies when the next operator has run */
    /* the microbatch at hand */
    bool first, reduces;
    /* the bucket being filled: gradients before compression */
    double bucket_B, bucket_limit_B;
    int32_t last_comm; /* task of the last collective sent; -1: none */
    double plan_B;     /* size on the wire of the plan made last; see wire.c */
    struct wire wire;
};

/* A memory-bound kernel that is not of the operator list; yields its task. */
int32_t build_stream(struct builder *b, enum part part, double host_s, double bytes);

/* Time that the host spends while the GPU waits for it: the host first waits for all it
 * has issued. Nothing when there is no such time. */
void build_host_pause(struct builder *b, double seconds);

int64_t block_parameters(const struct op_block *block);

/* pass.c: kernel times of all blocks; forward, and backward, of one microbatch. */
void pass_time_blocks(struct builder *b);
void pass_forward(struct builder *b);
int pass_backward(struct builder *b, struct err *err);

/* buckets.c: buckets_begin before a microbatch's backward; buckets_add as a parameter
 * tensor's gradient becomes ready; buckets_end behind the last. buckets_plan makes the
 * plan of a bucket of that size (of the usual one, before times are taken, since it
 * decides what is left of the GPU). */
int buckets_plan(struct builder *b, double size_B, struct err *err);
void buckets_begin(struct builder *b);
int buckets_add(struct builder *b, int64_t elements, struct err *err);
int buckets_end(struct builder *b, struct err *err);

/* Broadcasts the model's buffers to all ranks, where DDP does so before forward. */
int buckets_broadcast(struct builder *b, struct err *err);

/* update.c */
void update_parameters(struct builder *b);

#endif
