#include "run/coll_run.h"

#include "base/units.h"
#include "base/xmalloc.h"
#include "run/chunk.h"

#include <math.h>
#include <stdlib.h>

const struct name_value fidelity_names[] = {
    { "analytic", FIDELITY_ANALYTIC },
    { "flow", FIDELITY_FLOW },
    { "chunk", FIDELITY_CHUNK },
    { NULL, 0 },
};

/* A collective under way; at its end it is spare, for the next. */
struct coll_run {
    struct sim_event event; /* of the closed form, and of plans without phases */
    struct coll_world *world;
    const struct coll_plan *plan;
    int32_t shift;     /* on links */
    double factor;     /* on latencies and bytes */
    double duration_s; /* of the closed form */
    int32_t next;      /* phase */
    flow_done_fn *done;
    void *arg;
    struct coll_run *spare; /* the next of those */
};

void run_world_init(struct coll_world *w, struct sim *sim, const struct net *net,
                    enum fidelity fidelity)
{
    int32_t n = net_n_links(net);
    const struct net_link *links = net_links(net);
    double *capacity = xmalloc(((size_t)n + 1) * sizeof(*capacity));
    for (int32_t i = 0; i < n; i++)
        capacity[i] = links[i].payload_Bps;
    *w = (struct coll_world) { .sim = sim, .net = net, .fidelity = fidelity };
    arena_init(&w->runs);
    flow_net_init(&w->own, sim, n, capacity);
    w->flow = &w->own;
    if (fidelity == FIDELITY_CHUNK)
        w->chunk = chunk_net_new(sim, net);
    free(capacity);
}

void run_world_join(struct coll_world *w, struct sim *sim, const struct net *net,
                    struct flow_net *flow, const int32_t *link_of)
{
    *w = (struct coll_world) { .sim = sim,
                               .net = net,
                               .fidelity = FIDELITY_FLOW,
                               .flow = flow,
                               .link_of = link_of };
    arena_init(&w->runs);
}

void run_world_share(struct coll_world *w)
{
    flow_net_share(w->flow);
}

void run_world_split(struct coll_world *part, struct sim *sim,
                     const struct coll_world *of, const int32_t *links, int32_t n)
{
    *part =
        (struct coll_world) { .sim = sim, .net = of->net, .fidelity = of->fidelity };
    arena_init(&part->runs);
    flow_net_split(&part->own, sim, of->flow, links, n);
    part->flow = &part->own;
}

void run_world_meet(struct coll_world *part, struct coll_world *of)
{
    flow_net_join(of->flow, part->flow);
    part->sim = of->sim;
    part->flow = of->flow;
}

void run_world_release(struct coll_world *w)
{
    if (w->own.state)
        flow_net_release(&w->own);
    for (int i = 0; w->known && i < 1 << w->known_log2; i++)
        VEC_RELEASE(&w->known[i].uses);
    free(w->known);
    free(w->like);
    arena_release(&w->runs);
    w->spare = NULL;
    if (w->chunk)
        chunk_net_free(w->chunk);
    w->chunk = NULL;
    coll_overlap_release(&w->overlap);
}

static void finish(struct coll_run *run)
{
    flow_done_fn *done = run->done;
    struct coll_world *w = run->world;
    struct sim *sim = w->sim;
    void *arg = run->arg;
    run->spare = w->spare;
    w->spare = run;
    if (done)
        done(sim, arg);
}

static void next_phase(struct sim *sim, void *arg);

/* The steps of a ring leave its links idle between messages, where others' messages go:
 * what they take lowers the ring's own pace, and is no time before the bytes. */
static double steps_s(const struct coll_phase *p)
{
    const struct coll_steps *steps = &p->steps;
    if (steps->n_rings == 0 || steps->is_chain || steps->is_stream || p->size_B <= 0)
        return 0;
    return fmax(p->latency_s - steps->before_s - steps->after_s, 0);
}

/* The link that represents it in the fluid network. */
static int32_t link_like(const struct coll_world *w, int32_t link)
{
    return w->like ? w->like[link] : link;
}

static int32_t flow_link(const struct coll_world *w, int32_t link)
{
    const int32_t like = link_like(w, link);
    return w->link_of ? w->link_of[like] : like;
}

/* Switches carry what several NICs of a group send. */
static bool is_switch(const struct net_link *l)
{
    return l->kind == NET_TIER || l->kind == NET_CORE;
}

/* Links share rates of progress, so progress is counted in bytes of one group on its
 * slowest link but for switches: two groups on one link get half of it each, however few
 * of an operation's bytes pass it; on a switch each NIC gets as much as another; and n
 * groups that run in lock step, as one activity, n times the share of one, as they have
 * one by one. */
static void make_activity(struct coll_activity *a, const struct coll_world *w,
                          const struct coll_phase *p, int32_t shift)
{
    const struct net *net = w->net;
    double slowest = 0, scale = 1, cap = p->cap_Bps, latency_s = p->latency_s;
    double paced_s = steps_s(p);
    for (int32_t i = 0; i < p->n_uses; i++) {
        double weight = p->own ? p->own[i] : p->uses[i].weight;
        const struct net_link *l = &net_links(net)[p->uses[i].link];
        double busy = is_switch(l) ? 0 : weight / l->payload_Bps;
        if (busy > slowest && !isinf(busy)) {
            slowest = busy;
            scale = weight;
        }
    }
    if (paced_s > 0 && slowest > 0) {
        cap = p->size_B / (paced_s + p->size_B / coll_phase_rate(p, net));
        latency_s -= paced_s;
    }
    a->phase = p;
    a->shift = shift;
    a->size = p->size_B * scale;
    a->cap = cap * scale;
    a->latency_ps = units_ps(latency_s);
    a->uses.n = 0;
    for (int32_t i = 0; i < p->n_uses; i++)
        if (link_like(w, p->uses[i].link) == p->uses[i].link)
            VEC_PUSH(&a->uses,
                     ((struct flow_use) { flow_link(w, p->uses[i].link + shift),
                                          p->uses[i].weight / scale }));
}

static struct coll_activity *place_of(struct coll_world *w, const struct coll_phase *p,
                                      int32_t shift)
{
    uint64_t hash =
        ((uint64_t)(uintptr_t)p + (uint64_t)shift) * UINT64_C(0x9E3779B97F4A7C15);
    return &w->known[hash >> (64 - w->known_log2)];
}

/* Makes four times as many places; what was known is forgotten. */
static void grow_known(struct coll_world *w)
{
    enum { FIRST_LOG2 = 3 };
    for (int i = 0; w->known && i < 1 << w->known_log2; i++)
        VEC_RELEASE(&w->known[i].uses);
    free(w->known);
    w->known_log2 = w->known ? w->known_log2 + 2 : FIRST_LOG2;
    if (w->known_log2 > COLL_ACTIVITIES_LOG2)
        w->known_log2 = COLL_ACTIVITIES_LOG2;
    w->known = xcalloc((size_t)1 << w->known_log2, sizeof(*w->known));
}

/* Most phases run many times: what the last ones are as activities is kept. Most runs have
 * few phases: places are added when two want the same. */
static struct coll_activity *activity_of(struct coll_world *w,
                                         const struct coll_phase *p, int32_t shift)
{
    if (!w->known)
        grow_known(w);
    struct coll_activity *a = place_of(w, p, shift);
    if (a->phase == p && a->shift == shift)
        return a;
    if (a->phase && w->known_log2 < COLL_ACTIVITIES_LOG2) {
        grow_known(w);
        a = place_of(w, p, shift);
    }
    make_activity(a, w, p, shift);
    return a;
}

static void start_flow(struct coll_world *w, const struct coll_phase *p,
                       struct coll_run *run)
{
    const struct coll_activity *a = activity_of(w, p, run->shift);
    flow_start(w->flow, run->factor * a->size, run_times_ps(run->factor, a->latency_ps),
               a->cap, (int32_t)a->uses.n, a->uses.v, next_phase, run);
}

static void next_phase(struct sim *sim, void *arg)
{
    struct coll_run *run = arg;
    struct coll_world *w = run->world;
    (void)sim;
    if (run->next == run->plan->n_phases || w->sim->now_ps > SIM_LONGEST_PS) {
        finish(run);
        return;
    }
    const struct coll_phase *p = &run->plan->phases[run->next++];
    if (w->chunk)
        chunk_start(w->chunk, &p->steps, next_phase, run);
    else
        start_flow(w, p, run);
}

static void end_closed_form(struct sim *sim, struct sim_event *ev)
{
    struct coll_run *run = SIM_OWNER(ev, struct coll_run, event);
    (void)sim;
    if (run->duration_s > 0)
        coll_overlap_end(&run->world->overlap, run->world->net, run->plan,
                         run->duration_s);
    finish(run);
}

static const struct sim_event_type closed_form_type = { "collective", end_closed_form };

/* Rounded like flows are: latencies and bytes, phase by phase. */
static int64_t closed_form_ps(const struct coll_plan *plan, const struct net *net,
                              double factor)
{
    int64_t t_ps = 0;
    for (int32_t i = 0; i < plan->n_phases; i++) {
        const struct coll_phase *p = &plan->phases[i];
        double bytes_s = coll_phase_time_s(p, net) - p->latency_s;
        t_ps += units_ps(p->latency_s) + units_ps(fmax(bytes_s, 0));
    }
    return run_times_ps(factor, t_ps);
}

static void start_closed_form(struct coll_world *w, struct coll_run *run)
{
    int64_t t_ps = closed_form_ps(run->plan, w->net, run->factor);
    run->duration_s = units_s(t_ps);
    if (run->duration_s > 0) {
        if (!w->overlap.load)
            coll_overlap_init(&w->overlap, w->net);
        coll_overlap_begin(&w->overlap, w->net, run->plan, run->duration_s);
    }
    sim_after(w->sim, &run->event, t_ps);
}

void run_coll_start_paced(struct coll_world *w, const struct coll_plan *plan,
                          int32_t shift, double factor, flow_done_fn *done, void *arg)
{
    struct coll_run *run = w->spare;
    if (run)
        w->spare = run->spare;
    else
        run = ARENA_NEW(&w->runs, struct coll_run);
    *run = (struct coll_run) { .world = w,
                               .plan = plan,
                               .shift = shift,
                               .factor = factor,
                               .done = done,
                               .arg = arg };
    sim_event_init(&run->event, &closed_form_type);
    if (w->fidelity == FIDELITY_ANALYTIC || plan->n_phases == 0)
        start_closed_form(w, run);
    else
        next_phase(w->sim, run);
}

void run_coll_start(struct coll_world *w, const struct coll_plan *plan,
                    flow_done_fn *done, void *arg)
{
    run_coll_start_paced(w, plan, 0, 1, done, arg);
}

double run_world_link_busy_s(struct coll_world *w, int32_t link)
{
    double busy = flow_link_busy_s(w->flow, flow_link(w, link));
    return w->chunk ? busy + chunk_link_busy_s(w->chunk, link) : busy;
}

double run_world_link_B(struct coll_world *w, int32_t link)
{
    return flow_link_units(w->flow, flow_link(w, link));
}

double run_world_excess_s(const struct coll_world *w)
{
    return coll_overlap_most_s(&w->overlap, w->net);
}

bool run_world_is_busy(const struct coll_world *w)
{
    return flow_net_is_busy(w->flow) || (w->chunk && chunk_is_busy(w->chunk));
}
