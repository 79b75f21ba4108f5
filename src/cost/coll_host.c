#include "cost/coll_host.h"

#include <math.h>

/* net.h counts bytes through host memory as written and read: two accesses. */
static const double ACCESSES_PER_UNIT = 2;

static void load_link(const struct host_node *n, int32_t link, double bytes)
{
    if (link < 0 || bytes <= 0)
        return;
    bool core = link == net_core(n->p->net);
    VEC_PUSH(&n->loads->uses,
             ((struct flow_use) { link, core ? bytes * n->nodes : bytes }));
    n->loads->wire += bytes * n->nodes;
}

/* Copies are shared evenly by the node's GPUs. Host memory is counted in accesses,
 * whatever the route lists. */
static void load_copies(const struct host_node *n, bool to_host, double bytes)
{
    int32_t links[NET_ROUTE_MAX];
    int64_t copy = net_copy(n->p->net, n->instance);
    double each = bytes / n->span->n_gpus;
    for (int32_t i = 0; i < n->span->n_gpus; i++) {
        int k = net_route_host(n->p->net, copy, n->span->gpus[i], to_host, links);
        for (int j = 0; j < k; j++) {
            bool host = net_links(n->p->net)[links[j]].kind == NET_HOST;
            load_link(n, links[j], host ? each / ACCESSES_PER_UNIT : each);
        }
    }
}

int host_load_to_host(const struct host_node *n)
{
    load_copies(n, true, 1);
    return 0;
}

int host_load_to_gpu(const struct host_node *n)
{
    load_copies(n, false, 1);
    return 0;
}

/* The link of a PCIe switch towards its host (out) or from it; -1: no GPU is there to
 * ask the net for it. */
static int32_t uplink_of(const struct host_node *n, int32_t pcie, bool out)
{
    const struct instance *inst = coll_instance(n->p, n->instance);
    int64_t copy = net_copy(n->p->net, n->instance);
    int32_t links[NET_ROUTE_MAX];
    for (int32_t g = 0; pcie >= 0 && g < inst->n_gpus; g++) {
        if (inst->gpu_pcie[g] != pcie)
            continue;
        int k = net_route_host(n->p->net, copy, g, out, links);
        for (int j = 0; j < k; j++)
            if (net_links(n->p->net)[links[j]].kind == NET_UPLINK)
                return links[j];
    }
    return -1;
}

/* A NIC's payload is that of GPU traffic, staged where there is no GPUDirect; what
 * starts in host memory needs no staging, and reaches the fabric's share of the
 * line. */
static double staging_share(const struct planner *p, int32_t link)
{
    const struct net_link *l = &net_links(p->net)[link];
    double direct = l->line_Bps * p->cluster->fabric->efficiency;
    return direct > 0 ? fmin(1, l->payload_Bps / direct) : 1;
}

void host_load_nics(const struct host_node *n, double out, double in)
{
    const struct instance *inst = coll_instance(n->p, n->instance);
    int64_t copy = net_copy(n->p->net, n->instance);
    double line = instance_network_Bps(inst);
    for (int32_t i = 0; i < inst->n_nics; i++) {
        double share = inst->nics[i].line_Bps / line;
        int32_t to = net_nic_out(n->p->net, copy, i);
        int32_t from = net_nic_in(n->p->net, copy, i);
        load_link(n, to, out * share * staging_share(n->p, to));
        load_link(n, from, in * share * staging_share(n->p, from));
        load_link(n, uplink_of(n, inst->nics[i].pcie, false), out * share);
        load_link(n, uplink_of(n, inst->nics[i].pcie, true), in * share);
    }
    load_link(n, net_core(n->p->net), out);
    host_load_memory(n, out + in);
}

/* Evenly over the NUMA nodes: servers run on all of them. */
void host_load_memory(const struct host_node *n, double accesses)
{
    const struct instance *inst = coll_instance(n->p, n->instance);
    int64_t copy = net_copy(n->p->net, n->instance);
    int32_t links[NET_ROUTE_MAX], seen[INSTANCE_NUMA_MAX], n_seen = 0;
    for (int32_t g = 0; g < inst->n_gpus; g++) {
        int k = net_route_host(n->p->net, copy, g, true, links);
        int32_t host = links[k - 1], s = 0;
        while (s < n_seen && seen[s] != host)
            s++;
        if (s == n_seen)
            seen[n_seen++] = host;
    }
    for (int32_t s = 0; s < n_seen; s++)
        load_link(n, seen[s], accesses / n_seen / ACCESSES_PER_UNIT);
}

int64_t host_nodes(const struct planner *p)
{
    return p->plan->n_nodes;
}

/* Groups elsewhere do not load the nodes that a folded net looks at. */
static bool is_counted(const struct planner *p, const struct coll_group *g)
{
    return !net_is_folded(p->net) ||
           g->spans[0].first == p->request->groups[0].spans[0].first;
}

static int load_group(struct planner *p, const struct host_stage *stage,
                      const struct coll_group *g, struct coll_loads *loads)
{
    int64_t index = 0;
    for (int32_t s = 0; s < g->n_spans; s++) {
        const struct coll_span *span = &g->spans[s];
        int64_t n = net_is_folded(p->net) ? 1 : span->n_instances;
        for (int64_t i = 0; i < n; i++) {
            struct host_node node = { .p = p,
                                      .stage = stage,
                                      .span = span,
                                      .instance = span->first + i * span->stride,
                                      .index = index + i,
                                      .loads = loads,
                                      .nodes = (double)(span->n_instances / n) };
            if (stage->load(&node))
                return -1;
        }
        index += span->n_instances;
    }
    return 0;
}

int host_phase(struct planner *p, const struct host_stage *stage,
               struct coll_phase *phase)
{
    const struct coll_request *q = p->request;
    struct coll_loads loads = { 0 };
    int rc = 0;
    *phase = (struct coll_phase) { .name = stage->name,
                                   .size_B = stage->size_B,
                                   .latency_s = stage->latency_s,
                                   .cap_Bps = stage->cap_Bps,
                                   .place = stage->place,
                                   .protocol = FABRIC_PROTO_SIMPLE };
    for (int32_t i = 0; i < q->n_groups && !rc; i++)
        if (is_counted(p, &q->groups[i]))
            rc = load_group(p, stage, &q->groups[i], &loads);
    coll_loads_finish(p, &loads, phase);
    if (!rc)
        host_phase_steps(p, phase);
    return rc;
}

int host_inside_phase(struct planner *p, enum coll_op op, const char *name,
                      double size_B)
{
    struct ring_job job = { .name = name, .op = op, .size_B = size_B, .share = 1 };
    if (p->request->groups[0].spans[0].n_gpus == 1)
        return 0;
    coll_list_inside(p, &job);
    return coll_ring_phase(p, &job, &p->plan->phases[p->plan->n_phases++]);
}

void host_phase_steps(struct planner *p, struct coll_phase *phase)
{
    enum { MESSAGE_B = 4 << 20 };
    struct coll_steps *steps = &phase->steps;
    struct coll_ring *ring = ARENA_NEW(p->arena, struct coll_ring);
    double messages = ceil(phase->size_B / MESSAGE_B);
    *ring = (struct coll_ring) { .n_hops = 1, .uses = phase->uses };
    ring->hop_starts = ARENA_ARRAY(p->arena, 2, int32_t);
    ring->hop_starts[1] = phase->n_uses;
    ring->hop_Bps = ARENA_NEW(p->arena, double);
    ring->hop_Bps[0] = coll_phase_rate(phase, p->net);
    *steps = (struct coll_steps) {
        .is_chain = true, .before_s = phase->latency_s, .n_rings = 1, .rings = ring
    };
    steps->n_messages = messages < 1 ? 1 : (int64_t)messages;
    steps->message_B = phase->size_B / (double)steps->n_messages;
}
