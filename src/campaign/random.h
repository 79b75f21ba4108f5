/* Random numbers that depend on nothing but their key, so that draws may be made in any
 * order and by any number of threads; and the factors of mean 1 by which jitter
 * multiplies durations (MODEL.md, "Uncertainty").
 *
 * Keys are mixed by base/mix.h, one round a word. */
#ifndef CAMPAIGN_RANDOM_H
#define CAMPAIGN_RANDOM_H

#include "base/names.h"

#include <stdint.h>

/* What a number is drawn for: the first word of its key after seed and draw. */
enum random_use {
    RANDOM_COMPUTE,
    RANDOM_HOST,
    RANDOM_LINK,
    RANDOM_STRAGGLERS,
    RANDOM_FAILURES
};

struct random_stream { /* the numbers of one draw for one use */
    uint64_t key;
};

struct random_stream random_stream(int64_t seed, int64_t draw, enum random_use use);

/* Uniform in (0, 1), never 0 or 1; by up to two words. */
double random_uniform(struct random_stream r, uint64_t a, uint64_t b);

enum random_law {
    RANDOM_LOGNORMAL,
    RANDOM_GAMMA,
    RANDOM_NORMAL,
    RANDOM_PARETO,
};

extern const struct name_value random_law_names[];

/* A factor of mean 1 and that coefficient of variation (standard deviation over mean):
 * the value that is exceeded with probability q, 0 < q < 1. Exactly 1 where cv is below
 * 1e-12; never below 0. Means of n such factors are taken to be of the same law with
 * cv/sqrt(n): exact for gamma and normal, the usual match of two moments for the
 * others. */
double random_factor(enum random_law law, double cv, double q);

/* The same of many: what a law asks of its variation, and of a probability, once for all
 * factors that share it. random_factor(law, cv, q) to the bit. */
struct random_spread {
    enum random_law law;
    double cv;
    double sigma; /* of the logarithm; of the lognormal law */
};
struct random_quantile {
    double q;       /* below 1 */
    double deviate; /* the standard normal's that is exceeded with it */
};

struct random_spread random_spread(enum random_law law, double cv);
struct random_quantile random_quantile(double q);
double random_spread_factor(const struct random_spread *s,
                            const struct random_quantile *at);

/* The q for random_factor that makes the largest of n independent factors of a uniform
 * number: 1 - u^(1/n) (MODEL.md, "Uncertainty"). */
double random_largest(double u, double n);

/* Mean and standard deviation of the largest of n factors, by quadrature of its
 * quantiles; n >= 1. O(1) in n. */
void random_largest_moments(enum random_law law, double cv, double n, double *mean,
                            double *sd);

#endif
