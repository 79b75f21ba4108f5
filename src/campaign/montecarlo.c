#include "campaign/montecarlo.h"

#include "campaign/montecarlo_sampler.h"
#include "scenario/libraries.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <omp.h>

bool montecarlo_varies(const struct uncertainty *u)
{
    const struct stragglers *g = &u->stragglers;
    return u->compute.cv > 0 || u->host.cv > 0 || u->link.cv > 0 ||
           (g->slowdown > 1 && (g->count > 0 || g->probability > 0));
}

bool montecarlo_unfolds(const struct scenario *s, const struct uncertainty_draws *how)
{
    bool alone = library_is_asynchronous(&s->parallel); /* workers do not meet */
    return !alone && (how->unfold || scenario_world(s) <= UNCERTAINTY_UNFOLDED_MAX);
}

/* What the threads of one call share. */
struct batch {
    double *times_s;
    int64_t n, done;
    const struct uncertainty *u;
    const struct scenario *s;
    const struct uncertainty_draws *how;
    struct err *err;
};

static void fail(struct batch *b, const struct err *err)
{
#pragma omp critical(montecarlo)
    if (!b->err->set)
        *b->err = *err;
}

static void notify(struct batch *b)
{
    if (!b->how->progress)
        return;
#pragma omp critical(montecarlo)
    b->how->progress(b->how->arg, ++b->done, b->n);
}

/* One thread: a sampler of its own, since plans are made as a run meets them. */
static void work(struct batch *b)
{
    struct sampler sampler;
    struct err err = { 0 };
    int rc = sampler_init(&sampler, b->u, b->s, b->how->network,
                          montecarlo_unfolds(b->s, b->how), &err);
    if (rc)
        fail(b, &err);
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < b->n; i++) {
        if (rc)
            continue;
        rc = sampler_draw(&sampler, i, &b->times_s[i], &err);
        if (rc)
            fail(b, &err);
        notify(b);
    }
    sampler_release(&sampler);
}

int montecarlo_steps(double *times_s, int64_t draws, const struct uncertainty *u,
                     const struct scenario *s, const struct uncertainty_draws *how,
                     struct err *err)
{
    struct batch b = { times_s, draws, 0, u, s, how, err };
    int jobs = how->jobs ? how->jobs : omp_get_max_threads();
    if (how->network == FIDELITY_CHUNK)
        return err_set(err, "jitter is not drawn message by message (take --network "
                            "flow)");
#pragma omp parallel num_threads(jobs)
    work(&b);
    return err->set ? -1 : 0;
}

void montecarlo_summarise(struct distribution *d, double *values, int64_t n)
{
    size_t count = (size_t)n;
    gsl_sort(values, 1, count);
    d->mean = gsl_stats_mean(values, 1, count);
    d->sd = n > 1 ? gsl_stats_sd(values, 1, count) : 0;
    d->p5 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.05);
    d->p50 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.50);
    d->p95 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.95);
    if (values[0] == values[count - 1]) { /* no rounding where nothing varies */
        *d = (struct distribution) { values[0], 0, values[0], values[0], values[0] };
    }
}
