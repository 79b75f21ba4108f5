#include "draw/chart_marks.h"

#include "draw/palette.h"

#include <math.h>

typedef VEC(struct draw_point) points_vec;

enum { MARKER_PITCH = 9, LABELS_MAX = 200, TAKEN_MAX = 8000 };

double series_x(const struct series *s, size_t i)
{
    return s->x ? s->x[i] : (double)i;
}

uint32_t series_colour(const struct series *s, size_t index)
{
    if (s->meaning != MEANING_NONE)
        return meaning_colour(s->meaning);
    if (s->kind == SERIES_LIMIT && s->colour == 0)
        return PALETTE_INK;
    return palette_at(s->colour ? s->colour - 1 : index);
}

static bool is_bar(const struct series *s)
{
    return s->kind == SERIES_BARS || s->kind == SERIES_STACKED_BARS;
}

bool series_is_filled(const struct series *s)
{
    return is_bar(s) || s->kind == SERIES_STACKED_AREA || s->kind == SERIES_BAND;
}

size_t series_line_order(const struct chart *chart, size_t index)
{
    size_t n = 0;

    for (size_t k = 0; k < index; k++)
        n += chart->series[k].kind == SERIES_LINE ||
             chart->series[k].kind == SERIES_STEP;
    return n;
}

bool series_marked(const struct series *s, double pixels)
{
    if (s->kind == SERIES_POINTS)
        return true;
    return s->kind == SERIES_LINE && !s->no_markers &&
           (double)s->n * MARKER_PITCH <= pixels;
}

/* Keeps at most four points of each pixel column: first, lowest, highest, last. */
static void reduce(points_vec *p)
{
    int64_t out = 0;

    for (int64_t i = 0, end; i < p->n; i = end) {
        double column = floor(p->v[i].x);
        int64_t low = i, high = i, keep[4];
        for (end = i; end < p->n && floor(p->v[end].x) - column == 0; end++) {
            low = p->v[end].y < p->v[low].y ? end : low;
            high = p->v[end].y > p->v[high].y ? end : high;
        }
        keep[0] = i;
        keep[1] = low < high ? low : high;
        keep[2] = low < high ? high : low;
        keep[3] = end - 1;
        for (int k = 0; k < 4; k++)
            if (k == 0 || keep[k] > keep[k - 1])
                p->v[out++] = p->v[keep[k]];
    }
    p->n = out;
}

static void add_point(points_vec *p, struct draw_point at, bool stepped)
{
    if (stepped && p->n > 0) {
        struct draw_point corner = { at.x, p->v[p->n - 1].y };
        VEC_PUSH(p, corner);
    }
    VEC_PUSH(p, at);
}

/* Keeps labels off a line. */
static void take_line(struct frame *f, const points_vec *p)
{
    for (int64_t i = 1; i < p->n && f->taken.n < TAKEN_MAX; i++) {
        double dx = p->v[i].x - p->v[i - 1].x, dy = p->v[i].y - p->v[i - 1].y;
        int steps = (int)fmin(fmax(fabs(dx), fabs(dy)) / 6, 200) + 1;
        for (int k = 0; k <= steps; k++)
            frame_take_anyway(
                f, (struct draw_box) { p->v[i - 1].x + dx * k / steps - 1.5,
                                       p->v[i - 1].y + dy * k / steps - 1.5, 3, 3 });
    }
}

static void flush_line(struct marks *m, points_vec *p, const struct draw_style *style)
{
    if (p->n > 4000)
        reduce(p);
    if (p->n > 1)
        draw_polyline(m->d, p->v, (size_t)p->n, style);
    if (m->labelled)
        take_line(m->frame, p);
    p->n = 0;
}

/* Steps and lines; a gap starts a new stroke. */
static void draw_line_series(struct marks *m, const struct series *s,
                             struct draw_style style)
{
    points_vec p = { 0 };

    style.stroke = style.fill;
    style.fill = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct draw_point at = frame_at(m->frame, series_x(s, i), s->y[i]);
        if (isfinite(at.x) && isfinite(at.y))
            add_point(&p, at, s->kind == SERIES_STEP || s->stepped);
        else
            flush_line(m, &p, &style);
    }
    flush_line(m, &p, &style);
    VEC_RELEASE(&p);
}

static void draw_markers(struct marks *m, const struct series *s, size_t index,
                         uint32_t colour)
{
    bool many = m->n_marked > 200, pale = many && s->kind == SERIES_POINTS;
    double radius = m->n_marked > 1000 ? 2.2 : many ? 3 : 4;
    struct draw_style style = { .cls = "marker" };

    for (size_t i = 0; i < s->n; i++) {
        struct draw_point at = frame_at(m->frame, series_x(s, i), s->y[i]);
        if (!isfinite(at.x) || !isfinite(at.y) || !frame_inside(m->frame, at))
            continue;
        style.fill = s->faded && s->faded[i] ? meaning_colour(MEANING_OTHER)
                     : pale                  ? palette_alpha(colour, 0.6)
                                             : colour;
        if (s->hollow && s->hollow[i]) {
            style.stroke = style.fill;
            style.fill = PALETTE_WHITE;
            style.width = 1.4;
        } else {
            style.stroke = many ? 0 : PALETTE_WHITE;
            style.width = 0.8;
        }
        draw_marker(m->d, palette_shape(index), at.x, at.y, radius, &style);
        if (m->frame->taken.n < TAKEN_MAX)
            frame_take_anyway(m->frame, (struct draw_box) { at.x - 4, at.y - 4, 8, 8 });
    }
}

static struct draw_point limit_at(const struct marks *m, const struct series *s)
{
    return frame_at(m->frame, m->frame->x.lo, s->n ? s->y[0] : (double)NAN);
}

void marks_beyond(struct marks *m, size_t index)
{
    const struct series *s = &m->chart->series[index];
    struct draw_box p = m->frame->plot;
    double h = limit_at(m, s).y - p.y;

    if (s->kind == SERIES_LIMIT && s->beyond && h > 6)
        draw_hatch(m->d, (struct draw_box) { p.x, p.y, p.w, h }, PALETTE_HATCH);
}

static void name_beyond(struct marks *m, double at_y, const char *text)
{
    struct draw_box p = m->frame->plot;

    if (at_y - p.y > 24)
        frame_label(
            m->frame, m->d, (struct draw_point) { p.x + p.w / 2, p.y + 10 }, 2, text,
            &(struct draw_text) {
                .cls = "beyond", .size = 11, .plate = true, .colour = PALETTE_SOFT });
}

static void draw_limit(struct marks *m, const struct series *s, struct draw_style style)
{
    struct draw_point at = limit_at(m, s);
    struct draw_box p = m->frame->plot;

    style.stroke = style.fill;
    style.fill = 0;
    style.dash = DRAW_LONG_DASH;
    if (s->beyond)
        name_beyond(m, at.y, s->beyond);
    draw_line(m->d, p.x, at.y, p.x + p.w, at.y, &style);
    frame_take_anyway(m->frame, (struct draw_box) { p.x, at.y - 2, p.w, 4 });
}

/* Thin bars from x_low to x_high, with ends. */
static void draw_ranges(struct marks *m, const struct series *s, uint32_t colour)
{
    const struct draw_style style = {
        .cls = "range", .stroke = palette_mix(colour, PALETTE_WHITE, 0.35), .width = 1
    };

    for (size_t i = 0; s->x_low && s->x_high && i < s->n; i++) {
        struct draw_point a = frame_at(m->frame, s->x_low[i], s->y[i]);
        struct draw_point b = frame_at(m->frame, s->x_high[i], s->y[i]);
        if (!isfinite(a.x) || !isfinite(b.x) || !isfinite(a.y))
            continue;
        draw_line(m->d, a.x, a.y, b.x, a.y, &style);
        draw_line(m->d, a.x, a.y - 3, a.x, a.y + 3, &style);
        draw_line(m->d, b.x, b.y - 3, b.x, b.y + 3, &style);
    }
}

void marks_line(struct marks *m, size_t index)
{
    const struct series *s = &m->chart->series[index];
    uint32_t colour = series_colour(s, index);
    struct draw_style style = { .cls = "line",
                                .fill = colour,
                                .width = 2,
                                .dash =
                                    palette_dash(series_line_order(m->chart, index)) };
    char id[32];

    if (series_is_filled(s))
        return;
    snprintf(id, sizeof(id), "series-%zu", index);
    draw_group(m->d, id, "series", NULL);
    draw_group(m->d, NULL, NULL, &m->frame->plot);
    draw_ranges(m, s, colour);
    if (s->kind == SERIES_LIMIT)
        draw_limit(m, s, style);
    else if (s->kind != SERIES_POINTS)
        draw_line_series(m, s, style);
    draw_group_end(m->d);
    if (series_marked(s, m->frame->plot.w))
        draw_markers(m, s, index, colour);
    draw_group_end(m->d);
}

/* Labels of lone bars, above their middles where all have room. */
static void label_bars(const struct marks *m, const struct series *s)
{
    const struct draw_text style = {
        .cls = "point-label", .size = 11, .anchor = DRAW_MIDDLE, .colour = PALETTE_INK
    };
    double pitch = fabs(frame_at(m->frame, 1, 0).x - frame_at(m->frame, 0, 0).x);

    for (size_t i = 0; i < s->n; i++)
        if (draw_text_width(s->labels[i], style.size, false) + 2 > pitch)
            return;
    for (size_t i = 0; i < s->n; i++) {
        struct draw_point at = frame_at(m->frame, series_x(s, i), s->y[i]);
        if (isfinite(at.x) && isfinite(at.y))
            draw_text(m->d, at.x, fmax(at.y, m->frame->plot.y + 14) - 4, s->labels[i],
                      &style);
    }
}

void marks_labels(struct marks *m, size_t index)
{
    const struct series *s = &m->chart->series[index];
    struct draw_text style = { .cls = "point-label",
                               .size = 11,
                               .colour = PALETTE_SOFT };

    if (s->kind == SERIES_BARS && s->labels && m->n_slots == 1) {
        label_bars(m, s);
        return;
    }
    if (s->kind == SERIES_LINE) /* one of several */
        style.colour = palette_mix(series_colour(s, index), PALETTE_INK, 0.3);
    for (size_t i = 0; s->labels && !s->labels_at_edge && i < s->n && i < LABELS_MAX;
         i++) {
        struct draw_point at = frame_at(m->frame, series_x(s, i), s->y[i]);
        if (s->labels[i] && isfinite(at.x) && isfinite(at.y) &&
            frame_inside(m->frame, at))
            frame_label_led(m->frame, m->d, at, 7, s->labels[i], &style);
    }
}

static double *stack_of(struct stack *stack, size_t n)
{
    if (stack->n < n) {
        stack->base = xrealloc(stack->base, n, sizeof(*stack->base));
        for (size_t i = stack->n; i < n; i++)
            stack->base[i] = 0;
        stack->n = n;
    }
    return stack->base;
}

static void draw_area(struct marks *m, const struct series *s,
                      const struct draw_style *style)
{
    double *base = s->kind == SERIES_BAND ? NULL : stack_of(&m->areas, s->n);
    points_vec top = { 0 }, low = { 0 };

    for (size_t i = 0; i < s->n; i++) {
        double floor_y = base ? base[i] : s->y[i];
        double roof_y = base ? base[i] + (isfinite(s->y[i]) ? s->y[i] : 0) : s->y2[i];
        double x = series_x(s, i);
        struct draw_point a = frame_at(m->frame, x, floor_y);
        struct draw_point b = frame_at(m->frame, x, roof_y);
        if (base)
            base[i] = roof_y;
        if (isfinite(a.x) && isfinite(a.y) && isfinite(b.y)) {
            add_point(&low, a, s->stepped);
            add_point(&top, b, s->stepped);
        }
    }
    if (top.n > 4000) {
        reduce(&top);
        reduce(&low);
    }
    for (int64_t i = low.n - 1; i >= 0; i--)
        VEC_PUSH(&top, low.v[i]);
    if (top.n > 2)
        draw_polygon(m->d, top.v, (size_t)top.n, style);
    VEC_RELEASE(&top);
    VEC_RELEASE(&low);
}

static void draw_bars(struct marks *m, const struct series *s, struct draw_style style)
{
    bool stacked = s->kind == SERIES_STACKED_BARS;
    double *base = stacked ? stack_of(&m->bars, s->n) : NULL;
    double pitch = fabs(frame_at(m->frame, 1, 0).x - frame_at(m->frame, 0, 0).x);
    double group = pitch * 0.76, w = group / (double)m->n_slots;
    size_t slot = stacked ? m->bar_slot : m->slot++;
    double zero = m->frame->y.lo > 0 ? m->frame->y.lo : 0;

    if (w > 4) {
        style.stroke = PALETTE_WHITE;
        style.width = 0.7;
    }
    for (size_t i = 0; i < s->n; i++) {
        double low = base ? base[i] : 0, high;
        struct draw_point a, b;
        if (!isfinite(s->y[i]))
            continue;
        high = low + s->y[i];
        a = frame_at(m->frame, series_x(s, i), low > 0 || low < 0 ? low : zero);
        b = frame_at(m->frame, series_x(s, i), high);
        if (base)
            base[i] = high;
        struct draw_box box = { a.x - group / 2 + (double)slot * w, fmin(a.y, b.y), w,
                                fabs(a.y - b.y) };
        draw_rect(m->d, box, &style);
        if (s->hatched)
            draw_hatch(m->d, box, PALETTE_HATCH);
    }
}

/* The first stacked bars' series; NULL: there are none. */
static const struct series *stacked_bars(const struct chart *c, size_t *n)
{
    const struct series *first = NULL;

    *n = 0;
    for (size_t k = 0; k < c->n_series; k++) {
        if (c->series[k].kind != SERIES_STACKED_BARS)
            continue;
        first = first ? first : &c->series[k];
        *n = *n + 1;
    }
    return first;
}

/* With its unit, or in the axis' where bars are too narrow for that. */
static char *total_text(char buf[AXIS_TEXT_MAX], const struct marks *m, double value,
                        bool bare)
{
    const struct axis_view *y = &m->frame->y;

    if (!bare)
        return axis_value_text(buf, y->axis, value);
    snprintf(buf, AXIS_TEXT_MAX, "%.3g", value / y->worth);
    return buf;
}

void marks_totals(struct marks *m)
{
    const struct draw_text style = { .cls = "total",
                                     .size = 11,
                                     .bold = true,
                                     .anchor = DRAW_MIDDLE,
                                     .colour = PALETTE_INK };
    double pitch = fabs(frame_at(m->frame, 1, 0).x - frame_at(m->frame, 0, 0).x);
    char text[AXIS_TEXT_MAX];
    bool bare = false;
    size_t n;
    const struct series *s = stacked_bars(m->chart, &n);

    if (n < 2 || m->n_slots != 1)
        return;
    for (size_t i = 0; i < m->bars.n; i++) {
        total_text(text, m, m->bars.base[i], bare);
        if (draw_text_width(text, style.size, true) + 2 <= pitch)
            continue;
        if (bare || !m->frame->y.unit)
            return;
        bare = true;
        i = (size_t)-1; /* again, all of them */
    }
    draw_group(m->d, "totals", "totals", NULL);
    for (size_t i = 0; i < s->n && i < m->bars.n; i++) {
        struct draw_point at = frame_at(m->frame, series_x(s, i), m->bars.base[i]);
        if (m->bars.base[i] > 0 && isfinite(at.x) && isfinite(at.y))
            draw_text(m->d, at.x, fmax(at.y, m->frame->plot.y + 14) - 4,
                      total_text(text, m, m->bars.base[i], bare), &style);
    }
    draw_group_end(m->d);
}

void marks_fill(struct marks *m, size_t index)
{
    const struct series *s = &m->chart->series[index];
    struct draw_style style = { .fill = series_colour(s, index) };
    char id[32];

    if (!series_is_filled(s))
        return;
    snprintf(id, sizeof(id), "series-%zu", index);
    draw_group(m->d, id, "series", &m->frame->plot);
    if (is_bar(s)) {
        style.cls = "bar";
        draw_bars(m, s, style);
    } else {
        style.cls = s->kind == SERIES_BAND ? "band" : "area";
        if (s->kind == SERIES_BAND)
            style.fill = palette_alpha(style.fill, 0.22);
        draw_area(m, s, &style);
    }
    draw_group_end(m->d);
}
