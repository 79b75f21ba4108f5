/* Routes over the links of a cluster: which links a transfer takes, in order. */
#include "hardware/net/shape.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* A route under construction: ids of links, each at most once. */
struct route {
    int n;
    int32_t *links;
};

static void step(struct route *r, struct shape_place p, int32_t relative)
{
    const int32_t id = p.base + relative;

    assert(relative >= 0);
    for (int i = 0; i < r->n; i++)
        if (r->links[i] == id)
            return;
    assert(r->n < NET_ROUTE_MAX);
    r->links[r->n++] = id;
}

/* Where a GPU or NIC hangs in the PCIe tree. */
struct leaf {
    int32_t pcie, numa; /* pcie -1: on the root of the NUMA node */
    struct shape_pair link;
};

static struct leaf gpu_leaf(const struct shape *s, int gpu)
{
    assert(gpu >= 0 && gpu < s->instance->n_gpus);
    return (struct leaf) { s->instance->gpu_pcie[gpu], s->instance->gpu_numa[gpu],
                           s->pcie[gpu] };
}

static struct leaf nic_leaf(const struct shape *s, int nic)
{
    return (struct leaf) { s->instance->nics[nic].pcie, s->instance->nics[nic].numa,
                           s->slot[nic] };
}

/* From one leaf of the tree to another of the same copy. Through a common switch where
 * they have one, unless `staged`: then the bytes are written to the memory of the GPU's
 * side and read again from there. */
static void pcie_route(struct route *r, struct shape_place p, struct leaf a,
                       struct leaf b, bool staged, int32_t memory)
{
    const struct shape *s = p.shape;

    step(r, p, a.link.out);
    if (a.pcie < 0 || a.pcie != b.pcie || staged) {
        if (a.pcie >= 0)
            step(r, p, s->uplink[a.pcie].out);
        if (staged && memory == a.numa)
            step(r, p, s->host[memory]);
        if (a.numa != b.numa)
            step(r, p, s->socket[a.numa][b.numa]);
        if (staged && memory != a.numa)
            step(r, p, s->host[memory]);
        if (b.pcie >= 0)
            step(r, p, s->uplink[b.pcie].in);
    }
    step(r, p, b.link.in);
}

static int route_inside(const struct net *net, int64_t copy, int a, int b,
                        struct route *r)
{
    struct shape_place p = shape_place(net, copy);
    const struct shape *s = p.shape;

    if (a == b)
        return 0;
    if (s->nvlink[a][b] >= 0) {
        step(r, p, s->nvlink[a][b]);
    } else if (s->port[a].out >= 0) {
        step(r, p, s->port[a].out);
        step(r, p, s->port[b].in);
    } else {
        struct leaf from = gpu_leaf(s, a), to = gpu_leaf(s, b);
        bool peers = from.pcie >= 0 && from.pcie == to.pcie;

        pcie_route(r, p, from, to, !peers, from.numa);
    }
    return r->n;
}

/* From a GPU out through its nearest NIC, or in through it. */
static int route_nic(const struct net *net, int64_t copy, int gpu, bool out,
                     struct route *r)
{
    struct shape_place p = shape_place(net, copy);
    const struct shape *s = p.shape;
    const struct fabric *f = net_cluster(net)->fabric;
    const int32_t nic = instance_nic_of_gpu(s->instance, gpu);

    if (!f || nic < 0)
        return -1;

    struct leaf g = gpu_leaf(s, gpu), n = nic_leaf(s, nic);

    if (out) {
        pcie_route(r, p, g, n, !f->gpudirect, g.numa);
        step(r, p, s->line[nic].out);
    } else {
        step(r, p, s->line[nic].in);
        pcie_route(r, p, n, g, !f->gpudirect, g.numa);
    }
    return r->n;
}

/* NCCL's PXN: where leaf switches are rails, bytes for a NIC of another rail go by NVLink
 * to the GPU of the sender's host that is on it. That GPU; the sender where none is. */
static int pxn_gpu(const struct net *net, int64_t instance, int gpu, int32_t rail)
{
    const struct cluster *c = net_cluster(net);
    const struct instance *inst = net_instance(net, net_copy(net, instance));
    const struct net_port own = net_tiers_port(c, instance, gpu);
    if (shape_tiers(net)->rails <= 1 || own.rail == rail ||
        inst->inside->kind == FABRIC_PCIE)
        return gpu;
    for (int g = 0; g < inst->n_gpus; g++) {
        const struct net_port p = net_tiers_port(c, instance, g);
        if (p.site == own.site && p.rail == rail && instance_nvlinks(inst, gpu, g) > 0)
            return g;
    }
    return gpu;
}

/* The links from a GPU's NIC to another's: tiers of switches, and the core. */
static int route_switches(const struct net *net, struct net_port from,
                          struct net_port to, struct route *r)
{
    bool top = true;
    if (net_has_tiers(net))
        r->n += net_tiers_route(shape_tiers(net), net_cluster(net), from, to,
                                r->links + r->n, &top);
    if (net_core(net) >= 0 && top)
        r->links[r->n++] = net_core(net);
    return r->n;
}

int net_route(const struct net *net, int64_t instance_a, int gpu_a, int64_t instance_b,
              int gpu_b, int32_t links[NET_ROUTE_MAX])
{
    struct route r = { 0, links };
    const int64_t copy_a = net_copy(net, instance_a);
    const int64_t copy_b = net_copy(net, instance_b);

    if (instance_a == instance_b)
        return route_inside(net, copy_a, gpu_a, gpu_b, &r);
    struct net_port to = { 0 };
    if (net_has_tiers(net)) {
        to = net_tiers_port(net_cluster(net), instance_b, gpu_b);
        const int gpu = pxn_gpu(net, instance_a, gpu_a, to.rail);
        route_inside(net, copy_a, gpu_a, gpu, &r);
        gpu_a = gpu;
    }
    if (route_nic(net, copy_a, gpu_a, true, &r) < 0)
        return -1;
    struct net_port from = { 0 };
    if (net_has_tiers(net))
        from = net_tiers_port(net_cluster(net), instance_a, gpu_a);
    route_switches(net, from, to, &r);
    return route_nic(net, copy_b, gpu_b, false, &r);
}

int net_route_host(const struct net *net, int64_t copy, int gpu, bool to_host,
                   int32_t links[NET_ROUTE_MAX])
{
    struct route r = { 0, links };
    struct shape_place p = shape_place(net, copy);
    struct leaf g = gpu_leaf(p.shape, gpu);

    if (to_host) {
        step(&r, p, g.link.out);
        if (g.pcie >= 0)
            step(&r, p, p.shape->uplink[g.pcie].out);
        step(&r, p, p.shape->host[g.numa]);
    } else {
        step(&r, p, p.shape->host[g.numa]);
        if (g.pcie >= 0)
            step(&r, p, p.shape->uplink[g.pcie].in);
        step(&r, p, g.link.in);
    }
    return r.n;
}

char *net_vertex_text(int vertex, char *buf, int size)
{
    static const struct {
        int first;
        const char *format;
    } ranges[] = {
        { SHAPE_NIC, "nic%d" },   { SHAPE_NUMA, "host%d" },
        { SHAPE_PCIE, "pcie%d" }, { SHAPE_NVSWITCH, "nvswitch" },
        { 0, "gpu%d" },           { SHAPE_CORE, "core" },
    };
    size_t i = 0;

    while (vertex < ranges[i].first)
        i++;
    snprintf(buf, (size_t)size, ranges[i].format, vertex - ranges[i].first);
    return buf;
}

char *net_link_text(const struct net *net, int32_t link, char *buf, int size)
{
    const struct net_link *l = &net_links(net)[link];
    char from[16], to[16];

    if (l->kind == NET_TIER)
        return net_tiers_text(shape_tiers(net), link, buf, size);
    net_vertex_text(l->from, from, sizeof(from));
    net_vertex_text(l->to, to, sizeof(to));
    if (l->kind == NET_CORE)
        snprintf(buf, (size_t)size, "core");
    else if (l->kind == NET_HOST)
        snprintf(buf, (size_t)size, "%s[%" PRId64 "]: %s memory",
                 net_instance(net, l->copy)->name, (int64_t)l->copy, from);
    else
        snprintf(buf, (size_t)size, "%s[%" PRId64 "]: %s -> %s",
                 net_instance(net, l->copy)->name, (int64_t)l->copy, from, to);
    return buf;
}
