#include "search/plan.h"

#include "base/vec.h"
#include "replay/result_json.h"
#include "search/plan_near.h"
#include "search/plan_score.h"
#include "search/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct name_value plan_objective_names[] = {
    { "time", PLAN_TIME },
    { "cost", PLAN_COST },
    { "memory", PLAN_MEMORY },
    { NULL, 0 },
};

/* Candidates chosen, and what simulating them gave, in the order of choice. */
struct run {
    const struct plan_job *job;
    const struct plan_options *o;
    double steps;
    VEC(struct plan_entry) all;
    int64_t first_new;             /* those before are simulated */
    double ratios[KINDS][TENSORS]; /* simulated over score; 0: unknown */
    double memory_ratio;           /* the same of memory, over all */
};

double plan_job_steps(const struct plan_job *job, const struct plan_options *o)
{
    const struct space *s = &job->space;
    if (o->tokens > 0)
        return ceil(o->tokens / ((double)s->global_batch * (double)s->sequence));
    struct scenario x = job->stacks[s->values[SPACE_LIBRARY][0]].probe;
    x.training.global_batch_size = s->global_batch;
    return (double)scenario_job_steps(&x);
}

static bool stopped(const struct plan_options *o)
{
    return o->stop && *o->stop;
}

/* --- entries --------------------------------------------------------------------------- */

static void value_entry(struct plan_entry *e, const struct plan_job *job,
                        const struct plan_options *o, double steps)
{
    const struct plan_result *r = &e->result;
    e->usd_per_hour = plan_point_usd_per_hour(job, &e->point);
    e->hours = steps > 0 ? steps * r->step_time_s / 3600 : (double)NAN;
    e->usd = e->hours * e->usd_per_hour;
    e->value = plan_value(job, o, &e->point, r->step_time_s, (double)r->peak_B);
    e->in_budget = plan_in_budget(o, steps, r->step_time_s, e->usd_per_hour);
}

void plan_entry_make(struct plan_entry *e, const struct plan_job *job,
                     const struct plan_options *o)
{
    plan_point_simulate(job, &e->point, NULL, 1, &e->result);
    value_entry(e, job, o, plan_job_steps(job, o));
}

static bool chosen(const struct run *run, const uint16_t *at)
{
    for (int64_t i = 0; i < run->all.n; i++)
        if (memcmp(run->all.v[i].point.at, at, SPACE_N * sizeof(*at)) == 0)
            return true;
    return false;
}

static bool choose(struct run *run, const struct candidate *c)
{
    if (chosen(run, c->at))
        return false;
    struct plan_entry *e = VEC_ADD(&run->all);
    *e = (struct plan_entry) { .score_s = c->time_s, .score_B = c->memory_B };
    memcpy(e->point.at, c->at, sizeof(c->at));
    space_fill(&run->job->space, &e->point);
    return true;
}

/* Simulates what was chosen since the last time, on all cores. */
static void simulate_chosen(struct run *run, int64_t total)
{
    int64_t done = run->first_new, n = run->all.n;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = run->first_new; i < n; i++) {
        struct plan_entry *e = &run->all.v[i];
        if (stopped(run->o)) {
            snprintf(e->result.why, sizeof(e->result.why), "stopped");
            continue;
        }
        plan_point_simulate(run->job, &e->point, NULL, 1, &e->result);
        value_entry(e, run->job, run->o, run->steps);
        if (!run->o->progress)
            continue;
#pragma omp critical(plan_progress)
        run->o->progress(run->o->progress_arg,
                         &(struct plan_progress) { "simulating", ++done, total });
    }
    run->first_new = n;
}

/* --- what the simulated say of the scores -------------------------------------------------- */

static int by_real(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *v, int64_t n)
{
    qsort(v, (size_t)n, sizeof(*v), by_real);
    return v[n / 2];
}

/* The median over the simulated of a kind, with that digit of the tensor degree; any
 * digit where it is negative. 0: there is none. */
static double ratio_of(const struct run *run, int kind, int tensor, double *v)
{
    int64_t n = 0;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        if (e->result.known && plan_kind(&e->point) == kind &&
            (tensor < 0 || e->point.at[SPACE_TENSOR] == tensor))
            v[n++] = e->result.step_time_s / e->score_s;
    }
    return n ? median_of(v, n) : 0;
}

static void learn(struct run *run)
{
    double *v = xcalloc((size_t)run->all.n + 1, sizeof(*v));
    for (int k = 0; k < KINDS; k++) {
        double any = ratio_of(run, k, -1, v);
        for (int t = 0; t < TENSORS; t++) {
            double own = any > 0 ? ratio_of(run, k, t, v) : 0;
            run->ratios[k][t] = own > 0 ? own : any;
        }
    }
    int64_t n = 0;
    for (int64_t i = 0; i < run->all.n; i++)
        if (run->all.v[i].result.known)
            v[n++] = (double)run->all.v[i].result.peak_B / run->all.v[i].score_B;
    run->memory_ratio = n ? median_of(v, n) : 1;
    free(v);
}

static double correction(const struct run *run, int kind, const uint16_t *at)
{
    return run
        ->ratios[kind][at[SPACE_TENSOR] < TENSORS ? at[SPACE_TENSOR] : TENSORS - 1];
}

/* --- choosing ------------------------------------------------------------------------------- */

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
                               : correction(run, k, all[n].at);
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
                choose(run, &s->kinds[k].v[i]);
    for (int32_t i = 0, n = 0; i < s->n_clusters && n < CLUSTERS_SHOWN; i++)
        if (s->clusters[i].n && !beaten(run, s, i) && run->all.n < limit)
            n += choose(run, &s->clusters[i].v[0]);
    for (int i = 0; i < MEMORY_BINS && run->all.n < limit; i++)
        if (s->bins[i].n)
            choose(run, &s->bins[i].v[0]);
}

static bool anything_fits(const struct run *run)
{
    for (int64_t i = 0; i < run->all.n; i++)
        if (run->all.v[i].result.known && run->all.v[i].result.fits)
            return true;
    return false;
}

static void choose_best(struct run *run, const struct scored *s, int64_t limit)
{
    struct candidate *all;
    int64_t n = corrected(run, s, &all);
    for (int64_t i = 0; i < n && run->all.n < limit; i++)
        choose(run, &all[i]);
    for (int32_t i = 0; i < s->doubtful.n && run->all.n < limit; i++)
        choose(run, &s->doubtful.v[i]);
    free(all);
}

static void sort_scored(struct scored *s)
{
    for (int k = 0; k < KINDS; k++)
        best_sort(&s->kinds[k]);
    best_sort(&s->doubtful);
    best_sort(&s->tightest);
}

/* Entries by the objective. */
static int by_value(const void *a, const void *b)
{
    const struct plan_entry *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return space_compare(&x->point, &y->point);
}

/* --- uphill ---------------------------------------------------------------------------------- */

static const struct plan_entry *best_so_far(const struct run *run)
{
    const struct plan_entry *best = NULL;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        if (e->result.known && e->result.fits && e->in_budget &&
            (!best || by_value(e, best) < 0))
            best = e;
    }
    return best;
}

/* What is one change away from the best may be better, whatever the scores say: it is
 * simulated, and so on from there. */
static void climb(struct run *run)
{
    enum { ROUNDS = 3 };
    struct scorer *scorer = scorer_new(run->job);
    for (int round = 0; round < ROUNDS && !stopped(run->o); round++) {
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
            choose(run, &c);
        }
        simulate_chosen(run, run->all.n);
        if (space_compare(&best_so_far(run)->point, &from) == 0)
            break;
    }
    scorer_free(scorer);
}

static void simulate_best(struct run *run, struct scored *s)
{
    enum { OF_FIVE = 4 }; /* the rest is for climbing */
    int64_t most = run->o->simulate_most * OF_FIVE / 5 + 1, doubtful = most / 10;
    choose_various(run, s);
    simulate_chosen(run, most);
    learn(run);
    choose_best(run, s, most - doubtful);
    for (int32_t i = 0; i < s->doubtful.n && run->all.n < most; i++)
        choose(run, &s->doubtful.v[i]);
    choose_best(run, s, most);
    simulate_chosen(run, most);
    bool none = run->all.n == 0;
    for (int32_t i = 0; none && i < s->over.n; i++)
        choose(run, &s->over.v[i]);
    simulate_chosen(run, most);
    if (!anything_fits(run) && !stopped(run->o)) { /* the scores misjudged memory */
        for (int32_t i = 0; i < s->tightest.n; i++)
            choose(run, &s->tightest.v[i]);
        choose_best(run, s, 2 * most);
        simulate_chosen(run, run->all.n);
    }
    climb(run);
}

/* --- everything ---------------------------------------------------------------------------- */

/* Keeps the best of the entries that are simulated, so that memory does not grow. */
static void count_block(struct run *run, struct plan_outcome *out, struct arena *arena)
{
    enum { KEEP = 512 };
    int64_t n = 0;
    for (int64_t i = 0; i < run->all.n; i++) {
        struct plan_entry *e = &run->all.v[i];
        bool counted = isnan(e->score_B);
        if (!counted) {
            out->simulated++;
            out->refused += !e->result.known;
            out->unfit += e->result.known && !e->result.fits;
            if (!e->result.known && !out->refusal)
                out->refusal = arena_strdup(arena, e->result.why);
        }
        if (e->result.known && e->result.fits)
            run->all.v[n++] = *e;
    }
    run->all.n = n;
    if (n > KEEP) {
        qsort(run->all.v, (size_t)n, sizeof(*run->all.v), by_value);
        run->all.n = KEEP;
    }
    for (int64_t i = 0; i < run->all.n; i++)
        run->all.v[i].score_B = (double)NAN; /* counted */
    run->first_new = run->all.n;
}

static void simulate_all(struct run *run, struct plan_outcome *out, struct arena *arena)
{
    enum { BLOCK = 1024 };
    int64_t n = space_slices(&run->job->space), total = out->feasible;
    struct scorer *scorer = scorer_new(run->job);
    for (int64_t i = 0; i < n && !stopped(run->o); i++) {
        struct space_iter it;
        struct score score;
        space_iter_init(&it, &run->job->space, i);
        while (space_next(&it) && !stopped(run->o)) {
            if (!scorer_point(scorer, &it.p, &score) ||
                score.least_B > score.capacity_B)
                continue;
            VEC_PUSH(&run->all, ((struct plan_entry) { .point = it.p,
                                                       .score_s = score.time_s,
                                                       .score_B = score.memory_B }));
            if (run->all.n - run->first_new < BLOCK)
                continue;
            simulate_chosen(run, total);
            count_block(run, out, arena);
        }
    }
    simulate_chosen(run, total);
    count_block(run, out, arena);
    scorer_free(scorer);
}

/* --- outcome -------------------------------------------------------------------------------- */

static void count_simulated(const struct run *run, struct plan_outcome *out,
                            struct arena *arena)
{
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_result *r = &run->all.v[i].result;
        out->simulated++;
        out->refused += !r->known;
        out->unfit += r->known && !r->fits;
        if (!r->known && !out->refusal)
            out->refusal = arena_strdup(arena, r->why);
    }
}

/* How far scores are off once a kind's common error is taken out, and how many points
 * that were not simulated lie within that of the best. */
static void judge_scores(const struct run *run, const struct scored *s,
                         struct plan_outcome *out)
{
    double *v = xcalloc((size_t)run->all.n + 1, sizeof(*v));
    int64_t n = 0;
    double least = INFINITY;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        double ratio = correction(run, plan_kind(&e->point), e->point.at);
        if (!e->result.known || ratio <= 0)
            continue;
        v[n++] = fabs(e->result.step_time_s / (e->score_s * ratio) - 1);
        least = fmin(least, ratio);
    }
    if (n) {
        median_of(v, n);
        out->score_error = v[n - 1 - n / 10]; /* of nine in ten */
    }
    free(v);
    if (out->n_entries && isfinite(least) && run->o->objective != PLAN_MEMORY) {
        double below = out->entries[0].value / least * (1 + out->score_error);
        int64_t seen = 0;
        for (int64_t i = 0; i < run->all.n; i++) {
            const struct space_point *p = &run->all.v[i].point;
            double value = plan_value(run->job, run->o, p, run->all.v[i].score_s, 0);
            seen += value <= below;
        }
        int64_t near = spread_below(&s->spread, below) - seen;
        out->near = near > 0 ? near : 0;
    }
}

/* Over the budget: what comes nearest first. */
static int by_excess(const void *a, const void *b)
{
    const struct plan_entry *x = a, *y = b;
    double u = isfinite(x->usd) ? x->usd : x->hours,
           w = isfinite(y->usd) ? y->usd : y->hours;
    if (u != w)
        return u < w ? -1 : 1;
    return space_compare(&x->point, &y->point);
}

static void take_entries(struct plan_outcome *out, struct arena *arena,
                         const struct run *run)
{
    int64_t n = run->all.n;
    out->entries = ARENA_ARRAY(arena, n + 1, struct plan_entry);
    out->over = ARENA_ARRAY(arena, n + 1, struct plan_entry);
    for (int64_t i = 0; i < n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        if (!e->result.known || !e->result.fits || !isfinite(e->value))
            continue;
        if (e->in_budget)
            out->entries[out->n_entries++] = *e;
        else
            out->over[out->n_over++] = *e;
    }
    qsort(out->entries, (size_t)out->n_entries, sizeof(*out->entries), by_value);
    qsort(out->over, (size_t)out->n_over, sizeof(*out->over), by_excess);
    out->tie_error = result_extrapolated_error;
    for (int32_t i = 0; i < out->n_entries; i++)
        out->entries[i].tie = i > 0 && out->entries[i].value <=
                                           out->entries[0].value * (1 + out->tie_error);
    for (int64_t i = 0; i < n && out->n_entries + out->n_over == 0; i++) {
        const struct plan_entry *e = &run->all.v[i];
        const struct plan_result *r = &out->nearest.result;
        double need = (double)e->result.peak_B / (double)e->result.capacity_B;
        if (e->result.known &&
            (!out->has_nearest || need < (double)r->peak_B / (double)r->capacity_B)) {
            out->nearest = *e;
            out->has_nearest = true;
        }
    }
}

int plan_search(struct plan_outcome *out, struct arena *arena,
                const struct plan_job *job, const struct plan_options *o,
                struct err *err)
{
    *out = (struct plan_outcome) { .space = space_size(&job->space) };
    struct run run = { .job = job, .o = o, .steps = plan_job_steps(job, o) };
    struct scored scored;
    out->complete = plan_score_all(&scored, job, o);
    out->evaluated = scored.evaluated;
    out->feasible = scored.feasible;
    sort_scored(&scored);
    if (o->exhaustive) {
        simulate_all(&run, out, arena);
    } else {
        simulate_best(&run, &scored);
        count_simulated(&run, out, arena);
    }
    out->complete = out->complete && !stopped(o);
    take_entries(out, arena, &run);
    if (!o->exhaustive)
        judge_scores(&run, &scored, out);
    VEC_RELEASE(&run.all);
    scored_release(&scored);
    return out->evaluated == 0 && out->complete ? plan_empty(job, err) : 0;
}
