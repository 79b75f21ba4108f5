#include "campaign/montecarlo_sampler.h"

#include "scenario/libraries.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

/* Ranks ---------------------------------------------------------------------------- */

/* How many a simulated rank of a folded run represents: its stage's, of its cluster
 * group. Workers that do not wait for each other are each for themselves. */
static int64_t stands_for(const struct sampler *p, int64_t rank)
{
    const struct cluster *c = &p->s->cluster;
    const struct cluster_group *k = c->groups;
    if (p->unfolded)
        return 1;
    for (; rank >= k->count * k->gpus_per_instance; k++)
        rank -= k->count * k->gpus_per_instance;
    if (p->asynchronous)
        return k->gpus_per_instance;
    return c->n_groups == 1 ? c->n_gpus / p->s->parallel.pipeline
                            : k->count * k->gpus_per_instance;
}

static const struct sampled_program *program_of(struct sampler *p,
                                                const struct program *program,
                                                int64_t rank, int64_t n_ranks)
{
    const struct uncertainty *u = p->u;
    for (int64_t i = 0; i < p->programs.n; i++)
        if (p->programs.v[i]->program == program &&
            p->programs.v[i]->n_ranks == n_ranks)
            return p->programs.v[i];
    struct sampled_program *x = xcalloc(1, sizeof(*x));
    x->program = program;
    x->n_ranks = n_ranks;
    double n = p->unfolded ? (double)(scenario_world(p->s) / p->s->parallel.pipeline)
                           : (double)n_ranks;
    frontier_init(&x->kernels, FRONTIER_KERNELS, program, p->reps.net, &p->reps.groups,
                  rank, n, &u->compute);
    if (u->host.cv > 0)
        frontier_init(&x->host, FRONTIER_HOST, program, p->reps.net, &p->reps.groups,
                      rank, n, &u->host);
    VEC_PUSH(&p->programs, x);
    return x;
}

static double *ones(struct arena *arena, int64_t n)
{
    double *v = ARENA_ARRAY(arena, n + 1, double);
    for (int64_t i = 0; i < n; i++)
        v[i] = 1;
    return v;
}

static void init_rank(struct sampler *p, int64_t i)
{
    struct sampled_rank *r = &p->ranks[i];
    const struct program *program = p->reps.programs[i];
    r->n_ranks = stands_for(p, p->reps.ranks[i]);
    const struct sampled_program *x =
        program_of(p, program, p->reps.ranks[i], r->n_ranks);
    r->group = groups_of(&p->reps.groups, x->kernels.over, p->reps.ranks[i]).first;
    r->kernels = &x->kernels;
    r->kernel_factors = ones(&p->arena, program->tasks.n);
    p->kernel_factors[i] = r->kernel_factors;
    if (p->u->host.cv <= 0)
        return;
    r->host = &x->host;
    r->host_factors = ones(&p->arena, program->tasks.n);
    p->host_factors[i] = r->host_factors;
}

int sampler_init(struct sampler *p, const struct uncertainty *u,
                 const struct scenario *s, enum fidelity network, bool unfold,
                 struct err *err)
{
    const struct reps_options how = { .unfold = unfold };
    *p = (struct sampler) { .u = u, .s = s, .network = network };
    arena_init(&p->arena);
    if (reps_build(&p->reps, &p->arena, s, &how, err))
        return -1;
    p->unfolded = !net_is_folded(p->reps.net);
    p->asynchronous = library_is_asynchronous(&s->parallel);
    int64_t n = p->reps.n_ranks;
    p->ranks = ARENA_ARRAY(&p->arena, n, struct sampled_rank);
    p->slow = ARENA_ARRAY(&p->arena, n, double);
    p->group_slow = ARENA_ARRAY(&p->arena, scenario_world(s), bool);
    p->kernel_factors = ARENA_ARRAY(&p->arena, n, const double *);
    p->host_factors = ARENA_ARRAY(&p->arena, n, const double *);
    for (int64_t i = 0; i < n; i++)
        init_rank(p, i);
    return 0;
}

void sampler_release(struct sampler *p)
{
    for (int64_t i = 0; i < p->programs.n; i++) {
        frontier_release(&p->programs.v[i]->kernels);
        frontier_release(&p->programs.v[i]->host);
        free(p->programs.v[i]);
    }
    VEC_RELEASE(&p->programs);
    reps_release(&p->reps);
    arena_release(&p->arena);
}

/* Draws ---------------------------------------------------------------------------- */

/* So many of all GPUs, drawn without putting back; rank by rank or group by group. */
static void count_slow(struct sampler *p, const gsl_rng *rng)
{
    int64_t slow = p->u->stragglers.count, all = scenario_world(p->s);
    for (int64_t i = 0; i < p->reps.n_ranks; i++) {
        int64_t n = p->ranks[i].n_ranks;
        int64_t k = gsl_ran_hypergeometric(rng, (unsigned)slow, (unsigned)(all - slow),
                                           (unsigned)n);
        p->slow[i] = (double)k;
        slow -= k;
        all -= n;
    }
}

/* Who is slow in a draw. */
static void draw_slow(struct sampler *p, int64_t draw)
{
    const struct stragglers *g = &p->u->stragglers;
    if (g->slowdown <= 1 || (g->count == 0 && g->probability <= 0))
        return;
    struct random_stream random = random_stream(p->u->seed, draw, RANDOM_STRAGGLERS);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, (unsigned long)random.key);
    if (g->count > 0)
        count_slow(p, rng);
    for (int64_t i = 0; g->count == 0 && i < p->reps.n_ranks; i++)
        p->slow[i] =
            gsl_ran_binomial(rng, g->probability, (unsigned)p->ranks[i].n_ranks);
    gsl_rng_free(rng);
    for (int64_t i = 0; i < p->reps.n_ranks; i++)
        p->group_slow[p->ranks[i].group] = false;
    for (int64_t i = 0; i < p->reps.n_ranks; i++)
        p->group_slow[p->ranks[i].group] |= p->slow[i] > 0;
}

/* A pass that is one task is as slow as the slowest of the group that shares
 * it. */
static struct frontier_pace pace_of(const struct sampler *p, int64_t i)
{
    const struct sampled_rank *r = &p->ranks[i];
    double slowdown = p->u->stragglers.slowdown;
    return (struct frontier_pace) { p->slow[i] > 0 ? slowdown : 1,
                                    p->group_slow[r->group] ? slowdown : 1 };
}

static void draw_rank(struct sampler *p, int64_t i, int64_t draw)
{
    struct sampled_rank *r = &p->ranks[i];
    uint64_t rank = (uint64_t)p->reps.ranks[i];
    struct random_stream kernels = random_stream(p->u->seed, draw, RANDOM_COMPUTE);
    struct random_stream host = random_stream(p->u->seed, draw, RANDOM_HOST);
    const struct frontier_slow slow = { p->slow[i], p->u->stragglers.slowdown };
    const struct frontier_slow none = { 0, 1 };
    if (p->unfolded) {
        const struct frontier_pace usual = { 1, 1 };
        frontier_draw_rank(r->kernels, kernels, rank, (uint64_t)r->group, pace_of(p, i),
                           r->kernel_factors);
        if (r->host)
            frontier_draw_rank(r->host, host, rank, rank, usual, r->host_factors);
        return;
    }
    frontier_draw(r->kernels, kernels, rank, slow, r->kernel_factors);
    if (r->host)
        frontier_draw(r->host, host, rank, none, r->host_factors);
}

/* A collective is as slow as the slowest of the links it passes: one for each node, or
 * each GPU inside of one. Groups side by side on the same nodes share their
 * links. */
static double link_factor(void *arg, const struct coll_plan *plan, enum channel channel,
                          int64_t first, int32_t nth)
{
    const struct sampler *p = arg;
    bool between = plan->n_nodes > 1;
    double n = between ? (double)plan->n_nodes : (double)plan->n_ranks;
    uint64_t who =
        between ? (uint64_t)groups_stage(&p->reps.groups, first) : ~(uint64_t)first;
    uint64_t which = (uint64_t)nth * CHANNEL_N + (uint64_t)channel;
    double q = random_largest(random_uniform(p->links, who, which),
                              p->asynchronous ? 1 : fmax(1, n));
    return random_factor(p->u->link.law, p->u->link.cv, q);
}

int sampler_draw(struct sampler *p, int64_t draw, double *time_s, struct err *err)
{
    struct arena plans; /* of groups, made as they meet */
    struct run_result r;
    draw_slow(p, draw);
    for (int64_t i = 0; i < p->reps.n_ranks; i++)
        draw_rank(p, i, draw);
    p->links = random_stream(p->u->seed, draw, RANDOM_LINK);
    const struct run_factors factors = { p->kernel_factors,
                                         p->u->host.cv > 0 ? p->host_factors : NULL,
                                         p->u->link.cv > 0 ? link_factor : NULL, p };
    arena_init(&plans);
    const struct run_request q = { .plans = { &plans, p->reps.net, &p->reps.groups,
                                              NULL, NULL },
                                   .network = p->network,
                                   .n_ranks = p->reps.n_ranks,
                                   .programs = p->reps.programs,
                                   .ranks = p->reps.ranks,
                                   .factors = &factors,
                                   .time_alone = true };
    int rc = run_programs(&q, &r, err);
    *time_s = r.time_s;
    arena_release(&plans);
    return rc;
}
