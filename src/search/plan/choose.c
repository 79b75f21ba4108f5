/* Which of the scored points are simulated. */
#include "base/units.h"
#include "base/xmalloc.h"
#include "search/plan/best.h"
#include "search/plan/near.h"
#include "search/plan/order.h"
#include "search/plan/run.h"
#include "search/score/score.h"
#include "search/space/users.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Choosing ------------------------------------------------------------------------- */

static double price_of(const struct plan_run *run, const struct candidate *c)
{
    struct space_point p;
    memcpy(p.at, c->at, sizeof(p.at));
    bool allowed = space_fill(&run->job->space, &p);
    double usd = plan_point_usd_per_hour(run->job, &p);
    return allowed && isfinite(usd) ? usd : (double)p.world;
}

/* Whether another cluster is faster and no dearer by the scores. */
static bool beaten(const struct plan_run *run, const struct scored *s, int32_t cluster)
{
    const struct candidate *c = &s->clusters[cluster].v[0];
    double usd = price_of(run, c) * c->time_s;
    for (int32_t i = 0; i < s->n_clusters; i++) {
        const struct candidate *x = s->clusters[i].v;
        if (s->clusters[i].n && i != cluster && x->time_s < c->time_s &&
            price_of(run, x) * x->time_s < usd)
            return true;
    }
    return false;
}

/* The best few of every kind, every cluster, every size of memory. */
static void choose_various(struct plan_run *run, struct scored *s)
{
    enum { OF_A_KIND = 3, CLUSTERS_SHOWN = 24 };
    static const double hopeless = 3; /* no score is that far off */
    int64_t limit = run->o->simulate_most / 2;
    double least = INFINITY;
    for (int k = 0; k < KINDS; k++)
        if (s->kinds[k].n)
            least = fmin(least, s->kinds[k].v[0].value);
    for (int32_t i = 0; i < OF_A_KIND; i++)
        for (int k = 0; k < KINDS && run->all.n < limit; k++)
            if (i < s->kinds[k].n && s->kinds[k].v[i].value < hopeless * least)
                plan_run_choose(run, &s->kinds[k].v[i]);
    for (int32_t i = 0, n = 0; i < s->n_clusters && n < CLUSTERS_SHOWN; i++)
        if (s->clusters[i].n && !beaten(run, s, i) && run->all.n < limit)
            n += plan_run_choose(run, &s->clusters[i].v[0]);
    for (int i = 0; i < MEMORY_BINS && run->all.n < limit; i++)
        if (s->bins[i].n)
            plan_run_choose(run, &s->bins[i].v[0]);
}

static void sort_scored(struct scored *s)
{
    for (int k = 0; k < KINDS; k++)
        best_sort(&s->kinds[k]);
    best_sort(&s->uncertain);
    best_sort(&s->tightest);
}

/* What is left to choose from ------------------------------------------------------ */

/* A candidate with what does not change while the search goes on. */
struct option {
    struct candidate c;
    struct space_point point;
    double usd_per_hour;
    bool user, taken;
    enum plan_standing expected;
    double key; /* of that */
};

struct pool {
    VEC(struct option) v;
    bool small; /* all that memory may hold are in it: bounds decide */
};

static void add_option(struct pool *pool, const struct plan_job *job,
                       const struct candidate *c)
{
    struct option *x = VEC_ADD(&pool->v);
    *x = (struct option) { .c = *c };
    memcpy(x->point.at, c->at, sizeof(c->at));
    space_fill(&job->space, &x->point);
    x->usd_per_hour = plan_point_usd_per_hour(job, &x->point);
    x->user = space_users_can(&job->space, &x->point);
}

static void add_best(struct pool *pool, const struct plan_job *job,
                     const struct best *b)
{
    for (int32_t i = 0; i < b->n; i++)
        add_option(pool, job, &b->v[i]);
}

static void fill_pool(struct pool *pool, const struct plan_job *job,
                      const struct scored *s)
{
    pool->small = s->feasible <= PLAN_SMALL;
    for (int64_t i = 0; pool->small && i < s->all.n; i++)
        add_option(pool, job, &s->all.v[i]);
    for (int k = 0; k < KINDS && !pool->small; k++)
        add_best(pool, job, &s->kinds[k]);
    if (!pool->small) {
        add_best(pool, job, &s->uncertain);
        add_best(pool, job, &s->over);
    }
    if (!pool->small || s->feasible == 0)
        add_best(pool, job, &s->tightest);
}

/* What a time and a memory of it come to. */
static struct plan_reach reach_of(const struct plan_run *run, const struct option *x,
                                  double time_s, double memory_B)
{
    double hours = run->job->steps * time_s / UNITS_HOUR_S,
           usd = hours * x->usd_per_hour;
    return (struct plan_reach) {
        .value = plan_value(run->job, run->o, &x->point, time_s, memory_B),
        .excess = isfinite(usd) ? usd : hours,
        .need = memory_B / x->c.capacity_B,
        .user = x->user,
        .in_budget = plan_in_budget(run->o, hours, usd),
        .risky = run->o->risk.rule != RISK_NONE,
    };
}

/* The least that it may come to: by its bounds; in a space that is not small, by its
 * score, were scores off by so many times their band. */
static struct plan_reach least_of(const struct plan_run *run, const struct pool *pool,
                                  const struct option *x, double bands)
{
    double time_s, memory_B;
    if (pool->small)
        return reach_of(run, x, x->c.least_s, x->c.least_B);
    plan_run_correct(run, &x->point, &x->c, &time_s, &memory_B);
    return reach_of(run, x, fmax(x->c.least_s, time_s / (1 + bands * run->time_band)),
                    fmax(x->c.least_B, memory_B / (1 + bands * run->memory_band)));
}

static void expect(const struct plan_run *run, struct option *x)
{
    double time_s, memory_B;
    plan_run_correct(run, &x->point, &x->c, &time_s, &memory_B);
    struct plan_reach r = reach_of(run, x, time_s, memory_B);
    x->expected = plan_order_expect(&r, &x->key);
}

static int by_expectation(const void *a, const void *b)
{
    const struct option *x = *(struct option *const *)a,
                        *y = *(struct option *const *)b;
    if (x->expected != y->expected)
        return x->expected < y->expected ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return space_compare(&x->point, &y->point);
}

/* Chooses up to `most` of those that matter if scores are off by so many times their band,
 * in the order that is expected of them. */
static int64_t choose_next(struct plan_run *run, struct pool *pool, int64_t most,
                           double bands)
{
    struct plan_limits limits;
    struct option **next = xcalloc((size_t)pool->v.n + 1, sizeof(struct option *));
    int64_t n = 0, chosen = 0;
    plan_order_limits(&limits, run->all.v, run->all.n, run->o->listed);
    for (int64_t i = 0; i < pool->v.n; i++) {
        struct option *x = &pool->v.v[i];
        struct plan_reach r = least_of(run, pool, x, bands);
        if (x->taken || !plan_order_matters(&limits, &r))
            continue;
        expect(run, x);
        next[n++] = x;
    }
    qsort(next, (size_t)n, sizeof(struct option *), by_expectation);
    for (int64_t i = 0; i < n && chosen < most; i++) {
        next[i]->taken = true;
        chosen += plan_run_choose(run, &next[i]->c);
    }
    free(next);
    return chosen;
}

/* How many of `most` are left: what is far too large uses up none, up to half as many
 * again. */
static int64_t left_of(const struct plan_run *run, int64_t most)
{
    int64_t apart = run->apart < most / 2 ? run->apart : most / 2;
    return most - (run->all.n - apart);
}

/* Whether the search may go on beyond `most`: while points are cheap to simulate, and in
 * small spaces as long as their work is bounded (10^6 passes: a few seconds). */
static bool may_go_on(const struct plan_run *run, const struct pool *pool, int64_t most)
{
    enum { CHEAP_PASSES = 20000, SMALL_PASSES = 1000000, TIMES = 6 };
    if (pool->small)
        return run->passes < SMALL_PASSES;
    return left_of(run, most) > 0 ||
           (run->passes < CHEAP_PASSES && run->all.n < TIMES * most);
}

/* Some at a time, each time with what the last ones taught, until none is left that
 * matters or `most` are simulated. Scores are not trusted before `least` are: then
 * what is further away matters, too. */
static void simulate_pool(struct plan_run *run, struct pool *pool, int64_t least,
                          int64_t most)
{
    enum { AT_ONCE = 16 };
    static const double few_bands = 3;
    while (may_go_on(run, pool, most) && !plan_stopped(run->o)) {
        int64_t left = left_of(run, most) > 0 ? left_of(run, most) : AT_ONCE;
        plan_run_learn(run);
        if (!choose_next(run, pool, left < AT_ONCE ? left : AT_ONCE,
                         run->all.n < least ? few_bands : 1))
            return;
        int64_t total = pool->small ? pool->v.n : most;
        plan_run_simulate(run, run->all.n > total ? run->all.n : total);
    }
}

/* The key that its score, as corrected, gives it; INFINITY where it is too large, over
 * the budget, or of others than the users of the plans that are listed. */
static double expected_value(const struct plan_run *run, const struct plan_limits *l,
                             const struct option *x)
{
    bool users = l->listed == PLAN_PASSES || l->listed == PLAN_TIGHT;
    double time_s, memory_B, none = INFINITY;
    plan_run_correct(run, &x->point, &x->c, &time_s, &memory_B);
    struct plan_reach r = reach_of(run, x, time_s, memory_B);
    return r.need <= 1 && r.in_budget && (r.user || !users) ? plan_order_key(&r) : none;
}

static struct plan_run_left count_left(const struct plan_run *run,
                                       const struct pool *pool)
{
    struct plan_run_left left = { .least = INFINITY, .nearest = INFINITY };
    struct plan_limits limits;
    plan_order_limits(&limits, run->all.v, run->all.n, run->o->listed);
    for (int64_t i = 0; i < pool->v.n; i++) {
        const struct option *x = &pool->v.v[i];
        struct plan_reach r = least_of(run, pool, x, 1);
        if (!x->taken && !pool->small)
            left.nearest = fmin(left.nearest, expected_value(run, &limits, x));
        if (x->taken || !plan_order_matters(&limits, &r))
            continue;
        left.n++;
        left.least = fmin(left.least, plan_order_key(&r));
    }
    return left;
}

/* Uphill --------------------------------------------------------------------------- */

/* What is one change away from the best may be better, whatever the scores say: it is
 * simulated, and so on from there. */
static void climb(struct plan_run *run, struct scorer *scorer)
{
    enum { ROUNDS = 3 };
    for (int round = 0; round < ROUNDS && !plan_stopped(run->o); round++) {
        struct plan_near near[PLAN_NEAR_MAX];
        const struct plan_entry *best = plan_run_best_entry(run);
        if (!best)
            break;
        struct space_point from = best->point;
        int32_t n = plan_near(near, &run->job->space, &from);
        for (int32_t i = 0; i < n; i++) {
            struct candidate c;
            if (plan_candidate(&c, scorer, &near[i].point, 0) &&
                c.least_B <= c.capacity_B)
                plan_run_choose(run, &c);
        }
        plan_run_simulate(run, run->all.n);
        if (space_compare(&plan_run_best_entry(run)->point, &from) == 0)
            break;
    }
}

/* A budget, or memory as the objective, decides by numbers of which scores may be off:
 * all points are scored again as the first that were simulated correct them. */
static void score_again(struct plan_run *run, struct scored *s)
{
    struct scored again;
    bool asked = run->o->max_cost_usd > 0 || run->o->deadline_h > 0 ||
                 run->o->objective == PLAN_MEMORY;
    if (!asked || run->all.n == 0 || plan_stopped(run->o))
        return;
    plan_run_learn(run);
    plan_score_all(&again, run->job, run->o, run);
    scored_release(s);
    *s = again;
    sort_scored(s);
}

struct plan_run_left plan_run_best(struct plan_run *run, struct scored *s)
{
    enum { OF_FIVE = 4, TIMES = 4 }; /* the rest is for climbing */
    bool small = s->feasible <= PLAN_SMALL;
    int64_t most = run->o->simulate_most * OF_FIVE / 5 + 1;
    struct pool pool = { 0 };
    sort_scored(s);
    if (!small) {
        choose_various(run, s);
        plan_run_simulate(run, most);
        score_again(run, s);
    }
    fill_pool(&pool, run->job, s);
    simulate_pool(run, &pool, small ? 0 : run->o->simulate_most / 2, most);
    if (!small && !plan_run_best_entry(run)) /* the scores misjudged memory or time */
        simulate_pool(run, &pool, 0, TIMES * most);
    if (!small)
        climb(run, s->scorer);
    plan_run_learn(run);
    struct plan_run_left left = count_left(run, &pool);
    VEC_RELEASE(&pool.v);
    return left;
}
