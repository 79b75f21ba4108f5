/* Robust nonlinear least squares with bounds, on GSL.
 *
 * Minimises a Cauchy loss of residuals, which callers make logarithms of predicted over
 * measured, so that a residual of 0.05 is five percent whatever the size. Parameters
 * are positive, kept within their bounds by a logistic of their logarithm, and searched
 * from a few starts. Iteratively reweighted: each round is one weighted fit. The
 * confidence of a parameter is that of an M-estimator (Huber 1981, section 7.6), by
 * which points far off the model neither move the fit nor widen it as their square
 * would.
 *
 * Time: about 500 evaluations of the residuals a parameter. Deterministic. */
#ifndef CALIBRATE_FIT_H
#define CALIBRATE_FIT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { FIT_PARAMS_MAX = 40 };

struct fit_param {
    const char *name;
    double start, min, max; /* 0 < min <= start <= max */
    bool fixed;             /* stays at its start */
    bool bounded;           /* result of fit_run_known: fixed at a bound */
    double value;           /* result */
    double half;            /* result: 95 % confidence is value -+ half; INFINITY where
                               the data do not depend on it; 0 when fixed */
};

/* Writes n residuals for the given values of all parameters. */
typedef void fit_residuals_fn(const double *values, double *residuals, void *arg);

struct fit {
    struct fit_param params[FIT_PARAMS_MAX];
    int32_t n_params;
    int64_t n;             /* residuals */
    const double *weights; /* [n] how much each counts; NULL: all alike */
    fit_residuals_fn *residuals;
    void *arg;
    double scale; /* result: robust standard deviation of the residuals */
    double loss;  /* result: mean loss, to compare fits of the same data */
};

/* Fails when there are fewer residuals than free parameters, or when no start gives
 * finite residuals. */
int fit_run(struct fit *fit, struct err *err);

/* The same, and then again without what the data do not identify: parameters whose half
 * width is beyond `share` of their value are fixed at their start; so are those driven
 * to a bound, unless the fit is worse for it: then they are fixed at the bound. */
int fit_run_known(struct fit *fit, double share, struct err *err);

/* Minimises the weighted mean of |residual| by the simplex of Nelder and Mead, begun
 * anew from where it ended a few times: for laws with kinks, whose median error counts.
 * Gives values alone (half is 0). Fails where the start gives no finite residuals. */
int fit_simplex(struct fit *fit, struct err *err);

/* A parameter's value for an unbounded number, and back. */
double fit_bounded(const struct fit_param *p, double u);
double fit_unbounded(const struct fit_param *p, double value);

/* 1.4826 times the median of |v|: the standard deviation, for normal values. */
double fit_spread(const double *v, int64_t n);

#endif
