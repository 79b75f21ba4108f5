/* Quantiles that depend on what is known of a row: linear quantile regression.
 *
 * The coefficients b make the mean of the check function least (Koenker and Bassett,
 * Regression Quantiles, 1978): of rests r = y - x b, q r above zero and (q - 1) r below, each row
 * by its weight. Solved by majorization (Hunter and Lange, Quantile Regression via an MM
 * Algorithm, 2000): each step is a weighted least-squares problem. */
#ifndef VALIDATION_QUANTILE_H
#define VALIDATION_QUANTILE_H

#include <stdint.h>

enum { QUANTILE_TERMS = 4 };

struct quantile_row {
    double x[QUANTILE_TERMS], y, weight;
};

/* The coefficients of all rows at the quantile q, from those in b on. Terms that are zero in
 * all rows get 0. O(rows), some hundred times. */
void quantile_regress(double b[QUANTILE_TERMS], const struct quantile_row *rows,
                      int64_t n, double q);

#endif
