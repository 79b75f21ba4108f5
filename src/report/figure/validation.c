#include "report/figure/validation.h"

#include "base/arena.h"
#include "base/vec.h"
#include "draw/chart.h"
#include "draw/panel.h"
#include "draw/whiskers.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 12, SCATTER_H = 540, RESIDUALS_H = 180, LEFT_ROOM = 90 };

#define ERROR_SHOWN 0.4    /* whiskers beyond go on at the edge */
#define RESIDUAL_SHOWN 0.5 /* larger errors are drawn at it */

/* The rows of one source in one quantity. */
struct points {
    const char *source, *quantity;
    const char *citation; /* of the source; NULL: of another simulator's predictions */
    VEC(double) measured;
    VEC(double) predicted;
    VEC(bool) outlier; /* not counted: the table's own filters say why */
    VEC(const char *) names;
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
        VEC_PUSH(&points->outlier, json_is_true(json_object_get(row, "outlier")));
        VEC_PUSH(&points->names, json_string_value(json_object_get(row, "name")));
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
        int64_t before = all->list.n;
        collect_rows(all, rivals ? side(all, alone, name, "smsim") : name, source);
        for (int64_t k = before; k < all->list.n; k++)
            all->list.v[k].citation =
                json_string_value(json_object_get(source, "source"));
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
        VEC_RELEASE(&all->list.v[i].outlier);
        VEC_RELEASE(&all->list.v[i].names);
    }
    VEC_RELEASE(&all->list);
    arena_release(&all->names);
}

/* "samples_per_s": "samples/s"; "/memory/reserved_bytes": "reserved memory". */
static const char *quantity_words(struct arena *arena, const char *quantity)
{
    const char *last = strrchr(quantity, '/');
    bool memory = strncmp(quantity, "/memory/", 8) == 0;
    char *words = arena_strdup(arena, last ? last + 1 : quantity);
    static const char *const units[] = { "_bytes", "_s", "_Bps" };
    size_t n = strlen(words);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (n > strlen(units[i]) &&
            strcmp(words + n - strlen(units[i]), units[i]) == 0 &&
            !strstr(words, "_per_"))
            words[n - strlen(units[i])] = '\0';
    for (char *at; (at = strstr(words, "_per_"));) {
        *at = '/';
        memmove(at + 1, at + 5, strlen(at + 5) + 1);
    }
    for (char *at = words; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return memory ? arena_printf(arena, "%s memory", words) : words;
}

/* What axes call a quantity of simulate's JSON. */
static struct axis quantity_axis(struct arena *arena, const char *label,
                                 const struct points *p)
{
    const double margin = 1.2;
    const char *quantity = p->quantity;
    size_t rows = (size_t)p->measured.n;
    struct axis a = { .label = label,
                      .scale = AXIS_LOG10,
                      .unit_text = quantity_words(arena, quantity) };
    /* the same for both sides, and in both panels */
    a.min = fmin(gsl_stats_min(p->measured.v, 1, rows),
                 gsl_stats_min(p->predicted.v, 1, rows)) /
            margin;
    a.max = fmax(gsl_stats_max(p->measured.v, 1, rows),
                 gsl_stats_max(p->predicted.v, 1, rows)) *
            margin;
    size_t n = strlen(quantity);
    if (n >= 6 && strcmp(quantity + n - 6, "time_s") == 0)
        a.unit = AXIS_SECONDS;
    else if (n >= 4 && strcmp(quantity + n - 4, "_Bps") == 0)
        a.unit = AXIS_BYTES_PER_S;
    return a;
}

/* Predicted against measured; few points have their names. */
static void draw_scatter(struct arena *arena, const struct points *p, struct draw *d)
{
    const char *of = arena_printf(arena, "Simulated against measured: %zu rows of %s",
                                  (size_t)p->measured.n, p->source);
    const struct series s = {
        .kind = SERIES_POINTS,
        .n = (size_t)p->measured.n,
        .x = p->measured.v,
        .y = p->predicted.v,
        .faded = p->outlier.v,
        .labels = p->measured.n <= NAMED_MAX ? p->names.v : NULL,
    };
    const struct chart c = {
        .title = p->citation ? p->citation : p->source,
        .subtitle = "How near is each prediction to its measurement?",
        .provenance = of,
        .x = quantity_axis(arena, "measured", p),
        .y = quantity_axis(arena, "predicted", p),
        .series = &s,
        .n_series = 1,
        .identity = 0.1,
        .identity_name = "within 10 %",
        .left_room = LEFT_ROOM,
    };
    chart_draw(&c, d);
}

/* The errors, with signs, over the same axis. */
static void draw_residuals(struct arena *arena, const struct points *p, struct draw *d)
{
    size_t n = (size_t)p->measured.n;
    double *error = ARENA_ARRAY(arena, n + 1, double), most = 0.1;
    for (size_t i = 0; i < n; i++) {
        error[i] = fmax(fmin(p->predicted.v[i] / p->measured.v[i] - 1, RESIDUAL_SHOWN),
                        -RESIDUAL_SHOWN);
        most = fmax(most, fabs(error[i]));
    }
    most = 0.1 * ceil(most / 0.1); /* tens of percent, which have ticks */
    static const double ends[] = { -0.1, 0.1 };
    const double range[] = { gsl_stats_min(p->measured.v, 1, n),
                             gsl_stats_max(p->measured.v, 1, n) },
                 low[] = { ends[0], ends[0] }, high[] = { ends[1], ends[1] };
    const struct series series[] = {
        { .kind = SERIES_POINTS,
          .n = n,
          .x = p->measured.v,
          .y = error,
          .faded = p->outlier.v,
          .meaning = MEANING_COMPUTE },
        { .kind = SERIES_BAND, .n = 2, .x = range, .y = low, .y2 = high, .colour = 7 },
    };
    const struct chart c = {
        .x = quantity_axis(arena, "measured", p),
        .y = { .label = "error", .unit = AXIS_FRACTION, .min = -most, .max = most },
        .series = series,
        .n_series = 2,
        .left_room = LEFT_ROOM,
    };
    chart_draw(&c, d);
}

static int write_scatter(const struct points *p, const struct draw_to *to,
                         struct err *err)
{
    struct arena arena;
    struct panel panel;
    struct draw d;
    if (draw_open(&d, to, CHART_WIDTH, SCATTER_H + RESIDUALS_H, err))
        return -1;
    double scatter = floor(d.height * SCATTER_H / (SCATTER_H + RESIDUALS_H));
    arena_init(&arena);
    panel_open(&panel, &d, (struct draw_box) { 0, 0, d.width, scatter }, "");
    draw_scatter(&arena, p, &panel.canvas);
    panel_close(&panel);
    panel_open(&panel, &d,
               (struct draw_box) { 0, scatter, d.width, d.height - scatter }, "error-");
    draw_residuals(&arena, p, &panel.canvas);
    panel_close(&panel);
    arena_release(&arena);
    return draw_close(&d, err);
}

/* Sorted sizes of the errors of rows that count; returns how many. */
static int64_t sorted_errors(const struct points *p, double *e)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->measured.n; i++)
        if (!p->outlier.v[i])
            e[n++] = fabs(p->predicted.v[i] / p->measured.v[i] - 1);
    gsl_sort(e, 1, (size_t)n);
    return n;
}

/* Sorted sizes of the errors, and the share of rows up to each. */
static struct series error_curve(struct arena *arena, const struct points *p,
                                 const char *name)
{
    double *x = ARENA_ARRAY(arena, p->measured.n + 1, double);
    double *y = ARENA_ARRAY(arena, p->measured.n + 1, double);
    int64_t n = sorted_errors(p, x);
    for (int64_t i = 0; i < n; i++)
        y[i] = (double)(i + 1) / (double)n;
    return (struct series) { .name = name,
                             .kind = SERIES_LINE,
                             .n = (size_t)n,
                             .x = x,
                             .y = y,
                             .no_markers = true };
}

static int write_curves(const struct all_points *all, const struct draw_to *to,
                        struct err *err)
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
    int rc = chart_write(&c, to, err);
    arena_release(&arena);
    return rc;
}

/* A row each: the median of the errors and what nine of ten stay below. */
static struct whisker whisker_of(struct arena *arena, const struct points *p,
                                 bool several)
{
    double *e = ARENA_ARRAY(arena, p->measured.n + 1, double);
    int64_t n = sorted_errors(p, e);
    return (struct whisker) {
        .name = several ? arena_printf(arena, "%s: %s", p->source,
                                       quantity_words(arena, p->quantity))
                        : p->source,
        .note = arena_printf(arena, "%" PRId64, n),
        .dot = n ? gsl_stats_median_from_sorted_data(e, 1, (size_t)n) : (double)NAN,
        .end =
            n ? gsl_stats_quantile_from_sorted_data(e, 1, (size_t)n, 0.9) : (double)NAN,
    };
}

static int by_dot(const void *a, const void *b)
{
    const struct whisker *p = a, *q = b;
    if (p->dot < q->dot || p->dot > q->dot)
        return p->dot < q->dot ? -1 : 1;
    return strcmp(p->name, q->name);
}

/* Whether rows of a source are of several quantities. */
static bool has_several(const struct all_points *all, const struct points *p)
{
    int n = 0;
    for (int64_t i = 0; i < all->list.n; i++)
        n += all->list.v[i].source == p->source;
    return n > 1;
}

static int write_whiskers(const struct all_points *all, const struct draw_to *to,
                          struct err *err)
{
    struct arena arena;
    struct draw d;
    arena_init(&arena);
    size_t n = (size_t)all->list.n;
    struct whisker *rows = ARENA_ARRAY(&arena, n, struct whisker);
    double most = 0;
    int64_t counted = 0;
    for (size_t i = 0; i < n; i++) {
        rows[i] =
            whisker_of(&arena, &all->list.v[i], has_several(all, &all->list.v[i]));
        most = fmax(most, rows[i].end);
        counted += all->list.v[i].measured.n;
    }
    qsort(rows, n, sizeof(*rows), by_dot);
    const struct whiskers w = {
        .title = "Errors of prediction by source",
        .subtitle = "How far are predictions from measurements? At the right: rows",
        .provenance = arena_printf(
            &arena, "Simulated against measured: %" PRId64 " values", counted),
        .rows = rows,
        .n_rows = n,
        .dot_name = "median of |predicted / measured - 1|",
        .end_name = "nine of ten rows are below",
        .value = { .label = "error",
                   .unit = AXIS_FRACTION,
                   .from_zero = true,
                   .max = most > ERROR_SHOWN ? ERROR_SHOWN : 0 },
    };
    int rc = draw_open(&d, to, CHART_WIDTH, whiskers_height(&w), err);
    if (rc == 0) {
        whiskers_draw(&w, &d);
        rc = draw_close(&d, err);
    }
    arena_release(&arena);
    return rc;
}

int figure_validation_write(const json_t *sources, const struct draw_to *to,
                            struct err *err)
{
    struct all_points all = { 0 };
    arena_init(&all.names);
    collect(&all, sources);
    int rc;
    if (all.list.n == 0)
        rc = err_set(err, "%s: there is no row to draw", to->path);
    else if (all.list.n == 1)
        rc = write_scatter(&all.list.v[0], to, err);
    else if (all.title)
        rc = write_curves(&all, to, err);
    else
        rc = write_whiskers(&all, to, err);
    release(&all);
    return rc;
}
