#include "campaign/failure.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_lambert.h>
#include <math.h>
#include <stddef.h>

const struct name_value failure_law_names[] = {
    { "exponential", FAILURE_EXPONENTIAL },
    { "weibull", FAILURE_WEIBULL },
    { NULL, 0 },
};

/* The time to the nth failure from the one before. */
static double time_to_failure(const struct failure_process *f,
                              struct random_stream random, int64_t n)
{
    double q = random_uniform(random, (uint64_t)n, 0);
    if (f->law == FAILURE_EXPONENTIAL)
        return -f->mtbf_s * log(q);
    double scale = f->mtbf_s / gsl_sf_gamma(1 + 1 / f->shape);
    return gsl_cdf_weibull_Qinv(q, scale, f->shape);
}

double failure_wall_s(const struct failure_times *t)
{
    return t->useful_s + t->checkpoints_s + t->lost_s + t->restarts_s;
}

/* A stretch of up_s without failure, from a checkpoint on: whole periods count, and the
 * work that is left where it ends within. True when all is done. */
static bool live(struct failure_times *t, const struct failure_process *f,
                 double work_s, double up_s)
{
    double left_s = work_s - t->useful_s, period_s = f->interval_s + f->checkpoint_s;
    double periods = ceil(left_s / f->interval_s - 1e-9);
    double needs_s = left_s + periods * f->checkpoint_s;
    if (up_s >= needs_s) {
        t->useful_s = work_s;
        t->checkpoints_s += periods * f->checkpoint_s;
        return true;
    }
    double whole = fmin(floor(up_s / period_s), periods - 1);
    t->useful_s += whole * f->interval_s;
    t->checkpoints_s += whole * f->checkpoint_s;
    t->lost_s += up_s - whole * period_s;
    return false;
}

void failure_simulate(struct failure_times *t, const struct failure_process *f,
                      double work_s, struct random_stream random)
{
    *t = (struct failure_times) { .useful_s = 0 };
    double up_s = time_to_failure(f, random, 0);
    while (!live(t, f, work_s, up_s)) {
        do { /* a restart that fails begins again */
            t->failures++;
            up_s = time_to_failure(f, random, t->failures);
            t->restarts_s += fmin(up_s, f->restart_s);
        } while (up_s < f->restart_s && t->failures < FAILURE_COUNT_MAX);
        if (t->failures >= FAILURE_COUNT_MAX) {
            t->gave_up = true;
            return;
        }
        up_s -= f->restart_s;
    }
}

double failure_young_s(double checkpoint_s, double mtbf_s)
{
    return sqrt(2 * checkpoint_s * mtbf_s);
}

double failure_daly_s(double checkpoint_s, double mtbf_s)
{
    double r = checkpoint_s / (2 * mtbf_s);
    if (r >= 1)
        return mtbf_s;
    return failure_young_s(checkpoint_s, mtbf_s) * (1 + sqrt(r) / 3 + r / 9) -
           checkpoint_s;
}

/* d/dtau of (exp((tau + delta) / M) - 1) / tau is 0 where
 * (tau / M - 1) exp(tau / M - 1) = -exp(-delta / M - 1). Where delta / M is nothing
 * close to 1 this is at the branch point, and Daly's series is as exact as a double. */
double failure_optimum_s(double checkpoint_s, double mtbf_s)
{
    const double nothing = 1e-8;
    if (checkpoint_s < nothing * mtbf_s)
        return failure_daly_s(checkpoint_s, mtbf_s);
    return mtbf_s * (1 + gsl_sf_lambert_W0(-exp(-checkpoint_s / mtbf_s - 1)));
}

double failure_expected_goodput(const struct failure_process *f)
{
    double m = f->mtbf_s, period = (f->interval_s + f->checkpoint_s) / m;
    return f->interval_s / (m * exp(f->restart_s / m) * expm1(period));
}
