#include "run/coll_overlap.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>

void coll_overlap_init(struct coll_overlap *o, const struct net *net)
{
    size_t n = (size_t)net_n_links(net) + 1;
    o->load = xcalloc(n, sizeof(*o->load));
    o->excess_s = xcalloc(n, sizeof(*o->excess_s));
}

void coll_overlap_release(struct coll_overlap *o)
{
    free(o->load);
    free(o->excess_s);
    *o = (struct coll_overlap) { NULL, NULL };
}

/* The share of a link's rate that a phase asks for over the plan's duration. */
static double share_of(const struct coll_phase *p, int32_t use, const struct net *net,
                       double duration_s)
{
    double rate_Bps = net_links(net)[p->uses[use].link].payload_Bps;
    double share = p->size_B * p->uses[use].weight / rate_Bps / duration_s;
    return isfinite(share) ? share : 0;
}

static void add(struct coll_overlap *o, const struct net *net,
                const struct coll_plan *plan, double duration_s, double sign)
{
    for (int32_t i = 0; i < plan->n_phases; i++) {
        const struct coll_phase *p = &plan->phases[i];
        for (int32_t k = 0; k < p->n_uses; k++) {
            double share = share_of(p, k, net, duration_s);
            double *load = &o->load[p->uses[k].link];
            *load += sign * share;
            if (sign > 0 && *load > 1)
                o->excess_s[p->uses[k].link] += fmin(*load - 1, share) * duration_s;
        }
    }
}

void coll_overlap_begin(struct coll_overlap *o, const struct net *net,
                        const struct coll_plan *plan, double duration_s)
{
    add(o, net, plan, duration_s, 1);
}

void coll_overlap_end(struct coll_overlap *o, const struct net *net,
                      const struct coll_plan *plan, double duration_s)
{
    add(o, net, plan, duration_s, -1);
}

double coll_overlap_most_s(const struct coll_overlap *o, const struct net *net)
{
    double most = 0;
    for (int32_t i = 0; o->excess_s && i < net_n_links(net); i++)
        most = fmax(most, o->excess_s[i]);
    return most;
}
