/* Which plan a collective runs: that of its program, of its group, or of a group that
 * lies as its own does, on links with other numbers. */
#include "run/run_state.h"

/* A rank whose group lies as another's does, on links whose numbers are `shift` less. */
struct like {
    const struct rank *rank; /* NULL: none */
    int32_t shift;
};

/* The rank at the same place of the first stage. */
static struct like like_in_stage(const struct rank *r)
{
    const struct run *run = r->run;
    const struct groups *g = run->request->plans.groups;
    const int64_t by = groups_stage(g, r->number) * g->layout.stride_p;
    const int64_t n_links =
        net_n_links(run->request->plans.net) / g->cluster->n_instances;
    const int64_t instances = by / g->cluster->groups[0].gpus_per_instance;
    return (struct like) { &run->ranks[r->number - by],
                           (int32_t)(instances * n_links) };
}

/* That whose plan the rank's group shares. */
static struct like like_of(const struct rank *r, enum channel channel)
{
    const struct island *island = r->island;
    if (!r->comms[channel]->spans && island->is_alike)
        return (struct like) { r->run->islands[0].ranks[r->place], island->shift };
    if (r->comms[channel]->spans && r->run->stages_alike &&
        !groups_span_stages(channel))
        return like_in_stage(r);
    return (struct like) { 0 };
}

static const struct coll_plan *known_plan(const struct plan_made *made, int64_t n,
                                          const struct comm *comm)
{
    for (int64_t i = 0; i < n; i++)
        if (plans_same_request(made[i].of, comm))
            return made[i].plan;
    return NULL;
}

static const struct coll_plan *known_shared(const struct communicator *c,
                                            const struct comm *comm)
{
    const struct coll_plan *plan;
#pragma omp critical(shared_plans)
    plan = known_plan(c->shared.v, c->shared.n, comm);
    return plan;
}

/* For a rank that others are like. Several threads may make the same: without `memo`
 * nothing in it depends on what was made before. */
static const struct coll_plan *make_shared(const struct rank *first,
                                           const struct comm *comm, struct arena *arena,
                                           struct plans_memo *memo, struct err *err)
{
    struct communicator *c = first->comms[comm->channel];
    const struct plans *of = &first->run->request->plans;
    const struct plans to = { arena, of->net, of->groups, memo, NULL };
    const struct coll_plan *plan = known_shared(c, comm);
    if (plan)
        return plan;
    if (plans_make(&to, comm, first->number, &plan, err) < 0)
        return NULL;
#pragma omp critical(shared_plans)
    VEC_PUSH(&c->shared, ((struct plan_made) { comm, plan }));
    return plan;
}

static const struct coll_plan *make_own(struct rank *r, const struct comm *comm)
{
    struct run *run = r->run;
    const struct plans *plans = &run->request->plans;
    const struct plans to = { r->island->plans_arena, plans->net, plans->groups,
                              run_is_apart(r->island) ? &r->island->memo : &run->memo,
                              NULL };
    const struct coll_plan *plan;
    return plans_make(&to, comm, r->number, &plan, r->island->err) < 0 ? NULL : plan;
}

const struct coll_plan *run_plan_for(struct rank *r, const struct comm *comm,
                                     int32_t *shift)
{
    struct communicator *c = r->comms[comm->channel];
    struct island *island = r->island;
    *shift = 0;
    if (net_is_folded(r->run->request->plans.net) || !comm->has_request)
        return comm->plan;
    const struct like like = like_of(r, comm->channel);
    const struct coll_plan *plan = known_plan(c->plans.v, c->plans.n, comm);
    *shift = like.shift;
    if (plan)
        return plan;
    plan = like.rank
               ? make_shared(like.rank, comm, island->plans_arena,
                             run_is_apart(island) ? NULL : &r->run->memo, island->err)
               : make_own(r, comm);
    if (plan)
        VEC_PUSH(&c->plans, ((struct plan_made) { comm, plan }));
    return plan;
}

/* Ahead of time ------------------------------------------------------------------- */

/* What a program's tasks ask of the communicators of a channel. */
static void make_asked(const struct rank *first, enum channel channel,
                       const struct program *p, struct arena *arena)
{
    struct err ignored = { 0 }; /* it comes again when the plan is asked for */
    for (int64_t k = 0; k < p->tasks.n; k++) {
        const int32_t comm = p->tasks.v[k].comm;
        if (comm >= 0 && p->comms.v[comm].channel == channel &&
            p->comms.v[comm].has_request)
            make_shared(first, &p->comms.v[comm], arena, &first->run->memo, &ignored);
    }
}

void run_plans_ahead(struct run *run, struct arena *arena)
{
    const struct program *const *programs = run->request->programs;
    for (int64_t i = 0; i < run->communicators.n && run->stages_alike; i++) {
        const struct communicator *c = run->communicators.v[i];
        const struct rank *first = &run->ranks[c->founder];
        const enum channel channel = (enum channel)(c->key % CHANNEL_N);
        if (!c->spans || like_of(first, channel).rank != first)
            continue;
        for (int64_t k = 0; k < run->n_ranks; k++)
            if (k == 0 || programs[k] != programs[k - 1])
                make_asked(first, channel, programs[k], arena);
    }
}
