#include "engine/flow_state.h"

#include "base/units.h"
#include "base/xmalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The life of an activity ---------------------------------------------------------- */

/* The links of a whole activity, which nothing else has used. */
static void leave_whole(struct flow *f)
{
    for (int32_t i = 0; i < f->n_members; i++) {
        struct link *link = &f->state->links.v[f->member[i].link];
        link->whole = NULL;
        link->units_ended += f->member[i].weight * f->size;
    }
}

static void leave_links(struct flow *f, double units)
{
    struct flow_state *st = f->state;
    for (int64_t i = 0; f->is_new && i < st->alone.n; i++)
        if (st->alone.v[i] == f)
            st->alone.v[i] = NULL;
    for (int32_t i = 0; i < f->n_members && f->on_links; i++) {
        struct member *m = &f->member[i];
        struct link *link = &st->links.v[m->link];
        *(m->prev ? &m->prev->next : &link->first) = m->next;
        if (m->next)
            m->next->prev = m->prev;
        link->units_ended += m->weight * units;
        if (link->first && isfinite(link->capacity))
            flow_mark_link(st, m->link);
    }
}

static struct flow *new_flow(struct flow_state *st, int32_t n_members)
{
    size_t size = sizeof(struct flow) + (size_t)n_members * sizeof(struct member);
    if (n_members > FLOW_POOLED)
        return xmalloc(size);
    struct flow *f = st->spare[n_members];
    if (!f)
        return arena_alloc(&st->flows, 1, size);
    st->spare[n_members] = f->next;
    return f;
}

static void free_flow(struct flow *f)
{
    struct flow_state *st = f->state;
    sim_cancel(st->sim, &f->event);
    *(f->prev ? &f->prev->next : &st->first) = f->next;
    if (f->next)
        f->next->prev = f->prev;
    if (f->n_members > FLOW_POOLED) {
        free(f);
        return;
    }
    f->next = st->spare[f->n_members];
    st->spare[f->n_members] = f;
}

/* All of the size has passed, exactly, though the last picosecond was not full. */
static void end_flow(struct sim *sim, struct sim_event *ev)
{
    struct flow *f = SIM_OWNER(ev, struct flow, event);
    flow_done_fn *done = f->done;
    void *arg = f->arg;
    if (f->is_whole)
        leave_whole(f);
    else
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
    flow_mark_links(other->flow);
}

static void end_latency(struct sim *sim, struct sim_event *ev);
static const struct sim_event_type latency_event = { "flow-latency", end_latency };

/* Another comes to a link of it: from here on it is like others, in its latency or on its
 * links, where it has been alone. */
static void divide(struct flow *f)
{
    struct flow_state *st = f->state;
    int64_t now_ps = st->sim->now_ps, entered_ps = f->since_ps;
    f->is_whole = false;
    f->on_links = now_ps >= entered_ps;
    for (int32_t i = 0; i < f->n_members; i++) {
        struct link *link = &st->links.v[f->member[i].link];
        link->whole = NULL;
        link->first = f->on_links ? &f->member[i] : NULL;
    }
    if (!f->on_links) {
        f->rate = 0;
        f->event.type = &latency_event;
        sim_at(st->sim, &f->event, entered_ps);
    } else if (now_ps == entered_ps) {
        flow_mark_links(f); /* as those that are alone in their first instant */
    }
}

static void enter_links(struct flow *f)
{
    struct flow_state *st = f->state;
    bool is_limited = false, is_alone = true;
    for (int32_t i = 0; i < f->n_members; i++) {
        struct link *link = &st->links.v[f->member[i].link];
        if (link->whole)
            divide(link->whole->flow);
    }
    for (int32_t i = 0; i < f->n_members; i++) {
        struct member *m = &f->member[i];
        struct link *link = &st->links.v[m->link];
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
        flow_set_rate(f, f->cap);
    else if (is_alone)
        VEC_PUSH(&st->alone, f);
    else
        flow_mark_links(f);
    f->is_alone = f->is_new = is_limited && is_alone;
    if (f->is_alone)
        flow_ask(st);
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

/* The place of a link, which it gets here if nothing has used it so far: networks have
 * many links, and most of them carry a few. */
static int32_t place_of(struct flow_state *st, int32_t l)
{
    if (st->slot[l] == 0) {
        VEC_PUSH(&st->links, ((struct link) { .capacity = st->capacity[l] }));
        st->slot[l] = (int32_t)st->links.n;
    }
    return st->slot[l] - 1;
}

/* Whether it has size, and nothing is on its links or comes to them as a whole. */
static bool is_by_itself(const struct flow *f)
{
    for (int32_t i = 0; i < f->n_members; i++) {
        const struct link *link = &f->state->links.v[f->member[i].link];
        if (link->first || link->whole)
            return false;
    }
    return f->size > 0;
}

/* One event for all of it, at the end that it has if nobody comes to its links; false
 * where it never ends. */
static bool start_whole(struct flow *f, int64_t latency_ps)
{
    double rate = flow_alone_rate(f), most_s = units_s(SIM_LONGEST_PS - latency_ps);
    if (!(rate > 0) || f->size / rate >= most_s)
        return false;
    f->is_whole = true;
    f->rate = rate;
    f->since_ps = f->state->sim->now_ps + latency_ps;
    for (int32_t i = 0; i < f->n_members; i++)
        f->state->links.v[f->member[i].link].whole = &f->member[i];
    sim_event_init(&f->event, &end_event);
    sim_at(f->state->sim, &f->event, f->since_ps + units_ps(f->size / rate));
    return true;
}

struct flow *flow_start(struct flow_net *net, double size, int64_t latency_ps,
                        double cap, int32_t n_uses, const struct flow_use *uses,
                        flow_done_fn *done, void *arg)
{
    assert(size >= 0 && cap >= 0 && n_uses >= 0);
    struct flow_state *st = net->state;
    struct flow *f = new_flow(st, n_uses);
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
        f->member[i].link = place_of(st, uses[i].link);
    }
    if (is_by_itself(f) && start_whole(f, latency_ps))
        return f;
    sim_event_init(&f->event, &latency_event);
    if (latency_ps == 0 && size > 0) {
        sim_event_init(&f->event, &end_event);
        enter_links(f);
    } else {
        sim_after(st->sim, &f->event, latency_ps);
    }
    return f;
}

/* Links ---------------------------------------------------------------------------- */

static void init_state(struct flow_net *net, struct sim *sim)
{
    struct flow_state *st = xcalloc(1, sizeof(*st));
    *net = (struct flow_net) { sim, st };
    st->sim = sim;
    arena_init(&st->flows);
    sim_event_init(&st->solve, &flow_solve_event);
}

void flow_net_init(struct flow_net *net, struct sim *sim, int32_t n_links,
                   const double *capacity)
{
    init_state(net, sim);
    struct flow_state *st = net->state;
    size_t n = (size_t)n_links;
    st->n_links = n_links;
    st->slot = xcalloc(n, sizeof(*st->slot));
    st->capacity = xmalloc(n * sizeof(*st->capacity) + 1);
    for (size_t l = 0; l < n; l++)
        st->capacity[l] = capacity[l];
}

void flow_net_share(struct flow_net *net)
{
    struct flow_state *st = net->state;
    assert(st->links.n == 0);
    VEC_RESERVE(&st->links, st->n_links);
    st->links.n = st->n_links;
    for (int32_t l = 0; l < st->n_links; l++)
        st->slot[l] = l + 1;
}

void flow_net_split(struct flow_net *net, struct sim *sim, const struct flow_net *of,
                    const int32_t *links, int32_t n)
{
    const struct flow_state *from = of->state;
    init_state(net, sim);
    struct flow_state *st = net->state;
    st->n_links = from->n_links;
    st->capacity = from->capacity;
    st->slot = from->slot;
    st->links.v = from->links.v;
    st->links.n = st->links.cap = from->links.n;
    st->borrows_links = true;
    for (int32_t i = 0; i < n; i++)
        st->links.v[links[i]] = (struct link) { .capacity = st->capacity[links[i]] };
}

/* The list begins with the last to start: ids go on in the order of starts. */
void flow_net_join(struct flow_net *net, struct flow_net *with)
{
    struct flow_state *st = net->state, *from = with->state;
    struct flow *last = from->first;
    assert(from->links.v == st->links.v && from->changed.n == 0 && from->alone.n == 0);
    st->n_solves = from->n_solves > st->n_solves ? from->n_solves : st->n_solves;
    while (last && last->next)
        last = last->next;
    for (struct flow *f = last; f; f = f->prev) {
        f->state = st;
        f->id = st->n_started++;
    }
    if (!last)
        return;
    last->next = st->first;
    if (st->first)
        st->first->prev = last;
    st->first = from->first;
    from->first = NULL;
}

void flow_net_release(struct flow_net *net)
{
    struct flow_state *st = net->state;
    while (st->first)
        free_flow(st->first); /* NOLINT(clang-analyzer-unix.Malloc): takes it out */
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
    arena_release(&st->flows);
    if (!st->borrows_links) {
        free(st->capacity);
        free(st->slot);
        VEC_RELEASE(&st->links);
    }
    free(st);
    net->state = NULL;
}

/* NULL: nothing has used it. */
static const struct link *used_link(const struct flow_net *net, int32_t l)
{
    int32_t slot = net->state->slot[l];
    return slot ? &net->state->links.v[slot - 1] : NULL;
}

double flow_link_units(struct flow_net *net, int32_t l)
{
    const struct link *link = used_link(net, l);
    if (!link)
        return 0;
    double units = link->units_ended;
    for (const struct member *m = link->first; m; m = m->next)
        units += m->weight * (m->flow->size - flow_left(m->flow));
    if (link->whole)
        units += link->whole->weight *
                 (link->whole->flow->size - flow_left(link->whole->flow));
    return units;
}

double flow_link_busy_s(struct flow_net *net, int32_t l)
{
    const struct link *link = used_link(net, l);
    if (!link)
        return 0;
    if (link->capacity == 0 || isinf(link->capacity))
        return link->busy_s;
    double units = flow_link_units(net, l) - link->units_counted;
    return link->busy_s + units / link->capacity;
}

bool flow_net_is_busy(const struct flow_net *net)
{
    return net->state->first != NULL;
}
