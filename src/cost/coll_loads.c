/* Hops of rings as links, and what they load onto them. */
#include "cost/coll_plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Rate of one message alone on a link: parallel wires carry one each. */
static double message_Bps(const struct planner *p, const struct net_link *l, int gpu_a,
                          int gpu_b)
{
    const struct instance *inst;
    if (l->kind != NET_NVLINK || l->copy < 0)
        return l->payload_Bps;
    inst = net_instance(p->net, l->copy);
    if (inst->inside->kind != FABRIC_NVLINK || inst->nvlinks[gpu_a][gpu_b] == 0)
        return l->payload_Bps;
    return l->payload_Bps / inst->nvlinks[gpu_a][gpu_b];
}

/* In a folded net the sender's and the receiver's host memory are one link, which a
 * route lists once. */
static double times_staged(const struct planner *p, const struct net_link *l,
                           int64_t instance_a, int gpu_a, int64_t instance_b, int gpu_b)
{
    if (l->kind != NET_HOST || instance_a == instance_b ||
        net_copy(p->net, instance_a) != net_copy(p->net, instance_b))
        return 1;
    const struct instance *inst = net_instance(p->net, l->copy);
    return inst->gpu_numa[gpu_a] == inst->gpu_numa[gpu_b] ? 2 : 1;
}

int ring_builder_hop(struct planner *p, struct ring_builder *b, double inflation,
                     int64_t instance_a, int gpu_a, int64_t instance_b, int gpu_b)
{
    int32_t links[NET_ROUTE_MAX];
    int n = net_route(p->net, instance_a, gpu_a, instance_b, gpu_b, links);
    double rate = INFINITY;
    if (n < 0)
        return err_set(
            p->err, "no path from GPU %d of instance %" PRId64 " to GPU %d of %" PRId64,
            gpu_a, (int64_t)instance_a, gpu_b, (int64_t)instance_b);
    VEC_PUSH(&b->starts, (int32_t)b->uses.n);
    for (int i = 0; i < n; i++) {
        const struct net_link *l = &net_links(p->net)[links[i]];
        double times = times_staged(p, l, instance_a, gpu_a, instance_b, gpu_b);
        VEC_PUSH(&b->uses, ((struct flow_use) { links[i], inflation * times }));
        rate = fmin(rate, message_Bps(p, l, gpu_a, gpu_b) / inflation);
    }
    VEC_PUSH(&b->hop_Bps, rate);
    return 0;
}

void ring_builder_finish(struct planner *p, struct ring_builder *b,
                         struct coll_ring *ring)
{
    size_t n = (size_t)b->starts.n;
    ring->n_hops = (int32_t)n;
    ring->hop_starts = ARENA_ARRAY(p->arena, n + 1, int32_t);
    ring->uses = ARENA_ARRAY(p->arena, b->uses.n + 1, struct flow_use);
    ring->hop_Bps = ARENA_ARRAY(p->arena, n + 1, double);
    if (n > 0) {
        memcpy(ring->hop_starts, b->starts.v, n * sizeof(*b->starts.v));
        memcpy(ring->hop_Bps, b->hop_Bps.v, n * sizeof(*b->hop_Bps.v));
    }
    if (b->uses.n > 0)
        memcpy(ring->uses, b->uses.v, (size_t)b->uses.n * sizeof(*b->uses.v));
    ring->hop_starts[n] = (int32_t)b->uses.n;
    VEC_RELEASE(&b->starts);
    VEC_RELEASE(&b->uses);
    VEC_RELEASE(&b->hop_Bps);
}

/* In a folded net the core is the whole cluster's, all other links are one copy's. */
void coll_load_hop(struct planner *p, struct coll_loads *loads,
                   const struct coll_ring *ring, int32_t hop, double bytes,
                   double nodes)
{
    int32_t core = net_core(p->net);
    for (int32_t i = ring->hop_starts[hop]; i < ring->hop_starts[hop + 1]; i++) {
        struct flow_use use = ring->uses[i];
        use.weight *= use.link == core ? bytes * nodes : bytes;
        loads->wire += ring->uses[i].weight * bytes * nodes;
        VEC_PUSH(&loads->uses, use);
    }
}

/* By link, then weight, as one number that is compared without a branch; weights are
 * never negative. */
static inline bool use_precedes(const struct flow_use *x, const struct flow_use *y)
{
    uint64_t a, b;
    memcpy(&a, &x->weight, sizeof(a));
    memcpy(&b, &y->weight, sizeof(b));
    return ((unsigned __int128)(uint32_t)x->link << 64 | a) <
           ((unsigned __int128)(uint32_t)y->link << 64 | b);
}

static void merge_uses(struct flow_use *to, const struct flow_use *a, int64_t n_a,
                       const struct flow_use *b, int64_t n_b)
{
    const struct flow_use *end_a = a + n_a, *end_b = b + n_b;
    while (a < end_a && b < end_b) {
        bool from_b = use_precedes(b, a);
        *to++ = from_b ? *b : *a;
        a += !from_b;
        b += from_b;
    }
    while (a < end_a)
        *to++ = *a++;
    while (b < end_b)
        *to++ = *b++;
}

/* So that sums do not depend on the order of hops. Runs that are in order already are
 * merged, pair by pair: O(n log runs). `spare` has as many places. */
static void sort_uses(struct flow_use *v, struct flow_use *spare, int64_t n)
{
    enum { RUN = 8 };
    for (int64_t i = 1; i < n; i++) {
        struct flow_use x = v[i];
        int64_t k = i;
        for (; k % RUN && use_precedes(&x, &v[k - 1]); k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
    for (int64_t run = RUN; run < n; run *= 2)
        for (int64_t i = 0; i + run < n; i += 2 * run) {
            int64_t n_b = n - i - run < run ? n - i - run : run;
            if (!use_precedes(&v[i + run], &v[i + run - 1]))
                continue;
            memcpy(spare, v + i, (size_t)run * sizeof(*v));
            merge_uses(v + i, spare, run, v + i + run, n_b);
        }
}

void coll_loads_own(struct coll_loads *loads)
{
    if (loads->n_own == 0)
        loads->n_own = loads->uses.n;
}

/* Where the first group's loads are some of all, those of each link. `sorted` are the
 * phase's. */
static double *sum_own(struct planner *p, const struct flow_use *own, int64_t n,
                       const struct flow_use *sorted, int32_t n_sorted)
{
    double *sums = ARENA_ARRAY(p->arena, n_sorted + 1, double);
    for (int64_t i = 0; i < n; i++) {
        int32_t low = 0, high = n_sorted - 1;
        while (low < high) {
            int32_t middle = low + (high - low) / 2;
            if (sorted[middle].link < own[i].link)
                low = middle + 1;
            else
                high = middle;
        }
        sums[low] += own[i].weight;
    }
    return sums;
}

void coll_loads_finish(struct planner *p, struct coll_loads *loads,
                       struct coll_phase *phase)
{
    int32_t n = 0;
    int64_t n_own = loads->n_own < loads->uses.n ? loads->n_own : 0;
    struct flow_use *own =
        xmalloc(((size_t)(n_own + loads->uses.n) + 1) * sizeof(*own));
    if (n_own > 0)
        memcpy(own, loads->uses.v, (size_t)n_own * sizeof(*own));
    sort_uses(loads->uses.v, own + n_own, loads->uses.n);
    for (int64_t i = 0; i < loads->uses.n; i++)
        n += i == 0 || loads->uses.v[i].link != loads->uses.v[i - 1].link;
    phase->uses = ARENA_ARRAY(p->arena, n + 1, struct flow_use);
    for (int64_t i = 0; i < loads->uses.n; i++) {
        const struct flow_use *use = &loads->uses.v[i];
        if (i == 0 || use->link != use[-1].link)
            phase->uses[phase->n_uses++].link = use->link;
        phase->uses[phase->n_uses - 1].weight += use->weight;
    }
    if (n_own > 0)
        phase->own = sum_own(p, own, n_own, phase->uses, phase->n_uses);
    free(own);
    p->plan->wire_B += loads->wire * phase->size_B;
    VEC_RELEASE(&loads->uses);
}

void coll_ring_cut(struct planner *p, struct coll_ring *ring, int32_t cut)
{
    struct ring_builder b = { 0 };
    for (int32_t i = 1; i < ring->n_hops; i++) {
        int32_t hop = (cut + i) % ring->n_hops;
        VEC_PUSH(&b.starts, (int32_t)b.uses.n);
        VEC_PUSH(&b.hop_Bps, ring->hop_Bps[hop]);
        for (int32_t u = ring->hop_starts[hop]; u < ring->hop_starts[hop + 1]; u++)
            VEC_PUSH(&b.uses, ring->uses[u]);
    }
    ring_builder_finish(p, &b, ring);
}

double coll_message_s(const struct coll_steps *steps, const struct coll_ring *ring,
                      int32_t hop)
{
    return steps->step_s + fmax(steps->message_B / ring->hop_Bps[hop], steps->least_s);
}

double coll_phase_rate(const struct coll_phase *phase, const struct net *net)
{
    double rate = phase->cap_Bps;
    for (int32_t i = 0; i < phase->n_uses; i++) {
        const struct flow_use *use = &phase->uses[i];
        double most = net_links(net)[use->link].payload_Bps / use->weight;
        rate = most < rate ? most : rate;
    }
    return rate;
}

double coll_phase_time_s(const struct coll_phase *phase, const struct net *net)
{
    double rate = coll_phase_rate(phase, net);
    if (phase->size_B <= 0)
        return phase->latency_s;
    return phase->latency_s + phase->size_B / rate;
}

double coll_plan_time_s(const struct coll_plan *plan, const struct net *net)
{
    double time = 0;
    for (int32_t i = 0; i < plan->n_phases; i++)
        time += coll_phase_time_s(&plan->phases[i], net);
    return time;
}
