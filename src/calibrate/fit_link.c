/* Links as alpha + bytes / rate, with knees: one line, or two or three that meet, by
 * weighted linear least squares of relative errors. Which number of knees, the Bayesian
 * information criterion says. */
#include "calibrate/calibration.h"

#include "base/units.h"
#include "base/xmalloc.h"

#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 48, POINTS_LEAST = 4, TERMS_MAX = CALIBRATION_KNEES_MAX + 2 };
enum { ROUNDS = 6 };

struct point {
    double bytes, time_s;
};

/* One way to lay lines through the points. */
struct lines {
    int32_t n_knees;
    double knee_B[CALIBRATION_KNEES_MAX];
    double terms[TERMS_MAX]; /* alpha, seconds a byte, and what each knee adds to it */
    double alpha_sd, slope_sd; /* of alpha, and of the last line's slope */
    double criterion;
};

struct space {
    const struct point *points;
    size_t n;
    gsl_matrix *x;
    gsl_vector *y, *weights;
};

static double line_time_s(const struct lines *l, double bytes)
{
    double t = l->terms[0] + l->terms[1] * bytes;
    for (int32_t i = 0; i < l->n_knees; i++)
        t += l->terms[2 + i] * fmax(0, bytes - l->knee_B[i]);
    return t;
}

/* Time and bandwidth cannot be negative, nor a byte after a knee free. */
static bool is_physical(const struct lines *l)
{
    double slope = l->terms[1];
    bool good = l->terms[0] >= 0 && slope >= 0;
    for (int32_t i = 0; i < l->n_knees; i++) {
        slope += l->terms[2 + i];
        good = good && slope >= 0;
    }
    return good && slope > 0;
}

/* Noise of a good measurement; errors beyond a few of it count less and less. */
static const double noise = 0.02;

/* Points far off count less (Cauchy), as in fit.c. Returns the logarithm of the mean
 * loss, by which numbers of knees are compared. */
static double reweigh(struct space *s, const struct lines *l)
{
    double *off = xmalloc(s->n * sizeof(*off)), sum = 0;
    for (size_t i = 0; i < s->n; i++)
        off[i] = line_time_s(l, s->points[i].bytes) / s->points[i].time_s - 1;
    double scale = fmax(fit_spread(off, (int64_t)s->n), 1e-4);
    for (size_t i = 0; i < s->n; i++) {
        double r = off[i] / (2.385 * scale);
        gsl_vector_set(s->weights, i, 1 / (1 + r * r));
        sum += log1p(pow(off[i] / noise, 2));
    }
    free(off);
    return log(fmax(sum, 1e-9) / (double)s->n);
}

static void set_spread(struct lines *l, const gsl_matrix *covariance)
{
    double variance = 0;
    for (size_t i = 1; i < 2 + (size_t)l->n_knees; i++)
        for (size_t j = 1; j < 2 + (size_t)l->n_knees; j++)
            variance += gsl_matrix_get(covariance, i, j);
    l->alpha_sd = sqrt(gsl_matrix_get(covariance, 0, 0));
    l->slope_sd = sqrt(fmax(variance, 0));
}

/* Fits the terms for given knees; the criterion is INFINITY where that fails. */
static void fit_lines(struct space *s, struct lines *l)
{
    size_t p = 2 + (size_t)l->n_knees;
    gsl_matrix_view x = gsl_matrix_submatrix(s->x, 0, 0, s->n, p);
    gsl_vector *terms = gsl_vector_alloc(p);
    gsl_matrix *covariance = gsl_matrix_alloc(p, p);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(s->n, p);
    double chi2, badness = (double)INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        double t = s->points[i].time_s, b = s->points[i].bytes;
        gsl_matrix_set(s->x, i, 0, 1 / t);
        gsl_matrix_set(s->x, i, 1, b / t);
        for (size_t k = 2; k < p; k++)
            gsl_matrix_set(s->x, i, k, fmax(0, b - l->knee_B[k - 2]) / t);
    }
    gsl_vector_set_all(s->weights, 1);
    for (int round = 0; round < ROUNDS; round++) {
        if (gsl_multifit_wlinear(&x.matrix, s->weights, s->y, terms, covariance, &chi2,
                                 work)) {
            badness = (double)INFINITY;
            break;
        }
        for (size_t k = 0; k < p; k++)
            l->terms[k] = gsl_vector_get(terms, k);
        gsl_matrix_scale(covariance, chi2 / (double)(s->n - p));
        badness = reweigh(s, l);
    }
    set_spread(l, covariance);
    double n = (double)s->n;
    l->criterion =
        is_physical(l) ? n * badness + log(n) * (double)(2 * p) : (double)INFINITY;
    gsl_multifit_linear_free(work);
    gsl_matrix_free(covariance);
    gsl_vector_free(terms);
}

static void try_lines(struct space *s, int32_t n_knees, size_t first, size_t second,
                      struct lines *best)
{
    struct lines l = { .n_knees = n_knees };
    l.knee_B[0] = s->points[first].bytes;
    l.knee_B[1] = s->points[second].bytes;
    fit_lines(s, &l);
    if (l.criterion < best->criterion)
        *best = l;
}

static struct lines best_lines(struct space *s)
{
    struct lines best = { .criterion = (double)INFINITY };
    try_lines(s, 0, 0, 0, &best);
    for (size_t i = 1; i + 2 < s->n && s->n >= 8; i++)
        try_lines(s, 1, i, i, &best);
    for (size_t i = 1; i + 4 < s->n && s->n >= 12; i++)
        for (size_t j = i + 2; j + 2 < s->n; j++)
            try_lines(s, 2, i, j, &best);
    return best;
}

static int by_bytes(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

/* At most POINTS_MOST of them, evenly in their order. */
static size_t thin(struct point *points, size_t n)
{
    qsort(points, n, sizeof(*points), by_bytes);
    if (n <= POINTS_MOST)
        return n;
    for (size_t i = 0; i < POINTS_MOST; i++)
        points[i] = points[i * (n - 1) / (POINTS_MOST - 1)];
    return POINTS_MOST;
}

static void add_link(struct calibration *c, const char *name, struct point *points,
                     size_t n)
{
    n = thin(points, n);
    struct space s = { points, n, gsl_matrix_alloc(n, TERMS_MAX), gsl_vector_alloc(n),
                       gsl_vector_alloc(n) };
    gsl_vector_set_all(s.y, 1);
    struct lines l = best_lines(&s);
    if (isfinite(l.criterion)) {
        struct calibration_link link = { .name = name,
                                         .n = (int64_t)n,
                                         .alpha_s = l.terms[0],
                                         .alpha_half_s = 1.96 * l.alpha_sd,
                                         .n_knees = l.n_knees };
        double slope = l.terms[1];
        link.rate_Bps[0] = slope > 0 ? 1 / slope : (double)INFINITY;
        for (int32_t i = 0; i < l.n_knees; i++) {
            slope += l.terms[2 + i];
            link.knee_B[i] = l.knee_B[i];
            link.rate_Bps[i + 1] = slope > 0 ? 1 / slope : (double)INFINITY;
        }
        link.rate_half_Bps = 1.96 * l.slope_sd / (slope * slope);
        double *off = xmalloc(n * sizeof(*off));
        for (size_t i = 0; i < n; i++)
            off[i] = line_time_s(&l, points[i].bytes) / points[i].time_s - 1;
        link.median = fit_spread(off, (int64_t)n) / 1.4826;
        free(off);
        VEC_PUSH(&c->links, link);
    }
    gsl_vector_free(s.weights);
    gsl_vector_free(s.y);
    gsl_matrix_free(s.x);
}

static const char *coll_name(struct calibration *c, const struct sample_coll *k)
{
    if (k->n_nodes > 1)
        return arena_printf(c->arena, "%s, %" PRId64 " ranks on %" PRId64 " nodes",
                            names_of(coll_op_names, (int)k->op), (int64_t)k->n_ranks,
                            (int64_t)k->n_nodes);
    return arena_printf(c->arena, "%s, %" PRId64 " rank%s",
                        names_of(coll_op_names, (int)k->op), (int64_t)k->n_ranks,
                        units_plural(k->n_ranks));
}

struct named {
    const char *name;
    struct point point;
};

/* Points of equal names make one link; in the order of first appearance. */
static void add_all(struct calibration *c, struct named *all, int64_t n)
{
    struct point *points = xmalloc((size_t)(n + 1) * sizeof(*points));
    for (int64_t i = 0; i < n; i++) {
        size_t count = 0;
        const char *name = all[i].name;
        if (!name)
            continue;
        for (int64_t j = i; j < n; j++)
            if (all[j].name && strcmp(all[j].name, name) == 0) {
                points[count++] = all[j].point;
                all[j].name = NULL;
            }
        if (count >= POINTS_LEAST)
            add_link(c, name, points, count);
    }
    free(points);
}

int calibrate_links(struct calibration *c, const struct samples *s, struct err *err)
{
    int64_t n = s->links.n + s->colls.n, at = 0;
    struct named *all = xmalloc((size_t)(n + 1) * sizeof(*all));
    (void)err;
    for (int64_t i = 0; i < s->links.n; i++)
        all[at++] = (struct named) { s->links.v[i].name,
                                     { s->links.v[i].bytes, s->links.v[i].time_s } };
    for (int64_t i = 0; i < s->colls.n; i++)
        all[at++] = (struct named) { coll_name(c, &s->colls.v[i]),
                                     { s->colls.v[i].bytes, s->colls.v[i].time_s } };
    add_all(c, all, n);
    free(all);
    return 0;
}
