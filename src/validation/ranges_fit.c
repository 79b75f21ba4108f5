#include "validation/ranges.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What lies beyond an end: a tenth. Percentiles of the systems that are known hold two or
 * three rows in a hundred too few of one that is not, whose rows err together. */
static const double beyond = 0.1, beyond_unknown = 0.08;

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
    const struct interval_place *at = &r->of->at;
    if (r->measured)
        return at->experts ? OF_MEASURED_EXPERTS : OF_MEASURED;
    return at->experts && !at->experts_fitted ? OF_OTHER_EXPERTS : OF_OTHER;
}

static double outside_of(const struct kind *k)
{
    return k->of >= OF_OTHER ? beyond_unknown : beyond;
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

static double quantile(const struct kind *k, double share)
{
    for (int64_t i = 0; i < k->n; i++)
        k->values[i] =
            (struct ranges_value) { k->rows[i]->x, weight_of(k, k->rows[i]) };
    return ranges_quantile(k->values, k->n, share);
}

/* What the slow end of jobs with experts is more. */
static void fit_experts(struct interval_ends *ends, const struct kind *k, double least)
{
    if (k->n)
        ends->experts = fmax(quantile(k, 1 - outside_of(k)) - ends->slow, least);
}

/* Of kinds without rows the constants stay those in use. */
static void fit(struct interval_law *law, struct kind *k,
                const struct ranges_rows *rows, const char *without)
{
    gather(k, rows, OF_MEASURED, without);
    if (k->n) {
        law->measured.fast = fmin(quantile(k, outside_of(k)), 0);
        law->measured.slow = fmax(quantile(k, 1 - outside_of(k)), 0);
    }
    gather(k, rows, OF_MEASURED_EXPERTS, without);
    fit_experts(&law->measured, k, 0);
    gather(k, rows, OF_OTHER, without);
    if (k->n) {
        law->other.fast = fmin(quantile(k, outside_of(k)), law->measured.fast);
        law->other.slow = fmax(quantile(k, 1 - outside_of(k)), law->measured.slow);
    }
    gather(k, rows, OF_OTHER_EXPERTS, without);
    fit_experts(&law->other, k, law->measured.experts);
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
