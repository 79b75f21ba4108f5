/* Where the ranks of groups are, and the laws of algorithms over a fabric. */
#include "cost/coll_plan.h"

#include <inttypes.h>
#include <math.h>

/* A kernel launch by the CPU, which a captured or queued step hides; of the order of
 * the 4-5 us that CUDA's own launch benchmarks give. */
static const double launch_s = 5e-6;

double coll_launch_hidden_s(const struct planner *p, double base_s)
{
    return p->request->graph_launch ? fmin(base_s, launch_s) : 0;
}

/* A GPU's part of a group of calls, which NCCL queues and launches one communicator after
 * the other (group.cc, doLaunches). Issue 123 of nccl-tests, `-g` 4 to 8 on a DGX A100:
 * 16.9, 20.8, 25.2, 29.5 and 33.7 us for 8 B, which is 4.2 us a GPU. */
static const double launch_of_many_s = 4.2e-6;

void coll_wait_for_host(struct planner *p)
{
    struct coll_plan *plan = p->plan;
    if (p->request->gpus_per_thread < 2 || p->request->graph_launch)
        return;
    double launches_s = (double)p->request->gpus_per_thread * launch_of_many_s;
    double late_s = fmax(launches_s - coll_plan_time_s(plan, p->net), 0);
    plan->phases[0].latency_s += late_s;
    plan->phases[0].steps.before_s += late_s;
    if (late_s > 0 && p->request->explains)
        plan->why =
            arena_printf(p->arena, "%s; launches on %" PRId64 " GPUs take %.1f us",
                         plan->why, p->request->gpus_per_thread, 1e6 * launches_s);
}

const struct instance *coll_instance(const struct planner *p, int64_t instance)
{
    return net_instance(p->net, net_copy(p->net, instance));
}

int64_t coll_nodes(const struct coll_group *g)
{
    int64_t n = 0;
    for (int32_t s = 0; s < g->n_spans; s++)
        n += g->spans[s].n_instances;
    return n;
}

const struct fabric *coll_fabric(const struct planner *p, const struct coll_group *g)
{
    return coll_nodes(g) > 1 ? p->cluster->fabric
                             : coll_instance(p, g->spans[0].first)->inside;
}

int64_t coll_spot_instance(const struct coll_group *g, struct coll_spot at)
{
    return g->spans[at.span].first + at.index * g->spans[at.span].stride;
}

struct coll_spot coll_spot_next(const struct coll_group *g, struct coll_spot at,
                                bool folded)
{
    if (folded && g->n_spans == 1)
        return (struct coll_spot) { 0, 1 };
    if (!folded && at.index + 1 < g->spans[at.span].n_instances)
        return (struct coll_spot) { at.span, at.index + 1 };
    return (struct coll_spot) { (at.span + 1) % g->n_spans, 0 };
}

bool coll_counts(const struct planner *p, const struct coll_group *first,
                 const struct coll_group *g)
{
    const struct coll_span *a = &first->spans[0], *b = &g->spans[0];
    int64_t ahead = a->first - b->first;
    if (!net_is_folded(p->net))
        return true;
    return ahead >= 0 && ahead % b->stride == 0 && ahead / b->stride < b->n_instances;
}

bool coll_law_given(const struct fabric *f, enum fabric_algo algo, int protocol)
{
    return f && f->laws.of[algo][protocol].enabled;
}

/* Where the file has none: rings' launch, a step there and back a level of nodes. */
struct fabric_law coll_law(const struct fabric *f, enum fabric_algo algo, int protocol)
{
    const struct fabric_protocol *ring = &f->proto[protocol];
    if (coll_law_given(f, algo, protocol))
        return f->laws.of[algo][protocol];
    return (struct fabric_law) {
        .enabled = ring->enabled,
        .base_s = ring->base_s + 2 * (f->latency_s + ring->step_s),
        .level_s = 2 * (f->latency_s + ring->step_s),
        .fill_B = INFINITY,
        .efficiency = ring->efficiency,
        .max_Bps = ring->max_Bps,
        .peer_Bps = INFINITY,
    };
}
