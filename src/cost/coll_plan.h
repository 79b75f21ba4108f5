/* Inside of the planner of collectives: what algorithms are made of. Private to
 * src/cost/coll*.c. */
#ifndef COST_COLL_PLAN_H
#define COST_COLL_PLAN_H

#include "base/vec.h"
#include "cost/collective.h"
#include "cost/nccl.h"
#include "cost/rings.h"

struct planner {
    struct coll_plan *plan;
    struct arena *arena;
    const struct net *net;
    const struct cluster *cluster;
    const struct coll_request *request;
    const struct nccl_version *nccl;
    struct err *err;
    struct { /* the rings laid last: nodes are mostly alike */
        const struct instance *instance;
        struct coll_span span;
        bool through;
        struct rings rings;
    } memo;
};

/* One algorithm: what it can do, and how. Rows are in coll_table.c. */
struct coll_algo {
    enum coll_algorithm id;
    /* NULL when it can run this; else why not. */
    const char *(*refuses)(struct planner *p);
    bool automatic; /* NCCL may choose it by itself; the first that can is taken */
    int (*plan)(struct planner *p);
};

extern const struct coll_algo coll_algos[];

/* One ring operation of several groups at once. */
struct ring_job {
    const char *name;
    enum coll_op op;
    double size_B; /* progress of the phase, as nccl-tests counts it */
    double share;  /* of it that each group handles */
    const struct coll_group *groups;
    int32_t n_groups;
};

/* Plans one phase of rings (coll_ring.c), and one of a chain up and down (coll_chain.c).
 * 0, or -1 with the planner's err set. */
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
const char *coll_chain_refuses(struct planner *p);

/* The groups of a job inside every node of the request's groups (folded, of one node of
 * each span), and across nodes: of each place in a node the GPUs that have it. */
void coll_list_inside(struct planner *p, struct ring_job *job);
void coll_list_across(struct planner *p, struct ring_job *job);

/* What the request says to libraries other than NCCL. */
const struct coll_library *coll_library_of(const struct planner *p);

/* The request's protocol, or the one NCCL would choose among those enabled; -1 after
 * reporting. *why says so in words. */
int coll_choose_protocol(struct planner *p, const struct ring_job *job,
                         const struct rings *rings, const char **why);

/* What moves the bytes of a group: the fabric inside its node, or the cluster's. */
const struct fabric *coll_fabric(const struct planner *p, const struct coll_group *g);
const struct instance *coll_instance(const struct planner *p, int64_t instance);

/* Rings of a span, through its nodes or inside the only one. */
const struct rings *coll_rings(struct planner *p, const struct coll_span *span,
                               bool through);

/* The terms of one phase that do not depend on links. */
struct coll_terms {
    const struct fabric *fabric;
    const struct fabric_protocol *proto;
    double base_s, step_s; /* of each ring step: flags, and the path between nodes */
    double cap_Bps;        /* of one group's bus bandwidth */
};

void coll_terms_get(struct planner *p, const struct coll_group *g, int protocol,
                    struct coll_terms *t);

/* Time of the quanta of one step in which all channels together move bytes. */
double coll_quanta_s(const struct coll_terms *t, double bytes);

/* Loads of links, summed up. */
struct coll_loads {
    VEC(struct flow_use) uses;
    double wire; /* bytes over all links per byte of progress */
};

/* `bytes` pass the hop per byte of progress; `nodes` real hops stand behind it. */
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

int ring_builder_hop(struct planner *p, struct ring_builder *b, double inflation,
                     int64_t instance_a, int gpu_a, int64_t instance_b, int gpu_b);
void ring_builder_finish(struct planner *p, struct ring_builder *b,
                         struct coll_ring *ring);

/* The ring without one hop: a chain that begins behind the hop `cut`. */
void coll_ring_cut(struct planner *p, struct coll_ring *ring, int32_t cut);

/* Seconds that rank `hop` of a ring needs for a message, when nothing else is on its
 * links: d_r of replay/chunk.h. */
double coll_message_s(const struct coll_steps *steps, const struct coll_ring *ring,
                      int32_t hop);

/* Chunks in which one operation of `bytes` runs down a chain. */
int64_t coll_chunks(int protocol, double bytes, double channels);

/* Rate of progress of a phase that is alone. */
double coll_phase_rate(const struct coll_phase *phase, const struct net *net);

#endif
