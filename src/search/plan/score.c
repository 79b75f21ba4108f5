#include "search/plan/score.h"

#include "base/units.h"
#include "base/xmalloc.h"
#include "search/plan/run.h"
#include "search/score/score.h"
#include "search/space/users.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scores may be so far off before a budget rules a point out, as long as nothing was
 * simulated. */
static const double first_band = 0.5;

int plan_kind(const struct space *s, const struct space_point *p)
{
    int64_t kind = p->v[SPACE_LIBRARY];
    kind = kind * 2 + (p->v[SPACE_PIPELINE] > 1);
    kind = kind * 2 + (p->v[SPACE_EXPERT] > 1);
    kind = kind * KIND_SHARDINGS + p->v[SPACE_SHARDING];
    return (int)kind * 2 + space_users_can(s, p);
}

double plan_value(const struct plan_job *job, const struct plan_options *o,
                  const struct space_point *p, double time_s, double memory_B)
{
    double usd;
    switch (o->objective) {
    case PLAN_TIME:
        return time_s;
    case PLAN_COST:
        usd = plan_point_usd_per_hour(job, p);
        return isfinite(usd) ? usd * time_s / UNITS_HOUR_S : (double)INFINITY;
    case PLAN_MEMORY:
        return memory_B;
    }
    return time_s;
}

bool plan_stopped(const struct plan_options *o)
{
    return o->stop && *o->stop;
}

bool plan_in_budget(const struct plan_options *o, double hours, double usd)
{
    if (o->deadline_h > 0 && !(hours <= o->deadline_h))
        return false;
    return o->max_cost_usd <= 0 || usd <= o->max_cost_usd;
}

static void scored_init(struct scored *s, const struct plan_job *job,
                        const struct plan_options *o)
{
    const struct space *x = &job->space;
    *s = (struct scored) { 0 };
    for (int i = 0; i < KINDS; i++)
        s->kinds[i].most = o->simulate_most;
    for (int i = 0; i < MEMORY_BINS; i++)
        s->bins[i].most = 1;
    s->uncertain.most = o->simulate_most;
    s->tightest.most = s->over.most = 8;
    int64_t n = (int64_t)x->n[SPACE_INSTANCE] * x->n[SPACE_COUNT] * x->n[SPACE_GPUS];
    s->n_clusters = n > 1 && n <= CLUSTERS_MAX ? (int32_t)n : 0;
    s->clusters = xcalloc((size_t)s->n_clusters + 1, sizeof(*s->clusters));
    for (int32_t i = 0; i < s->n_clusters; i++)
        s->clusters[i].most = 1;
}

void scored_release(struct scored *s)
{
    for (int i = 0; i < KINDS; i++)
        best_release(&s->kinds[i]);
    for (int i = 0; i < MEMORY_BINS; i++)
        best_release(&s->bins[i]);
    for (int32_t i = 0; i < s->n_clusters; i++)
        best_release(&s->clusters[i]);
    best_release(&s->uncertain);
    best_release(&s->tightest);
    best_release(&s->over);
    VEC_RELEASE(&s->all);
    free(s->clusters);
    if (s->scorer)
        scorer_free(s->scorer);
}

static void scored_merge(struct scored *s, const struct scored *other)
{
    s->evaluated += other->evaluated;
    s->feasible += other->feasible;
    for (int i = 0; i < KINDS; i++)
        best_merge(&s->kinds[i], &other->kinds[i]);
    for (int i = 0; i < MEMORY_BINS; i++)
        best_merge(&s->bins[i], &other->bins[i]);
    for (int32_t i = 0; i < s->n_clusters; i++)
        best_merge(&s->clusters[i], &other->clusters[i]);
    best_merge(&s->uncertain, &other->uncertain);
    best_merge(&s->tightest, &other->tightest);
    best_merge(&s->over, &other->over);
    for (int64_t i = 0; i < other->all.n && s->all.n <= PLAN_SMALL; i++)
        VEC_PUSH(&s->all, other->all.v[i]);
}

/* A point that is likely to fit, under each heading. */
static void keep(struct scored *s, const struct space *x, const struct space_point *p,
                 struct candidate *c)
{
    best_offer(&s->kinds[plan_kind(x, p)], c);
    c->value = c->time_s;
    int bin = (int)(c->memory_B / c->capacity_B * MEMORY_BINS);
    best_offer(&s->bins[bin < 0 ? 0 : bin >= MEMORY_BINS ? MEMORY_BINS - 1 : bin], c);
    if (s->n_clusters) {
        int32_t at = (p->at[SPACE_INSTANCE] * x->n[SPACE_COUNT] + p->at[SPACE_COUNT]) *
                         x->n[SPACE_GPUS] +
                     p->at[SPACE_GPUS];
        best_offer(&s->clusters[at], c);
    }
}

struct pass {
    const struct plan_job *job;
    const struct plan_options *o;
    const struct plan_run *run; /* what corrects scores; NULL: nothing yet */
};

bool plan_candidate(struct candidate *c, struct scorer *scorer,
                    const struct space_point *p, double most_need)
{
    struct score score;
    if (!scorer_point(scorer, p, most_need, &score))
        return false;
    *c = (struct candidate) { .time_s = score.time_s,
                              .memory_B = score.memory_B,
                              .least_s = score.least_s,
                              .least_B = score.least_B,
                              .capacity_B = score.capacity_B };
    memcpy(c->at, p->at, sizeof(c->at));
    return true;
}

/* A point that the memory bound lets fit, where it belongs: beyond the budget even if
 * its score is as far off as scores are; uncertain, or likely to fit. */
static void sort_out(struct scored *s, const struct pass *pass,
                     const struct space_point *p, struct candidate *c)
{
    double usd = plan_point_usd_per_hour(pass->job, p), time_s, memory_B;
    plan_run_correct(pass->run, p, c, &time_s, &memory_B);
    double band = pass->run ? pass->run->time_band : first_band;
    double hours = pass->job->steps * time_s / (1 + band) / UNITS_HOUR_S;
    if (!plan_in_budget(pass->o, hours, hours * usd)) {
        bool costs = pass->o->max_cost_usd > 0 && isfinite(usd);
        c->value = time_s * (costs ? usd : 1);
        if (memory_B <= c->capacity_B)
            best_offer(&s->over, c);
        return;
    }
    c->value = plan_value(pass->job, pass->o, p, time_s, memory_B);
    if (!isfinite(c->value))
        return;
    if (memory_B <= c->capacity_B) {
        keep(s, &pass->job->space, p, c);
    } else {
        c->value *= memory_B / c->capacity_B;
        best_offer(&s->uncertain, c);
    }
}

static void score_point(struct scored *s, const struct pass *pass,
                        struct scorer *scorer, const struct space_point *p)
{
    struct candidate c;
    const double tight =
        s->tightest.n < s->tightest.most ? (double)INFINITY : s->tightest.v[0].value;
    s->evaluated++;
    if (!plan_candidate(&c, scorer, p, tight))
        return;
    c.value = fmax(c.least_B, c.memory_B) / c.capacity_B;
    if (c.value <= tight)
        best_offer(&s->tightest, &c);
    if (c.least_B > c.capacity_B)
        return;
    s->feasible++;
    if (s->all.n <= PLAN_SMALL)
        VEC_PUSH(&s->all, c);
    sort_out(s, pass, p, &c);
}

bool plan_score_all(struct scored *out, const struct plan_job *job,
                    const struct plan_options *o, const struct plan_run *run)
{
    const struct pass pass = { job, o, run };
    int64_t n = space_slices(&job->space), done = 0;
    scored_init(out, job, o);
#pragma omp parallel
    {
        struct scored mine;
        struct scorer *scorer = scorer_new(job);
        scored_init(&mine, job, o);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < n; i++) {
            struct space_iter it;
            space_iter_init(&it, &job->space, i);
            while (!plan_stopped(o) && space_next(&it))
                score_point(&mine, &pass, scorer, &it.p);
            if (!o->progress)
                continue;
#pragma omp critical(plan_progress)
            o->progress(o->progress_arg,
                        &(struct plan_progress) { "scoring", ++done, n });
        }
#pragma omp critical(plan_merge)
        {
            scored_merge(out, &mine);
            if (out->scorer)
                scorer_free(scorer);
            else
                out->scorer = scorer;
        }
        scored_release(&mine);
    }
    return !plan_stopped(o);
}
