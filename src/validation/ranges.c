#include "validation/ranges.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct range {
    double low, high; /* logarithms of measured over predicted */
};

static bool is_measured(const struct applicability_row *r,
                        const struct interval_table *cells, const char *without)
{
    return interval_assess(cells, &r->at, without).grade == INTERVAL_MEASURED;
}

static void add_rows(struct ranges_rows *to, const struct applicability_rows *rows,
                     const struct interval_table *cells, bool unfitted)
{
    for (int64_t i = 0; i < rows->list.n; i++) {
        const struct applicability_row *r = &rows->list.v[i];
        to->v[to->n++] =
            (struct ranges_row) { r, unfitted, is_measured(r, cells, NULL),
                                  is_measured(r, cells, r->source), -log1p(r->error) };
    }
}

struct ranges_rows ranges_rows_make(const struct applicability_rows *tables,
                                    const struct applicability_rows *unfitted,
                                    const struct interval_table *cells)
{
    struct ranges_rows rows = {
        .arena = tables->arena,
        .v = ARENA_ARRAY(tables->arena, tables->list.n + unfitted->list.n + 1,
                         struct ranges_row),
    };
    add_rows(&rows, tables, cells, false);
    add_rows(&rows, unfitted, cells, true);
    return rows;
}

/* Judging --------------------------------------------------------------------------- */

static int64_t rows_of(const struct ranges_rows *rows, const char *source)
{
    int64_t n = 0;
    for (int64_t i = 0; i < rows->n; i++)
        n += strcmp(rows->v[i].of->source, source) == 0;
    return n;
}

/* One range for all, by the rows of other tables; of none, nothing. */
static struct range one_range(const struct ranges_rows *rows, const char *without)
{
    struct ranges_value *v = xcalloc((size_t)rows->n + 1, sizeof(*v));
    int64_t n = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        const struct ranges_row *r = &rows->v[i];
        if (r->unfitted || strcmp(r->of->source, without) == 0)
            continue;
        v[n++] =
            (struct ranges_value) { r->x, 1 / (double)rows_of(rows, r->of->source) };
    }
    struct range range = { 0 };
    if (n)
        range =
            (struct range) { ranges_quantile(v, n, 0.1), ranges_quantile(v, n, 0.9) };
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

static struct range range_of(const struct interval_law *law, const struct ranges_row *r,
                             bool measured)
{
    double ends[2];
    interval_law_range(law, &r->of->at, measured, ends);
    return (struct range) { ends[0], ends[1] };
}

static struct ranges_score judge_source(const struct ranges_rows *rows,
                                        const char *source)
{
    struct ranges_score s = { .source = source, .n = rows_of(rows, source) };
    struct range one = one_range(rows, source);
    struct interval_law law = { 0 };
    const char *system = NULL;
    for (int64_t i = 0; i < rows->n; i++) {
        const struct ranges_row *r = &rows->v[i];
        if (strcmp(r->of->source, source) != 0)
            continue;
        if (!system || strcmp(r->of->system, system) != 0)
            law = ranges_fit(rows, system = r->of->system);
        struct range stated = range_of(&law, r, r->measured),
                     as_new = range_of(&law, r, r->measured_by_others);
        double n = (double)s.n;
        s.within += holds(stated, r->x) / n;
        s.within_new += holds(as_new, r->x) / n;
        s.within_one += holds(one, r->x) / n;
        s.stated += score(stated, r->x) / n;
        s.as_new += score(as_new, r->x) / n;
        s.one += score(one, r->x) / n;
    }
    return s;
}

static bool is_first(const struct ranges_rows *rows, int64_t i)
{
    for (int64_t k = 0; k < i; k++)
        if (strcmp(rows->v[k].of->source, rows->v[i].of->source) == 0)
            return false;
    return true;
}

static void add_mean(struct ranges_score *all, const struct ranges_score *s, double n)
{
    all->n += s->n;
    all->within += s->within / n;
    all->within_new += s->within_new / n;
    all->within_one += s->within_one / n;
    all->stated += s->stated / n;
    all->as_new += s->as_new / n;
    all->one += s->one / n;
}

struct ranges ranges_judge(const struct ranges_rows *rows, bool unfitted)
{
    struct ranges r = { .lines = ARENA_ARRAY(rows->arena, rows->n + 1,
                                             struct ranges_score) };
    for (int64_t i = 0; i < rows->n; i++)
        if (rows->v[i].unfitted == unfitted && is_first(rows, i))
            r.lines[r.n++] = judge_source(rows, rows->v[i].of->source);
    r.all.source = "all";
    for (int32_t i = 0; i < r.n; i++)
        add_mean(&r.all, &r.lines[i], r.n);
    return r;
}
