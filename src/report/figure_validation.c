#include "report/figure_validation.h"

#include "base/arena.h"
#include "base/vec.h"
#include "draw/chart.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

/* The rows of one source in one quantity. */
struct points {
    const char *source, *quantity;
    VEC(double) measured;
    VEC(double) predicted;
};

struct all_points {
    struct arena names;
    const char *title; /* of a table that several simulators predict; NULL */
    VEC(struct points) list;
};

static struct points *points_get(struct all_points *all, const char *source,
                                 const char *quantity)
{
    for (int64_t i = 0; i < all->list.n; i++) {
        struct points *p = &all->list.v[i];
        if (p->source == source && strcmp(p->quantity, quantity) == 0)
            return p;
    }
    VEC_PUSH(&all->list, ((struct points) { .source = source, .quantity = quantity }));
    return &all->list.v[all->list.n - 1];
}

static void collect_row(struct all_points *all, const char *source, const json_t *row)
{
    const char *key;
    json_t *value;
    const json_t *predicted = json_object_get(row, "predicted");
    json_object_foreach(json_object_get(row, "measured"), key, value)
    {
        double m = json_number_value(value);
        double p = json_number_value(json_object_get(predicted, key));
        if (!(m > 0 && p > 0))
            continue;
        struct points *points = points_get(all, source, key);
        VEC_PUSH(&points->measured, m);
        VEC_PUSH(&points->predicted, p);
    }
}

static void collect_rows(struct all_points *all, const char *name, const json_t *source)
{
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(source, "rows"), i, row)
        collect_row(all, name, row);
}

static const char *side(struct all_points *all, bool alone, const char *source,
                        const char *simulator)
{
    return alone ? simulator : arena_printf(&all->names, "%s, %s", source, simulator);
}

/* Other simulators' predictions of a source are sources of their own. */
static void collect(struct all_points *all, const json_t *sources)
{
    size_t i, j;
    const json_t *source, *rival;
    json_array_foreach(sources, i, source)
    {
        const char *name = json_string_value(json_object_get(source, "name"));
        const json_t *rivals = json_object_get(source, "rivals");
        bool alone = rivals && json_array_size(sources) == 1; /* the title says which */
        all->title = alone ? name : NULL;
        collect_rows(all, rivals ? side(all, alone, name, "smsim") : name, source);
        json_array_foreach(rivals, j, rival) collect_rows(
            all,
            side(all, alone, name, json_string_value(json_object_get(rival, "name"))),
            rival);
    }
}

static void release(struct all_points *all)
{
    for (int64_t i = 0; i < all->list.n; i++) {
        VEC_RELEASE(&all->list.v[i].measured);
        VEC_RELEASE(&all->list.v[i].predicted);
    }
    VEC_RELEASE(&all->list);
    arena_release(&all->names);
}

/* What axes call a quantity of simulate's JSON. */
static struct axis quantity_axis(const char *label, const char *quantity)
{
    struct axis a = { .label = label, .scale = AXIS_LOG10, .unit_text = quantity };
    size_t n = strlen(quantity);
    if (n >= 6 && strcmp(quantity + n - 6, "time_s") == 0)
        a.unit = AXIS_SECONDS;
    else if (n >= 4 && strcmp(quantity + n - 4, "_Bps") == 0)
        a.unit = AXIS_BYTES_PER_S;
    return a;
}

static int write_scatter(const struct points *p, const char *path, struct err *err)
{
    struct series s = {
        .kind = SERIES_POINTS,
        .n = (size_t)p->measured.n,
        .x = p->measured.v,
        .y = p->predicted.v,
    };
    struct chart c = {
        .title = p->source,
        .subtitle = "How near is each prediction to its measurement?",
        .x = quantity_axis("measured", p->quantity),
        .y = quantity_axis("predicted", p->quantity),
        .series = &s,
        .n_series = 1,
        .identity = 0.1,
        .identity_name = "within 10 %",
        .height = 560,
    };
    return chart_write(&c, path, err);
}

/* Sorted sizes of the errors, and the share of rows up to each. */
static struct series error_curve(struct arena *arena, const struct points *p,
                                 const char *name)
{
    int64_t n = p->measured.n;
    double *x = ARENA_ARRAY(arena, n, double), *y = ARENA_ARRAY(arena, n, double);
    for (int64_t i = 0; i < n; i++)
        x[i] = fabs(p->predicted.v[i] / p->measured.v[i] - 1);
    gsl_sort(x, 1, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        y[i] = (double)(i + 1) / (double)n;
    return (struct series) { .name = name,
                             .kind = SERIES_LINE,
                             .n = (size_t)n,
                             .x = x,
                             .y = y,
                             .no_markers = true };
}

static int write_curves(const struct all_points *all, const char *path, struct err *err)
{
    struct arena arena;
    arena_init(&arena);
    int64_t n = all->list.n;
    struct series *series = ARENA_ARRAY(&arena, n, struct series);
    for (int64_t i = 0; i < n; i++) {
        const struct points *p = &all->list.v[i];
        bool same = all->title && strcmp(p->quantity, all->list.v[0].quantity) == 0;
        const char *name =
            same ? p->source : arena_printf(&arena, "%s: %s", p->source, p->quantity);
        series[i] = error_curve(&arena, p, name);
    }
    struct chart c = {
        .title = all->title ? all->title : "Errors of prediction",
        .subtitle = "What share of the measured rows is predicted within what error?",
        .x = { .label = "error at most", .unit = AXIS_FRACTION, .max = 0.4 },
        .y = { .label = "share of rows", .unit = AXIS_FRACTION, .max = 1 },
        .series = series,
        .n_series = (size_t)n,
        .width = 960,
    };
    int rc = chart_write(&c, path, err);
    arena_release(&arena);
    return rc;
}

int figure_validation_write(const json_t *sources, const char *path, struct err *err)
{
    struct all_points all = { 0 };
    arena_init(&all.names);
    collect(&all, sources);
    int rc;
    if (all.list.n == 0)
        rc = err_set(err, "%s: there is no row to draw", path);
    else if (all.list.n == 1)
        rc = write_scatter(&all.list.v[0], path, err);
    else
        rc = write_curves(&all, path, err);
    release(&all);
    return rc;
}
