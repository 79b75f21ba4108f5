/* Chain all-reduce: a reduce down a Hamiltonian path of NVLinks and a broadcast back
 * up, chunk by chunk. It is what NCCL's tree is inside one node, and what is left where
 * wired GPUs have a path but no cycle: 5 GPUs of a V100 cube mesh.
 *
 * With m parallel links on the path's thinnest hop, m chains run; each wire carries the
 * bytes of one direction at half its rate, so algbw = m x link / 2: NCCL's own factor
 * for trees, and what n = 5 was measured at (37 GB/s of bus bandwidth; 36 here). */
#include "cost/coll_plan.h"

#include <math.h>

static const double halved = 2; /* bytes charged on a wire per byte sent */

const char *coll_chain_refuses(struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    uint8_t order[INSTANCE_GPUS_MAX];
    if (p->request->op != COLL_ALL_REDUCE)
        return "a chain is for all_reduce";
    if (p->plan->n_nodes > 1)
        return "a chain is inside one node";
    if (rings_best_path(coll_instance(p, g->spans[0].first), g->spans[0].gpus,
                        g->spans[0].n_gpus, order) == 0)
        return "no path of NVLinks joins these GPUs";
    return NULL;
}

/* Down the path and back. */
static int build_chain(struct planner *p, const struct coll_span *span,
                       const uint8_t *order, double inflation, struct coll_ring *ring)
{
    struct ring_builder b = { 0 };
    int rc = 0;
    int32_t n = span->n_gpus;
    for (int32_t k = 0; k + 1 < n && !rc; k++)
        rc = ring_builder_hop(p, &b, inflation, span->first, order[k], span->first,
                              order[k + 1]);
    for (int32_t k = n - 1; k > 0 && !rc; k--)
        rc = ring_builder_hop(p, &b, inflation, span->first, order[k], span->first,
                              order[k - 1]);
    ring_builder_finish(p, &b, ring);
    return rc;
}

static int build_chains(struct planner *p, struct coll_phase *phase, double inflation)
{
    struct coll_steps *steps = &phase->steps;
    struct coll_loads loads = { 0 };
    uint8_t order[INSTANCE_GPUS_MAX];
    const struct coll_request *q = p->request;
    int32_t m = rings_best_path(coll_instance(p, q->groups[0].spans[0].first),
                                q->groups[0].spans[0].gpus,
                                q->groups[0].spans[0].n_gpus, order);
    int rc = 0;
    steps->rings = ARENA_ARRAY(p->arena, m * q->n_groups, struct coll_ring);
    for (int32_t i = 0; i < q->n_groups && !rc; i++) {
        const struct coll_span *span = &q->groups[i].spans[0];
        if (net_is_folded(p->net) && span->first != q->groups[0].spans[0].first)
            continue;
        rings_best_path(coll_instance(p, span->first), span->gpus, span->n_gpus, order);
        for (int32_t r = 0; r < m && !rc; r++) {
            struct coll_ring *ring = &steps->rings[steps->n_rings++];
            rc = build_chain(p, span, order, inflation, ring);
            for (int32_t h = 0; h < ring->n_hops && !rc; h++)
                coll_load_hop(p, &loads, ring, h, 1.0 / m, 1);
        }
        coll_loads_own(&loads);
    }
    coll_loads_finish(p, &loads, phase);
    return rc;
}

/* (K2) of run/chunk.h: a chain of 2 (n - 1) hops. */
static void time_chain(struct coll_phase *phase, const struct coll_terms *t, int32_t m)
{
    enum { CHANNELS_PER_RING = 2 }; /* NCCL duplicates what its search found */
    struct coll_steps *steps = &phase->steps;
    const struct coll_ring *ring = &steps->rings[0];
    double sum = 0, most = 0;
    steps->is_chain = true;
    steps->n_messages =
        coll_chunks(phase->protocol, phase->size_B, CHANNELS_PER_RING * m);
    steps->message_B = phase->size_B / ((double)steps->n_messages * m);
    steps->least_s = phase->size_B / phase->cap_Bps / (double)steps->n_messages;
    steps->before_s = t->base_s + ring->n_hops * t->step_s;
    for (int32_t h = 0; h < ring->n_hops; h++) {
        sum += coll_message_s(steps, ring, h);
        most = fmax(most, coll_message_s(steps, ring, h));
    }
    phase->latency_s = steps->before_s + sum - most;
}

int coll_plan_chain(struct planner *p)
{
    const struct coll_request *q = p->request;
    struct ring_job job = { "chain", q->op, q->size_B, 1, q->groups, q->n_groups };
    struct coll_phase *phase = ARENA_NEW(p->arena, struct coll_phase);
    struct coll_terms t;
    int protocol = coll_choose_protocol(p, &job, &p->plan->why);
    if (protocol < 0)
        return -1;
    p->plan->n_phases = 1;
    p->plan->phases = phase;
    *phase = (struct coll_phase) { .name = job.name,
                                   .size_B = q->size_B,
                                   .protocol = protocol };
    coll_terms_get(p, &q->groups[0], protocol, &t);
    phase->cap_Bps = t.cap_Bps / 2;
    if (build_chains(p, phase, halved / t.proto->efficiency))
        return -1;
    p->plan->n_channels = (int32_t)t.fabric->channels;
    time_chain(phase, &t, phase->steps.n_rings / q->n_groups);
    return 0;
}
