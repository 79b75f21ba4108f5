/* SageMaker's data parallel library (MODEL.md, section 7).
 *
 * AllReduce: gradients are packed into balanced fusion buffers. Each is
 * reduce-scattered inside the node, copied to the host, cut into one part a node; the
 * server processes of node i sum part i of all nodes and send the sum back; then to the
 * GPUs and gathered inside. Stages of different buffers overlap.
 *
 *   buffer 1 |scatter|to host|network + sums|to GPU|gather|
 *   buffer 2         |scatter|to host|      |network + sums|to GPU|gather|
 *
 * AllGather: every GPU sends its part to those of its place in all other nodes at once
 * (a mesh over EFA), while NVLink spreads inside the node what has come. */
#include "cost/coll_host.h"

#include <math.h>

/* The size of buffers is not documented; the Herring paper tunes tens of MB. The incast
 * term has the least squares over four published gains (MODEL.md, S3). */
const struct coll_library coll_library_defaults = {
    .buffer_B = 32 << 20,
    .incast_frac = 0.12,
    .shard = 8,
};

const struct coll_library *coll_library_of(const struct planner *p)
{
    return p->request->library ? p->request->library : &coll_library_defaults;
}

/* Herring's scaling efficiency is 85 % on 64 to 512 GPUs alike, and on 2,048 V100
 * (Thangakrishnan et al., SC20; facebookresearch/fairring, README.md @620c73c): past 8
 * nodes the term does not grow. */
double coll_incast(const struct planner *p)
{
    enum { NODES_MAX = 8 };
    double nodes = fmin((double)host_nodes(p), NODES_MAX);
    return 1 + coll_library_of(p)->incast_frac * (nodes - 2);
}

/* SMDDP's gather kernels take fewer than 9 of 108 SMs. */
enum { GATHER_SMS = 8 };

const char *coll_smddp_refuses(struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    enum coll_op op = p->request->op;
    if (op != COLL_ALL_REDUCE && op != COLL_ALL_GATHER)
        return "SMDDP has all_reduce and all_gather of its own";
    if (host_nodes(p) < 2)
        return "inside one node it leaves all to NCCL";
    if (!p->cluster->fabric)
        return "no network joins the instances";
    for (int32_t s = 0; s < g->n_spans; s++) {
        const struct instance *inst = coll_instance(p, g->spans[s].first);
        if (inst->n_nics == 0)
            return "an instance has no NIC that reaches the others";
        if (g->spans[s].n_gpus != g->spans[0].n_gpus)
            return "it needs as many GPUs in every node";
        if (op == COLL_ALL_GATHER && inst->inside->kind != FABRIC_NVSWITCH)
            return "its all_gather needs NVSwitch inside the nodes";
    }
    return NULL;
}

enum { STAGES = 5 }; /* 3 where a node has one GPU */

/* Stages of AllReduce -------------------------------------------------------------- */

/* Out as worker and out as server, and the same in; N - 1 parts are added to the own:
 * read, read, written. Receivers suffer from incast. */
static int load_network(const struct host_node *n)
{
    double nodes = (double)host_nodes(n->p), part = (nodes - 1) / nodes;
    host_load_nics(n, 2 * part, 2 * part * coll_incast(n->p));
    host_load_memory(n, 3 * part);
    return 0;
}

/* What the servers of the weakest node can sum, as progress. */
static double sum_cap_Bps(const struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    double nodes = (double)host_nodes(p);
    return g->spans[0].n_gpus * HOST_SERVER_SUM_BPS * nodes / (nodes - 1);
}

/* Pinned copies of one GPU have a rate of their own. */
static double copy_cap_Bps(const struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    double cap = INFINITY;
    for (int32_t s = 0; s < g->n_spans; s++) {
        double rate = coll_instance(p, g->spans[s].first)->host_pinned_Bps;
        cap = fmin(cap, rate * g->spans[s].n_gpus);
    }
    return cap;
}

/* The stages of one buffer, one after the other. */
static int plan_buffer(struct planner *p, double size_B)
{
    double cap = copy_cap_Bps(p), hop_s = p->cluster->fabric->latency_s;
    const struct host_stage stages[] = {
        { "to host", COLL_AT_COPY_OUT, size_B, HOST_COPY_START_S, cap,
          host_load_to_host, NULL },
        { "network and sums", COLL_AT_NETWORK, size_B, 2 * hop_s, sum_cap_Bps(p),
          load_network, NULL },
        { "to GPU", COLL_AT_COPY_IN, size_B, HOST_COPY_START_S, cap, host_load_to_gpu,
          NULL },
    };
    if (host_inside_phase(p, COLL_REDUCE_SCATTER, "reduce-scatter inside", size_B))
        return -1;
    for (int i = 0; i < 3; i++)
        if (host_phase(p, &stages[i], &p->plan->phases[p->plan->n_phases++]))
            return -1;
    if (host_inside_phase(p, COLL_ALL_GATHER, "all-gather inside", size_B))
        return -1;
    if (p->plan->n_phases == STAGES)
        p->plan->phases[STAGES - 1].place = COLL_AT_GATHER;
    return 0;
}

/* The buffers after the first: all stages at once, at the pace of the slowest, whose
 * latency each buffer pays. */
static void plan_rest(struct planner *p, double buffers)
{
    struct coll_plan *plan = p->plan;
    struct coll_phase *rest = &plan->phases[plan->n_phases];
    struct coll_loads loads = { .wire = plan->wire_B / plan->phases[0].size_B };
    double slowest = 0;
    *rest = (struct coll_phase) { .name = "the other buffers",
                                  .size_B = buffers * plan->phases[0].size_B,
                                  .cap_Bps = INFINITY,
                                  .protocol = plan->phases[0].protocol };
    for (int32_t i = 0; i < plan->n_phases; i++) {
        const struct coll_phase *stage = &plan->phases[i];
        double time_s = coll_phase_time_s(stage, p->net);
        if (time_s > slowest)
            rest->latency_s = buffers * stage->latency_s;
        slowest = fmax(slowest, time_s);
        rest->cap_Bps = fmin(rest->cap_Bps, stage->cap_Bps);
        for (int32_t u = 0; u < stage->n_uses; u++)
            VEC_PUSH(&loads.uses, stage->uses[u]);
    }
    coll_loads_finish(p, &loads, rest);
    host_phase_steps(p, rest);
    plan->n_phases++;
}

static int plan_reduce(struct planner *p)
{
    double most_B = fmax(coll_library_of(p)->buffer_B, 1);
    double buffers = fmax(1, ceil(p->request->size_B / most_B));
    p->plan->phases = ARENA_ARRAY(p->arena, STAGES + 1, struct coll_phase);
    if (plan_buffer(p, p->request->size_B / buffers))
        return -1;
    if (buffers > 1)
        plan_rest(p, buffers - 1);
    p->plan->why =
        arena_printf(p->arena, "%.0f balanced fusion buffer%s of %.1f MiB", buffers,
                     buffers > 1 ? "s" : "", p->request->size_B / buffers / (1 << 20));
    return 0;
}

/* AllGather ------------------------------------------------------------------------ */

/* Another node of the group, each the next of one only: what leaves a node enters
 * others evenly, so one hop represents all of them. */
static int64_t next_instance(const struct host_node *n)
{
    const struct coll_span *s = n->span;
    const struct coll_group *g = &n->p->request->groups[0];
    int64_t at = (n->instance - s->first) / s->stride;
    for (int32_t i = 0; s->n_instances == 1 && i < g->n_spans; i++)
        if (g->spans[i].first != s->first)
            return g->spans[i].first;
    return s->first + (at + 1) % s->n_instances * s->stride;
}

/* Of S gathered, a node takes in (N-1)/N, spread over its GPUs; each GPU then has from
 * its port what came to the others: S (g-1)/g. */
static int load_gather(const struct host_node *n)
{
    const struct coll_span *s = n->span;
    double nodes = (double)host_nodes(n->p), g = s->n_gpus;
    double across = (nodes - 1) / nodes / g;
    int64_t copy = net_copy(n->p->net, n->instance);
    int64_t next = next_instance(n);
    for (int32_t i = 0; i < s->n_gpus; i++) {
        struct ring_builder b = { 0 };
        struct coll_ring ring = { 0 };
        int rc =
            ring_builder_hop(n->p, &b, 1, n->instance, s->gpus[i], next, s->gpus[i]);
        ring_builder_finish(n->p, &b, &ring);
        if (rc)
            return -1;
        coll_load_hop(n->p, n->loads, &ring, 0, across, n->nodes);
        const int32_t ports[] = { net_port_out(n->p->net, copy, s->gpus[i]),
                                  net_port_in(n->p->net, copy, s->gpus[i]) };
        for (int k = 0; k < 2 && s->n_gpus > 1; k++) {
            VEC_PUSH(&n->loads->uses, ((struct flow_use) { ports[k], (g - 1) / g }));
            n->loads->wire += (g - 1) / g * n->nodes;
        }
    }
    return 0;
}

static int plan_gather(struct planner *p)
{
    const struct fabric *f = p->cluster->fabric;
    const struct host_stage stage = { "mesh over nodes, NVLink inside",
                                      COLL_AT_GPU,
                                      p->request->size_B,
                                      2 * f->latency_s,
                                      INFINITY,
                                      load_gather,
                                      NULL };
    p->plan->phases = ARENA_NEW(p->arena, struct coll_phase);
    p->plan->n_phases = 1;
    p->plan->n_channels = GATHER_SMS;
    p->plan->why = "one hop to every other node, coordinated through GDRCopy";
    return host_phase(p, &stage, p->plan->phases);
}

int coll_plan_smddp(struct planner *p)
{
    return p->request->op == COLL_ALL_REDUCE ? plan_reduce(p) : plan_gather(p);
}
