#include "draw/chart.h"

#include "draw/chart_marks.h"
#include "draw/chart_names.h"
#include "draw/palette.h"

#include <math.h>
#include <stdlib.h>

#define IDENTITY_COLOUR 0xffe0e0e0u
enum { PHASE_FONT = 11, PHASE_H = 6, PHASES_ROOM = 24, NAMES_GAP = 6 }; /* pixels */
#define TOTALS_ROOM 1.05 /* over the highest stack of bars */

static void include_stack(struct stack *stack, struct axis_view *y,
                          const struct series *s)
{
    if (stack->n < s->n) {
        stack->base = xrealloc(stack->base, s->n, sizeof(*stack->base));
        for (size_t i = stack->n; i < s->n; i++)
            stack->base[i] = 0;
        stack->n = s->n;
    }
    for (size_t i = 0; i < s->n; i++) {
        stack->base[i] += isfinite(s->y[i]) ? s->y[i] : 0;
        axis_view_include(y, stack->base[i]);
    }
}

static void include_series(const struct chart *chart, struct frame *f)
{
    struct stack areas = { 0 }, bars = { 0 };

    for (size_t k = 0; k < chart->n_series; k++) {
        const struct series *s = &chart->series[k];
        for (size_t i = 0; i < s->n && s->kind != SERIES_LIMIT; i++)
            axis_view_include(&f->x, series_x(s, i));
        if (s->kind == SERIES_STACKED_AREA)
            include_stack(&areas, &f->y, s);
        else if (s->kind == SERIES_STACKED_BARS)
            include_stack(&bars, &f->y, s);
        else
            for (size_t i = 0; i < s->n; i++)
                axis_view_include(&f->y, s->y[i]);
        for (size_t i = 0; s->y2 && i < s->n; i++)
            axis_view_include(&f->y, s->y2[i]);
    }
    if (bars.n > 0 && isfinite(f->y.hi)) /* room for their totals */
        axis_view_include(&f->y, f->y.hi * TOTALS_ROOM);
    free(areas.base);
    free(bars.base);
}

static bool is_stack(const struct series *s)
{
    return s->kind == SERIES_STACKED_AREA || s->kind == SERIES_STACKED_BARS;
}

/* In order, but stacks from the top down, as they are seen. */
static void fill_legend(const struct chart *chart, struct legend *legend)
{
    for (size_t k = 0, end; k < chart->n_series; k = end) {
        for (end = k + 1; is_stack(&chart->series[k]) && end < chart->n_series &&
                          chart->series[end].kind == chart->series[k].kind;)
            end++;
        for (size_t i = end; i > k; i--)
            legend_add(legend, chart_legend_item(chart, i - 1));
    }
    if (chart->identity > 0)
        legend_add(legend, (struct legend_item) { .name = chart->identity_name,
                                                  .key = LEGEND_BOX,
                                                  .colour = IDENTITY_COLOUR });
}

/* Both axes show the same range. */
static void make_square(struct frame *f)
{
    double lo = fmin(f->x.lo, f->y.lo), hi = fmax(f->x.hi, f->y.hi);

    f->x.lo = f->y.lo = lo;
    f->x.hi = f->y.hi = hi;
}

/* The line y = x, and the band about it. */
static void draw_identity(struct frame *f, struct draw *d, double frac)
{
    enum { PIECES = 48 }; /* of the line, which no label covers */
    double lo = f->x.lo, hi = f->x.hi, a = 1 + frac, b = 1 / (1 + frac);
    struct draw_point band[4] = { frame_at(f, lo, lo * a), frame_at(f, hi, hi * a),
                                  frame_at(f, hi, hi * b), frame_at(f, lo, lo * b) };
    struct draw_point p = frame_at(f, lo, lo), q = frame_at(f, hi, hi);

    for (int i = 0; i < PIECES; i++)
        frame_take_anyway(f, (struct draw_box) { p.x + (q.x - p.x) * i / PIECES,
                                                 p.y + (q.y - p.y) * (i + 1) / PIECES,
                                                 (q.x - p.x) / PIECES,
                                                 (p.y - q.y) / PIECES });
    draw_group(d, "identity", "identity", &f->plot);
    draw_polygon(d, band, 4,
                 &(struct draw_style) { .cls = "band", .fill = IDENTITY_COLOUR });
    draw_line(
        d, p.x, p.y, q.x, q.y,
        &(struct draw_style) { .cls = "line", .stroke = PALETTE_SOFT, .width = 1.2 });
    draw_group_end(d);
}

static void draw_annotations(const struct chart *chart, struct frame *f, struct draw *d)
{
    struct draw_text style = {
        .cls = "annotation", .size = 12, .plate = true, .colour = PALETTE_INK
    };

    for (size_t i = 0; i < chart->n_annotations; i++) {
        const struct annotation *a = &chart->annotations[i];
        struct draw_point at = frame_at(f, a->x, a->y);
        if (isfinite(at.x) && isfinite(at.y))
            frame_label(f, d, at, 8, a->text, &style);
    }
}

/* Names stand over their phases; one that has no room next to its neighbours is left
 * out. */
static void draw_phases(const struct chart *chart, struct frame *f, struct draw *d)
{
    struct draw_text style = { .cls = "phase",
                               .size = PHASE_FONT,
                               .anchor = DRAW_MIDDLE,
                               .colour = PALETTE_SOFT };
    double named_to = f->plot.x, y = f->plot.y - PHASE_H - 2;

    if (chart->n_phases == 0)
        return;
    draw_group(d, "phases", "phases", NULL);
    for (size_t i = 0; i < chart->n_phases; i++) {
        const struct chart_phase *p = &chart->phases[i];
        double from = axis_at(&f->x, p->from), to = axis_at(&f->x, p->to);
        double w = draw_text_width(p->name, style.size, false);
        double left =
            fmax(fmin((from + to - w) / 2, f->plot.x + f->plot.w - w), named_to);
        draw_rect(d, (struct draw_box) { from, y, to - from, PHASE_H },
                  &(struct draw_style) { .cls = "phase",
                                         .fill = meaning_colour(p->meaning) });
        if (i > 0)
            draw_line(d, from, y, from, f->plot.y + f->plot.h,
                      &(struct draw_style) { .cls = "phase",
                                             .stroke = PALETTE_SOFT,
                                             .dash = DRAW_DASHED });
        if (left > to || left + w > f->plot.x + f->plot.w + 1)
            continue;
        draw_text(d, left + w / 2, y - 4, p->name, &style);
        named_to = left + w + NAMES_GAP;
    }
    draw_group_end(d);
}

static void count_slots(struct marks *m)
{
    bool stacked = false;

    for (size_t k = 0; k < m->chart->n_series; k++) {
        m->n_slots += m->chart->series[k].kind == SERIES_BARS;
        stacked |= m->chart->series[k].kind == SERIES_STACKED_BARS;
    }
    m->bar_slot = m->n_slots;
    m->n_slots += stacked;
}

static void draw_series(const struct chart *chart, struct frame *f, struct draw *d,
                        bool named, bool numbered)
{
    struct marks m = { .chart = chart, .frame = f, .d = d };

    count_slots(&m);
    m.labelled = named || chart->n_annotations > 0;
    for (size_t k = 0; k < chart->n_series; k++) {
        m.labelled |= chart->series[k].labels != NULL;
        m.n_marked +=
            series_marked(&chart->series[k], f->plot.w) ? chart->series[k].n : 0;
    }
    for (size_t k = 0; k < chart->n_series; k++)
        marks_fill(&m, k);
    chart_edges_draw(&m, numbered);
    for (size_t k = 0; k < chart->n_series; k++)
        marks_beyond(&m, k);
    for (size_t k = 0; k < chart->n_series; k++)
        marks_line(&m, k);
    marks_totals(&m);
    draw_phases(chart, f, d);
    draw_annotations(chart, f, d);
    for (size_t k = 0; k < chart->n_series; k++)
        marks_labels(&m, k);
    if (named)
        chart_names_draw(&m);
    free(m.areas.base);
    free(m.bars.base);
}

static bool has_values(const struct chart *chart)
{
    for (size_t k = 0; k < chart->n_series; k++)
        if (chart->series[k].n > 0)
            return true;
    return false;
}

/* What is filled from zero starts at the axis. */
static struct axis y_axis_of(const struct chart *chart)
{
    struct axis y = chart->y;

    for (size_t k = 0; k < chart->n_series; k++)
        if (series_is_filled(&chart->series[k]) && chart->series[k].kind != SERIES_BAND)
            y.from_zero = true;
    return y;
}

void chart_draw(const struct chart *chart, struct draw *d)
{
    struct axis y = y_axis_of(chart);
    bool named = chart_names_suit(chart, d->width, d->height);
    bool numbered = chart_edges_numbered(chart, d->width);
    struct frame f;

    frame_init(&f, chart->title, chart->subtitle, &chart->x, &y);
    f.provenance = chart->provenance;
    f.left_room = chart->left_room;
    f.right_room = chart_edges_room(chart, numbered);
    f.top_room = chart->n_phases ? PHASES_ROOM : 0;
    f.legend.below = chart->legend_below || f.right_room > 0;
    include_series(chart, &f);
    if (chart->identity > 0) {
        axis_view_include(&f.x, f.y.lo);
        axis_view_include(&f.x, f.y.hi);
        axis_view_include(&f.y, f.x.lo);
        axis_view_include(&f.y, f.x.hi);
    }
    if (named)
        f.right_room = chart_names_room(chart);
    else
        fill_legend(chart, &f.legend);
    if (numbered)
        chart_edges_fill_legend(chart, &f.legend);
    frame_layout(&f, d);
    if (chart->identity > 0)
        make_square(&f);
    frame_draw(&f, d);
    if (chart->identity > 0)
        draw_identity(&f, d, chart->identity);
    draw_series(chart, &f, d, named, numbered);
    if (!has_values(chart))
        draw_text(d, f.plot.x + f.plot.w / 2, f.plot.y + f.plot.h / 2, "no data",
                  &(struct draw_text) { .id = "no-data",
                                        .size = 13,
                                        .anchor = DRAW_MIDDLE,
                                        .level = DRAW_CENTRE,
                                        .colour = PALETTE_SOFT });
    frame_release(&f);
}

int chart_write(const struct chart *chart, const struct draw_to *to, struct err *err)
{
    struct draw d;

    if (draw_open(&d, to, chart->width > 0 ? chart->width : CHART_WIDTH,
                  chart->height > 0 ? chart->height : CHART_HEIGHT, err))
        return -1;
    chart_draw(chart, &d);
    return draw_close(&d, err);
}

struct candidate {
    double x, y; /* turned so that less is better */
};

static int by_x_then_y(const void *pa, const void *pb)
{
    const struct candidate *a = pa, *b = pb;

    if (a->x < b->x || a->x > b->x)
        return a->x < b->x ? -1 : 1;
    return (a->y > b->y) - (a->y < b->y);
}

size_t chart_front(size_t n, const double *x, const double *y, bool more_x, bool more_y,
                   double *fx, double *fy)
{
    struct candidate *c = xmalloc((n ? n : 1) * sizeof(*c));
    size_t m = 0, out = 0;
    double best = INFINITY;

    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && isfinite(y[i]))
            c[m++] =
                (struct candidate) { more_x ? -x[i] : x[i], more_y ? -y[i] : y[i] };
    if (m)
        qsort(c, m, sizeof(*c), by_x_then_y);
    for (size_t i = 0; i < m; i++)
        if (c[i].y < best) {
            best = c[i].y;
            fx[out] = more_x ? -c[i].x : c[i].x;
            fy[out++] = more_y ? -c[i].y : c[i].y;
        }
    for (size_t i = 0; more_x && i < out / 2; i++) { /* rising x */
        double tx = fx[i], ty = fy[i];
        fx[i] = fx[out - 1 - i], fy[i] = fy[out - 1 - i];
        fx[out - 1 - i] = tx, fy[out - 1 - i] = ty;
    }
    free(c);
    return out;
}
