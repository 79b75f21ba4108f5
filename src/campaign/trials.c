#include "campaign/trials.h"

#include "base/units.h"
#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>

bool trials_is_stopped(double share, int64_t i)
{
    return floor((double)(i + 1) * share + 1e-9) > floor((double)i * share + 1e-9);
}

struct times { /* of one trial */
    double all_s, billed_s;
};

static struct times trial_times(const struct whole_job *job,
                                const struct job_result *one, bool stopped, bool warm)
{
    struct times t = { 0, 0 };
    for (int i = 0; i < JOB_PHASES; i++) {
        double s = one->phases_s[i];
        bool repeats = i == JOB_TRAINING || i == JOB_EVALUATION || i == JOB_CHECKPOINTS;
        if (i == JOB_KEEP_ALIVE)
            continue;
        if (warm && i == JOB_PROVISIONING)
            s = job->warm_start_s;
        if (warm && i == JOB_IMAGE)
            s = 0; /* it is there */
        if (stopped && repeats)
            s *= job->stopped_after;
        t.all_s += s;
        t.billed_s += job_is_billed((enum job_phase)i) ? s : 0;
    }
    return t;
}

static int64_t free_first(const double *free_s, int64_t n)
{
    int64_t first = 0;
    for (int64_t i = 1; i < n; i++)
        if (free_s[i] < free_s[first])
            first = i;
    return first;
}

void trials_run(struct trials_result *r, const struct whole_job *job,
                const struct job_result *one, const struct scenario *s,
                const struct cost_result *cost)
{
    int64_t places = job->parallel_trials;
    double *free_s = xcalloc((size_t)places, sizeof(*free_s)), end_s = 0, billed_s = 0;
    *r = (struct trials_result) { .trials = job->trials, .parallel_trials = places };
    for (int64_t i = 0; i < job->trials; i++) {
        bool stopped = trials_is_stopped(job->stopped_share, i);
        int64_t at = free_first(free_s, places);
        bool warm = job->keep_alive_s > 0 && free_s[at] > 0;
        struct times t = trial_times(job, one, stopped, warm);
        r->stopped += stopped;
        free_s[at] += t.all_s;
        billed_s += t.billed_s;
        end_s = fmax(end_s, free_s[at]);
    }
    free(free_s);
    billed_s += (double)places * job->keep_alive_s;
    r->hours = end_s / UNITS_HOUR_S;
    r->instance_hours = billed_s / UNITS_HOUR_S * (double)s->cluster.n_hosts;
    r->usd = cost->has_price ? billed_s / UNITS_HOUR_S * cost->usd_per_hour *
                                   (1 - job->spot_discount)
                             : (double)NAN;
}
