#include "report/figure/collective.h"

#include "base/arena.h"
#include "draw/panel.h"

#include <string.h>

enum { TIMES_HEIGHT = 190, LEFT_ROOM = 96 };

static bool has_times(const struct figure_collective *f)
{
    return f->bus_factor > 0;
}

/* The colour of a measured curve: that of the computed one of its name, else its
 * own. */
static size_t colour_of(const struct figure_collective *f, size_t i)
{
    for (size_t k = 0; f->curves[i].measured && k < f->n_curves; k++)
        if (!f->curves[k].measured && f->curves[k].name && f->curves[i].name &&
            strcmp(f->curves[k].name, f->curves[i].name) == 0)
            return k;
    return i;
}

/* Measured points are named apart where a computed curve has the same name. */
static const char *name_of(struct arena *arena, const struct figure_collective *f,
                           size_t i)
{
    const struct collective_curve *c = &f->curves[i];

    if (!c->measured)
        return c->name;
    if (!c->name)
        return "measured";
    return colour_of(f, i) == i ? c->name
                                : arena_printf(arena, "%s, measured", c->name);
}

/* One size is a point, and has no line. */
static struct series series_of(struct arena *arena, const struct figure_collective *f,
                               size_t i, const double *y)
{
    const struct collective_curve *c = &f->curves[i];

    return (struct series) { .name = name_of(arena, f, i),
                             .kind =
                                 c->measured || c->n == 1 ? SERIES_POINTS : SERIES_LINE,
                             .n = c->n,
                             .x = c->size_B,
                             .y = y,
                             .no_markers = true,
                             .colour = colour_of(f, i) + 1 };
}

/* A computed point is drawn last, over measured ones. */
static size_t place_of(const struct figure_collective *f, size_t i)
{
    bool point = f->n_curves > 0 && !f->curves[0].measured && f->curves[0].n == 1;

    return point ? f->n_curves - 1 - i : i;
}

static void draw_bandwidths(struct arena *arena, const struct figure_collective *f,
                            struct draw *d)
{
    struct series *series = ARENA_ARRAY(arena, f->n_curves + 1, struct series);
    struct chart chart = {
        .title = f->title,
        .subtitle = f->subtitle,
        .provenance = f->provenance,
        .x = { "message size", AXIS_LOG2, AXIS_BYTES },
        .y = { "bus bandwidth", AXIS_LOG10, AXIS_BYTES_PER_S },
        .series = series,
        .n_series = f->n_curves,
        .left_room = LEFT_ROOM,
        .legend_below = has_times(f),
    };

    for (size_t i = 0; i < f->n_curves; i++)
        series[place_of(f, i)] = series_of(arena, f, i, f->curves[i].busbw_Bps);
    if (f->limit_Bps > 0)
        series[chart.n_series++] = (struct series) { .name = "limit of the links",
                                                     .kind = SERIES_LIMIT,
                                                     .n = 1,
                                                     .y = &f->limit_Bps };
    chart_draw(&chart, d);
}

static void draw_times(struct arena *arena, const struct figure_collective *f,
                       struct draw *d)
{
    struct series *series = ARENA_ARRAY(arena, f->n_curves, struct series);
    const struct chart chart = {
        .x = { "message size", AXIS_LOG2, AXIS_BYTES },
        .y = { "time", AXIS_LOG10, AXIS_SECONDS },
        .series = series,
        .n_series = f->n_curves,
        .left_room = LEFT_ROOM,
        .legend_below = has_times(f),
    };

    for (size_t i = 0; i < f->n_curves; i++) {
        const struct collective_curve *c = &f->curves[i];
        double *time_s = ARENA_ARRAY(arena, c->n + 1, double);
        for (size_t k = 0; k < c->n; k++)
            time_s[k] = c->size_B[k] * f->bus_factor / c->busbw_Bps[k];
        series[place_of(f, i)] = series_of(arena, f, i, time_s);
        series[place_of(f, i)].name = NULL; /* as above */
    }
    chart_draw(&chart, d);
}

void figure_collective_draw(const struct figure_collective *f, struct draw *d)
{
    struct arena arena;
    struct panel p;
    double times =
        has_times(f) ? d->height * TIMES_HEIGHT / (CHART_HEIGHT + TIMES_HEIGHT) : 0;

    arena_init(&arena);
    if (d->grows) {
        struct draw n;
        draw_open_nowhere(&n, d->width, d->height - times);
        draw_bandwidths(&arena, f, &n);
        draw_grow(d, n.height + times - d->height);
    }
    panel_open(&p, d, (struct draw_box) { 0, 0, d->width, d->height - times },
               d->prefix);
    draw_bandwidths(&arena, f, &p.canvas);
    panel_close(&p);
    if (has_times(f)) {
        panel_open(&p, d, (struct draw_box) { 0, d->height - times, d->width, times },
                   "time-");
        draw_times(&arena, f, &p.canvas);
        panel_close(&p);
    }
    arena_release(&arena);
}

int figure_collective_write(const struct figure_collective *f, const struct draw_to *to,
                            struct err *err)
{
    struct draw d;

    if (draw_open(&d, to, CHART_WIDTH, CHART_HEIGHT + (has_times(f) ? TIMES_HEIGHT : 0),
                  err))
        return -1;
    figure_collective_draw(f, &d);
    return draw_close(&d, err);
}
