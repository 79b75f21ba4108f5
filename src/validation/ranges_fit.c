#include "validation/ranges.h"

#include "base/xmalloc.h"
#include "validation/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    enum of { OF_MEASURED, OF_MEASURED_EXPERTS, OF_OTHER } of;
    int64_t n;
    const struct ranges_row **rows;
    struct ranges_value *values;    /* room; weights are set */
    struct quantile_row *equations; /* room */
};

static enum of kind_of(const struct ranges_row *r)
{
    if (!r->measured)
        return OF_OTHER;
    return r->of->at.experts ? OF_MEASURED_EXPERTS : OF_MEASURED;
}

static double weight_of(const struct kind *k, const struct ranges_row *r)
{
    int64_t n = 0;
    for (int64_t i = 0; i < k->n; i++)
        n += strcmp(k->rows[i]->of->system, r->of->system) == 0;
    return k->of == OF_OTHER ? 1 / (double)n : 1 / sqrt((double)n);
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

/* What is not measured ---------------------------------------------------------------- */

/* What an end may depend on, each 1 or more. */
static void fast_terms(double x[QUANTILE_TERMS], const struct interval_place *at)
{
    x[0] = 1;
    x[1] = interval_law_idle(at);
    x[2] = at->gpu_guessed;
}

static void slow_terms(double x[QUANTILE_TERMS], const struct interval_place *at)
{
    x[0] = 1;
    x[1] = interval_law_idle(at);
    x[2] = interval_law_small(at);
    x[3] = at->experts && !at->experts_fitted;
}

static void regress(double b[QUANTILE_TERMS], const struct kind *k, double share,
                    void (*terms)(double *, const struct interval_place *))
{
    for (int64_t i = 0; i < k->n; i++) {
        const struct ranges_row *r = k->rows[i];
        k->equations[i] =
            (struct quantile_row) { .y = r->x, .weight = weight_of(k, r) };
        terms(k->equations[i].x, &r->of->at);
    }
    quantile_regress(b, k->equations, k->n, share);
}

/* No narrower than of what is measured; no term makes a range narrower. */
static void fit_other(struct interval_law *law, const struct kind *k)
{
    struct interval_ends *o = &law->other;
    double fast[QUANTILE_TERMS] = { o->fast, -o->fast_idle, -o->fast_guessed };
    double slow[QUANTILE_TERMS] = { o->slow, o->slow_idle, o->slow_small, o->experts };
    if (!k->n)
        return;
    regress(fast, k, o->beyond_fast, fast_terms);
    regress(slow, k, 1 - o->beyond_slow, slow_terms);
    o->fast = fmin(fast[0], law->measured.fast);
    o->fast_idle = fmax(-fast[1], 0);
    o->fast_guessed = fmax(-fast[2], 0);
    o->slow = fmax(slow[0], law->measured.slow);
    o->slow_idle = fmax(slow[1], 0);
    o->slow_small = fmax(slow[2], 0);
    o->experts = fmax(slow[3], law->measured.experts);
}

/* Of kinds without rows the constants stay those in use. */
static void fit(struct interval_law *law, struct kind *k,
                const struct ranges_rows *rows, const char *without)
{
    gather(k, rows, OF_MEASURED, without);
    if (k->n) {
        law->measured.fast = fmin(quantile(k, law->measured.beyond_fast), 0);
        law->measured.slow = fmax(quantile(k, 1 - law->measured.beyond_slow), 0);
    }
    gather(k, rows, OF_MEASURED_EXPERTS, without);
    if (k->n)
        law->measured.experts =
            fmax(quantile(k, 1 - law->measured.beyond_slow) - law->measured.slow, 0);
    gather(k, rows, OF_OTHER, without);
    fit_other(law, k);
}

struct interval_law ranges_fit(const struct ranges_rows *rows, const char *without)
{
    struct interval_law law = interval_law;
    size_t n = (size_t)rows->n + 1;
    struct kind k = { .rows = xcalloc(n, sizeof(*k.rows)),
                      .values = xcalloc(n, sizeof(*k.values)),
                      .equations = xcalloc(n, sizeof(*k.equations)) };
    fit(&law, &k, rows, without);
    free(k.rows);
    free(k.values);
    free(k.equations);
    return law;
}
