/* Phases whose hops all stream at once: the pipelines of trees, the switch's multicast,
 * point-to-point transfers. What their first chunks wait for is latency of the law. */
#include "cost/coll_plan.h"

#include <math.h>

/* Slices of rings and messages of streams are alike, so that first-come-first-served
 * links share as fairly as fluids do. NCCL's slices are 256 KiB to 1 MiB. */
static const double slice_B = 262144;

enum { MESSAGES_MAX = 4096 }; /* of each hop; larger sizes have larger ones */

struct coll_streams {
    struct planner *p;
    struct coll_phase *phase;
    struct ring_builder b;
    struct coll_loads loads;
    double most; /* bytes on a hop per byte of progress */
};

struct coll_streams *coll_streams_new(struct planner *p, struct coll_phase *phase)
{
    struct coll_streams *s = ARENA_NEW(p->arena, struct coll_streams);
    s->p = p;
    s->phase = phase;
    return s;
}

int coll_stream_hop(struct coll_streams *s, double inflation, const int64_t instance[2],
                    const int gpu[2], double bytes, double nodes)
{
    int64_t first = s->b.uses.n;
    int32_t core = net_core(s->p->net);
    if (bytes <= 0 || (instance[0] == instance[1] && gpu[0] == gpu[1]))
        return 0;
    if (ring_builder_hop(s->p, &s->b, inflation, instance[0], gpu[0], instance[1],
                         gpu[1]))
        return -1;
    s->b.hop_Bps.v[s->b.hop_Bps.n - 1] /= bytes;
    s->most = fmax(s->most, bytes);
    for (int64_t i = first; i < s->b.uses.n; i++) {
        struct flow_use *use = &s->b.uses.v[i];
        use->weight *= bytes;
        s->loads.wire += use->weight * nodes;
        VEC_PUSH(&s->loads.uses,
                 ((struct flow_use) { use->link, use->link == core ? use->weight * nodes
                                                                   : use->weight }));
    }
    return 0;
}

void coll_streams_own(struct coll_streams *s)
{
    coll_loads_own(&s->loads);
}

void coll_streams_finish(struct coll_streams *s)
{
    struct coll_steps *steps = &s->phase->steps;
    double messages = ceil(s->phase->size_B * s->most / slice_B);
    steps->is_stream = true;
    steps->n_rings = 1;
    steps->rings = ARENA_NEW(s->p->arena, struct coll_ring);
    ring_builder_finish(s->p, &s->b, steps->rings);
    coll_loads_finish(s->p, &s->loads, s->phase);
    steps->n_messages = (int64_t)fmax(1, fmin(messages, MESSAGES_MAX));
    steps->message_B = s->phase->size_B / (double)steps->n_messages;
    steps->least_s = steps->message_B / s->phase->cap_Bps;
}

void coll_streams_time(struct coll_phase *phase, double latency_s)
{
    phase->latency_s = fmax(latency_s, 0);
    phase->steps.before_s = phase->latency_s;
}

void coll_slice(struct coll_steps *steps)
{
    double slices = floor(steps->message_B / slice_B);
    double most = floor((double)MESSAGES_MAX * 16 / (double)steps->n_messages);
    int64_t n = (int64_t)fmax(1, fmin(slices, most));
    steps->n_messages *= n;
    steps->window *= n;
    steps->message_B /= (double)n;
    steps->step_s /= (double)n;
    steps->least_s /= (double)n;
}
