/* Point to point: all-to-all, scatter, send and receive. NCCL runs the pairs of a group
 * call in one kernel, on channels of their own; between nodes each GPU's traffic passes
 * its own NIC (PXN carries a root's to the NICs of its neighbours). */
#include "cost/coll_plan.h"

#include <math.h>

struct p2p {
    struct planner *p;
    struct coll_streams *streams;
    double inside_inflation, outside_inflation;
    int64_t n_ranks, n_nodes;
};

struct p2p_op {
    enum coll_op op;
    bool of_rank; /* a peer gets an n-th of the size, else all of it */
    /* The transfers of one node; it represents `nodes` nodes. */
    int (*add)(struct p2p *w, const struct coll_group *g, struct coll_spot at,
               double nodes);
};

static bool folded(const struct p2p *w)
{
    return net_is_folded(w->p->net) && w->n_nodes > 1;
}

static int hop(struct p2p *w, int64_t from, int gpu_from, int64_t to, int gpu_to,
               double bytes, double nodes)
{
    const int64_t instances[2] = { from, to };
    const int gpus[2] = { gpu_from, gpu_to };
    return coll_stream_hop(w->streams,
                           from == to ? w->inside_inflation : w->outside_inflation,
                           instances, gpus, bytes, nodes);
}

/* What a node's GPUs send to each other node, by the GPU of the same place (PXN keeps to
 * the rail); where it matters which nodes talk. */
static int add_to_all(struct p2p *w, const struct coll_group *g, struct coll_spot at,
                      double nodes)
{
    const struct coll_span *span = &g->spans[at.span];
    int64_t here = coll_spot_instance(g, at);
    for (int32_t s = 0; s < g->n_spans; s++) {
        const struct coll_span *there = &g->spans[s];
        double bytes = (double)there->n_gpus / (double)w->n_ranks;
        for (int64_t k = 0; k < there->n_instances; k++)
            for (int32_t i = 0; i < span->n_gpus; i++) {
                int64_t to = coll_spot_instance(g, (struct coll_spot) { s, k });
                if (to != here && hop(w, here, span->gpus[i], to,
                                      there->gpus[i % there->n_gpus], bytes, nodes))
                    return -1;
            }
    }
    return 0;
}

/* One GPU of the next node represents all that a GPU's place has elsewhere: they load
 * its NIC, out and in, all the same. */
static int add_alltoall(struct p2p *w, const struct coll_group *g, struct coll_spot at,
                        double nodes)
{
    const struct coll_span *span = &g->spans[at.span];
    struct coll_spot next = coll_spot_next(g, at, folded(w));
    const struct coll_span *there = &g->spans[next.span];
    int64_t here = coll_spot_instance(g, at), n = w->n_ranks;
    double outside = (double)(n - span->n_gpus) / (double)n;
    if (net_has_tiers(w->p->net)) {
        outside = 0;
        if (add_to_all(w, g, at, nodes))
            return -1;
    }
    for (int32_t i = 0; i < span->n_gpus; i++) {
        for (int32_t k = 0; k < span->n_gpus; k++)
            if (hop(w, here, span->gpus[i], here, span->gpus[k], 1.0 / (double)n,
                    nodes))
                return -1;
        if (w->n_nodes > 1 && hop(w, here, span->gpus[i], coll_spot_instance(g, next),
                                  there->gpus[i % there->n_gpus], outside, nodes))
            return -1;
    }
    return 0;
}

/* From the first GPU of the first node: to its neighbours what they keep, and what they
 * carry on to other nodes. */
static int add_scatter(struct p2p *w, const struct coll_group *g, struct coll_spot at,
                       double nodes)
{
    const struct coll_span *span = &g->spans[at.span];
    struct coll_spot next = coll_spot_next(g, at, folded(w));
    int64_t here = coll_spot_instance(g, at);
    double n = (double)w->n_ranks, outside = (n - span->n_gpus) / n / span->n_gpus;
    if (at.span > 0 || at.index > 0)
        return 0;
    for (int32_t k = 0; k < span->n_gpus; k++) {
        if (hop(w, here, span->gpus[0], here, span->gpus[k], 1 / n + outside, 1))
            return -1;
        const struct coll_span *there = &g->spans[next.span];
        if (w->n_nodes > 1 && hop(w, here, span->gpus[k], coll_spot_instance(g, next),
                                  there->gpus[k % there->n_gpus], outside, 1))
            return -1;
    }
    (void)nodes;
    return 0;
}

/* Every rank to the next. */
static int add_sendrecv(struct p2p *w, const struct coll_group *g, struct coll_spot at,
                        double nodes)
{
    const struct coll_span *span = &g->spans[at.span];
    struct coll_spot next = coll_spot_next(g, at, folded(w));
    int64_t here = coll_spot_instance(g, at), there = coll_spot_instance(g, next);
    int32_t n = span->n_gpus;
    for (int32_t k = 0; k + 1 < n; k++)
        if (hop(w, here, span->gpus[k], here, span->gpus[k + 1], 1, nodes))
            return -1;
    if (w->n_nodes == 1)
        there = here;
    return hop(w, here, span->gpus[n - 1], there,
               w->n_nodes == 1 ? span->gpus[0] : g->spans[next.span].gpus[0], 1, nodes);
}

static const struct p2p_op ops[] = {
    { COLL_ALLTOALL, true, add_alltoall },
    { COLL_SCATTER, true, add_scatter },
    { COLL_SENDRECV, false, add_sendrecv },
};

static int add_groups(struct p2p *w, const struct p2p_op *op)
{
    const struct coll_request *q = w->p->request;
    int32_t counted = 0;
    for (int32_t i = 0; i < q->n_groups; i++)
        counted += coll_counts(w->p, &q->groups[0], &q->groups[i]);
    for (int32_t i = 0; i < q->n_groups; i++) {
        const struct coll_group *g = &q->groups[i];
        if (!coll_counts(w->p, &q->groups[0], g))
            continue;
        for (int32_t s = 0; s < g->n_spans; s++) {
            int64_t n = folded(w) ? 1 : g->spans[s].n_instances;
            double nodes = (double)g->spans[s].n_instances / (double)n;
            for (int64_t k = 0; k < n; k++)
                if (op->add(w, g, (struct coll_spot) { s, k },
                            nodes * q->n_groups / counted))
                    return -1;
        }
        coll_streams_own(w->streams);
    }
    return 0;
}

static double inflation_of(const struct fabric *f, int protocol)
{
    return f ? 1 / coll_law(f, FABRIC_P2P, protocol).efficiency : 1;
}

/* Small messages go by LL where the fabric knows what that takes. */
static int protocol_of(const struct planner *p, const struct fabric *f, double peer_B)
{
    bool ll = coll_law_given(f, FABRIC_P2P, FABRIC_PROTO_LL) &&
              peer_B <= nccl_p2p_ll_B(p->nccl);
    return ll ? FABRIC_PROTO_LL : FABRIC_PROTO_SIMPLE;
}

int coll_plan_p2p(struct planner *p)
{
    const struct coll_request *q = p->request;
    const struct p2p_op *op = ops;
    const struct fabric *f = coll_fabric(p, &q->groups[0]);
    struct coll_phase *phase = ARENA_NEW(p->arena, struct coll_phase);
    double n = (double)p->plan->n_ranks;
    while (op->op != q->op)
        op++;
    double peer_B = op->of_rank ? q->size_B / n : q->size_B;
    int protocol = protocol_of(p, f, peer_B);
    struct fabric_law law = coll_law(f, FABRIC_P2P, protocol);
    struct p2p w = { .p = p,
                     .streams = coll_streams_new(p, phase),
                     .n_ranks = p->plan->n_ranks,
                     .n_nodes = p->plan->n_nodes,
                     .outside_inflation = inflation_of(p->cluster->fabric, protocol) };
    w.inside_inflation =
        inflation_of(coll_instance(p, q->groups[0].spans[0].first)->inside, protocol);
    *phase = (struct coll_phase) { .name = "point to point",
                                   .size_B = q->size_B,
                                   .protocol = protocol };
    phase->cap_Bps = fmin(law.max_Bps, law.peer_Bps * (op->of_rank ? n : 1));
    p->plan->n_phases = 1;
    p->plan->phases = phase;
    p->plan->n_channels = (int32_t)f->channels;
    p->plan->why = "NCCL sends point to point";
    if (add_groups(&w, op))
        return -1;
    coll_streams_finish(w.streams);
    double bytes_s = q->size_B / coll_phase_rate(phase, p->net);
    double sent_B = op->of_rank ? q->size_B * (n - 1) / n : q->size_B;
    double law_s =
        fabric_law_s(&law, p->plan->n_ranks, p->plan->n_nodes, peer_B, sent_B, bytes_s);
    coll_streams_time(phase, law_s - coll_launch_hidden_s(p, law.base_s));
    return 0;
}
