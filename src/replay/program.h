/* The program of a rank: the tasks of one training step in the order in which the host
 * issues them, each bound to a stream.
 *
 *   host      |f0|f1|f2|....................|opt|          issues in order, runs ahead
 *   compute      |f0 |f1 |f2 | ... b2 |b1 |b0 |   |opt   |
 *   comm                        |bucket 0  |bucket 1  |
 *   copy      |batch|
 *
 * A task starts when the host has issued it, its stream has finished the one before,
 * and the tasks it comes after are done. Ranks that are equal share one program. All
 * memory is in the arena given. */
#ifndef REPLAY_PROGRAM_H
#define REPLAY_PROGRAM_H

#include "base/vec.h"
#include "cost/collective.h"
#include "replay/fusion.h"
#include "replay/parts.h"

enum stream {
    STREAM_COMPUTE,
    STREAM_COMM,
    STREAM_COPY,
    STREAM_TO_HOST, /* stages of collectives that pass through the host */
    STREAM_NETWORK,
    STREAM_TO_GPU,
    STREAM_GATHER,
    STREAM_N
};

struct task {
    enum stream stream;
    enum part part;
    bool sync;      /* the host goes on only when it has ended */
    int32_t after;  /* task of another stream that it follows; -1: none */
    int32_t comm;   /* the collective it takes part in (index of comms); -1: a kernel */
    int32_t fusion; /* the fusion that it waits for (index of fusions); -1: none */
    int64_t host_ps;   /* the host's time to issue it */
    int64_t alone_ps;  /* with the GPU to itself; of kernels and copies */
    int64_t shared_ps; /* while a collective of this rank takes its share of the GPU */
};

/* A stretch of tasks that the job runs more often than the program holds: when the
 * stretch ends its times repeat `extra` more times. */
struct repeat {
    int32_t from, to; /* tasks whose ends delimit one period; from < 0: no repeat */
    int64_t extra;
};

struct program {
    VEC(struct task) tasks;
    VEC(const struct coll_plan *) comms; /* plans; a task names one by index */
    VEC(struct fusion *) fusions;        /* owned */
    struct repeat repeat;
};

void program_init(struct program *p);
void program_release(struct program *p);

/* Adds a kernel, or a collective, and yields its index. */
int32_t program_kernel(struct program *p, enum stream stream, enum part part,
                       double host_s, double alone_s, double shared_s);
int32_t program_collective(struct program *p, enum part part, double host_s,
                           int32_t comm, int32_t after);

/* Adds a task of the comm stream that ends when all tensors of a fusion are reduced. */
int32_t program_fusion(struct program *p, enum part part, struct fusion *fusion);

/* Index of a plan for tasks to name. */
int32_t program_comm(struct program *p, const struct coll_plan *plan);

#endif
