#include "validation/ranges.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double below = 0.1, above = 0.9; /* what a range's ends are */

static int by_value(const void *a, const void *b)
{
    const struct ranges_value *x = a, *y = b;
    return (x->x > y->x) - (x->x < y->x);
}

double ranges_quantile(struct ranges_value *v, int64_t n, double share)
{
    double weights = 0, sum = 0;
    int64_t i = 0;
    qsort(v, (size_t)n, sizeof(*v), by_value);
    for (int64_t k = 0; k < n; k++)
        weights += v[k].weight;
    for (; i < n - 1 && (sum += v[i].weight) < share * weights; i++)
        ;
    return v[i].x;
}

/* Rows of a kind. Of systems that nobody measured, which have few rows each, all count
 * alike. A table of two rows says less of a percentile than one of 381: tables count as
 * the root of their rows. */
struct kind {
    enum of { OF_MEASURED, OF_MEASURED_EXPERTS, OF_OTHER, OF_OTHER_EXPERTS } of;
    int64_t n;
    const struct ranges_row **rows;
    struct ranges_value *values; /* room; weights are set */
};

static enum of kind_of(const struct ranges_row *r)
{
    bool experts = r->of->at.experts;
    if (r->measured)
        return experts ? OF_MEASURED_EXPERTS : OF_MEASURED;
    return experts ? OF_OTHER_EXPERTS : OF_OTHER;
}

static double weight_of(const struct kind *k, const struct ranges_row *r)
{
    int64_t n = 0;
    for (int64_t i = 0; i < k->n; i++)
        n += strcmp(k->rows[i]->of->system, r->of->system) == 0;
    return k->of >= OF_OTHER ? 1 / (double)n : 1 / sqrt((double)n);
}

static void gather(struct kind *k, const struct ranges_rows *rows, enum of of,
                   const char *without)
{
    k->of = of;
    k->n = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        const struct ranges_row *r = &rows->v[i];
        if (kind_of(r) == of && (!without || strcmp(r->of->system, without) != 0))
            k->rows[k->n++] = r;
    }
}

/* The quantile of x less the law's term for software. */
static double quantile(const struct kind *k, const struct interval_law *law,
                       double share)
{
    for (int64_t i = 0; i < k->n; i++) {
        const struct ranges_row *r = k->rows[i];
        double term = law->slow_software * interval_law_software(&r->of->at);
        k->values[i] = (struct ranges_value) { r->x - term, weight_of(k, r) };
    }
    return ranges_quantile(k->values, k->n, share);
}

/* How badly the line that `quantile` left in the room goes through the rows. */
static double loss_of(const struct kind *k, double line)
{
    double loss = 0;
    for (int64_t i = 0; i < k->n; i++) {
        double more = k->values[i].x - line;
        loss += k->values[i].weight * (more > 0 ? above * more : -below * more);
    }
    return loss;
}

/* The slow end of rows that are like none: the best of lines over software's share. */
static void fit_slow(struct interval_law *law, const struct kind *k)
{
    enum { STEPS = 60 };
    const double each = 0.01;
    struct interval_law tried = *law;
    double least = INFINITY;
    for (int i = 0; i <= STEPS; i++) {
        tried.slow_software = i * each;
        double line = quantile(k, &tried, above), loss = loss_of(k, line);
        if (loss >= least)
            continue;
        least = loss;
        law->slow_software = tried.slow_software;
        law->other.slow = fmax(line, law->measured.slow);
    }
}

/* What the slow end of jobs with experts is more. */
static void fit_experts(struct interval_ends *ends, const struct kind *k,
                        const struct interval_law *law, double least)
{
    if (k->n)
        ends->experts = fmax(quantile(k, law, above) - ends->slow, least);
}

/* Of kinds without rows the constants stay those in use. */
static void fit(struct interval_law *law, struct kind *k,
                const struct ranges_rows *rows, const char *without)
{
    const struct interval_law none = { 0 };
    gather(k, rows, OF_MEASURED, without);
    if (k->n) {
        law->measured.fast = fmin(quantile(k, &none, below), 0);
        law->measured.slow = fmax(quantile(k, &none, above), 0);
    }
    gather(k, rows, OF_MEASURED_EXPERTS, without);
    fit_experts(&law->measured, k, &none, 0);
    gather(k, rows, OF_OTHER, without);
    if (k->n) {
        law->other.fast = fmin(quantile(k, &none, below), law->measured.fast);
        fit_slow(law, k);
    }
    gather(k, rows, OF_OTHER_EXPERTS, without);
    fit_experts(&law->other, k, law, law->measured.experts);
}

struct interval_law ranges_fit(const struct ranges_rows *rows, const char *without)
{
    struct interval_law law = interval_law;
    size_t n = (size_t)rows->n + 1;
    struct kind k = { .rows = xcalloc(n, sizeof(*k.rows)),
                      .values = xcalloc(n, sizeof(*k.values)) };
    fit(&law, &k, rows, without);
    free(k.rows);
    free(k.values);
    return law;
}
