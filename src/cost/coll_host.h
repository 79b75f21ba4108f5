/* Stages of a collective that pass through host memory: copies between GPUs and their
 * host, NICs fed from host memory, sums made by CPUs. Private to src/cost/coll*.c.
 *
 * A stage is one phase: every node of the groups lays its load on its links, per byte
 * of progress, and the phase ends when the most loaded link has carried its part. What
 * is laid on host memory is counted in accesses: a byte written, or read, once. */
#ifndef COST_COLL_HOST_H
#define COST_COLL_HOST_H

#include "cost/coll_plan.h"

struct host_stage;

/* One node at work: instance `instance` of span `span` of a group. */
struct host_node {
    struct planner *p;
    const struct host_stage *stage;
    const struct coll_span *span;
    int64_t instance, index; /* index: its place among the group's nodes */
    struct coll_loads *loads;
    double nodes; /* that it represents: 1 unless folded */
};

struct host_stage {
    const char *name;
    enum coll_place place;
    double size_B;    /* progress */
    double latency_s; /* before the first byte */
    double cap_Bps;   /* of progress; INFINITY: none */
    /* Lays the load of one node; -1 after setting the planner's err. */
    int (*load)(const struct host_node *n);
    const void *arg; /* for load */
};

/* Makes the phase of a stage over all nodes of the request's groups; -1 on error. */
int host_phase(struct planner *p, const struct host_stage *stage,
               struct coll_phase *phase);

/* Appends to the plan a ring inside each node, ahead of the stages through the hosts or
 * after them; nothing where a node has one GPU. -1 on error. */
int host_inside_phase(struct planner *p, enum coll_op op, const char *name,
                      double size_B);

/* Fills in how chunk replay sees a phase with uses, latency and cap: one stream over
 * all its links, in messages of 4 MiB. */
void host_phase_steps(struct planner *p, struct coll_phase *phase);

/* Loads of one node, per byte of progress. Bytes on the network are shared by its NICs'
 * line rates. */
void host_load_nics(const struct host_node *n, double out, double in);
void host_load_memory(const struct host_node *n, double accesses);

/* Loads of stages that copy all of their progress between a node's GPUs and its host;
 * 0, as a stage's `load` yields. */
int host_load_to_host(const struct host_node *n);
int host_load_to_gpu(const struct host_node *n);

/* Nodes of the request's first group. */
int64_t host_nodes(const struct planner *p);

/* A copy's start: cudaMemcpyAsync, and the event that the server process waits for. */
#define HOST_COPY_START_S 10e-6

/* One server process next to each worker (SageMaker's launcher: 16 processes a host, 8
 * of them servers); what one core adds with AVX2 and F16C, inferred: 8 make 10 GB/s. */
#define HOST_SERVER_SUM_BPS 1.25e9

#endif
