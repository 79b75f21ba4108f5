#include "validation/ranges.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct range {
    double low, high; /* logarithms of measured over predicted */
};

/* A row's logarithm and what it counts. */
struct weighed {
    double x, weight;
};

static double log_of(const struct applicability_row *r)
{
    return -log1p(r->error);
}

static int64_t rows_of(const struct applicability_rows *rows, const char *source)
{
    int64_t n = 0;
    for (int64_t i = 0; i < rows->list.n; i++)
        n += strcmp(rows->list.v[i].source, source) == 0;
    return n;
}

static int by_log(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return (x->x > y->x) - (x->x < y->x);
}

/* The least of the sorted that so much of the weight is not above. */
static double quantile(const struct weighed *v, int64_t n, double weights, double share)
{
    double sum = 0;
    int64_t i = 0;
    for (; i < n - 1 && (sum += v[i].weight) < share * weights; i++)
        ;
    return v[i].x;
}

/* One range for all, by the rows of other sources; of none, nothing. */
static struct range one_range(const struct applicability_rows *known,
                              const char *without)
{
    struct weighed *v = xcalloc((size_t)known->list.n + 1, sizeof(*v));
    double weights = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < known->list.n; i++) {
        const struct applicability_row *r = &known->list.v[i];
        if (strcmp(r->source, without) == 0)
            continue;
        v[n] = (struct weighed) { log_of(r), 1 / (double)rows_of(known, r->source) };
        weights += v[n++].weight;
    }
    struct range range = { 0 };
    if (n) {
        qsort(v, (size_t)n, sizeof(*v), by_log);
        range = (struct range) { quantile(v, n, weights, 0.1),
                                 quantile(v, n, weights, 0.9) };
    }
    free(v);
    return range;
}

static bool holds(struct range r, double x)
{
    return x >= r.low && x <= r.high;
}

static double score(struct range r, double x)
{
    const double outside = 0.2; /* the share of rows that may lie outside */
    return r.high - r.low + 2 / outside * (fmax(r.low - x, 0) + fmax(x - r.high, 0));
}

static struct ranges_score judge_source(const struct applicability_rows *judged,
                                        const struct applicability_rows *known,
                                        const struct interval_table *table,
                                        const char *source)
{
    struct ranges_score s = { .source = source, .n = rows_of(judged, source) };
    struct range one = one_range(known, source);
    for (int64_t i = 0; i < judged->list.n; i++) {
        const struct applicability_row *r = &judged->list.v[i];
        if (strcmp(r->source, source) != 0)
            continue;
        struct interval t = interval_assess(table, &r->at, source);
        struct range stated = { -log1p(t.high), -log1p(t.low) };
        double x = log_of(r), n = (double)s.n;
        s.within += holds(stated, x) / n;
        s.within_one += holds(one, x) / n;
        s.stated += score(stated, x) / n;
        s.one += score(one, x) / n;
    }
    return s;
}

static bool is_first(const struct applicability_rows *rows, int64_t i)
{
    for (int64_t k = 0; k < i; k++)
        if (strcmp(rows->list.v[k].source, rows->list.v[i].source) == 0)
            return false;
    return true;
}

struct ranges ranges_judge(const struct applicability_rows *judged,
                           const struct applicability_rows *known,
                           const struct interval_table *table)
{
    struct ranges r = { .lines = ARENA_ARRAY(known->arena, judged->list.n + 1,
                                             struct ranges_score) };
    for (int64_t i = 0; i < judged->list.n; i++)
        if (is_first(judged, i))
            r.lines[r.n++] =
                judge_source(judged, known, table, judged->list.v[i].source);
    r.all.source = "all";
    for (int32_t i = 0; i < r.n; i++) {
        const struct ranges_score *s = &r.lines[i];
        r.all.n += s->n;
        r.all.within += s->within / r.n;
        r.all.within_one += s->within_one / r.n;
        r.all.stated += s->stated / r.n;
        r.all.one += s->one / r.n;
    }
    return r;
}
