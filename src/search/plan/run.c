#include "search/plan/run.h"

#include "base/units.h"
#include "search/plan/best.h"
#include "search/plan/order.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries -------------------------------------------------------------------------- */

/* What a step of the job takes, or is billed, with its share of what is around the
 * steps. */
static double share_of_job(const struct plan_job *job, double step_s, double job_s)
{
    return job_s > 0 && job->steps > 0 ? job_s / job->steps : step_s;
}

static void value_entry(struct plan_entry *e, const struct plan_job *job,
                        const struct plan_options *o)
{
    const struct plan_result *r = &e->result;
    double time_s = share_of_job(job, r->step_time_s, r->job_s),
           billed_s = share_of_job(job, r->step_time_s, r->billed_s);
    e->usd_per_hour = plan_point_usd_per_hour(job, &e->point);
    if (r->known && !r->timed) {
        e->hours = e->usd = (double)NAN;
        e->value = INFINITY;
        plan_order_judge(e, job, o);
        return;
    }
    e->hours = job->steps > 0 ? job->steps * time_s / UNITS_HOUR_S : (double)NAN;
    e->usd = job->steps > 0 ? job->steps * billed_s / UNITS_HOUR_S * e->usd_per_hour
                            : (double)NAN;
    e->value =
        plan_value(job, o, &e->point, o->objective == PLAN_COST ? billed_s : time_s,
                   (double)r->peak_B);
    e->in_budget = plan_in_budget(o, e->hours, e->usd);
    plan_order_judge(e, job, o);
}

void plan_entry_make(struct plan_entry *e, const struct plan_job *job,
                     const struct plan_options *o)
{
    plan_point_simulate(job, &e->point, (struct plan_point_how) { 0 }, &e->result);
    value_entry(e, job, o);
}

static bool plan_run_has(const struct plan_run *run, const uint16_t *at)
{
    for (int64_t i = 0; i < run->all.n; i++)
        if (memcmp(run->all.v[i].point.at, at, SPACE_N * sizeof(*at)) == 0)
            return true;
    return false;
}

/* Passes to replay: about what simulating the point takes. */
static int64_t passes_of(const struct space_point *p)
{
    return p->v[SPACE_PIPELINE] * p->v[SPACE_VIRTUAL] * p->microbatches;
}

bool plan_run_choose(struct plan_run *run, const struct candidate *c)
{
    if (plan_run_has(run, c->at))
        return false;
    struct plan_entry *e = VEC_ADD(&run->all);
    *e = (struct plan_entry) { .score_s = c->time_s,
                               .score_B = c->memory_B,
                               .standing = PLAN_UNKNOWN };
    memcpy(e->point.at, c->at, sizeof(c->at));
    space_fill(&run->job->space, &e->point);
    run->passes += passes_of(&e->point);
    return true;
}

static int by_passes(const void *a, const void *b)
{
    const struct plan_entry *x = *(struct plan_entry *const *)a,
                            *y = *(struct plan_entry *const *)b;
    int64_t p = passes_of(&x->point), q = passes_of(&y->point);
    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

/* Simulates what was chosen since the last time, on all cores; what takes longest goes
 * first, so that all cores end at about the same time (Graham 1969: LPT). */
void plan_run_simulate(struct plan_run *run, int64_t total)
{
    int64_t n = run->all.n - run->first_new;
    struct plan_entry **next = xcalloc((size_t)n + 1, sizeof(struct plan_entry *));
    for (int64_t i = 0; i < n; i++)
        next[i] = &run->all.v[run->first_new + i];
    qsort(next, (size_t)n, sizeof(struct plan_entry *), by_passes);
    if (n && run->o->progress && run->done == 0)
        run->o->progress(run->o->progress_arg,
                         &(struct plan_progress) { "simulating", 0, total });
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < n; i++) {
        struct plan_entry *e = next[i];
        if (plan_stopped(run->o)) {
            e->skipped = true;
            continue;
        }
        plan_point_simulate(run->job, &e->point,
                            (struct plan_point_how) { .if_fits = true }, &e->result);
        value_entry(e, run->job, run->o);
        if (!run->o->progress)
            continue;
#pragma omp critical(plan_progress)
        run->o->progress(run->o->progress_arg,
                         &(struct plan_progress) { "simulating", ++run->done, total });
    }
    free(next);
    for (int64_t i = run->first_new; i < run->all.n; i++)
        run->apart += run->all.v[i].result.known && !run->all.v[i].result.timed;
    run->first_new = run->all.n;
}

/* What the simulated say of the scores --------------------------------------------- */

/* Sorts v. */
static double median(double *v, int64_t n)
{
    gsl_sort(v, 1, (size_t)n);
    return v[n / 2];
}

/* The median over the simulated of a kind, with that digit of the tensor degree; any
 * digit where it is negative. 0: there is none. */
static double ratio_of(const struct plan_run *run, int kind, int tensor, double *v)
{
    int64_t n = 0;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        if (e->result.timed && plan_kind(&run->job->space, &e->point) == kind &&
            (tensor < 0 || e->point.at[SPACE_TENSOR] == tensor))
            v[n++] = e->result.step_time_s / e->score_s;
    }
    return n ? median(v, n) : 0;
}

/* Over all that were simulated: the median, and how far the others are from it. */
static double memory_ratio(const struct plan_run *run, double *v)
{
    int64_t n = 0;
    for (int64_t i = 0; i < run->all.n; i++)
        if (run->all.v[i].result.known)
            v[n++] = (double)run->all.v[i].result.peak_B / run->all.v[i].score_B;
    return n ? median(v, n) : 1;
}

static double memory_error(const struct plan_run *run, double *v)
{
    int64_t n = 0;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        if (e->result.known)
            v[n++] =
                fabs((double)e->result.peak_B / (e->score_B * run->memory_ratio) - 1);
    }
    gsl_sort(v, 1, (size_t)n);
    return n ? v[n - 1 - n / 10] : 0;
}

/* Scores are never taken to be better than that; errors are those of plans about as
 * fast as the best. */
static const double least_time_band = 0.03, least_memory_band = 0.03, near_best = 1.3;

void plan_run_learn(struct plan_run *run)
{
    double *v = xcalloc((size_t)run->all.n + 1, sizeof(*v));
    for (int k = 0; k < KINDS; k++) {
        double any = ratio_of(run, k, -1, v);
        for (int t = 0; t < TENSORS; t++) {
            double own = any > 0 ? ratio_of(run, k, t, v) : 0;
            run->ratios[k][t] = own > 0 ? own : any;
        }
    }
    run->memory_ratio = memory_ratio(run, v);
    run->memory_band = fmax(2 * memory_error(run, v), least_memory_band);
    const struct plan_entry *best = plan_run_best_entry(run);
    double error =
        best ? plan_run_score_error(run, near_best * best->result.step_time_s) : 0;
    run->time_band = fmax(2 * error, least_time_band);
    free(v);
}

static double correction(const struct plan_run *run, const struct space_point *p)
{
    int t = p->at[SPACE_TENSOR] < TENSORS ? p->at[SPACE_TENSOR] : TENSORS - 1;
    return run->ratios[plan_kind(&run->job->space, p)][t];
}

void plan_run_correct(const struct plan_run *run, const struct space_point *p,
                      const struct candidate *c, double *time_s, double *memory_B)
{
    double ratio = run ? correction(run, p) : 0;
    *time_s = c->time_s * (ratio > 0 ? ratio : 1);
    *memory_B = c->memory_B * (run && run->memory_ratio > 0 ? run->memory_ratio : 1);
}

struct plan_run_odds plan_run_odds(const struct plan_run *run, double ratio)
{
    struct plan_run_odds odds = { 0 };
    int64_t below = 0;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        double by = correction(run, &e->point);
        if (!e->result.timed || by <= 0 || e->score_s <= 0)
            continue;
        double came = e->result.step_time_s / (e->score_s * by);
        odds.n++;
        below += came <= ratio;
        odds.largest_error = fmax(odds.largest_error, fabs(came - 1));
    }
    odds.chance = (double)(below + 1) / (double)(odds.n + 1);
    return odds;
}

double plan_run_score_error(const struct plan_run *run, double most_s)
{
    double *v = xcalloc((size_t)run->all.n + 1, sizeof(*v)), error = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        double ratio = correction(run, &e->point);
        if (e->result.timed && e->result.step_time_s <= most_s && ratio > 0)
            v[n++] = fabs(e->result.step_time_s / (e->score_s * ratio) - 1);
    }
    if (n) {
        gsl_sort(v, 1, (size_t)n);
        error = v[n - 1 - n / 10];
    }
    free(v);
    return error;
}

const struct plan_entry *plan_run_best_entry(const struct plan_run *run)
{
    const struct plan_entry *best = NULL;
    for (int64_t i = 0; i < run->all.n; i++) {
        const struct plan_entry *e = &run->all.v[i];
        if (!e->skipped && e->standing <= PLAN_LISTED_MAX &&
            (!best || plan_order_compare(e, best) < 0))
            best = e;
    }
    return best;
}
