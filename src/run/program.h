/* The program of a rank: the tasks of one training step in the order in which the host
 * issues them, each bound to a stream.
 *
 *   host      |f0|f1|f2|....................|opt|          issues in order, runs ahead
 *   compute      |f0 |f1 |f2 | ... b2 |b1 |b0 |   |opt   |
 *   comm                        |bucket 0  |bucket 1  |
 *   copy      |batch|
 *
 * A task starts when the host has issued it, its stream has finished the one before,
 * and the tasks it comes after are done. Between the stages of a pipeline go messages:
 * a task that sends posts its message at its end, one that receives waits for its
 * message, and the host with it. A whole pass that was replayed in isolation may be
 * as one task (`pass`). Ranks that are equal share one program. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include "base/vec.h"
#include "cost/collective.h"
#include "memory/ledger.h"
#include "model/framework.h"
#include "run/category.h"
#include "run/fusion.h"

enum stream {
    STREAM_COMPUTE,
    STREAM_COMM,    /* gradients */
    STREAM_TENSOR,  /* activations within the tensor group */
    STREAM_SHARD,   /* parameters of sharded units, and their gradients */
    STREAM_GROUP,   /* context and expert groups */
    STREAM_MODEL,   /* outputs, norms and embeddings among stages */
    STREAM_NEXT,    /* messages to the next stage */
    STREAM_BACK,    /* messages to the stage before */
    STREAM_COPY,    /* from the host */
    STREAM_LOAD,    /* checkpoints from the host */
    STREAM_STORE,   /* to the host */
    STREAM_TO_HOST, /* stages of collectives that pass through the host */
    STREAM_NETWORK,
    STREAM_PULL,
    STREAM_TO_GPU,
    STREAM_GATHER,
    STREAM_N
};

/* Links whose use is reported. */
enum links { LINKS_NIC, LINKS_NVLINK, LINKS_N };

/* Who takes part in a collective: see run/groups.h. */
enum channel {
    CHANNEL_WORLD,
    CHANNEL_DATA, /* replicas of a parameter: their gradients are summed */
    CHANNEL_TENSOR,
    CHANNEL_SHARD,         /* ranks that share one copy of the states */
    CHANNEL_REPLICA,       /* ranks that hold the same shard */
    CHANNEL_CONTEXT,       /* ranks that share a sequence */
    CHANNEL_CONTEXT_INNER, /* those of them that deal out heads to each other, ... */
    CHANNEL_CONTEXT_OUTER, /* ... and those that have the same heads then */
    CHANNEL_EXPERT,        /* ranks that share the experts of a layer */
    CHANNEL_EXPERT_TENSOR, /* ranks that share each expert's matrices */
    CHANNEL_EXPERT_JOINT,  /* both: ranks that share the experts of a layer */
    CHANNEL_EXPERT_DATA,   /* ranks that hold the same experts */
    CHANNEL_WHOLE_DATA, /* data and tensor ranks: replicas of what those leave whole */
    CHANNEL_MODEL,      /* ranks that share one copy of the model */
    CHANNEL_EMBEDDING,  /* first and last stage */
    CHANNEL_NEXT,       /* a message to the next stage: the sender alone takes part */
    CHANNEL_BACK,       /* a message to the stage before */
    CHANNEL_N
};

/* What a task belongs to, and the number of it: for people who look at a run. */
enum work {
    WORK_OTHER,
    WORK_FORWARD, /* these three: number is the microbatch */
    WORK_BACKWARD,
    WORK_WEIGHT, /* gradients of weights, in a pass of their own */
    WORK_BUCKET, /* number is the bucket */
    WORK_UPDATE,
};

struct tag {
    const char *label; /* the operator; NULL: what `work` says */
    enum work work;
    int32_t number; /* from 0; -1: none */
};

struct task {
    enum stream stream;
    enum category part;
    bool sync;        /* the host goes on only when it has ended */
    int32_t after[2]; /* tasks of other streams that it follows; -1: none */
    int32_t comm;   /* the collective it takes part in (index of comms); -1: a kernel */
    int32_t fusion; /* the fusion that it waits for (index of fusions); -1: none */
    int32_t pass;   /* the measured pass it represents (index of passes); -1: none */
    int32_t receives; /* message that it and the host wait for; -1: none */
    int32_t sends;    /* message that it delivers; -1: none */
    int32_t mark;     /* of memory (index of marks); -1: none */
    int32_t chunk;    /* of a stage that has several, from 0; -1: it has one */
    struct tag tag;
    int64_t host_ps;   /* the host's time to issue it */
    int64_t alone_ps;  /* with the GPU to itself; of kernels and copies */
    int64_t shared_ps; /* while a collective of this rank takes its share of the GPU */
};

/* A collective as the program knows it. Ranks of other groups than the one it was
 * planned for run plans of the same request over their own links. */
struct comm {
    enum channel channel;
    const struct coll_plan *plan;
    bool has_request;            /* else all groups run `plan` */
    struct coll_request request; /* without groups */
    double network_frac;         /* share of a node's NICs that it uses */
};

/* A pass that was replayed in isolation; durations in whole picoseconds. */
struct pass_cost {
    int64_t time_ps, parts_ps[CATEGORY_N], gpu_busy_ps, host_busy_ps;
    int64_t links_busy_ps[LINKS_N]; /* of the busiest link of each kind */
    double squares_s2;              /* sum of its kernels' squared times */
    int32_t n_syncs;   /* collectives between its kernels that make ranks equal ... */
    enum channel over; /* ... and the channel of the last */
};

/* A stretch of tasks that the job runs more often than the program holds: when the
 * stretch ends its times repeat `extra` more times. */
struct repeat {
    int32_t from, to; /* tasks whose ends delimit one period; from < 0: no repeat */
    int64_t extra;
    bool if_steady; /* if all ranks are in their period by then (run_result.steady) */
};

struct program {
    VEC(struct task) tasks;
    VEC(struct comm) comms;       /* a task names one by index */
    VEC(struct pass_cost) passes; /* likewise */
    VEC(struct fusion *) fusions; /* owned; of programs that all ranks have alike */
    int32_t n_messages;           /* numbers that a pipeline's messages have */
    struct repeat repeat;
    struct repeat forwards; /* theirs, where all run before the first backward, as many
                                 left out as of backwards: `repeat` is these */
    struct check_times check; /* before each collective */
    struct tag tag;           /* that tasks get as they are added, and their chunk */
    int32_t chunk;
    VEC(struct ledger_mark)
    marks; /* the first: before the step; none unless asked for */
};

void program_init(struct program *p);
void program_release(struct program *p);

/* Adds a kernel, or a collective, and yields its index. */
int32_t program_kernel(struct program *p, enum stream stream, enum category part,
                       double host_s, double alone_s, double shared_s);
int32_t program_collective(struct program *p, enum category part, double host_s,
                           int32_t comm, int32_t after);
int32_t program_collective_on(struct program *p, enum stream stream, enum category part,
                              double host_s, int32_t comm, int32_t after);

/* Adds a measured pass; the host waits for its end. */
int32_t program_pass(struct program *p, int32_t pass);

/* The task follows one more, in a free place of `after` (there must be one); nothing
 * for a task below 0. */
void program_follow(struct program *p, int32_t task, int32_t after);

/* Adds a task of the comm stream that ends when all tensors of a fusion are reduced. */
int32_t program_fusion(struct program *p, enum category part, struct fusion *fusion);

/* Index of a plan for tasks to name: a collective of CHANNEL_DATA that all groups run
 * alike. */
int32_t program_comm(struct program *p, const struct coll_plan *plan);

#endif
