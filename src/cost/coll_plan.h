/* Inside of the planner of collectives: what algorithms are made of. Private to
 * src/cost/coll*.c. */
#ifndef COST_COLL_PLAN_H
#define COST_COLL_PLAN_H

#include "base/vec.h"
#include "cost/collective.h"
#include "cost/nccl.h"
#include "cost/rings.h"

struct laid_rings {
    const struct instance *instance; /* NULL: none yet */
    struct coll_span span;
    struct rings rings;
};

struct coll_rings_memo {
    struct laid_rings last[2]; /* inside and through: nodes are mostly alike */
};

struct planner {
    struct coll_plan *plan;
    struct arena *arena;
    const struct net *net;
    const struct cluster *cluster;
    const struct coll_request *request;
    const struct nccl_version *nccl;
    struct err *err;
    int picked; /* protocol of the algorithm chosen by itself; -1: none yet */
    struct coll_rings_memo rings; /* where the request has none */
};

/* One algorithm: what it can do, and how. Rows are in coll_table.c. */
struct coll_algo {
    enum coll_algorithm id;
    /* NULL when it can run this; else why not. */
    const char *(*refuses)(struct planner *p);
    int (*plan)(struct planner *p);
    /* Seconds that NCCL expects of it with a protocol, INFINITY where it is off; NULL:
     * NCCL's tuner does not know it. */
    double (*expects)(struct planner *p, int protocol);
    const char *label; /* of these expectations, for --explain */
};

extern const struct coll_algo coll_algos[];

/* The row that runs the request, by its order or by NCCL's choice; NULL after
 * reporting. A choice of NCCL's sets p->picked. (coll_choice.c) */
const struct coll_algo *coll_choose(struct planner *p);

/* One ring operation of several groups at once. */
struct ring_job {
    const char *name;
    enum coll_op op;
    double size_B; /* progress of the phase, as nccl-tests counts it */
    double share;  /* of it that each group handles */
    const struct coll_group *groups;
    int32_t n_groups;
};

/* Plans one phase of rings (coll_ring.c), and one of a chain up and down
 * (coll_chain.c). 0, or -1 with the planner's err set. */
int coll_ring_phase(struct planner *p, const struct ring_job *job,
                    struct coll_phase *phase);
int coll_plan_ring(struct planner *p);
int coll_plan_hierarchical(struct planner *p);
int coll_plan_chain(struct planner *p);
int coll_plan_smddp(struct planner *p);
int coll_plan_mics(struct planner *p);
int coll_plan_servers(struct planner *p);
const char *coll_smddp_refuses(struct planner *p);
const char *coll_mics_refuses(struct planner *p);
const char *coll_servers_refuses(struct planner *p);
int coll_plan_tree(struct planner *p);
int coll_plan_nvls(struct planner *p);
int coll_plan_p2p(struct planner *p);
int coll_plan_tokens(struct planner *p);
const char *coll_tokens_refuses(struct planner *p);
const char *coll_chain_refuses(struct planner *p);
bool coll_is_ring_op(enum coll_op op);
double coll_ring_expects(struct planner *p, int protocol);
double coll_tree_expects(struct planner *p, int protocol);
double coll_nvls_expects(struct planner *p, int protocol);

/* The groups of a job inside every node of the request's groups (folded, of one node of
 * each span), and across nodes: of each place in a node the GPUs that have it. */
void coll_list_inside(struct planner *p, struct ring_job *job);
void coll_list_across(struct planner *p, struct ring_job *job);

/* What the request says to libraries other than NCCL. */
const struct coll_library *coll_library_of(const struct planner *p);

/* Load on a receiver's NICs over the bytes it receives, when all others send at
 * once. */
double coll_incast(const struct planner *p);

/* The request's protocol, or the one NCCL would choose among those enabled; -1 after
 * reporting. *why says so in words. */
int coll_choose_protocol(struct planner *p, const struct ring_job *job,
                         const char **why);

/* Whether a protocol that is asked for is one of the group's fabric: 0, or -1 after
 * reporting. The rule of every algorithm of NCCL's. */
int coll_check_protocol(struct planner *p, const struct coll_group *g, int protocol);

/* Whether the environment takes the protocol from the request's operation. */
bool coll_protocol_left_out(const struct planner *p, int protocol);

/* What moves the bytes of a group: the fabric inside its node, or the cluster's. */
const struct fabric *coll_fabric(const struct planner *p, const struct coll_group *g);
const struct instance *coll_instance(const struct planner *p, int64_t instance);

/* Instances that a group is on. */
int64_t coll_nodes(const struct coll_group *g);

/* A node of a group, and the one that follows it round the group. */
struct coll_spot {
    int32_t span;
    int64_t index;
};

/* The spot's instance in the cluster; the spot after it (folded: a span's instances
 * are as one). */
int64_t coll_spot_instance(const struct coll_group *g, struct coll_spot at);
struct coll_spot coll_spot_next(const struct coll_group *g, struct coll_spot at,
                                bool folded);

/* Whether a group loads the nodes looked at: all do, but in a folded net only those
 * that cover the first node of `first`. */
bool coll_counts(const struct planner *p, const struct coll_group *first,
                 const struct coll_group *g);

/* The law of an algorithm: the fabric's, or one made from its rings'. */
struct fabric_law coll_law(const struct fabric *f, enum fabric_algo algo, int protocol);
bool coll_law_given(const struct fabric *f, enum fabric_algo algo, int protocol);

/* What a captured or queued step does not wait for. */
double coll_launch_hidden_s(const struct planner *p, double base_s);

/* Where a thread of the host launches on several GPUs, the time of a collective that is
 * called again and again is at least that of its launches: the rest is added to the
 * plan's first phase. */
void coll_wait_for_host(struct planner *p);

/* How NCCL's search sees the request. */
void coll_believed(struct planner *p, const struct ring_job *job, struct nccl_case *c);

/* Channels that it gives each way out of a node by which the group's GPUs leave. */
double coll_channels_a_way(const struct nccl_version *v, const struct instance *inst,
                           const struct rings *rings);

/* Hops that all stream at once: trees, NVLS, point to point (coll_streams.c). */
struct ring_builder;
struct coll_streams;
struct coll_streams *coll_streams_new(struct planner *p, struct coll_phase *phase);

/* `bytes` of each byte of progress go from one GPU to another; it represents `nodes`
 * hops. Nothing where both are one GPU. */
int coll_stream_hop(struct coll_streams *s, double inflation, const int64_t instance[2],
                    const int gpu[2], double bytes, double nodes);

void coll_streams_own(struct coll_streams *s); /* the first group is loaded */

/* Sums the loads, and sets the messages of chunk replay. Then the phase's rate is
 * known, and coll_streams_time sets its latency. */
void coll_streams_finish(struct coll_streams *s);
void coll_streams_time(struct coll_phase *phase, double latency_s);

/* Rings of a span, through its nodes or inside the only one. */
const struct rings *coll_rings(struct planner *p, const struct coll_span *span,
                               bool through);

/* The terms of one phase that do not depend on links. */
struct coll_terms {
    const struct fabric *fabric;
    const struct fabric_protocol *proto;
    double base_s, step_s; /* of each ring step: flags, and the path between nodes */
    const struct fabric_protocol *ramp; /* whose ramp there is */
    double cap_Bps;                     /* of one group's bus bandwidth */
};

/* The terms of a phase of that group under a protocol (FABRIC_PROTO_). */
void coll_terms_get(struct planner *p, const struct coll_group *g, int protocol,
                    struct coll_terms *t);

/* Time of the quanta of one step in which all channels together move bytes. */
double coll_quanta_s(const struct coll_terms *t, double bytes);

/* Loads of links, summed up. */
struct coll_loads {
    VEC(struct flow_use) uses;
    int64_t n_own; /* of these, the first group's; 0: all */
    double wire;   /* bytes over all links per byte of progress */
};

/* The first of a phase's groups is loaded. */
void coll_loads_own(struct coll_loads *loads);

/* `bytes` pass the hop per byte of progress; it represents `nodes` hops. */
void coll_load_hop(struct planner *p, struct coll_loads *loads,
                   const struct coll_ring *ring, int32_t hop, double bytes,
                   double nodes);

/* Sums into the phase. */
void coll_loads_finish(struct planner *p, struct coll_loads *loads,
                       struct coll_phase *phase);

/* Rings under construction. */
struct ring_builder {
    VEC(int32_t) starts;
    VEC(struct flow_use) uses;
    VEC(double) hop_Bps;
};

/* Adds the route of a hop, whose links carry `inflation` bytes for each of the ring's;
 * -1 when there is no way. Then all hops of the ring are handed over. */
int ring_builder_hop(struct planner *p, struct ring_builder *b, double inflation,
                     int64_t instance_a, int gpu_a, int64_t instance_b, int gpu_b);
void ring_builder_finish(struct planner *p, struct ring_builder *b,
                         struct coll_ring *ring);

/* The ring without one hop: a chain that begins after the hop `cut`. */
void coll_ring_cut(struct planner *p, struct coll_ring *ring, int32_t cut);

/* Seconds that rank `hop` of a ring needs for a message, when nothing else is on its
 * links: d_r of run/chunk.h. */
double coll_message_s(const struct coll_steps *steps, const struct coll_ring *ring,
                      int32_t hop);

/* Cuts the messages of a ring into slices, as NCCL does; its time stays. */
void coll_slice(struct coll_steps *steps);

/* Chunks in which one operation of `bytes` runs down a chain. */
int64_t coll_chunks(int protocol, double bytes, double channels);

#endif
