/* Draws the figures of a sweep: values into series, series into a chart. */
#include "report/figure/sweep_data.h"

#include "base/units.h"
#include "base/xmalloc.h"
#include "draw/chart.h"
#include "draw/heatmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRONT_COLOUR = 7 }; /* dark grey */

/* The values of one series, by rising x. */
struct line {
    size_t n;
    double *x, *y;
    const char **labels;
    bool *faded; /* beaten in both, in a figure with a front */
};

static bool more_is_better(const struct sweep_figure *f)
{
    return f->efficiency || figure_quantity_of(f->y.v[0].name).more_is_better;
}

/* Whether a is shown rather than b, where both have one place. */
static bool is_preferred(const struct sweep_figure *f, double a, double b)
{
    bool most = f->pick == PICK_MOST || (f->pick == PICK_BEST && more_is_better(f));
    return most ? a > b : a < b;
}

static int by_series_and_x(const void *a, const void *b)
{
    const struct sweep_datum *p = a, *q = b;
    if (p->series != q->series)
        return p->series < q->series ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

/* All values sorted by series and x; of equal places, one where `one_each`. The caller
 * frees it. */
static struct sweep_datum *sorted(const struct sweep_figure *f, bool one_each,
                                  size_t *n)
{
    size_t all = (size_t)f->data.n, m = 0;
    struct sweep_datum *d = xcalloc(all + 1, sizeof(*d));
    if (all)
        memcpy(d, f->data.v, all * sizeof(*d));
    qsort(d, all, sizeof(*d), by_series_and_x);
    for (size_t i = 0; i < all; i++) {
        bool same = one_each && m > 0 && by_series_and_x(&d[m - 1], &d[i]) == 0;
        if (!same)
            d[m++] = d[i];
        else if (is_preferred(f, d[i].y, d[m - 1].y))
            d[m - 1] = d[i];
    }
    *n = m;
    return d;
}

/* y per x, relative to the first. */
static void make_efficiency(struct line *l)
{
    double first = l->n ? l->y[0] / l->x[0] : 0;
    for (size_t i = 0; i < l->n; i++)
        l->y[i] = l->y[i] / l->x[i] / first;
}

static struct line *make_lines(const struct sweep_figure *f, size_t n_lines)
{
    size_t n;
    bool one_each = f->kind != FIGURE_POINTS && f->kind != FIGURE_FRONT;
    struct sweep_datum *d = sorted(f, one_each, &n);
    struct line *lines = xcalloc(n_lines + 1, sizeof(*lines));
    for (size_t k = 0, i = 0; k < n_lines; k++) {
        struct line *l = &lines[k];
        size_t from = i;
        while (i < n && d[i].series == (int32_t)k)
            i++;
        l->x = xcalloc(i - from + 1, sizeof(*l->x));
        l->y = xcalloc(i - from + 1, sizeof(*l->y));
        l->labels = xcalloc(i - from + 1, sizeof(*l->labels));
        for (; from < i; from++, l->n++) {
            l->x[l->n] = d[from].x;
            l->y[l->n] = d[from].y;
            l->labels[l->n] = d[from].label;
        }
        if (f->efficiency)
            make_efficiency(l);
    }
    free(d);
    return lines;
}

static void free_lines(struct line *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(lines[i].x);
        free(lines[i].y);
        free(lines[i].labels);
        free(lines[i].faded);
    }
    free(lines);
}

/* The best point of a line, named with where it is. */
static void name_optimum(const struct sweep_figure *f, struct arena *arena,
                         struct line *l, const struct axis *x)
{
    char text[AXIS_TEXT_MAX];
    size_t best = 0;
    for (size_t i = 1; i < l->n; i++)
        if (more_is_better(f) ? l->y[i] > l->y[best] : l->y[i] < l->y[best])
            best = i;
    if (l->n)
        l->labels[best] = arena_printf(arena, "best: %s",
                                       x->unit == AXIS_SECONDS
                                           ? units_time_text(text, l->x[best])
                                           : axis_value_text(text, x, l->x[best]));
}

/* Axes */

/* Logarithmic where positive values span a factor of eight or more. */
static enum axis_scale scale_for(int asked, double least, double most, bool bytes)
{
    if (asked == AXIS_LOG10 && bytes)
        return AXIS_LOG2;
    if (asked != SCALE_AUTO)
        return (enum axis_scale)asked;
    return least > 0 && most / least >= 8 ? AXIS_LOG2 : AXIS_LINEAR;
}

static struct axis axis_for(struct arena *arena, const char *name, const char *label)
{
    struct sweep_quantity q = figure_quantity_of(name);
    return (struct axis) { .label = label ? label : figure_quantity_label(arena, name),
                           .unit = q.unit,
                           .unit_text = q.unit_text };
}

static void span(const struct line *lines, size_t n, bool of_x, double *least,
                 double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < lines[k].n; i++) {
            double v = of_x ? lines[k].x[i] : lines[k].y[i];
            *least = fmin(*least, v);
            *most = fmax(*most, v);
        }
}

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* The x of all lines, each once, ascending. */
static size_t values_of(const struct line *lines, size_t n, struct arena *arena,
                        const double **values)
{
    size_t all = 0, distinct = 0;
    for (size_t k = 0; k < n; k++)
        all += lines[k].n;
    double *v = ARENA_ARRAY(arena, all + 1, double);
    for (size_t k = 0, at = 0; k < n; at += lines[k++].n)
        memcpy(v + at, lines[k].x, lines[k].n * sizeof(*v));
    qsort(v, all, sizeof(*v), by_value);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || v[i] > v[distinct - 1])
            v[distinct++] = v[i];
    *values = v;
    return distinct;
}

static struct axis x_axis(const struct sweep_figure *f, struct arena *arena,
                          const struct line *lines, size_t n)
{
    double least, most;
    struct axis x = axis_for(arena, f->x.name, f->x_label);
    if (f->x_is_text) {
        x.scale = AXIS_CATEGORY;
        x.unit = AXIS_PLAIN;
        x.categories = f->x_names.v;
        x.n_categories = (size_t)f->x_names.n;
        return x;
    }
    span(lines, n, true, &least, &most);
    x.scale = scale_for(f->x_scale == AXIS_CATEGORY ? SCALE_AUTO : f->x_scale, least,
                        most, x.unit == AXIS_BYTES);
    x.from_zero = f->kind == FIGURE_FRONT && x.scale == AXIS_LINEAR;
    if ((f->kind == FIGURE_LINE || f->kind == FIGURE_BAND) && most > least) {
        x.min = least; /* lines end where the data does */
        x.max = most;
        if (x.unit == AXIS_PLAIN && x.scale != AXIS_LINEAR)
            x.n_ticks = values_of(lines, n, arena, &x.ticks);
    }
    return x;
}

static struct axis y_axis(const struct sweep_figure *f, struct arena *arena,
                          const struct line *lines, size_t n)
{
    double least, most;
    const char *several = f->y.n > 1 ? "time" : NULL;
    struct axis y = axis_for(arena, f->y.v[0].name, f->y_label ? f->y_label : several);
    if (f->efficiency) {
        y.label = f->y_label ? f->y_label : "scaling efficiency";
        y.unit = AXIS_FRACTION;
        y.unit_text = NULL;
    }
    span(lines, n, false, &least, &most);
    bool log = f->kind == FIGURE_LINE && !f->efficiency && f->y.n == 1;
    y.scale = f->y_scale != SCALE_AUTO || log
                  ? scale_for(f->y_scale, least, most, y.unit == AXIS_BYTES)
                  : AXIS_LINEAR;
    y.from_zero = y.scale == AXIS_LINEAR && f->kind != FIGURE_BAND;
    return y;
}

/* Charts */

static enum series_kind series_kind(const struct sweep_figure *f)
{
    switch (f->kind) {
    case FIGURE_BARS:
        return SERIES_BARS;
    case FIGURE_STACKED_BARS:
        return SERIES_STACKED_BARS;
    case FIGURE_POINTS:
    case FIGURE_FRONT:
        return SERIES_POINTS;
    case FIGURE_LINE:
    case FIGURE_BAND:
    case FIGURE_HEATMAP:
        break;
    }
    return SERIES_LINE;
}

static const char *label_at(const struct sweep_figure *f, double x, double y)
{
    for (int64_t i = 0; i < f->data.n; i++) {
        const struct sweep_datum *d = &f->data.v[i];
        if (!(d->x < x || d->x > x || d->y < y || d->y > y))
            return d->label;
    }
    return NULL;
}

/* The points that no other beats, as a line of their own; they alone are labelled. */
static void add_front(struct chart *c, struct series *to, const struct sweep_figure *f,
                      double *x, double *y, const char **labels)
{
    size_t n = (size_t)f->data.n;
    double *all = xcalloc(2 * n + 1, sizeof(*all));
    for (size_t i = 0; i < n; i++) {
        all[i] = f->data.v[i].x;
        all[n + i] = f->data.v[i].y;
    }
    size_t m =
        chart_front(n, all, all + n, figure_quantity_of(f->x.name).more_is_better,
                    more_is_better(f), x, y);
    free(all);
    for (size_t i = 0; i < m; i++)
        labels[i] = label_at(f, x[i], y[i]);
    *to = (struct series) { .name = "not beaten in both",
                            .kind = figure_quantity_of(f->x.name).more_is_better
                                        ? SERIES_LINE
                                        : SERIES_STEP,
                            .n = m,
                            .x = x,
                            .y = y,
                            .labels = f->label.n ? labels : NULL,
                            .no_markers = true,
                            .colour = FRONT_COLOUR };
    c->n_series++;
}

static bool is_capacity(const char *quantity)
{
    return strcmp(quantity, "/memory/capacity_bytes") == 0;
}

static bool on_front(const struct series *front, double x, double y)
{
    for (size_t i = 0; i < front->n; i++)
        if (!(front->x[i] < x || front->x[i] > x || front->y[i] < y || front->y[i] > y))
            return true;
    return false;
}

static void fade_beaten(struct line *lines, struct series *series, size_t n,
                        const struct series *front)
{
    for (size_t k = 0; k < n; k++) {
        struct line *l = &lines[k];
        l->faded = xcalloc(l->n + 1, sizeof(*l->faded));
        for (size_t i = 0; i < l->n; i++)
            l->faded[i] = !on_front(front, l->x[i], l->y[i]);
        series[k].faded = l->faded;
    }
}

/* Three lines each, the lower edge, what is within and the upper edge, as a band with a
 * line in it. */
static size_t fold_bands(const struct sweep_figure *f, struct arena *arena,
                         struct series *series, size_t n)
{
    size_t out = 0;
    for (size_t k = 0; k + 2 < n; k += 3) {
        struct series low = series[k], mid = series[k + 1], high = series[k + 2];
        size_t shared = low.n < high.n ? low.n : high.n;
        const char *of = figure_quantity_label(arena, f->y.v[0].name),
                   *to = figure_quantity_label(arena, f->y.v[2].name);
        low.kind = SERIES_BAND;
        low.n = shared;
        low.y2 = high.y;
        low.name = arena_printf(arena, "%.*s to %s", (int)strcspn(of, " "), of, to);
        low.colour = mid.colour = 1 + k / 3;
        if (f->series.n > 0)
            low.name =
                NULL; /* the line says which; the question says what the band is */
        series[out++] = low;
        series[out++] = mid;
    }
    return out;
}

static int write_chart(const struct sweep_figure *f, struct arena *arena,
                       const struct draw_to *to, struct err *err)
{
    size_t n = (size_t)f->series_names.n;
    struct line *lines = make_lines(f, n);
    struct series *series = xcalloc(n + 3, sizeof(*series));
    double *front = xcalloc(2 * (size_t)f->data.n + 1, sizeof(*front));
    const char **labels = xcalloc((size_t)f->data.n + 1, sizeof(*labels));
    struct chart c = { .title = f->title,
                       .subtitle = f->question,
                       .provenance = f->provenance,
                       .x = x_axis(f, arena, lines, n),
                       .y = y_axis(f, arena, lines, n),
                       .series = series,
                       .n_series = n };
    for (size_t i = 0; f->optimum && i < n; i++)
        name_optimum(f, arena, &lines[i], &c.x);
    for (size_t i = 0; i < n; i++)
        series[i] = (struct series) {
            .name = f->series_names.v[i][0] ? f->series_names.v[i] : NULL,
            .kind = series_kind(f),
            .n = lines[i].n,
            .x = lines[i].x,
            .y = lines[i].y,
            .labels = (f->label.n && f->kind != FIGURE_FRONT) || f->optimum
                          ? lines[i].labels
                          : NULL,
            .colour = 1 + (size_t)f->colours.v[i],
            .meaning = (enum meaning)f->meanings.v[i],
        };
    if (f->kind == FIGURE_FRONT) {
        add_front(&c, &series[n], f, front, front + f->data.n, labels);
        fade_beaten(lines, series, n, &series[n]);
        series[c.n_series++] = (struct series) { .name = "grey: beaten in both",
                                                 .kind = SERIES_POINTS,
                                                 .meaning = MEANING_OTHER };
    }
    if (f->kind == FIGURE_BAND)
        c.n_series = fold_bands(f, arena, series, n);
    if (f->limit.name && isfinite(f->limit_at))
        series[c.n_series++] =
            (struct series) { .name = figure_quantity_label(arena, f->limit.name),
                              .kind = SERIES_LIMIT,
                              .n = 1,
                              .y = &f->limit_at,
                              .beyond =
                                  is_capacity(f->limit.name) ? "does not fit" : NULL };
    int rc = chart_write(&c, to, err);
    free(labels);
    free(front);
    free(series);
    free_lines(lines, n);
    return rc;
}

static int write_heatmap(const struct sweep_figure *f, struct arena *arena,
                         const struct draw_to *to, struct err *err)
{
    size_t columns = (size_t)f->x_names.n, rows = (size_t)f->y_names.n;
    double *values = xcalloc(rows * columns + 1, sizeof(*values));
    bool *hatched = xcalloc(rows * columns + 1, sizeof(*hatched));
    bool most =
        f->pick == PICK_MOST ||
        (f->pick == PICK_BEST && figure_quantity_of(f->value.name).more_is_better);
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = (double)NAN;
    for (int64_t i = 0; i < f->data.n; i++) {
        const struct sweep_datum *d = &f->data.v[i];
        size_t at = (size_t)d->y * columns + (size_t)d->x;
        double *cell = &values[at];
        hatched[at] |= d->unfit;
        if (d->unfit)
            continue;
        if (isnan(*cell) || (most ? d->value > *cell : d->value < *cell))
            *cell = d->value;
    }
    struct heatmap map = { .title = f->title,
                           .subtitle = f->question,
                           .provenance = f->provenance,
                           .x = axis_for(arena, f->x.name, f->x_label),
                           .y = axis_for(arena, f->y.v[0].name, f->y_label),
                           .value = axis_for(arena, f->value.name, NULL),
                           .values = values,
                           .nothing = "failed, or not run",
                           .hatched = hatched,
                           .hatched_name = "does not fit" };
    map.x.scale = map.y.scale = AXIS_CATEGORY;
    map.x.categories = f->x_names.v;
    map.x.n_categories = columns;
    map.y.categories = f->y_names.v;
    map.y.n_categories = rows;
    int rc = heatmap_write(&map, to, err);
    free(hatched);
    free(values);
    return rc;
}

int figure_sweep_write_one(const struct sweep_figure *f, struct arena *arena,
                           const struct draw_to *to, struct err *err)
{
    return f->kind == FIGURE_HEATMAP ? write_heatmap(f, arena, to, err)
                                     : write_chart(f, arena, to, err);
}
