/* Rings: all-reduce, reduce-scatter and all-gather round them; broadcast and reduce as
 * a chain, the ring cut at the root. */
#include "cost/coll_plan.h"

#include <math.h>
#include <string.h>

/* A ring phase while it is planned. */
struct work {
    struct planner *p;
    const struct ring_job *job;
    struct coll_phase *phase;
    struct coll_terms terms;
    int64_t n_ranks, n_nodes;
    int32_t n_ways;    /* rings of each group */
    int32_t n_counted; /* groups that load the copies looked at */
    int32_t turns;     /* round the ring */
    bool is_chain, folded;
    double hop_share; /* bytes on each hop per byte of progress */
};

/* The order of GPUs in which way `r` passes a node. */
static void order_at(struct work *w, const struct coll_group *g, int32_t span,
                     int32_t r, uint8_t order[INSTANCE_GPUS_MAX])
{
    const struct rings *rings = coll_rings(w->p, &g->spans[span], w->n_nodes > 1);
    memcpy(order, rings->order[r % rings->n], INSTANCE_GPUS_MAX);
}

/* What of the bytes is charged where two nodes overlap the loops of a large ring. */
static double pair_share(const struct work *w)
{
    const struct fabric *f = w->terms.fabric;
    double x = w->phase->size_B * w->job->share / (double)w->n_ranks;
    if (w->n_nodes != 2 || w->phase->protocol != FABRIC_PROTO_SIMPLE || w->is_chain ||
        x <= f->pair_loop_B)
        return 1;
    return (f->pair_loop_B + f->pair_gain * (x - f->pair_loop_B)) / x;
}

/* Bytes charged for each that moves. */
static double inflation_of(const struct work *w)
{
    enum coll_op op = w->job->op;
    bool gathers = op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER;
    return pair_share(w) /
           (w->terms.proto->efficiency * (gathers ? w->terms.proto->gather : 1));
}

/* The hops of one node, and the one that leaves it. */
static int add_node(struct work *w, const struct coll_group *g, int32_t r,
                    struct coll_spot at, struct ring_builder *b)
{
    uint8_t order[INSTANCE_GPUS_MAX], next_order[INSTANCE_GPUS_MAX];
    double inflation = inflation_of(w);
    int32_t n = g->spans[at.span].n_gpus;
    int64_t instance = coll_spot_instance(g, at);
    struct coll_spot next = w->n_nodes > 1 ? coll_spot_next(g, at, w->folded) : at;
    order_at(w, g, at.span, r, order);
    for (int32_t k = 0; k + 1 < n; k++)
        if (ring_builder_hop(w->p, b, inflation, instance, order[k], instance,
                             order[k + 1]))
            return -1;
    order_at(w, g, next.span, r, next_order);
    return ring_builder_hop(w->p, b, inflation, instance, order[n - 1],
                            coll_spot_instance(g, next), next_order[0]);
}

static int build_ring(struct work *w, const struct coll_group *g, int32_t r,
                      struct coll_ring *ring)
{
    struct ring_builder b = { 0 };
    int rc = 0;
    for (int32_t s = 0; s < g->n_spans && !rc; s++) {
        int64_t n = w->folded ? 1 : g->spans[s].n_instances;
        for (int64_t i = 0; i < n && !rc; i++)
            rc = add_node(w, g, r, (struct coll_spot) { s, i }, &b);
    }
    ring_builder_finish(w->p, &b, ring);
    return rc;
}

/* The hop that a chain does without: into the root of a broadcast, out of the root of a
 * reduce. The root is the first GPU of the first node. */
static int32_t hop_to_cut(struct work *w, const struct coll_group *g, int32_t r,
                          const struct coll_ring *ring)
{
    uint8_t order[INSTANCE_GPUS_MAX];
    int32_t at = 0;
    order_at(w, g, 0, r, order);
    while (order[at] != g->spans[0].gpus[0])
        at++;
    return w->job->op == COLL_REDUCE ? at : (at + ring->n_hops - 1) % ring->n_hops;
}

/* Loads the ring's hops, and counts the links of the hops folded after them. */
static void load_ring(const struct work *w, const struct coll_group *g,
                      const struct coll_ring *ring, double groups,
                      struct coll_loads *loads)
{
    int32_t hop = 0;
    if (!w->folded) {
        for (; hop < ring->n_hops; hop++)
            coll_load_hop(w->p, loads, ring, hop, w->hop_share, groups);
        return;
    }
    for (int32_t s = 0; s < g->n_spans; s++)
        for (int32_t k = 0; k < g->spans[s].n_gpus; k++, hop++)
            coll_load_hop(w->p, loads, ring, hop, w->hop_share,
                          (double)g->spans[s].n_instances * groups);
}

/* A cut hop of a folded ring is cut in one node only: the ring stays whole. Its time is
 * d_r of the chain's hops that are not replayed, and of those of the cut one less. */
static double folded_rest_s(struct work *w, const struct coll_group *g, int32_t r,
                            const struct coll_ring *ring)
{
    const struct coll_steps *steps = &w->phase->steps;
    double rest = -coll_message_s(steps, ring, hop_to_cut(w, g, r, ring));
    int32_t hop = 0;
    for (int32_t s = 0; s < g->n_spans; s++)
        for (int32_t k = 0; k < g->spans[s].n_gpus; k++, hop++)
            rest += (double)(g->spans[s].n_instances - 1) *
                    coll_message_s(steps, ring, hop);
    return rest;
}

/* Builds all rings; the loads go into the phase. */
static int build_rings(struct work *w)
{
    struct coll_steps *steps = &w->phase->steps;
    struct coll_loads loads = { 0 };
    int rc = 0;
    steps->rings = ARENA_ARRAY(w->p->arena, w->n_counted * w->n_ways, struct coll_ring);
    for (int32_t i = 0; i < w->job->n_groups && !rc; i++) {
        const struct coll_group *g = &w->job->groups[i];
        for (int32_t r = 0;
             r < w->n_ways && !rc && coll_counts(w->p, &w->job->groups[0], g); r++) {
            struct coll_ring *ring = &steps->rings[steps->n_rings++];
            rc = build_ring(w, g, r, ring);
            if (!rc && w->is_chain && !w->folded)
                coll_ring_cut(w->p, ring, hop_to_cut(w, g, r, ring));
            if (!rc)
                load_ring(w, g, ring, (double)w->job->n_groups / w->n_counted, &loads);
        }
        coll_loads_own(&loads);
    }
    coll_loads_finish(w->p, &loads, w->phase);
    return rc;
}

/* Seconds of one group's bytes, had it the links to itself. */
static double alone_s(struct work *w)
{
    struct coll_phase own = { .size_B = w->phase->size_B,
                              .cap_Bps = w->phase->cap_Bps };
    struct coll_loads loads = { 0 };
    for (int32_t r = 0; r < w->n_ways; r++)
        load_ring(w, &w->job->groups[0], &w->phase->steps.rings[r], 1, &loads);
    loads.wire = 0; /* counted already */
    coll_loads_finish(w->p, &loads, &own);
    return own.size_B / coll_phase_rate(&own, w->p->net);
}

/* Store-and-forward of one quantum by the NICs at each step; LL has no such buffers. */
static double fill_between(const struct work *w, double step_bytes_s)
{
    if (w->n_nodes == 1 || w->phase->protocol != FABRIC_PROTO_SIMPLE)
        return 0;
    return fmin(w->terms.fabric->fill_frac * step_bytes_s, w->terms.fabric->fill_max_s);
}

static double ramp_s(const struct fabric_protocol *proto, double n, double size_B)
{
    double ramp = proto->ramp_s + proto->ramp_rank_s * (n - 2);
    return proto->ramp_B > 0 ? ramp * fmin(size_B / proto->ramp_B, 1) : 0;
}

/* Slices: the path of the first takes the latencies and half the bytes, the steady
 * state all the bytes and what of the latencies stays exposed. */
static void hide_latency(struct coll_phase *phase, const struct fabric_protocol *proto,
                         double bytes_s)
{
    struct coll_steps *steps = &phase->steps;
    double all = phase->latency_s;
    if (proto->exposed >= 1 || all <= 0)
        return;
    phase->latency_s = fmax(proto->exposed * all, all - bytes_s / 2);
    steps->before_s *= phase->latency_s / all;
    steps->step_s *= phase->latency_s / all;
    steps->after_s *= phase->latency_s / all;
}

/* Latency, quanta, fill and last copy of a ring (MODEL.md, "Collectives"). */
static void time_ring(struct work *w)
{
    struct coll_phase *phase = w->phase;
    struct coll_steps *steps = &phase->steps;
    double bytes = phase->size_B * w->job->share, n = (double)w->n_ranks;
    double k = (double)steps->n_messages;
    double rate = coll_phase_rate(phase, w->p->net), own_s = alone_s(w);
    steps->message_B = bytes / (n * w->n_ways);
    steps->least_s = phase->size_B / phase->cap_Bps / k;
    steps->before_s = w->terms.base_s + ramp_s(w->terms.ramp, n, bytes);
    /* K + 1 primitives for K messages: all_reduce.h and its like */
    steps->after_s =
        bytes / n / w->terms.proto->copy_Bps + bytes / n / w->terms.proto->turn_Bps;
    if (w->job->op == COLL_REDUCE_SCATTER)
        steps->after_s += bytes / n / w->terms.proto->reduce_Bps;
    steps->step_s = w->terms.step_s + coll_quanta_s(&w->terms, bytes / n);
    steps->step_s += fill_between(w, phase->size_B / rate / k);
    phase->latency_s = steps->before_s + k * steps->step_s + steps->after_s;
    hide_latency(phase, w->terms.proto, own_s);
    /* what one group's steps leave idle the others use */
    phase->latency_s = steps->before_s + steps->after_s +
                       fmax(k * steps->step_s + own_s - phase->size_B / rate, 0);
    coll_slice(steps);
}

/* (K2) of run/chunk.h. */
static void time_chain(struct work *w)
{
    struct coll_phase *phase = w->phase;
    struct coll_steps *steps = &phase->steps;
    double bytes = phase->size_B * w->job->share, m, worst = 0;
    steps->is_chain = true;
    steps->n_messages = coll_chunks(phase->protocol, bytes,
                                    fmax((double)w->terms.fabric->channels, w->n_ways));
    m = (double)steps->n_messages;
    steps->message_B = bytes / (m * w->n_ways);
    steps->least_s = phase->size_B / phase->cap_Bps / m;
    steps->step_s = coll_quanta_s(&w->terms, bytes / m);
    steps->before_s = w->terms.base_s + (double)(w->n_ranks - 1) * w->terms.step_s;
    for (int32_t i = 0; i < steps->n_rings; i++) {
        const struct coll_ring *ring = &steps->rings[i];
        const struct coll_group *g = &w->job->groups[0];
        double sum = 0, most = 0, rest;
        for (int32_t h = 0; h < ring->n_hops; h++) {
            sum += coll_message_s(steps, ring, h);
            most = fmax(most, coll_message_s(steps, ring, h));
        }
        rest = w->folded ? folded_rest_s(w, g, i % w->n_ways, ring) : 0;
        steps->after_s = fmax(steps->after_s, rest);
        worst = fmax(worst, sum + rest - most);
    }
    phase->latency_s = steps->before_s + worst + m * steps->step_s;
}

/* Messages of each rank, and bytes on each hop, by the operation. */
static void set_law(struct work *w)
{
    double n = (double)w->n_ranks, bus;
    w->turns = w->job->op == COLL_ALL_REDUCE ? 2 : 1;
    w->is_chain = w->job->op == COLL_BROADCAST || w->job->op == COLL_REDUCE;
    w->phase->steps.n_messages = w->turns * (w->n_ranks - 1);
    w->phase->steps.window = 1;
    bus = w->is_chain ? 1 : w->turns * (n - 1) / n;
    w->hop_share = bus * w->job->share / w->n_ways;
    w->phase->cap_Bps = w->terms.cap_Bps / (bus * w->job->share);
}

static int count_ways(struct work *w)
{
    const struct coll_group *g = &w->job->groups[0];
    for (int32_t s = 0; s < g->n_spans; s++) {
        const struct rings *rings = coll_rings(w->p, &g->spans[s], w->n_nodes > 1);
        if (rings->n == 0)
            return err_set(w->p->err, "%s has no NIC that reaches other instances",
                           coll_instance(w->p, g->spans[s].first)->name);
        w->n_ways = rings->n > w->n_ways ? rings->n : w->n_ways;
    }
    for (int32_t i = 0; i < w->job->n_groups; i++)
        w->n_counted += coll_counts(w->p, &w->job->groups[0], &w->job->groups[i]);
    return 0;
}

/* Whether copies of a folded net represent several nodes of the group: else its rings
 * are whole as they are. */
static bool folds_nodes(const struct planner *p, const struct coll_group *g)
{
    bool several = false;
    for (int32_t s = 0; s < g->n_spans; s++)
        several |= g->spans[s].n_instances > 1;
    return several && net_is_folded(p->net);
}

int coll_ring_phase(struct planner *p, const struct ring_job *job,
                    struct coll_phase *phase)
{
    const struct coll_group *g = &job->groups[0];
    struct work w = { .p = p, .job = job, .phase = phase };
    *phase = (struct coll_phase) { .name = job->name, .size_B = job->size_B };
    w.n_ranks = coll_group_ranks(g);
    w.n_nodes = coll_nodes(g);
    w.folded = folds_nodes(p, g);
    if (count_ways(&w))
        return -1;
    phase->protocol = coll_choose_protocol(p, job, &p->plan->why);
    if (phase->protocol < 0)
        return -1;
    coll_terms_get(p, g, phase->protocol, &w.terms);
    set_law(&w);
    if (build_rings(&w))
        return -1;
    (w.is_chain ? time_chain : time_ring)(&w);
    if (w.terms.fabric->channels > p->plan->n_channels)
        p->plan->n_channels = (int32_t)w.terms.fabric->channels;
    return 0;
}

int coll_plan_ring(struct planner *p)
{
    const struct coll_request *q = p->request;
    struct ring_job job = { "ring", q->op, q->size_B, 1, q->groups, q->n_groups };
    p->plan->n_phases = 1;
    p->plan->phases = ARENA_NEW(p->arena, struct coll_phase);
    return coll_ring_phase(p, &job, p->plan->phases);
}
