#include "validation/stats.h"

#include "base/xmalloc.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct stats stats_of(const double *errors, int64_t n)
{
    struct stats s = { n, (double)NAN, (double)NAN, (double)NAN, (double)NAN };
    if (n == 0)
        return s;
    size_t count = (size_t)n;
    double *sorted = xmalloc(count * sizeof(*sorted));
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(errors[i]);
    gsl_sort(sorted, 1, count);
    s.mean_abs = gsl_stats_mean(sorted, 1, count);
    s.median_abs = gsl_stats_median_from_sorted_data(sorted, 1, count);
    s.max_abs = sorted[count - 1];
    s.bias = gsl_stats_mean(errors, 1, count);
    free(sorted);
    return s;
}

static bool is_constant(const double *v, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (v[i] != v[0])
            return false;
    return true;
}

static double spearman(const struct ranked *v, int64_t n)
{
    double *work = xmalloc(4 * (size_t)n * sizeof(*work)), *a = work, *b = work + n;
    double r = (double)NAN;
    for (int64_t i = 0; i < n; i++) {
        a[i] = v[i].measured;
        b[i] = v[i].predicted;
    }
    if (!is_constant(a, n) && !is_constant(b, n))
        r = gsl_stats_spearman(a, 1, b, 1, (size_t)n, work + 2 * n);
    free(work);
    return r;
}

struct ranking ranking_of(const struct ranked *v, int64_t n)
{
    assert(n >= 1);
    struct ranking r = { .n = n, .spearman = spearman(v, n) };
    int64_t top[3] = { -1, -1, -1 };
    double best = 0, second = 0, best_of_three = 0;
    for (int64_t i = 0; i < n; i++) {
        second = fmax(second, fmin(best, v[i].measured));
        best = fmax(best, v[i].measured);
        int64_t at = i;
        for (int k = 0; k < 3; k++) /* the place is handed down to the one it beats */
            if (at >= 0 && (top[k] < 0 || v[at].merit > v[top[k]].merit)) {
                int64_t beaten = top[k];
                top[k] = at;
                at = beaten;
            }
    }
    assert(best > 0);
    for (int k = 0; k < 3; k++)
        if (top[k] >= 0)
            best_of_three = fmax(best_of_three, v[top[k]].measured);
    double chosen = v[top[0]].measured;
    r.regret = 1 - chosen / best;
    r.regret_top3 = 1 - best_of_three / best;
    if (second > 0) {
        r.regret_second = fmax(0, 1 - chosen / second);
        r.regret_second_top3 = fmax(0, 1 - best_of_three / second);
    }
    return r;
}

struct ranking ranking_mean(const struct ranking *rankings, int64_t n_rankings)
{
    struct ranking mean = { 0 };
    int64_t n_defined = 0;
    for (int64_t i = 0; i < n_rankings; i++) {
        const struct ranking *r = &rankings[i];
        mean.n += r->n;
        mean.regret += r->regret / (double)n_rankings;
        mean.regret_top3 += r->regret_top3 / (double)n_rankings;
        mean.regret_second += r->regret_second / (double)n_rankings;
        mean.regret_second_top3 += r->regret_second_top3 / (double)n_rankings;
        if (isnan(r->spearman))
            continue;
        mean.spearman += r->spearman;
        n_defined++;
    }
    mean.spearman /= (double)n_defined; /* 0 / 0 is NAN */
    return mean;
}
