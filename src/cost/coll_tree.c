/* Double binary trees over nodes with chains of GPUs inside, and NVLS: reduction and
 * multicast by the NVSwitch, alone in a node or between trees of nodes.
 *
 * Each of the two trees carries half the bytes. A node is inside one tree (two
 * children, one parent) and a leaf of the other, so that S goes out of it towards
 * parents and children of each: 2 S each way on its NICs, and S where there are two
 * nodes only. */
#include "cost/coll_plan.h"

#include <math.h>

struct tree {
    struct planner *p;
    struct coll_streams *streams;
    struct fabric_law law;
    double inside_inflation;
    bool switched; /* NVLS inside */
    int64_t n_nodes;
};

static bool folded(const struct tree *t)
{
    return net_is_folded(t->p->net) && t->n_nodes > 1;
}

static int hop(struct tree *t, double inflation, int64_t from, int gpu_from, int64_t to,
               int gpu_to, double bytes, double nodes)
{
    const int64_t instances[2] = { from, to };
    const int gpus[2] = { gpu_from, gpu_to };
    return coll_stream_hop(t->streams, inflation, instances, gpus, bytes, nodes);
}

/* Every GPU gives its S to the switch, and each of h heads takes the h-th part it adds
 * up; the other way round for the broadcast: S (1 + 1/h) out of a head's port and into
 * it, S of the others'. */
static int add_switch(struct tree *t, const struct coll_span *span, int64_t instance,
                      double nodes)
{
    int32_t n = span->n_gpus, heads = (int32_t)nccl_nvls_heads(n);
    for (int32_t k = 0; k < n && n > 1; k++) {
        int32_t place = (int32_t)((int64_t)k * heads / n); /* heads are spread */
        bool is_head = k == 0 || place != (int32_t)((int64_t)(k - 1) * heads / n);
        if (hop(t, t->inside_inflation, instance, span->gpus[k], instance,
                span->gpus[(k + 1) % n], 1 + (is_head ? 1.0 / heads : 0), nodes))
            return -1;
    }
    return 0;
}

/* Up and down the chains of one node. */
static int add_chains(struct tree *t, const struct coll_span *span,
                      const struct rings *rings, int32_t n_ways, int64_t instance,
                      double nodes)
{
    for (int32_t r = 0; r < n_ways; r++) {
        const uint8_t *order = rings->order[r % rings->n];
        for (int32_t k = 0; k + 1 < span->n_gpus; k++)
            if (hop(t, t->inside_inflation, instance, order[k], instance, order[k + 1],
                    1.0 / n_ways, nodes) ||
                hop(t, t->inside_inflation, instance, order[k + 1], instance, order[k],
                    1.0 / n_ways, nodes))
                return -1;
    }
    return 0;
}

static int add_node(struct tree *t, const struct coll_group *g, struct coll_spot at,
                    int32_t n_ways, double nodes)
{
    const struct coll_span *span = &g->spans[at.span];
    struct coll_spot next = coll_spot_next(g, at, folded(t));
    int64_t here = coll_spot_instance(g, at), there = coll_spot_instance(g, next);
    struct rings rings = *coll_rings(t->p, span, true);
    const struct rings *to = coll_rings(t->p, &g->spans[next.span], true);
    double bytes = t->n_nodes > 2 ? 2 : 1;
    for (int32_t r = 0; r < n_ways; r++)
        if (hop(t, 1 / t->law.efficiency, here, rings.order[r % rings.n][0], there,
                to->order[r % to->n][0], bytes / n_ways, nodes))
            return -1;
    return t->switched ? add_switch(t, span, here, nodes)
                       : add_chains(t, span, &rings, n_ways, here, nodes);
}

static int add_group(struct tree *t, const struct coll_group *g, double groups)
{
    int32_t n_ways = 0;
    if (t->n_nodes == 1)
        return add_switch(t, &g->spans[0], g->spans[0].first, 1);
    for (int32_t s = 0; s < g->n_spans; s++) {
        const struct rings *rings = coll_rings(t->p, &g->spans[s], true);
        if (rings->n == 0)
            return err_set(t->p->err, "%s has no NIC that reaches other instances",
                           coll_instance(t->p, g->spans[s].first)->name);
        n_ways = rings->n > n_ways ? rings->n : n_ways;
    }
    for (int32_t s = 0; s < g->n_spans; s++) {
        int64_t n = folded(t) ? 1 : g->spans[s].n_instances;
        double nodes = folded(t) ? (double)g->spans[s].n_instances * groups : 1;
        for (int64_t i = 0; i < n; i++)
            if (add_node(t, g, (struct coll_spot) { s, i }, n_ways, nodes))
                return -1;
    }
    return 0;
}

static int add_groups(struct tree *t)
{
    const struct coll_request *q = t->p->request;
    int32_t counted = 0;
    for (int32_t i = 0; i < q->n_groups; i++)
        counted += coll_counts(t->p, &q->groups[0], &q->groups[i]);
    for (int32_t i = 0; i < q->n_groups; i++) {
        if (coll_counts(t->p, &q->groups[0], &q->groups[i]) &&
            add_group(t, &q->groups[i], (double)q->n_groups / counted))
            return -1;
        coll_streams_own(t->streams);
    }
    return 0;
}

/* What a tree reaches of the links is what its channels carry, up to what Simple's
 * trees reach, of which the protocol's flags leave a part. */
static void scale_rate(const struct fabric *f, int protocol, double more,
                       struct fabric_law *law)
{
    double most = coll_law(f, FABRIC_TREE, FABRIC_PROTO_SIMPLE).efficiency *
                  f->proto[protocol].efficiency;
    law->efficiency = fmax(law->efficiency, fmin(law->efficiency * more, most));
}

/* Laws between nodes are of whole nodes. A group with fewer GPUs of each leaves by
 * fewer NICs, by fewer channels: the chunks that fill them are fewer in proportion
 * (each has one of a step of its buffer: NCCL's device.h). But NCCL may give each NIC
 * more channels then. */
static void scale_to_channels(struct planner *p, const struct fabric *f, int protocol,
                              struct fabric_law *law)
{
    const struct coll_span *part = &p->request->groups[0].spans[0];
    const struct instance *inst = coll_instance(p, part->first);
    struct coll_span whole = { .first = part->first, .n_gpus = inst->n_gpus };
    if (p->plan->n_nodes < 2 || part->n_gpus == inst->n_gpus)
        return;
    for (int32_t k = 0; k < inst->n_gpus; k++)
        whole.gpus[k] = (uint8_t)k;
    struct rings all = *coll_rings(p, &whole, true);
    const struct rings *own = coll_rings(p, part, true);
    if (own->n == 0 || all.n == 0)
        return;
    double share = fmin((double)own->n / all.n, 1);
    double more = coll_channels_a_way(p->nccl, inst, own) /
                  coll_channels_a_way(nccl_version_get(f->nccl), inst, &all);
    scale_rate(f, protocol, fmax(more, 1), law);
    law->fill_from_B *= share;
    law->fill_B *= share;
    law->fill_rank_B *= share;
}

/* What the software moves a second: the network's limit, and of NVLS trees that of the
 * channels' warps inside a node, which the fabric of the NVSwitch has. */
static double most_Bps(const struct fabric *inside, const struct tree *t)
{
    bool limited = t->switched && t->n_nodes > 1 &&
                   coll_law_given(inside, FABRIC_NVLS_TREE, FABRIC_PROTO_SIMPLE);
    const struct fabric_law *law =
        &inside->laws.of[FABRIC_NVLS_TREE][FABRIC_PROTO_SIMPLE];
    return fmin(t->law.max_Bps, limited ? law->max_Bps : (double)INFINITY);
}

static int plan(struct planner *p, enum fabric_algo algo, int protocol,
                const char *name)
{
    const struct coll_request *q = p->request;
    const struct fabric *f = coll_fabric(p, &q->groups[0]);
    const struct fabric *inside = coll_instance(p, q->groups[0].spans[0].first)->inside;
    struct coll_phase *phase = ARENA_NEW(p->arena, struct coll_phase);
    struct tree t = { .p = p, .law = coll_law(f, algo, protocol) };
    scale_to_channels(p, f, protocol, &t.law);
    if (inside)
        t.law.chain_s += t.law.chain_steps * inside->proto[protocol].step_s;
    t.n_nodes = p->plan->n_nodes;
    t.switched = algo != FABRIC_TREE;
    t.inside_inflation =
        1 / (t.switched ? coll_law(inside, FABRIC_NVLS, FABRIC_PROTO_SIMPLE).efficiency
                        : inside->proto[protocol].efficiency);
    *phase = (struct coll_phase) { .name = name,
                                   .size_B = q->size_B,
                                   .protocol = protocol,
                                   .cap_Bps = most_Bps(inside, &t) };
    p->plan->n_phases = 1;
    p->plan->phases = phase;
    p->plan->n_channels = (int32_t)f->channels;
    t.streams = coll_streams_new(p, phase);
    if (add_groups(&t))
        return -1;
    coll_streams_finish(t.streams);
    double bytes_s = q->size_B / coll_phase_rate(phase, p->net);
    double law_s = fabric_law_s(&t.law, p->plan->n_ranks, t.n_nodes, q->size_B,
                                q->size_B, bytes_s);
    coll_streams_time(phase, law_s - coll_launch_hidden_s(p, t.law.base_s));
    return 0;
}

int coll_plan_tree(struct planner *p)
{
    int protocol = p->picked >= 0 ? p->picked : FABRIC_PROTO_SIMPLE;
    return plan(p, FABRIC_TREE, protocol, "tree");
}

int coll_plan_nvls(struct planner *p)
{
    bool between = p->plan->n_nodes > 1;
    return plan(p, between ? FABRIC_NVLS_TREE : FABRIC_NVLS, FABRIC_PROTO_SIMPLE,
                between ? "nvls tree" : "nvls");
}

/* Node i hangs below the node that has its lowest bit cleared and the next one set,
 * where there is one; node 0 above the highest power of 2 (NCCL's ncclGetBtree). */
static int64_t btree_parent(int64_t n, int64_t i)
{
    int64_t bit = i & -i, up = (i ^ bit) | (bit << 1);
    if (i == 0)
        return -1;
    return up < n ? up : i ^ bit;
}

int64_t coll_tree_parent(int64_t n_nodes, int tree, int64_t node)
{
    bool mirrored = n_nodes % 2 == 0;
    int64_t at = tree == 0  ? node
                 : mirrored ? n_nodes - 1 - node
                            : (node + n_nodes - 1) % n_nodes;
    int64_t up = btree_parent(n_nodes, at);
    if (tree == 0 || up < 0)
        return up;
    return mirrored ? n_nodes - 1 - up : (up + 1) % n_nodes;
}
