/* Error statistics: how far predictions are from what was measured. Errors are
 * fractions, predicted / measured - 1. */
#ifndef VALIDATION_STATS_H
#define VALIDATION_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct stats {
    int64_t n;
    double mean_abs, median_abs, max_abs; /* of |error| */
    double bias;                          /* signed mean: > 0 predicts too much */
};

/* Statistics of n errors; NAN for none. O(n log n). */
struct stats stats_of(const double *errors, int64_t n);

/* Alternatives for one job: what trusting the predicted order costs. Rates: larger is
 * better, 0 for an alternative that does not run. */
struct ranking {
    int64_t n;
    double spearman;    /* rank correlation; NAN when either side is all alike */
    double regret;      /* 1 - measured rate of the predicted best / of the best */
    double regret_top3; /* the same for the best measured of the predicted three */
    /* the same against the second best measured, which no single lucky run sets; 0
     * where it is reached */
    double regret_second, regret_second_top3;
};

/* An alternative: what it did, what was predicted (0: it does not fit), and what speaks
 * for it where a planner orders by other than the prediction. */
struct ranked {
    double measured, predicted, merit;
};

/* Chosen are those of the largest merit; of equal ones the earlier. The correlation is
 * that of the rates.
 * n >= 1, and some measured rate must be positive. O(n log n). */
struct ranking ranking_of(const struct ranked *v, int64_t n);

/* What several jobs come to: `n` alternatives in all, the means of their regrets, and
 * of the correlations that are defined (NAN: none is). O(n_rankings). */
struct ranking ranking_mean(const struct ranking *rankings, int64_t n_rankings);

#endif
