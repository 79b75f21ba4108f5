/* Dispatch and combine of experts' tokens, a copy for each rank or node that has some of
 * a token's experts: MODEL.md (C16), (C19). Over the network a copy goes to the GPU of
 * the same place in each of the nodes, which forwards it inside. */
#include "cost/coll_plan.h"

#include <math.h>

bool coll_tokens_same(const struct coll_tokens *a, const struct coll_tokens *b)
{
    if (!a || !b)
        return a == b;
    return a->start_s == b->start_s && a->sms_s == b->sms_s && a->copies == b->copies &&
           a->node_copies == b->node_copies && a->rate_Bps == b->rate_Bps &&
           a->sms == b->sms;
}

const char *coll_tokens_refuses(struct planner *p)
{
    if (p->request->op != COLL_ALLTOALL)
        return "it dispatches and combines experts' tokens";
    return p->request->tokens ? NULL : "its copies depend on a step's experts";
}

struct tokens {
    struct planner *p;
    struct coll_streams *streams;
    const struct coll_tokens *t;
    double inside, outside; /* inflation */
    int64_t n_nodes;
};

static int add_node(struct tokens *w, const struct coll_group *g, struct coll_spot at,
                    bool folded, double nodes)
{
    const struct coll_span *span = &g->spans[at.span];
    struct coll_spot next = coll_spot_next(g, at, folded);
    int64_t here = coll_spot_instance(g, at), there = coll_spot_instance(g, next);
    double n = (double)span->n_gpus, away = (double)(w->n_nodes - 1);
    for (int32_t i = 0; i < span->n_gpus; i++) {
        const int64_t inside[2] = { here, here }, across[2] = { here, there };
        const int32_t place = i % g->spans[next.span].n_gpus;
        const int far[2] = { span->gpus[i], g->spans[next.span].gpus[place] };
        for (int32_t k = 0; k < span->n_gpus; k++) {
            const int near[2] = { span->gpus[i], span->gpus[k] };
            if (coll_stream_hop(w->streams, w->inside, inside, near, w->t->copies / n,
                                nodes))
                return -1;
        }
        if (w->n_nodes > 1 &&
            coll_stream_hop(w->streams, w->outside, across, far,
                            w->t->node_copies * away / (double)w->n_nodes, nodes))
            return -1;
    }
    return 0;
}

static int add_groups(struct tokens *w)
{
    const struct coll_request *q = w->p->request;
    bool folded = net_is_folded(w->p->net) && w->n_nodes > 1;
    int32_t counted = 0;
    for (int32_t i = 0; i < q->n_groups; i++)
        counted += coll_counts(w->p, &q->groups[0], &q->groups[i]);
    for (int32_t i = 0; i < q->n_groups; i++) {
        const struct coll_group *g = &q->groups[i];
        if (!coll_counts(w->p, &q->groups[0], g))
            continue;
        for (int32_t s = 0; s < g->n_spans; s++) {
            int64_t n = folded ? 1 : g->spans[s].n_instances;
            double nodes = (double)g->spans[s].n_instances / (double)n;
            for (int64_t k = 0; k < n; k++)
                if (add_node(w, g, (struct coll_spot) { s, k }, folded,
                             nodes * q->n_groups / counted))
                    return -1;
        }
        coll_streams_own(w->streams);
    }
    return 0;
}

/* What the fabric lets one kernel's transfers have; of NVLink all, as the law's own rate
 * was measured over it. */
static double inflation_of(const struct fabric *f)
{
    return f ? 1 / coll_law(f, FABRIC_P2P, FABRIC_PROTO_SIMPLE).efficiency : 1;
}

int coll_plan_tokens(struct planner *p)
{
    const struct coll_request *q = p->request;
    const struct coll_tokens *t = q->tokens;
    struct coll_phase *phase = ARENA_NEW(p->arena, struct coll_phase);
    double together_s = hypot(t->sms_s, q->size_B * t->copies / t->rate_Bps);
    *phase = (struct coll_phase) { .name = "tokens",
                                   .size_B = q->size_B,
                                   .cap_Bps = together_s > 0 ? q->size_B / together_s
                                                             : HUGE_VAL,
                                   .protocol = FABRIC_PROTO_SIMPLE };
    struct tokens w = { .p = p,
                        .streams = coll_streams_new(p, phase),
                        .t = t,
                        .inside = 1,
                        .outside = inflation_of(p->cluster->fabric),
                        .n_nodes = p->plan->n_nodes };
    p->plan->n_phases = 1;
    p->plan->phases = phase;
    p->plan->n_channels = t->sms;
    p->plan->why = "a copy for each rank or node of a token's experts";
    if (add_groups(&w))
        return -1;
    coll_streams_finish(w.streams);
    double hops_s = p->plan->n_nodes > 1 ? p->cluster->fabric->latency_s : 0;
    coll_streams_time(phase, t->start_s + hops_s);
    return 0;
}
