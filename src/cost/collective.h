/* Collective operations: what NCCL (and later others) would do for one, as a plan of
 * phases over links, and the closed-form time of that plan.
 *
 * A plan is the one model of all three fidelities: `analytic` evaluates it in
 * closed form, `flow` runs each phase as an activity of the fluid network (equal to the
 * closed form when nothing contends), `chunk` replays every ring step of every chunk
 * that the phases' rings describe. Equations: MODEL.md, "Collectives".
 *
 * Algorithms are rows of the table in coll_table.c; a new one is one more row and one
 * more file in addition to coll_ring.c.
 *
 * Files of this folder:
 *     kernel: the time of an operator on a GPU
 *     collective, coll_choose, coll_table:
 *         requests, the choice, the table of algorithms
 *     nccl, coll_terms, coll_places:
 *         NCCL's own estimates; software costs; where ranks are
 *     coll_loads: links and their loads
 *     coll_ring ... coll_tree: a file an algorithm
 *     rings*, hashring: rings over an instance's wires; which server owns a key */
#ifndef COST_COLLECTIVE_H
#define COST_COLLECTIVE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/flow_use.h"
#include "hardware/nccl_limits.h"
#include "hardware/net/net.h"

enum coll_op {
    COLL_ALL_REDUCE,
    COLL_ALL_GATHER,
    COLL_REDUCE_SCATTER,
    COLL_BROADCAST,
    COLL_REDUCE,
    COLL_ALLTOALL,
    COLL_SCATTER,
    COLL_SENDRECV,
    COLL_OP_N
};

enum coll_algorithm {
    COLL_AUTO,
    COLL_RING,
    COLL_HIERARCHICAL,
    COLL_CHAIN, /* NCCL's tree inside one node */
    COLL_TREE,
    COLL_NVLS,
    COLL_NVLS_TREE,
    COLL_P2P,     /* all-to-all, scatter, send and receive */
    COLL_SMDDP,   /* SageMaker's data parallel library */
    COLL_MICS,    /* inter-node first; two hops over shard and replication groups */
    COLL_SERVERS, /* parameter servers on the nodes themselves */
    COLL_TOKENS   /* experts' tokens, by kernels of DeepEP's kind */
};

extern const struct name_value coll_op_names[], coll_algorithm_names[];

/* Ranks that take part: the GPUs `gpus[0..n_gpus)` of each of n_instances instances
 * starting at `first`, `stride` apart. A group is a few of these, so that its size in
 * memory does not grow with the ranks. Its rank 0 is the root of broadcast and
 * reduce. */
struct coll_span {
    int64_t first, n_instances, stride;
    int32_t n_gpus;
    uint8_t gpus[INSTANCE_GPUS_MAX];
};

struct coll_group {
    int32_t n_spans;
    struct coll_span spans[CLUSTER_GROUPS_MAX];
};

/* What libraries other than NCCL need to know. */
struct coll_library {
    double buffer_B;        /* SMDDP: a balanced fusion buffer is at most so large */
    double incast_frac;     /* what every sender beyond two takes of a receiver's rate:
                               MODEL.md's one free parameter of SMDDP and servers */
    int64_t shard;          /* MiCS: ranks of a sharding group */
    const double *shares;   /* [nodes] part of all bytes that each node's server holds;
                               NULL: equal parts */
    const double *replicas; /* [nodes] parts it holds copies of; NULL: none */
    bool asynchronous;      /* servers apply every push to the parameters at once */
};

extern const struct coll_library coll_library_defaults;

/* Tokens of a rank on their way to experts, or back: MODEL.md (C16), (C19). */
struct coll_tokens {
    double start_s;     /* launch and barriers */
    double sms_s;       /* what the kernel's SMs take for all of them */
    double copies;      /* of a token to ranks, its own included, expected */
    double node_copies; /* of a token to nodes, likewise */
    double rate_Bps;    /* of all copies of a GPU */
    int32_t sms;        /* taken from computation */
};

bool coll_tokens_same(const struct coll_tokens *a, const struct coll_tokens *b);

struct coll_request {
    enum coll_op op;
    enum coll_algorithm algorithm;
    int protocol;  /* FABRIC_PROTO_*, or -1: as NCCL would choose */
    double size_B; /* nccl-tests' size: the whole buffer; of all ranks together
                                 for all-gather and reduce-scatter */
    const struct coll_group
        *groups; /* groups doing the same at once, equal in shape. In
                                 a folded net the load is that of the instances of
                                 groups[0]: groups elsewhere do not add to it */
    int32_t n_groups;
    const char *nccl; /* version whose choices are followed; NULL: the fabric's */
    bool int8;        /* elements that an NVSwitch cannot add up */
    struct nccl_limits limits; /* of what NCCL chooses from */
    bool explains;             /* the plan says why it is chosen */
    bool graph_launch;         /* launch cost not charged (within a running step) */
    int64_t gpus_per_thread; /* that a thread of the host launches one after the other,
                                  as nccl-tests' -g has it; 0 and 1: each has its own */
    const struct coll_library *library; /* NULL: coll_library_defaults */
    const struct coll_tokens *tokens;   /* COLL_TOKENS; size_B is one copy of all */
    struct coll_rings_memo *rings; /* laid for requests before it, of the same thread
                                      and the same instances; NULL: none */
};

/* A directed ring (or, for broadcast and reduce, a chain), for chunk replay: the links
 * of each hop, in order of ranks. In a folded net the hops of one representative node
 * (and the hop to the next node); what leaves the last hop enters the first. */
struct coll_ring {
    int32_t n_hops;
    int32_t *hop_starts;   /* [n_hops + 1], into uses */
    struct flow_use *uses; /* link, bytes on it per byte of the message */
    double *hop_Bps;       /* [n_hops] rate of one message with the hop to itself */
};

/* How chunk replay sees a phase: every rank of every ring sends n_messages, one after
 * the other. Message k of a rank needs message k - window of the rank before it. */
struct coll_steps {
    bool is_chain;      /* chunks run down from the first rank, not round the ring */
    bool is_stream;     /* every hop sends as fast as it can, waiting for none */
    int64_t n_messages; /* sent by each rank on each ring */
    int64_t window;     /* of rings: messages that may be under way at once */
    double message_B;
    double before_s; /* before the first message: launch; of chains all the hops */
    double step_s;   /* the sender is busy so long before each message moves */
    double least_s;  /* a message takes at least so long on a hop: software */
    double after_s;  /* last copy; of folded chains the nodes not replayed */
    int32_t n_rings;
    struct coll_ring *rings; /* the bytes are split evenly over them */
};

/* What a phase keeps busy. Of plans that follow each other, phases at different places
 * overlap where a library pipelines them. */
enum coll_place {
    COLL_AT_GPU,
    COLL_AT_COPY_OUT, /* to the host */
    COLL_AT_NETWORK,
    COLL_AT_PULL, /* from servers, while others push to them */
    COLL_AT_COPY_IN,
    COLL_AT_GATHER, /* inside the node, during the scatter of the next */
    COLL_AT_N
};

/* One stretch of a collective: a latency that nothing shares, then bytes that share
 * links. Time alone: latency_s + size_B / min(cap_Bps, capacity / weight of each
 * use). */
struct coll_phase {
    const char *name;
    double latency_s;
    double size_B;  /* units of progress */
    double cap_Bps; /* software's limit; INFINITY: none */
    int32_t n_uses;
    struct flow_use *uses; /* link of the net, bytes on it per byte of progress */
    double
        *own; /* [n_uses] of these bytes, the first group's; NULL: all. Each group has
                    a share of a link of its own, so that many in lock step have as
                    many */
    int protocol; /* FABRIC_PROTO_* */
    enum coll_place place;
    struct coll_steps steps;
};

struct coll_plan {
    enum coll_op op;
    enum coll_algorithm algorithm; /* chosen */
    int protocol;                  /* of the first phase */
    double size_B;                 /* asked for */
    int64_t n_ranks, n_nodes;
    int32_t n_channels;
    int32_t n_phases;
    struct coll_phase *phases; /* one after the other */
    double sm_frac;            /* share of the GPU's SMs its kernels occupy */
    double memory_Bps;         /* traffic of one GPU's memory while it runs alone */
    double wire_B;             /* bytes over all links together, all ranks */
    const char *why; /* the choice in one line, where `explains` asked; else it
                                  may be NULL */
};

/* Rings inside nodes, kept from one plan to the next (coll_request.rings). */
struct coll_rings_memo *coll_rings_memo_new(struct arena *arena);

/* Plans a collective on a net (folded or not); memory in the arena. Fails for groups
 * that the operation cannot run on (one rank is fine: nothing to do, no phases), ranks
 * that are not in the cluster, GPUs without a path. O(links of the copies touched). */
int coll_plan_make(struct coll_plan *plan, struct arena *arena, const struct net *net,
                   const struct coll_request *request, struct err *err);

/* Closed-form time of a plan with the net to itself, seconds; INFINITY over a dead
 * link. */
double coll_plan_time_s(const struct coll_plan *plan, const struct net *net);

/* The same of one phase. */
double coll_phase_time_s(const struct coll_phase *phase, const struct net *net);

/* Rate of progress of a phase that is alone, once its latency is over. */
double coll_phase_rate(const struct coll_phase *phase, const struct net *net);

/* The parent of a node in one of the two binary trees over nodes; -1: it is the
 * root. */
int64_t coll_tree_parent(int64_t n_nodes, int tree, int64_t node);

/* nccl-tests' bus-bandwidth factor: busbw = size / time * factor. */
double coll_bus_factor(enum coll_op op, int64_t n_ranks);

/* The group of all GPUs of the net's cluster. */
struct coll_group coll_group_world(const struct cluster *c);

/* GPUs of a group, over all its instances. */
int64_t coll_group_ranks(const struct coll_group *g);

#endif
