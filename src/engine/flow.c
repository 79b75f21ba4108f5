#include "engine/flow.h"

#include "base/units.h"
#include "base/vec.h"
#include "base/xmalloc.h"
#include "engine/maxmin.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Longer than this is never: the clock ends. */
#define NEVER_S ((double)SIM_LONGEST_PS / 1e12)

/* A place of an activity on a link; those of one link are chained. */
struct member {
    struct flow *flow;
    struct member *prev, *next;
    double weight;
    int32_t link;
};

struct flow {
    struct sim_event event; /* end of the latency, then of the activity */
    struct flow_state *state;
    struct flow *prev, *next; /* all activities of the net */
    uint64_t id;              /* counts starts */
    double size, cap;
    double left;      /* units to go at since_ps */
    double rate;      /* since then */
    int64_t since_ps; /* last change of rate */
    double next_rate; /* found by the solver, not applied yet */
    uint64_t visit;   /* solve that came by last */
    flow_done_fn *done;
    void *arg;
    bool on_links; /* latency is over */
    bool is_alone; /* entered in this instant on links that nothing else uses; */
    bool is_new;   /* or did, and is in the state's list `alone` yet */
    int32_t n_members;
    struct member member[];
};

struct link {
    double capacity;
    double units_ended;   /* moved by activities that are gone */
    double units_counted; /* all units at the last change of capacity ... */
    double busy_s;        /* ... and the busy time until then */
    struct member *first;
    uint64_t visit; /* solve that came by last */
    int32_t local;  /* its number in the component being solved */
    bool changed;
};

/* A component as the solver wants it. */
struct component {
    VEC(int32_t) links; /* visited; its order gives the local numbers */
    VEC(double) capacity, cap, rate;
    VEC(int32_t) starts;
    VEC(struct flow_use) uses;
};

struct flow_state {
    struct sim *sim;
    struct sim_event solve; /* last of an instant that changed something */
    int32_t n_links;
    struct link *link;
    struct flow *first;
    uint64_t n_started, n_solves;
    VEC(int32_t) changed;     /* links where something started, ended or changed */
    VEC(struct flow *) found; /* activities of the components being solved */
    VEC(struct flow *) alone; /* entered in this instant alone; is_alone: still so */
    struct component component;
    struct maxmin maxmin;
};

/* --- progress ------------------------------------------------------------------- */

static double left_now(const struct flow *f)
{
    int64_t elapsed_ps = f->state->sim->now_ps - f->since_ps;
    if (elapsed_ps == 0 || f->rate == 0)
        return f->left;
    return fmax(f->left - f->rate * units_s(elapsed_ps), 0);
}

static void schedule_end(struct flow *f)
{
    struct sim *sim = f->state->sim;
    double left_s = f->left > 0 ? f->left / f->rate : 0;
    if (left_s < NEVER_S)
        sim_after(sim, &f->event, units_ps(left_s));
    else
        sim_cancel(sim, &f->event);
}

/* A rate that moves by rounding alone is left, and the end with it: so equal activities
 * stay equal. */
static void set_rate(struct flow *f, double rate)
{
    if (rate == f->rate || fabs(rate - f->rate) <= MAXMIN_TIE * f->rate)
        return;
    f->left = left_now(f);
    f->since_ps = f->state->sim->now_ps;
    f->rate = rate;
    schedule_end(f);
}

static void ask_for_solve(struct flow_state *st)
{
    if (!sim_is_pending(&st->solve))
        sim_at_last(st->sim, &st->solve);
}

static void mark_changed(struct flow_state *st, int32_t l)
{
    if (st->link[l].changed)
        return;
    st->link[l].changed = true;
    VEC_PUSH(&st->changed, l);
    ask_for_solve(st);
}

static void mark_links(struct flow *f)
{
    for (int32_t i = 0; i < f->n_members; i++)
        if (isfinite(f->state->link[f->member[i].link].capacity))
            mark_changed(f->state, f->member[i].link);
}

/* --- solving -------------------------------------------------------------------- */

static void visit_link(struct flow_state *st, int32_t l)
{
    struct link *link = &st->link[l];
    if (link->visit == st->n_solves)
        return;
    link->visit = st->n_solves;
    link->local = (int32_t)st->component.links.n;
    VEC_PUSH(&st->component.links, l);
}

static void visit_flow(struct flow_state *st, struct flow *f)
{
    if (f->visit == st->n_solves)
        return;
    f->visit = st->n_solves;
    VEC_PUSH(&st->found, f);
    for (int32_t i = 0; i < f->n_members; i++)
        if (isfinite(st->link[f->member[i].link].capacity))
            visit_link(st, f->member[i].link);
}

/* Appends to `found` the activities connected with a link, visiting links in turn. */
static void find_component(struct flow_state *st, int32_t l)
{
    st->component.links.n = 0;
    visit_link(st, l);
    for (int64_t i = 0; i < st->component.links.n; i++) {
        const struct link *link = &st->link[st->component.links.v[i]];
        for (struct member *m = link->first; m; m = m->next)
            visit_flow(st, m->flow);
    }
}

static int compare_ids(const void *a, const void *b)
{
    const struct flow *x = *(struct flow *const *)a, *y = *(struct flow *const *)b;
    return (x->id > y->id) - (x->id < y->id);
}

static void sort_by_id(struct flow **flow, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        if (flow[i - 1]->id > flow[i]->id) {
            qsort(flow, (size_t)n, sizeof(struct flow *), compare_ids);
            return;
        }
    }
}

static void describe_flow(struct flow_state *st, const struct flow *f)
{
    struct component *c = &st->component;
    VEC_PUSH(&c->cap, f->cap);
    for (int32_t i = 0; i < f->n_members; i++) {
        const struct link *link = &st->link[f->member[i].link];
        if (isfinite(link->capacity))
            VEC_PUSH(&c->uses,
                     ((struct flow_use) { link->local, f->member[i].weight }));
    }
    VEC_PUSH(&c->starts, (int32_t)c->uses.n);
    VEC_PUSH(&c->rate, 0);
}

/* The order is by start and not as found, so that components that are alike are solved
 * by the same arithmetic. */
static void solve_component(struct flow_state *st, struct flow **flow, int64_t n)
{
    struct component *c = &st->component;
    c->capacity.n = c->cap.n = c->rate.n = c->starts.n = c->uses.n = 0;
    for (int64_t i = 0; i < c->links.n; i++)
        VEC_PUSH(&c->capacity, st->link[c->links.v[i]].capacity);
    VEC_PUSH(&c->starts, 0);
    sort_by_id(flow, n);
    for (int64_t i = 0; i < n; i++)
        describe_flow(st, flow[i]);
    maxmin_solve(&st->maxmin, (int32_t)c->links.n, c->capacity.v, (int32_t)n,
                 c->starts.v, c->uses.v, c->cap.v, c->rate.v);
    for (int64_t i = 0; i < n; i++)
        flow[i]->next_rate = c->rate.v[i];
}

/* As maxmin_solve has it for one activity. */
static double alone_rate(const struct flow *f)
{
    double rate = f->cap;
    for (int32_t i = 0; i < f->n_members; i++) {
        double most = f->state->link[f->member[i].link].capacity / f->member[i].weight;
        rate = most < rate ? most : rate;
    }
    return rate;
}

/* Those that share with nobody need no component. */
static void solve_alone(struct flow_state *st)
{
    for (int64_t i = 0; i < st->alone.n; i++) {
        struct flow *f = st->alone.v[i];
        if (!f)
            continue;
        if (f->is_alone && f->visit != st->n_solves) {
            f->next_rate = alone_rate(f);
            VEC_PUSH(&st->found, f);
        }
        f->is_alone = f->is_new = false;
    }
    st->alone.n = 0;
}

/* Ends are scheduled in the order of starts, whatever component they are in. */
static void solve_changed(struct sim *sim, struct sim_event *ev)
{
    (void)sim;
    struct flow_state *st = SIM_OWNER(ev, struct flow_state, solve);
    st->n_solves++;
    st->found.n = 0;
    for (int64_t i = 0; i < st->changed.n; i++) {
        int64_t n_before = st->found.n;
        st->link[st->changed.v[i]].changed = false;
        if (st->link[st->changed.v[i]].visit != st->n_solves)
            find_component(st, st->changed.v[i]);
        if (st->found.n > n_before)
            solve_component(st, st->found.v + n_before, st->found.n - n_before);
    }
    st->changed.n = 0;
    solve_alone(st);
    sort_by_id(st->found.v, st->found.n);
    for (int64_t i = 0; i < st->found.n; i++)
        set_rate(st->found.v[i], st->found.v[i]->next_rate);
}

static const struct sim_event_type solve_event = { "flow-solve", solve_changed };

/* --- the life of an activity ---------------------------------------------------- */

static void leave_links(struct flow *f, double units)
{
    struct flow_state *st = f->state;
    for (int64_t i = 0; f->is_new && i < st->alone.n; i++)
        if (st->alone.v[i] == f)
            st->alone.v[i] = NULL;
    for (int32_t i = 0; i < f->n_members && f->on_links; i++) {
        struct member *m = &f->member[i];
        struct link *link = &st->link[m->link];
        *(m->prev ? &m->prev->next : &link->first) = m->next;
        if (m->next)
            m->next->prev = m->prev;
        link->units_ended += m->weight * units;
        if (link->first && isfinite(link->capacity))
            mark_changed(st, m->link);
    }
}

static void free_flow(struct flow *f)
{
    sim_cancel(f->state->sim, &f->event);
    *(f->prev ? &f->prev->next : &f->state->first) = f->next;
    if (f->next)
        f->next->prev = f->prev;
    free(f);
}

/* All of the size has passed, exactly, though the last picosecond was not full. */
static void end_flow(struct sim *sim, struct sim_event *ev)
{
    struct flow *f = SIM_OWNER(ev, struct flow, event);
    flow_done_fn *done = f->done;
    void *arg = f->arg;
    leave_links(f, f->size);
    free_flow(f);
    if (done)
        done(sim, arg);
}

static const struct sim_event_type end_event = { "flow-end", end_flow };

/* Who was alone on a link until now is so no longer: its links have changed, and before
 * those of who joins it. */
static void end_solitude(const struct member *other)
{
    if (!other->flow->is_alone)
        return;
    other->flow->is_alone = false;
    mark_links(other->flow);
}

static void enter_links(struct flow *f)
{
    struct flow_state *st = f->state;
    bool is_limited = false, is_alone = true;
    for (int32_t i = 0; i < f->n_members; i++) {
        struct member *m = &f->member[i];
        struct link *link = &st->link[m->link];
        bool limits = isfinite(link->capacity);
        m->next = link->first;
        if (m->next)
            m->next->prev = m;
        if (m->next && limits)
            end_solitude(m->next);
        is_alone = is_alone && !(limits && (m->next || link->changed));
        is_limited = is_limited || limits;
        link->first = m;
    }
    f->on_links = true;
    f->since_ps = st->sim->now_ps;
    if (!is_limited)
        set_rate(f, f->cap);
    else if (is_alone)
        VEC_PUSH(&st->alone, f);
    else
        mark_links(f);
    f->is_alone = f->is_new = is_limited && is_alone;
    if (f->is_alone)
        ask_for_solve(st);
}

static void end_latency(struct sim *sim, struct sim_event *ev)
{
    struct flow *f = SIM_OWNER(ev, struct flow, event);
    sim_event_init(ev, &end_event);
    if (f->size > 0)
        enter_links(f);
    else
        end_flow(sim, ev);
}

static const struct sim_event_type latency_event = { "flow-latency", end_latency };

struct flow *flow_start(struct flow_net *net, double size, int64_t latency_ps,
                        double cap, int32_t n_uses, const struct flow_use *uses,
                        flow_done_fn *done, void *arg)
{
    assert(size >= 0 && cap >= 0 && n_uses >= 0);
    struct flow_state *st = net->state;
    struct flow *f = xmalloc(sizeof(*f) + (size_t)n_uses * sizeof(f->member[0]));
    *f = (struct flow) { .state = st, .next = st->first, .id = st->n_started++ };
    f->size = f->left = size;
    f->cap = cap;
    f->done = done;
    f->arg = arg;
    f->n_members = n_uses;
    if (st->first)
        st->first->prev = f;
    st->first = f;
    for (int32_t i = 0; i < n_uses; i++) {
        assert(uses[i].link >= 0 && uses[i].link < st->n_links && uses[i].weight > 0);
        f->member[i] = (struct member) { .flow = f, .weight = uses[i].weight };
        f->member[i].link = uses[i].link;
    }
    sim_event_init(&f->event, &latency_event);
    if (latency_ps == 0 && size > 0) {
        sim_event_init(&f->event, &end_event);
        enter_links(f);
    } else {
        sim_after(st->sim, &f->event, latency_ps);
    }
    return f;
}

void flow_cancel(struct flow_net *net, struct flow *f)
{
    assert(f->state == net->state);
    leave_links(f, f->size - left_now(f));
    free_flow(f);
}

double flow_rate(const struct flow *f)
{
    return f->rate;
}

/* --- links ---------------------------------------------------------------------- */

void flow_net_init(struct flow_net *net, struct sim *sim, int32_t n_links,
                   const double *capacity)
{
    struct flow_state *st = xcalloc(1, sizeof(*st));
    *net = (struct flow_net) { sim, st };
    st->sim = sim;
    sim_event_init(&st->solve, &solve_event);
    st->n_links = n_links;
    st->link = xcalloc((size_t)n_links, sizeof(*st->link));
    for (int32_t l = 0; l < n_links; l++)
        st->link[l].capacity = capacity[l];
}

void flow_net_release(struct flow_net *net)
{
    struct flow_state *st = net->state;
    while (st->first)
        free_flow(st->first);
    sim_cancel(st->sim, &st->solve);
    struct component *c = &st->component;
    VEC_RELEASE(&c->links);
    VEC_RELEASE(&c->capacity);
    VEC_RELEASE(&c->cap);
    VEC_RELEASE(&c->rate);
    VEC_RELEASE(&c->starts);
    VEC_RELEASE(&c->uses);
    VEC_RELEASE(&st->changed);
    VEC_RELEASE(&st->found);
    VEC_RELEASE(&st->alone);
    maxmin_release(&st->maxmin);
    free(st->link);
    free(st);
    net->state = NULL;
}

double flow_link_units(struct flow_net *net, int32_t l)
{
    const struct link *link = &net->state->link[l];
    double units = link->units_ended;
    for (const struct member *m = link->first; m; m = m->next)
        units += m->weight * (m->flow->size - left_now(m->flow));
    return units;
}

double flow_link_busy_s(struct flow_net *net, int32_t l)
{
    const struct link *link = &net->state->link[l];
    if (link->capacity == 0 || isinf(link->capacity))
        return link->busy_s;
    double units = flow_link_units(net, l) - link->units_counted;
    return link->busy_s + units / link->capacity;
}

void flow_set_capacity(struct flow_net *net, int32_t l, double capacity)
{
    assert(capacity >= 0);
    struct link *link = &net->state->link[l];
    link->busy_s = flow_link_busy_s(net, l);
    link->units_counted = flow_link_units(net, l);
    link->capacity = capacity;
    if (link->first)
        mark_changed(net->state, l);
}

uint64_t flow_net_solves(const struct flow_net *net)
{
    return net->state->n_solves;
}
