/* Rates of activities: max-min fair over what is connected with what changed. */
#include "engine/flow_state.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>

/* Longer than this is never: the clock ends. */
#define NEVER_S ((double)SIM_LONGEST_PS / 1e12)

double flow_left(const struct flow *f)
{
    int64_t elapsed_ps = f->state->sim->now_ps - f->since_ps;
    if (elapsed_ps <= 0 || f->rate == 0)
        return f->left;
    return fmax(f->left - f->rate * units_s(elapsed_ps), 0);
}

/* As maxmin_solve has it for one activity. */
double flow_alone_rate(const struct flow *f)
{
    double rate = f->cap;
    for (int32_t i = 0; i < f->n_members; i++) {
        double most =
            f->state->links.v[f->member[i].link].capacity / f->member[i].weight;
        rate = most < rate ? most : rate;
    }
    return rate;
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
void flow_set_rate(struct flow *f, double rate)
{
    if (rate == f->rate || fabs(rate - f->rate) <= MAXMIN_TIE * f->rate)
        return;
    f->left = flow_left(f);
    f->since_ps = f->state->sim->now_ps;
    f->rate = rate;
    schedule_end(f);
}

void flow_ask(struct flow_state *st)
{
    if (!sim_is_pending(&st->solve))
        sim_at_last(st->sim, &st->solve);
}

void flow_mark_link(struct flow_state *st, int32_t l)
{
    if (st->links.v[l].changed)
        return;
    st->links.v[l].changed = true;
    VEC_PUSH(&st->changed, l);
    flow_ask(st);
}

void flow_mark_links(struct flow *f)
{
    for (int32_t i = 0; i < f->n_members; i++)
        if (isfinite(f->state->links.v[f->member[i].link].capacity))
            flow_mark_link(f->state, f->member[i].link);
}

/* Solving -------------------------------------------------------------------------- */

static void visit_link(struct flow_state *st, int32_t l)
{
    struct link *link = &st->links.v[l];
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
        if (isfinite(st->links.v[f->member[i].link].capacity))
            visit_link(st, f->member[i].link);
}

/* Appends to `found` the activities connected with a link, visiting links in turn. */
static void find_component(struct flow_state *st, int32_t l)
{
    st->component.links.n = 0;
    visit_link(st, l);
    for (int64_t i = 0; i < st->component.links.n; i++) {
        const struct link *link = &st->links.v[st->component.links.v[i]];
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
        const struct link *link = &st->links.v[f->member[i].link];
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
        VEC_PUSH(&c->capacity, st->links.v[c->links.v[i]].capacity);
    VEC_PUSH(&c->starts, 0);
    sort_by_id(flow, n);
    for (int64_t i = 0; i < n; i++)
        describe_flow(st, flow[i]);
    maxmin_solve(&st->maxmin, (int32_t)c->links.n, c->capacity.v, (int32_t)n,
                 c->starts.v, c->uses.v, c->cap.v, c->rate.v);
    for (int64_t i = 0; i < n; i++)
        flow[i]->next_rate = c->rate.v[i];
}

/* Those that share with nobody need no component. */
static void solve_alone(struct flow_state *st)
{
    for (int64_t i = 0; i < st->alone.n; i++) {
        struct flow *f = st->alone.v[i];
        if (!f)
            continue;
        if (f->is_alone && f->visit != st->n_solves) {
            f->next_rate = flow_alone_rate(f);
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
        st->links.v[st->changed.v[i]].changed = false;
        if (st->links.v[st->changed.v[i]].visit != st->n_solves)
            find_component(st, st->changed.v[i]);
        if (st->found.n > n_before)
            solve_component(st, st->found.v + n_before, st->found.n - n_before);
    }
    st->changed.n = 0;
    solve_alone(st);
    sort_by_id(st->found.v, st->found.n);
    for (int64_t i = 0; i < st->found.n; i++)
        flow_set_rate(st->found.v[i], st->found.v[i]->next_rate);
}

const struct sim_event_type flow_solve_event = { "flow-solve", solve_changed };
