/* How wide the unknowns are, by the rows of all sources. */
#include "validation/choices.h"

#include "base/xmalloc.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

enum { EFFECTS = RESOURCE_N };

static const double to_deviation = 1.4826; /* of the median size, of a normal law */

struct fit {
    const struct choices_rows *rows;
    int32_t without, n_sources;
    double variances[EFFECTS];  /* squared scales of a law of Student's */
    double (*effects)[EFFECTS]; /* [sources] */
    double *rests;              /* [sources] their deviation */
};

static bool is_used(const struct fit *f, const struct choices_row *r)
{
    return r->has_time && !r->outlier && r->source != f->without;
}

/* Shares of the step, by which effects on resources act on it: that of the network once
 * for each doubling of nodes. */
static void shares_of(const struct choices_row *r, double x[EFFECTS])
{
    for (int k = 0; k < RESOURCE_N; k++)
        x[k] = r->plan.by.s[k] / r->plan.usual;
    x[RESOURCE_NETWORK] *= fmax(r->plan.octaves, 0);
}

static double rest_of(const struct fit *f, const struct choices_row *r)
{
    double x[EFFECTS], rest = r->error;
    shares_of(r, x);
    for (int k = 0; k < EFFECTS; k++)
        rest -= x[k] * f->effects[r->source][k];
    return rest;
}

/* The median of v's sizes, as a deviation; sorts them. */
static double robust_deviation(double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = fabs(v[i]);
    gsl_sort(v, 1, (size_t)n);
    return n ? to_deviation * gsl_stats_median_from_sorted_data(v, 1, (size_t)n) : 0;
}

/* Effects --------------------------------------------------------------------------- */

/* Of an effect that is large for its scale little is made (Lange, Little, Taylor 1989). */
static double weight_of(const struct fit *f, int32_t source, int k)
{
    double e = f->effects[source][k];
    return (RISK_FREEDOM + 1) / (RISK_FREEDOM + e * e / f->variances[k]);
}

/* The normal equations of a source; how many rows they are of. */
static int64_t add_up(const struct fit *f, int32_t source, gsl_matrix *a, gsl_vector *b)
{
    double w = 1 / (f->rests[source] * f->rests[source]), x[EFFECTS];
    int64_t n = 0;
    gsl_matrix_set_zero(a);
    gsl_vector_set_zero(b);
    for (int64_t i = 0; i < f->rows->list.n; i++) {
        const struct choices_row *r = &f->rows->list.v[i];
        if (r->source != source || !is_used(f, r))
            continue;
        n++;
        shares_of(r, x);
        for (int k = 0; k < EFFECTS; k++) {
            *gsl_vector_ptr(b, (size_t)k) += w * x[k] * r->error;
            for (int l = 0; l < EFFECTS; l++)
                *gsl_matrix_ptr(a, (size_t)k, (size_t)l) += w * x[k] * x[l];
        }
    }
    for (int k = 0; k < EFFECTS; k++)
        *gsl_matrix_ptr(a, (size_t)k, (size_t)k) +=
            weight_of(f, source, k) / f->variances[k];
    return n;
}

/* The effects of a source given the scales; adds their expected squares, weighted. */
static bool estimate(struct fit *f, int32_t source, double squares[EFFECTS])
{
    double weights[EFFECTS];
    gsl_matrix *a = gsl_matrix_alloc(EFFECTS, EFFECTS);
    gsl_vector *b = gsl_vector_alloc(EFFECTS), *x = gsl_vector_alloc(EFFECTS);
    for (int k = 0; k < EFFECTS; k++)
        weights[k] = weight_of(f, source, k);
    bool some = add_up(f, source, a, b) > 0;
    if (some) {
        gsl_linalg_cholesky_decomp1(a);
        gsl_linalg_cholesky_solve(a, b, x);
        gsl_linalg_cholesky_invert(a);
    }
    for (size_t k = 0; k < EFFECTS && some; k++) {
        double e = gsl_vector_get(x, k);
        f->effects[source][k] = e;
        squares[k] += weights[k] * (e * e + gsl_matrix_get(a, k, k));
    }
    gsl_matrix_free(a);
    gsl_vector_free(b);
    gsl_vector_free(x);
    return some;
}

static void update_rests(struct fit *f, double *room)
{
    const double least = 0.005;
    for (int32_t s = 0; s < f->n_sources; s++) {
        int64_t n = 0;
        for (int64_t i = 0; i < f->rows->list.n; i++) {
            const struct choices_row *r = &f->rows->list.v[i];
            if (r->source == s && is_used(f, r))
                room[n++] = rest_of(f, r);
        }
        f->rests[s] = fmax(robust_deviation(room, n), least);
    }
}

/* -1 where fewer than two sources have rows. */
static int fit_effects(struct fit *f, double *room)
{
    enum { ROUNDS = 40 };
    const double first = 0.1;
    for (int k = 0; k < EFFECTS; k++)
        f->variances[k] = first * first;
    for (int round = 0; round < ROUNDS; round++) {
        double squares[EFFECTS] = { 0 };
        int32_t n = 0;
        update_rests(f, room);
        for (int32_t s = 0; s < f->n_sources; s++)
            n += estimate(f, s, squares);
        if (n < 2)
            return -1;
        for (int k = 0; k < EFFECTS; k++)
            f->variances[k] = squares[k] / n;
    }
    return 0;
}

/* Rests of alternatives ------------------------------------------------------------- */

/* The rests of a job about their median, slow runs too; how many, 0 of one alone. */
static int64_t rests_of_job(const struct fit *f, int32_t job, double *v)
{
    const struct choices_rows *rows = f->rows;
    int64_t n = 0;
    for (int64_t i = 0; i < rows->list.n; i++)
        if (rows->list.v[i].job == job && rows->list.v[i].has_time)
            v[n++] = rest_of(f, &rows->list.v[i]);
    if (n < 2)
        return 0;
    gsl_sort(v, 1, (size_t)n);
    double middle = gsl_stats_median_from_sorted_data(v, 1, (size_t)n);
    for (int64_t i = 0; i < n; i++) /* a median of few lies too near to them */
        v[i] = (v[i] - middle) * sqrt((double)n / (double)(n - 1));
    return n;
}

/* All of a source's jobs; `sizes` is room for as many. */
static int64_t rests_of_source(const struct fit *f, int32_t source, double *v)
{
    int64_t n = 0;
    int32_t last = -1;
    for (int64_t i = 0; i < f->rows->list.n; i++) {
        const struct choices_row *r = &f->rows->list.v[i];
        if (r->source != source || r->job <= last)
            continue;
        last = r->job; /* jobs are numbered in the order of rows */
        n += rests_of_job(f, r->job, v + n);
    }
    return n;
}

static void fit_rests(const struct fit *f, struct risk_widths *w, double *v,
                      double *sizes)
{
    const double beyond = 3, least = 0.005;
    double shares = 0, slow = 0;
    double *logs = xcalloc((size_t)f->n_sources + 1, sizeof(*logs));
    size_t n_sources = 0;
    int32_t n_slow = 0;
    for (int32_t s = 0; s < f->n_sources; s++) {
        int64_t n = s == f->without ? 0 : rests_of_source(f, s, v), n_beyond = 0;
        double excess = 0;
        for (int64_t i = 0; i < n; i++)
            sizes[i] = v[i];
        double own = robust_deviation(sizes, n);
        for (int64_t i = 0; i < n; i++)
            if (v[i] > beyond * own) {
                excess += v[i] - own;
                n_beyond++;
            }
        if (n == 0)
            continue;
        logs[n_sources++] = log(fmax(own, least));
        shares += (double)n_beyond / (double)n;
        n_slow += n_beyond > 0;
        slow += n_beyond ? excess / (double)n_beyond : 0;
    }
    if (n_sources >= 2) {
        w->own = exp(gsl_stats_mean(logs, 1, n_sources));
        w->own_spread = gsl_stats_sd(logs, 1, n_sources);
        w->slow_share = shares / (double)n_sources;
    }
    if (n_slow)
        w->slow = slow / n_slow;
    free(logs);
}

struct risk_widths choices_fit(const struct choices_rows *rows, int32_t without)
{
    struct risk_widths w = risk_widths;
    size_t n = (size_t)rows->list.n + 1, n_sources = (size_t)rows->sources.n + 1;
    double *room = xcalloc(2 * n, sizeof(*room));
    struct fit f = { .rows = rows,
                     .without = without,
                     .n_sources = (int32_t)rows->sources.n,
                     .effects = xcalloc(n_sources, sizeof(*f.effects)),
                     .rests = xcalloc(n_sources, sizeof(*f.rests)) };
    if (fit_effects(&f, room) == 0) {
        for (int k = 0; k < RESOURCE_N; k++)
            w.resource[k] = sqrt(f.variances[k]);
        fit_rests(&f, &w, room, room + n);
        choices_fit_memory(rows, without, &w);
    }
    free(f.effects);
    free(f.rests);
    free(room);
    return w;
}
