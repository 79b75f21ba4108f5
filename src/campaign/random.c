#include "campaign/random.h"

#include "base/mix.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stddef.h>

const struct name_value random_law_names[] = {
    { "lognormal", RANDOM_LOGNORMAL },
    { "gamma", RANDOM_GAMMA },
    { "normal", RANDOM_NORMAL },
    { "pareto", RANDOM_PARETO },
    { NULL, 0 },
};

/* Keys */

struct random_stream random_stream(int64_t seed, int64_t draw, enum random_use use)
{
    uint64_t key = mix64(mix64(mix64((uint64_t)seed) ^ (uint64_t)draw) ^ (uint64_t)use);
    return (struct random_stream) { key };
}

double random_uniform(struct random_stream r, uint64_t a, uint64_t b)
{
    uint64_t bits = mix64(mix64(r.key ^ a) ^ b) >> 11; /* 53 of them */
    return ((double)bits + 0.5) * 0x1p-53;
}

/* Factors */

/* Narrow gammas are all but normal in their cube root (Wilson, Hilferty: The
 * distribution of chi-square, 1931); GSL's inverse of them takes microseconds and may
 * not converge. That of gammas wider than 4 may yield anything: they are taken as that
 * wide. */
static double gamma_factor(double cv, const struct random_quantile *at)
{
    const double narrow = 0.1, wide = 4;
    double ninth = cv * cv / 9, variance = fmin(cv * cv, wide * wide);
    if (cv > narrow)
        return gsl_cdf_gamma_Qinv(at->q, 1 / variance, variance);
    double root = 1 - ninth + sqrt(ninth) * at->deviate;
    return pow(fmax(root, 0), 3);
}

struct random_spread random_spread(enum random_law law, double cv)
{
    double sigma = law == RANDOM_LOGNORMAL ? sqrt(log1p(cv * cv)) : 0;
    return (struct random_spread) { law, cv, sigma };
}

struct random_quantile random_quantile(double q)
{
    q = fmin(q, 1 - DBL_EPSILON); /* 1 has no value in laws without a smallest */
    return (struct random_quantile) { q, gsl_cdf_ugaussian_Qinv(q) };
}

double random_spread_factor(const struct random_spread *s,
                            const struct random_quantile *at)
{
    const double none = 1e-12, cv = s->cv, sigma = s->sigma;
    double shape;
    if (cv < none)
        return 1;
    switch (s->law) {
    case RANDOM_LOGNORMAL:
        return exp(sigma * at->deviate - sigma * sigma / 2);
    case RANDOM_GAMMA:
        return gamma_factor(cv, at);
    case RANDOM_NORMAL:
        return fmax(0, 1 + cv * at->deviate);
    case RANDOM_PARETO:
        break;
    }
    shape = 1 + sqrt(1 + 1 / (cv * cv)); /* of mean 1 and this variance */
    return (shape - 1) / shape * pow(at->q, -1 / shape);
}

double random_factor(enum random_law law, double cv, double q)
{
    const struct random_spread spread = random_spread(law, cv);
    const struct random_quantile at = random_quantile(q);
    return random_spread_factor(&spread, &at);
}

double random_largest(double u, double n)
{
    return -expm1(log(u) / n);
}

struct quantiles {
    enum random_law law;
    double cv, n;
};

/* The excess over 1 of the largest factor, or its square, by its uniform number. */
static double excess(double u, void *arg)
{
    const struct quantiles *q = arg;
    return random_factor(q->law, q->cv, random_largest(u, q->n)) - 1;
}

static double excess_squared(double u, void *arg)
{
    double e = excess(u, arg);
    return e * e;
}

void random_largest_moments(enum random_law law, double cv, double n, double *mean,
                            double *sd)
{
    enum { INTERVALS = 200 };
    struct quantiles q = { law, cv, n };
    gsl_function of[] = { { excess, &q }, { excess_squared, &q } };
    double moments[2] = { 0, 0 }, error;
    *mean = 1;
    *sd = fmax(cv, 0);
    if (cv <= 0 || n <= 1)
        return;
    gsl_integration_workspace *w = gsl_integration_workspace_alloc(INTERVALS);
    for (int i = 0; i < 2; i++) /* the best it got is taken where it falls short */
        (void)gsl_integration_qags(&of[i], 0, 1, 0, 1e-8, INTERVALS, w, &moments[i],
                                   &error);
    gsl_integration_workspace_free(w);
    *mean = 1 + moments[0];
    *sd = sqrt(fmax(moments[1] - moments[0] * moments[0], 0));
}
