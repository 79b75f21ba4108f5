#include "campaign/uncertainty.h"

#include "base/units.h"
#include "campaign/checkpoint.h"
#include "campaign/montecarlo.h"

#include <inttypes.h>
#include <math.h>

/* Useful work of a draw where the job's own is not known. */
#define WEEK_HOURS 168.0

/* Step times. */
static int draw_steps(struct uncertainty_result *r, const struct uncertainty *u,
                      const struct scenario *s, const struct uncertainty_step *step,
                      const struct uncertainty_draws *how, struct err *err)
{
    double step_s = step->time_s;
    if (!montecarlo_varies(u)) {
        r->step_time_s = (struct distribution) { step_s, 0, step_s, step_s, step_s };
        return 0;
    }
    double *times_s = xcalloc((size_t)u->samples, sizeof(*times_s));
    int rc = montecarlo_steps(times_s, u->samples, u, s, how, err);
    for (int64_t i = 0; i < u->samples; i++) /* what else it waits for, it still does */
        times_s[i] = fmax(times_s[i], step->least_s);
    if (rc == 0)
        montecarlo_summarise(&r->step_time_s, times_s, u->samples);
    free(times_s);
    return rc;
}

/* Failures of the whole job, and checkpoints against them. */
static struct failure_process process_of(const struct failures *f,
                                         const struct scenario *s,
                                         const struct uncertainty_step *step)
{
    const struct cluster *c = &s->cluster;
    int64_t n = f->per == FAILURE_PER_GPU ? c->n_gpus : c->n_hosts;
    struct failure_process p = { .law = f->law,
                                 .shape = f->shape,
                                 .mtbf_s = f->mtbf_hours * UNITS_HOUR_S / (double)n,
                                 .checkpoint_s = f->checkpoint_s,
                                 .restart_s = f->restart_s };
    if (f->storage_Bps > 0)
        p.checkpoint_s = checkpoint_states_B(s) / f->storage_Bps;
    else if (f->checkpoint_s <= 0) { /* never below what failure_optimum_s can take */
        p.checkpoint_s = fmax(step->checkpoint_s, 1e-3);
        p.interval_s = step->interval_s;
    }
    if (f->interval_s > 0)
        p.interval_s = f->interval_s;
    if (p.interval_s <= 0)
        p.interval_s = failure_optimum_s(p.checkpoint_s, p.mtbf_s);
    return p;
}

static double job_hours(const struct failures *f, const struct scenario *s,
                        double step_s)
{
    int64_t steps = scenario_job_steps(s);
    if (f->job_hours > 0)
        return f->job_hours;
    return steps > 0 ? (double)steps * step_s / UNITS_HOUR_S : WEEK_HOURS;
}

/* One draw's shares of the time, and its steps. */
static double take_in(struct goodput_result *g, const struct failure_times *t,
                      double step_s)
{
    double wall_s = failure_wall_s(t);
    g->fraction += t->useful_s / wall_s;
    g->lost += t->lost_s / wall_s;
    g->checkpoints += t->checkpoints_s / wall_s;
    g->restarts += t->restarts_s / wall_s;
    g->failures_per_day += (double)t->failures / wall_s * UNITS_DAY_S;
    g->gave_up += t->gave_up;
    return t->useful_s / wall_s * UNITS_DAY_S / step_s;
}

/* Failures of all draws together, of which a second does some forty million. */
static int check_draws(const struct goodput_result *g, int64_t samples, struct err *err)
{
    const double all_most = 2e8;
    const struct failure_process *p = &g->process;
    double least_s = p->interval_s + p->checkpoint_s + p->restart_s;
    double each = g->job_hours * UNITS_HOUR_S / p->mtbf_s;
    if (each > FAILURE_COUNT_MAX || p->mtbf_s < least_s)
        each = FAILURE_COUNT_MAX; /* then it gives up */
    if ((double)samples * each <= all_most)
        return 0;
    return err_set(err,
                   "/uncertainty/samples: %" PRId64
                   " draws of up to %.0f failures each are "
                   "too many (write %.0f draws or less, or fewer job_hours)",
                   (int64_t)samples, each, floor(all_most / each));
}

static int draw_failures(struct goodput_result *g, const struct uncertainty *u,
                         const struct scenario *s, const struct uncertainty_step *step,
                         double step_s, struct err *err)
{
    const int64_t n = u->samples;
    *g = (struct goodput_result) { .process = process_of(&u->failures, s, step),
                                   .job_hours = job_hours(&u->failures, s, step_s) };
    if (check_draws(g, n, err))
        return -1;
    double *per_day = xcalloc((size_t)n, sizeof(*per_day));
    struct failure_times *times = xcalloc((size_t)n, sizeof(*times));
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++)
        failure_simulate(&times[i], &g->process, g->job_hours * UNITS_HOUR_S,
                         random_stream(u->seed, i, RANDOM_FAILURES));
    for (int64_t i = 0; i < n; i++) /* in order: sums do not depend on threads */
        per_day[i] = take_in(g, &times[i], step_s);
    double *const sums[] = { &g->fraction, &g->lost, &g->checkpoints, &g->restarts,
                             &g->failures_per_day };
    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
        *sums[i] /= (double)n;
    montecarlo_summarise(&g->steps_per_day, per_day, n);
    g->expected_fraction = u->failures.law == FAILURE_EXPONENTIAL
                               ? failure_expected_goodput(&g->process)
                               : (double)NAN;
    free(times);
    free(per_day);
    return 0;
}

int uncertainty_run(struct uncertainty_result *r, const struct uncertainty *u,
                    const struct scenario *s, const struct uncertainty_step *step,
                    const struct uncertainty_draws *how, struct err *err)
{
    *r = (struct uncertainty_result) { .given = u->given };
    if (!u->given)
        return 0;
    r->seed = u->seed;
    r->samples = u->samples;
    r->varies = montecarlo_varies(u);
    r->unfolded = r->varies && montecarlo_unfolds(s, how);
    if (draw_steps(r, u, s, step, how, err))
        return -1;
    r->slowdown = r->step_time_s.mean / step->time_s;
    r->samples_per_s = (double)s->training.global_batch_size / r->step_time_s.mean;
    r->has_goodput = u->failures.given;
    return r->has_goodput
               ? draw_failures(&r->goodput, u, s, step, r->step_time_s.mean, err)
               : 0;
}
