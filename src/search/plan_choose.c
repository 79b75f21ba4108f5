/* Which of the scored points are simulated. */
#include "search/plan_best.h"
#include "search/plan_near.h"
#include "search/plan_run.h"
#include "search/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- choosing --------------------------------------------------------------------- */

/* All that is kept of the scores, corrected, best first. */
static int64_t corrected(const struct run *run, const struct scored *s,
                         struct candidate **out)
{
    int64_t n = 0;
    for (int k = 0; k < KINDS; k++)
        n += s->kinds[k].n;
    struct candidate *all = xcalloc((size_t)n + 1, sizeof(*all));
    n = 0;
    for (int k = 0; k < KINDS; k++)
        for (int32_t i = 0; i < s->kinds[k].n; i++) {
            all[n] = s->kinds[k].v[i];
            double ratio = run->o->objective == PLAN_MEMORY
                               ? run->memory_ratio
                               : run_correction(run, k, all[n].at);
            all[n++].value *= ratio > 0 ? ratio : 1;
        }
    struct best b = { .n = (int32_t)n, .most = (int32_t)n, .v = all };
    best_sort(&b);
    *out = all;
    return n;
}

static double price_of(const struct run *run, const struct candidate *c)
{
    struct space_point p;
    memcpy(p.at, c->at, sizeof(p.at));
    bool allowed = space_fill(&run->job->space, &p);
    double usd = plan_point_usd_per_hour(run->job, &p);
    return allowed && isfinite(usd) ? usd : (double)p.world;
}

/* Whether another cluster is faster and no dearer by the scores. */
static bool beaten(const struct run *run, const struct scored *s, int32_t cluster)
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
static void choose_various(struct run *run, struct scored *s)
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
                run_choose(run, &s->kinds[k].v[i]);
    for (int32_t i = 0, n = 0; i < s->n_clusters && n < CLUSTERS_SHOWN; i++)
        if (s->clusters[i].n && !beaten(run, s, i) && run->all.n < limit)
            n += run_choose(run, &s->clusters[i].v[0]);
    for (int i = 0; i < MEMORY_BINS && run->all.n < limit; i++)
        if (s->bins[i].n)
            run_choose(run, &s->bins[i].v[0]);
}

static bool anything_fits(const struct run *run)
{
    for (int64_t i = 0; i < run->all.n; i++)
        if (run->all.v[i].result.known && run->all.v[i].result.fits)
            return true;
    return false;
}

static const struct plan_entry *best_so_far(const struct run *run)
{
    const struct plan_entry *best = NULL;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        if (e->result.known && e->result.fits && e->in_budget &&
            (!best || plan_by_value(e, best) < 0))
            best = e;
    }
    return best;
}

/* By corrected scores, up to `most` in all and none of a value above the limit. */
static void choose_best(struct run *run, const struct scored *s, int64_t most,
                        double limit)
{
    struct candidate *all;
    int64_t n = corrected(run, s, &all);
    for (int64_t i = 0; i < n && run->all.n < most && all[i].value <= limit; i++)
        run_choose(run, &all[i]);
    free(all);
}

static void choose_doubtful(struct run *run, const struct scored *s, int64_t most)
{
    for (int32_t i = 0; i < s->doubtful.n && run->all.n < most; i++)
        run_choose(run, &s->doubtful.v[i]);
}

static void sort_scored(struct scored *s)
{
    for (int k = 0; k < KINDS; k++)
        best_sort(&s->kinds[k]);
    best_sort(&s->doubtful);
    best_sort(&s->tightest);
}

/* --- uphill ----------------------------------------------------------------------- */

/* What is one change away from the best may be better, whatever the scores say: it is
 * simulated, and so on from there. */
static void climb(struct run *run)
{
    enum { ROUNDS = 3 };
    struct scorer *scorer = scorer_new(run->job);
    for (int round = 0; round < ROUNDS && !plan_stopped(run->o); round++) {
        struct plan_near near[PLAN_NEAR_MAX];
        const struct plan_entry *best = best_so_far(run);
        if (!best)
            break;
        struct space_point from = best->point;
        int32_t n = plan_near(near, &run->job->space, &from);
        for (int32_t i = 0; i < n; i++) {
            struct score score;
            if (!scorer_point(scorer, &near[i].point, &score) ||
                score.least_B > score.capacity_B)
                continue;
            struct candidate c = { .time_s = score.time_s, .memory_B = score.memory_B };
            memcpy(c.at, near[i].point.at, sizeof(c.at));
            run_choose(run, &c);
        }
        run_simulate(run, run->all.n);
        if (space_compare(&best_so_far(run)->point, &from) == 0)
            break;
    }
    scorer_free(scorer);
}

/* Those whose corrected scores may still come to the best, some at a time, each time
 * with what the last ones taught; at least half of what may be simulated. */
static void simulate_promising(struct run *run, const struct scored *s, int64_t most)
{
    enum { AT_ONCE = 16 };
    static const double least_margin = 0.03,
                        near = 1.3; /* times the best: to learn of */
    for (;;) {
        run_learn(run);
        const struct plan_entry *best = best_so_far(run);
        int64_t before = run->all.n, to = before + AT_ONCE;
        double limit = INFINITY;
        bool by_time = run->o->objective != PLAN_MEMORY;
        if (best && by_time && before >= run->o->simulate_most / 2) {
            double error = run_score_error(run, near * best->result.step_time_s);
            limit = best->value * (1 + fmax(2 * error, least_margin));
        }
        choose_best(run, s, to < most ? to : most, limit);
        if (run->all.n == before || plan_stopped(run->o))
            return;
        run_simulate(run, most);
    }
}

void run_best(struct run *run, struct scored *s)
{
    enum { OF_FIVE = 4 }; /* the rest is for climbing */
    int64_t most = run->o->simulate_most * OF_FIVE / 5 + 1, doubtful = most / 10;
    sort_scored(s);
    choose_various(run, s);
    run_simulate(run, most);
    simulate_promising(run, s, most - doubtful);
    int64_t to = run->all.n + doubtful;
    choose_doubtful(run, s, to < most ? to : most);
    run_simulate(run, most);
    bool none = run->all.n == 0;
    for (int32_t i = 0; none && i < s->over.n; i++)
        run_choose(run, &s->over.v[i]);
    run_simulate(run, most);
    if (!anything_fits(run) &&
        !plan_stopped(run->o)) { /* the scores misjudged memory */
        for (int32_t i = 0; i < s->tightest.n; i++)
            run_choose(run, &s->tightest.v[i]);
        choose_best(run, s, 2 * most, INFINITY);
        choose_doubtful(run, s, 2 * most);
        run_simulate(run, run->all.n);
    }
    climb(run);
}
