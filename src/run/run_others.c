/* Other jobs on the same fabric. Each job is a run of its own, with its own net. Their
 * flows are in one fluid network: links of instances are each job's own, tiers of
 * switches and the core are one for all.
 *
 *     other  |...step...|...step...|...step...|...step...|
 *     main              ^ lead      |....step....|
 *
 * An other job's next step begins when the last has ended, in the time that the main
 * job leaves to it; none begins when that has ended its step. The clock is below 0
 * until the main job begins. */
#include "base/xmalloc.h"
#include "run/run_state.h"

#include <stdlib.h>

struct others {
    struct flow_net flow;
    int32_t n;
    struct run *runs;     /* [n] */
    int32_t **link_of;    /* [n + 1] of each job's net, the main job's first */
    VEC(double) capacity; /* of the links in the fluid network */
    int32_t tiers, core;  /* where those that are shared begin; -1: not yet there */
};

static int32_t add_link(struct others *o, const struct net_link *link)
{
    VEC_PUSH(&o->capacity, link->payload_Bps);
    return (int32_t)o->capacity.n - 1;
}

/* Nets of one fabric number the switches of its tiers alike (hardware/sites.h). */
static int32_t *map_links(struct others *o, const struct net *net)
{
    const struct net_link *links = net_links(net);
    const int32_t n = net_n_links(net);
    int32_t *map = xmalloc(((size_t)n + 1) * sizeof(*map)), seen = 0;
    const bool first = o->tiers < 0;
    for (int32_t i = 0; i < n; i++) {
        const bool tier = links[i].kind == NET_TIER, core = links[i].kind == NET_CORE;
        if (tier && !first)
            map[i] = o->tiers + seen++;
        else if (core && o->core >= 0)
            map[i] = o->core;
        else
            map[i] = add_link(o, &links[i]);
        if (tier && o->tiers < 0)
            o->tiers = map[i];
        if (core)
            o->core = map[i];
    }
    return map;
}

static void fire_start(struct sim *sim, struct sim_event *ev)
{
    struct run *run = SIM_OWNER(ev, struct run, start);
    (void)sim;
    if (run->main &&
        (run_n_done(run->main) == run->main->n_tasks || run_has_failed(run->main)))
        return;
    if (run_n_done(run) > 0)
        run_rewind(run);
    run_begin(&run->islands[0]);
}

static const struct sim_event_type start_type = { "step", fire_start };

void run_others_ended(struct run *run)
{
    int64_t end_ps = run->sim->now_ps;
    for (int64_t i = 0; i < run->n_ranks; i++)
        end_ps = run->ranks[i].host_ps > end_ps ? run->ranks[i].host_ps : end_ps;
    if (!run_is_over(&run->islands[0], end_ps))
        sim_at(run->sim, &run->start, end_ps);
}

static void open_other(struct others *o, struct run *main, int32_t i)
{
    struct run *run = &o->runs[i];
    const struct run_other *other = &main->request->others[i];
    *run = (struct run) {
        .request = other->request, .sim = main->sim, .err = main->err, .main = main
    };
    run_world_join(&run->world, run->sim, run->request->plans.net, &o->flow,
                   o->link_of[i + 1]);
    run_open(run, false);
    sim_event_init(&run->start, &start_type);
    sim_at(run->sim, &run->start, -other->lead_ps);
}

struct others *run_others_open(struct run *main)
{
    const struct run_request *q = main->request;
    struct others *o = xcalloc(1, sizeof(*o));
    *o = (struct others) { .n = q->n_others, .tiers = -1, .core = -1 };
    o->runs = xcalloc((size_t)o->n, sizeof(*o->runs));
    o->link_of = xcalloc((size_t)o->n + 1, sizeof(*o->link_of));
    o->link_of[0] = map_links(o, q->plans.net);
    for (int32_t i = 0; i < o->n; i++) {
        const int64_t lead_ps = q->others[i].lead_ps;
        o->link_of[i + 1] = map_links(o, q->others[i].request->plans.net);
        main->sim->now_ps = -lead_ps < main->sim->now_ps ? -lead_ps : main->sim->now_ps;
    }
    flow_net_init(&o->flow, main->sim, (int32_t)o->capacity.n, o->capacity.v);
    run_world_join(&main->world, main->sim, q->plans.net, &o->flow, o->link_of[0]);
    for (int32_t i = 0; i < o->n; i++)
        open_other(o, main, i);
    sim_event_init(&main->start, &start_type);
    sim_at(main->sim, &main->start, 0);
    return o;
}

void run_others_close(struct others *o)
{
    for (int32_t i = 0; i < o->n; i++)
        run_close(&o->runs[i]);
    for (int32_t i = 0; i <= o->n; i++)
        free(o->link_of[i]);
    flow_net_release(&o->flow);
    free(o->link_of);
    VEC_RELEASE(&o->capacity);
    free(o->runs);
    free(o);
}
