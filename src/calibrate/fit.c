#include "calibrate/fit.h"

#include "base/xmalloc.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, ITERATIONS = 20, STARTS = 3 };

static const double cauchy = 2.385;     /* 95 % efficient for normal residuals */
static const double scale_least = 1e-5; /* of residuals that agree to the last bits */
static const double normal_95 = 1.959964;
static const double near_bound = 0.002; /* share of the logarithmic range */
static const double least_loss = 1e-6;  /* of residuals of a tenth of a percent */

/* What GSL's callbacks work with; u are the free parameters, unbounded. */
struct work {
    struct fit *fit;
    int32_t free[FIT_PARAMS_MAX]; /* which parameters are free */
    size_t n_free;
    double values[FIT_PARAMS_MAX];
    double *residuals;
    double known[FIT_PARAMS_MAX]; /* values that the residuals are of, ... */
    bool is_known;                /* ... if they are of any */
    gsl_vector *u, *weights;
    gsl_matrix *covariance;
};

double fit_spread(const double *v, int64_t n)
{
    double *sorted = xmalloc((size_t)n * sizeof(*sorted));
    for (int64_t i = 0; i < n; i++)
        sorted[i] = fabs(v[i]);
    gsl_sort(sorted, 1, (size_t)n);
    double median = gsl_stats_median_from_sorted_data(sorted, 1, (size_t)n);
    free(sorted);
    return 1.4826 * median;
}

/* Between 0 and 1: the place of a value in its range, by logarithms. */
static double place_of(const struct fit_param *p, double value)
{
    return log(value / p->min) / log(p->max / p->min);
}

/* Starts at a bound could not move from it. */
double fit_unbounded(const struct fit_param *p, double value)
{
    double place = fmin(fmax(place_of(p, value), 0.03), 0.97);
    return log(place / (1 - place));
}

double fit_bounded(const struct fit_param *p, double u)
{
    return p->min * exp(log(p->max / p->min) / (1 + exp(-u)));
}

static void set_values(struct work *w, const gsl_vector *u)
{
    for (int32_t i = 0; i < w->fit->n_params; i++)
        w->values[i] = w->fit->params[i].start;
    for (size_t i = 0; i < w->n_free; i++)
        w->values[w->free[i]] =
            fit_bounded(&w->fit->params[w->free[i]], gsl_vector_get(u, i));
}

/* GSL and this file ask for the residuals of one place several times. */
static int evaluate(const gsl_vector *u, void *arg, gsl_vector *f)
{
    struct work *w = arg;
    set_values(w, u);
    if (!w->is_known || memcmp(w->known, w->values, sizeof(w->known)) != 0)
        w->fit->residuals(w->values, w->residuals, w->fit->arg);
    memcpy(w->known, w->values, sizeof(w->known));
    w->is_known = true;
    for (int64_t i = 0; i < w->fit->n; i++) {
        if (!isfinite(w->residuals[i]))
            return GSL_EBADFUNC;
        gsl_vector_set(f, (size_t)i, w->residuals[i]);
    }
    return GSL_SUCCESS;
}

static double prior(const struct fit *fit, int64_t i)
{
    return fit->weights ? fit->weights[i] : 1;
}

/* Mean loss of the residuals in w->residuals; sets the scale when it is not given. */
static double loss_of(struct work *w, double *scale)
{
    struct fit *fit = w->fit;
    double sum = 0, weight = 0;
    if (*scale <= 0)
        *scale = fmax(fit_spread(w->residuals, fit->n), scale_least);
    for (int64_t i = 0; i < fit->n; i++) {
        double r = w->residuals[i] / (cauchy * *scale);
        sum += prior(fit, i) * log1p(r * r);
        weight += prior(fit, i);
    }
    /* in units of the residuals squared, so that fits of other scales compare */
    return sum / weight * *scale * *scale;
}

static void reweigh(struct work *w, double scale)
{
    for (int64_t i = 0; i < w->fit->n; i++) {
        double r = w->residuals[i] / (cauchy * scale);
        gsl_vector_set(w->weights, (size_t)i, prior(w->fit, i) / (1 + r * r));
    }
}

/* Half width of each free parameter from the weighted Jacobian of the last round. */
static void set_confidence(struct work *w, const gsl_matrix *jacobian, double scale)
{
    struct fit *fit = w->fit;
    double psi2 = 0, slope = 0, weight = 0, n = (double)fit->n;
    for (int64_t i = 0; i < fit->n; i++) {
        double r = w->residuals[i] / (cauchy * scale), q = 1 / (1 + r * r);
        psi2 += pow(w->residuals[i] * q, 2);
        slope += (1 - r * r) * q * q;
        weight += gsl_vector_get(w->weights, (size_t)i);
    }
    gsl_multifit_nlinear_covar(jacobian, 1e-12, w->covariance);
    double factor = psi2 / (n - (double)w->n_free) / pow(fmax(slope / n, 0.05), 2);
    for (size_t i = 0; i < w->n_free; i++) {
        struct fit_param *p = &fit->params[w->free[i]];
        double variance = factor * weight / n * gsl_matrix_get(w->covariance, i, i);
        double u = gsl_vector_get(w->u, i), q = 1 / (1 + exp(-u));
        double relative =
            normal_95 * sqrt(variance) * log(p->max / p->min) * q * (1 - q);
        bool identified = variance > 0 && isfinite(variance);
        p->half = identified ? p->value * expm1(fmin(relative, 50)) : (double)INFINITY;
    }
}

/* One weighted fit; moves w->u. Returns 0 when it got somewhere. */
static int round_of(struct work *w, gsl_multifit_nlinear_workspace *space)
{
    gsl_multifit_nlinear_fdf fdf = {
        .f = evaluate, .n = (size_t)w->fit->n, .p = w->n_free, .params = w
    };
    int info;
    if (gsl_multifit_nlinear_winit(w->u, w->weights, &fdf, space))
        return -1;
    gsl_multifit_nlinear_driver(ITERATIONS, 1e-7, 1e-10, 1e-10, NULL, NULL, &info,
                                space);
    gsl_vector_memcpy(w->u, gsl_multifit_nlinear_position(space));
    return 0;
}

/* From the start in w->u to a minimum; its loss, or INFINITY. */
static double descend(struct work *w, gsl_multifit_nlinear_workspace *space,
                      gsl_vector *f)
{
    double last = (double)INFINITY, scale = 0;
    if (evaluate(w->u, w, f))
        return last;
    for (int i = 0; i < ROUNDS; i++) {
        scale = 0;
        double loss = loss_of(w, &scale);
        if (fabs(last - loss) <= 1e-6 * loss)
            break;
        last = loss;
        reweigh(w, scale);
        if (round_of(w, space) || evaluate(w->u, w, f))
            return (double)INFINITY;
    }
    scale = 0;
    return loss_of(w, &scale);
}

/* Starts: as given, and a third of the way towards either end of the ranges. */
static void set_start(struct work *w, int which)
{
    static const double shift[STARTS] = { 0, -0.7, 0.7 };
    for (size_t i = 0; i < w->n_free; i++) {
        const struct fit_param *p = &w->fit->params[w->free[i]];
        gsl_vector_set(w->u, i, fit_unbounded(p, p->start) + shift[which]);
    }
}

static void finish(struct work *w, gsl_multifit_nlinear_workspace *space,
                   const gsl_vector *best, gsl_vector *f)
{
    struct fit *fit = w->fit;
    gsl_vector_memcpy(w->u, best);
    evaluate(w->u, w, f);
    fit->scale = 0;
    fit->loss = loss_of(w, &fit->scale);
    reweigh(w, fit->scale);
    for (int32_t i = 0; i < fit->n_params; i++) {
        fit->params[i].value = w->values[i];
        fit->params[i].half = 0;
    }
    gsl_multifit_nlinear_fdf fdf = {
        .f = evaluate, .n = (size_t)fit->n, .p = w->n_free, .params = w
    };
    gsl_multifit_nlinear_winit(w->u, w->weights, &fdf, space);
    evaluate(w->u, w, f);
    set_confidence(w, gsl_multifit_nlinear_jac(space), fit->scale);
}

static int search(struct work *w, struct err *err)
{
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    how.solver = gsl_multifit_nlinear_solver_svd; /* some terms may be unidentifiable */
    how.h_df = 1e-5; /* kinks of the model are finer than this */
    gsl_multifit_nlinear_workspace *space = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &how, (size_t)w->fit->n, w->n_free);
    gsl_vector *best = gsl_vector_alloc(w->n_free);
    gsl_vector *f = gsl_vector_alloc((size_t)w->fit->n);
    double least = (double)INFINITY;
    for (int i = 0; i < STARTS; i++) {
        set_start(w, i);
        double loss = descend(w, space, f);
        if (loss < least) {
            least = loss;
            gsl_vector_memcpy(best, w->u);
        }
    }
    if (isfinite(least))
        finish(w, space, best, f);
    gsl_vector_free(f);
    gsl_vector_free(best);
    gsl_multifit_nlinear_free(space);
    return isfinite(least) ? 0 : err_set(err, "the fit found no finite residuals");
}

/* Nothing is free: only the scale and the loss are to be found. */
static int settle(struct work *w, struct err *err)
{
    struct fit *fit = w->fit;
    for (int32_t i = 0; i < fit->n_params; i++) {
        w->values[i] = fit->params[i].value = fit->params[i].start;
        fit->params[i].half = 0;
    }
    fit->residuals(w->values, w->residuals, fit->arg);
    for (int64_t i = 0; i < fit->n; i++)
        if (!isfinite(w->residuals[i]))
            return err_set(err, "the model gives no finite residuals");
    fit->scale = 0;
    fit->loss = loss_of(w, &fit->scale);
    return 0;
}

int fit_run(struct fit *fit, struct err *err)
{
    struct work w = { .fit = fit };
    for (int32_t i = 0; i < fit->n_params; i++)
        if (!fit->params[i].fixed)
            w.free[w.n_free++] = i;
    if (fit->n < 1 || fit->n <= (int64_t)w.n_free)
        return err_set(err, "%" PRId64 " measurements are too few for %d terms",
                       (int64_t)fit->n, (int)w.n_free);
    w.residuals = xmalloc((size_t)fit->n * sizeof(*w.residuals));
    int rc;
    if (w.n_free == 0) {
        rc = settle(&w, err);
    } else {
        w.u = gsl_vector_alloc(w.n_free);
        w.weights = gsl_vector_alloc((size_t)fit->n);
        w.covariance = gsl_matrix_alloc(w.n_free, w.n_free);
        rc = search(&w, err);
        gsl_matrix_free(w.covariance);
        gsl_vector_free(w.weights);
        gsl_vector_free(w.u);
    }
    free(w.residuals);
    return rc;
}

static bool is_bounded(const struct fit_param *p)
{
    double place = place_of(p, p->value);
    return place < near_bound || place > 1 - near_bound;
}

/* Whether the data want a parameter at its bound, not at its start: their likelihood
 * distinguishes the two at 95 %, beyond a tenth of a percent of every residual. `other`
 * becomes the fit with the start, which succeeded if they do not. */
static bool wants_bound(const struct fit *fit, int32_t i, struct fit *other)
{
    struct err none = { 0 };
    *other = *fit;
    other->params[i].fixed = true;
    if (fit_run(other, &none))
        return true;
    double gain = log((other->loss + least_loss) / (fit->loss + least_loss));
    return (double)fit->n * gain > normal_95 * normal_95;
}

/* What the data identify least; NULL: they identify all well enough. */
static struct fit_param *worst_of(struct fit *fit, double share)
{
    struct fit_param *worst = NULL;
    for (int32_t i = 0; i < fit->n_params; i++) {
        struct fit_param *p = &fit->params[i];
        bool unreported = !(p->half <= share * p->value);
        if (!p->fixed && (is_bounded(p) || unreported) &&
            (!worst || p->half / p->value > worst->half / worst->value))
            worst = p;
    }
    return worst;
}

int fit_run_known(struct fit *fit, double share, struct err *err)
{
    bool is_run = false;
    for (;;) {
        struct fit other;
        if (!is_run && fit_run(fit, err))
            return -1;
        struct fit_param *worst = worst_of(fit, share);
        if (!worst)
            return 0;
        bool asked = is_bounded(worst);
        worst->bounded =
            asked && wants_bound(fit, (int32_t)(worst - fit->params), &other);
        is_run = asked && !worst->bounded;
        if (is_run)
            *fit = other;
        if (worst->bounded)
            worst->start =
                place_of(worst, worst->value) < 0.5 ? worst->min : worst->max;
        worst->fixed = true; /* one at a time: two may be identifiable only together */
    }
}
