#include "run/run_state.h"

#include <math.h>

/* Links of one instance copy that are looked at, and what they had done then. */
struct copy_links {
    VEC(int32_t) links[2]; /* NICs, NVLink */
    double *busy_s[2];     /* then */
    int64_t at_ps;
};

struct run_links {
    int64_t n_copies;
    struct copy_links *copies;
    struct observed_rank *ranks;
};

/* Calls one of the callbacks of all observers. */
#define NOTIFY(run, callback, ...)                                                \
    do {                                                                          \
        for (const struct observer *o = (run)->request->observer; o; o = o->next) \
            if (o->callback)                                                      \
                o->callback(__VA_ARGS__);                                         \
    } while (0)

static void find_links(struct run_links *all, const struct net *net)
{
    for (int32_t i = 0; i < net_n_links(net); i++)
        if (net_links(net)[i].copy >= all->n_copies)
            all->n_copies = net_links(net)[i].copy + 1;
    all->copies = xcalloc((size_t)all->n_copies + 1, sizeof(*all->copies));
    for (int32_t i = 0; i < net_n_links(net); i++) {
        const struct net_link *l = &net_links(net)[i];
        if (l->copy >= 0 && l->kind == NET_NIC)
            VEC_PUSH(&all->copies[l->copy].links[0], i);
        if (l->copy >= 0 && l->kind == NET_NVLINK)
            VEC_PUSH(&all->copies[l->copy].links[1], i);
    }
    for (int64_t c = 0; c < all->n_copies; c++)
        for (int k = 0; k < 2; k++)
            all->copies[c].busy_s[k] =
                xcalloc((size_t)all->copies[c].links[k].n + 1, sizeof(double));
}

static void describe(struct observed_rank *out, const struct groups *g,
                     const struct rank *r)
{
    const struct layout *l = &g->layout;
    out->number = r->number;
    out->program = r->program;
    out->stage = groups_stage(g, r->number);
    out->pipeline = r->number - layout_index(l, r->number).p * l->stride_p;
    groups_place(g, r->number, &out->instance, &out->gpu);
}

void run_observe_begin(struct run *run)
{
    const struct groups *g = run->request->plans.groups;
    run->links = xcalloc(1, sizeof(*run->links));
    run->links->ranks = xcalloc((size_t)run->n_ranks + 1, sizeof(struct observed_rank));
    for (int64_t i = 0; i < run->n_ranks; i++)
        describe(&run->links->ranks[i], g, &run->ranks[i]);
    find_links(run->links, run->request->plans.net);
    const struct observed_run all = { g, run->n_ranks, run->links->ranks };
    NOTIFY(run, begin, o->arg, &all);
}

void run_observe_end(struct run *run)
{
    NOTIFY(run, end, o->arg);
    for (int64_t c = 0; c < run->links->n_copies; c++)
        for (int k = 0; k < 2; k++) {
            VEC_RELEASE(&run->links->copies[c].links[k]);
            free(run->links->copies[c].busy_s[k]);
        }
    free(run->links->copies);
    free(run->links->ranks);
    free(run->links);
    run->links = NULL;
}

void run_observe_task(struct rank *r, const struct stream_state *l)
{
    const struct task *t = &r->program->tasks.v[l->head];
    const struct observed_task seen = {
        .rank = r - r->run->ranks,
        .task = t,
        .begun_ps = l->begun_ps,
        .ended_ps = r->island->sim->now_ps,
        .met_ps = t->comm >= 0 ? l->met_ps : l->begun_ps,
    };
    NOTIFY(r->run, task, o->arg, &seen);
}

void run_observe_issue(struct rank *r, const struct task *t)
{
    const struct observed_task seen = {
        .rank = r - r->run->ranks,
        .task = t,
        .begun_ps = r->host_ps - t->host_ps,
        .ended_ps = r->host_ps,
        .met_ps = r->host_ps - t->host_ps,
    };
    if (t->host_ps > 0)
        NOTIFY(r->run, issued, o->arg, &seen);
}

void run_observe_buffer(struct rank *r, const struct fusion_state *f)
{
    const struct observed_task seen = {
        .rank = r - r->run->ranks,
        .task = &r->program->tasks.v[f->task],
        .begun_ps = f->begun_ps,
        .ended_ps = r->island->sim->now_ps,
        .met_ps = f->begun_ps,
    };
    NOTIFY(r->run, buffer, o->arg, &seen, f->plan);
}

/* Share of the time since then that the busiest of the links worked. */
static double busiest(struct run *run, struct copy_links *c, int kind, double since_s)
{
    double most = 0;
    for (int64_t i = 0; i < c->links[kind].n; i++) {
        double now_s = run_world_link_busy_s(&run->world, c->links[kind].v[i]);
        most = fmax(most, (now_s - c->busy_s[kind][i]) / since_s);
        c->busy_s[kind][i] = now_s;
    }
    return fmin(most, 1);
}

void run_observe_links(struct rank *r)
{
    struct run *run = r->run;
    const struct net *net = run->request->plans.net;
    int64_t instance = run->links->ranks[r - run->ranks].instance;
    struct copy_links *c = &run->links->copies[net_copy(net, instance)];
    int64_t now = run->sim->now_ps;
    if (now - c->at_ps < 1000000) /* a microsecond */
        return;
    double since_s = (double)(now - c->at_ps) * 1e-12;
    const struct observed_links seen = {
        .instance = instance,
        .from_ps = c->at_ps,
        .to_ps = now,
        .nic_frac = busiest(run, c, 0, since_s),
        .nvlink_frac = busiest(run, c, 1, since_s),
    };
    c->at_ps = now;
    NOTIFY(run, links, o->arg, &seen);
}
