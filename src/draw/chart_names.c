#include "draw/chart_names.h"

#include "base/xmalloc.h"
#include "draw/palette.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_FONT = 12, NAME_PITCH = 15, NAME_GAP = 14, LINES_MAX = 12 };

#define ROOM_MAX 0.42   /* of the width */
#define HEIGHT_MAX 0.55 /* of the height: what title and axis leave at least */
#define EDGES_MAX 0.45  /* of the width: labels at the edge */
#define EARLY_PX 24     /* an end that far from the data's edge has its name there */

/* A name at the right of the data. */
struct end {
    double line_y, text_y;
    const char *name; /* NULL: the number */
    int number;
    uint32_t colour;
    bool keyed; /* what follows is drawn before the name */
    struct legend_item key;
};

/* Dark enough to read on white. */
static uint32_t ink_of(uint32_t colour)
{
    return palette_mix(colour, PALETTE_INK, 0.3);
}

static bool is_line(const struct series *s)
{
    return s->kind == SERIES_LINE || s->kind == SERIES_BAND;
}

/* The last value of a series that can be drawn; its middle where it is a band. */
static struct draw_point last_of(const struct frame *f, const struct series *s)
{
    struct draw_point at = { NAN, NAN };

    for (size_t i = s->n; i-- > 0 && !isfinite(at.y);) {
        at = frame_at(f, series_x(s, i), s->y[i]);
        if (s->y2 && isfinite(at.y))
            at.y = (at.y + frame_at(f, series_x(s, i), s->y2[i]).y) / 2;
    }
    return at;
}

struct legend_item chart_legend_item(const struct chart *chart, size_t k)
{
    const struct series *s = &chart->series[k];
    enum legend_key key = LEGEND_LINE;
    uint32_t colour = series_colour(s, k);

    if (series_is_filled(s))
        key = LEGEND_BOX;
    else if (s->kind == SERIES_POINTS)
        key = LEGEND_MARKER;
    else if (series_marked(s, CHART_WIDTH * 0.7))
        key = LEGEND_LINE_MARKER;
    return (struct legend_item) {
        .name = s->name,
        .key = key,
        .colour =
            s->kind == SERIES_BAND ? palette_mix(PALETTE_WHITE, colour, 0.3) : colour,
        .shape = palette_shape(k),
        .dash = s->kind == SERIES_LIMIT ? DRAW_LONG_DASH
                                        : palette_dash(series_line_order(chart, k)),
    };
}

bool chart_names_suit(const struct chart *chart, double width, double height)
{
    size_t n = 0;

    for (size_t k = 0; k < chart->n_series; k++) {
        const struct series *s = &chart->series[k];
        if (s->kind == SERIES_LIMIT)
            continue;
        if (!is_line(s) || !s->name || s->n == 0)
            return false;
        n++;
    }
    return n > 0 && n <= LINES_MAX && chart->x.scale != AXIS_CATEGORY &&
           !chart->legend_below && !(chart->identity > 0) &&
           (double)n * NAME_PITCH <= height * HEIGHT_MAX &&
           chart_names_room(chart) <= ROOM_MAX * width;
}

static bool has_edge_labels(const struct series *s)
{
    return s->labels && s->labels_at_edge;
}

double chart_edges_room(const struct chart *chart, bool numbered)
{
    double most = 0;

    for (size_t k = 0; k < chart->n_series; k++)
        for (size_t i = 0; has_edge_labels(&chart->series[k]) && i < chart->series[k].n;
             i++)
            if (chart->series[k].labels[i])
                most = fmax(most,
                            NAME_GAP + draw_text_width(
                                           numbered ? "99" : chart->series[k].labels[i],
                                           NAME_FONT, false));
    return most;
}

bool chart_edges_numbered(const struct chart *chart, double width)
{
    return chart_edges_room(chart, false) > EDGES_MAX * width;
}

void chart_edges_fill_legend(const struct chart *chart, struct legend *legend)
{
    int number = 0;

    for (size_t k = 0; k < chart->n_series; k++)
        for (size_t i = 0; has_edge_labels(&chart->series[k]) && i < chart->series[k].n;
             i++)
            if (chart->series[k].labels[i])
                legend_add(legend,
                           (struct legend_item) {
                               .name = chart->series[k].labels[i],
                               .key = LEGEND_NUMBER,
                               .number = ++number,
                               .colour = ink_of(series_colour(&chart->series[k], k)) });
}

static bool is_named_line(const struct series *s)
{
    return s->name && s->kind != SERIES_LIMIT;
}

/* Whether colours do not identify lines: two have the same. */
static bool needs_keys(const struct chart *chart)
{
    for (size_t i = 0; i < chart->n_series; i++)
        for (size_t k = 0; is_named_line(&chart->series[i]) && k < i; k++)
            if (is_named_line(&chart->series[k]) &&
                series_colour(&chart->series[i], i) ==
                    series_colour(&chart->series[k], k))
                return true;
    return false;
}

double chart_names_room(const struct chart *chart)
{
    double most = 0, key = needs_keys(chart) ? LEGEND_KEY_W + LEGEND_KEY_GAP : 0;

    for (size_t k = 0; k < chart->n_series; k++)
        if (is_named_line(&chart->series[k]))
            most = fmax(most, draw_text_width(chart->series[k].name, NAME_FONT, false));
    return NAME_GAP + key + most;
}

/* Inside the data, where there is room; at a limit's left, over or under the line. */
static bool name_inside(struct marks *m, struct draw_point at, const char *name,
                        uint32_t colour)
{
    const struct draw_text style = {
        .cls = "series-name", .size = NAME_FONT, .plate = true, .colour = ink_of(colour)
    };

    return frame_label(m->frame, m->d, at, 8, name, &style);
}

static void name_limit(struct marks *m, const struct series *s)
{
    double y = frame_at(m->frame, m->frame->x.lo, s->n ? s->y[0] : (double)NAN).y;
    double half = draw_text_width(s->name, NAME_FONT, false) / 2 + 6;
    struct draw_box p = m->frame->plot;

    for (double x = p.x + half; isfinite(y) && x < p.x + p.w - half; x += half / 2)
        if (name_inside(m, (struct draw_point) { x, y + 2 }, s->name, PALETTE_INK))
            return;
}

static int by_line(const void *a, const void *b)
{
    const struct end *p = a, *q = b;

    return (p->line_y > q->line_y) - (p->line_y < q->line_y);
}

/* Keeps names apart and within the data's height, each as near its line as that lets
 * it. */
static void spread(struct end *ends, size_t n, struct draw_box plot)
{
    double low = plot.y + plot.h - NAME_PITCH / 2.0;

    qsort(ends, n, sizeof(*ends), by_line);
    for (size_t i = 0; i < n; i++) {
        double least = i ? ends[i - 1].text_y + NAME_PITCH : plot.y + NAME_PITCH / 2.0;
        ends[i].text_y = fmax(ends[i].line_y, least);
    }
    for (size_t i = n; i-- > 0; low = ends[i].text_y - NAME_PITCH)
        ends[i].text_y = fmin(ends[i].text_y, low);
}

static void draw_end(struct marks *m, const struct end *e)
{
    double edge = m->frame->plot.x + m->frame->plot.w, x = edge + NAME_GAP;
    char number[16];

    snprintf(number, sizeof(number), "%d", e->number);
    if (e->keyed) {
        legend_draw_key(&e->key, m->d, x, e->text_y);
        x += LEGEND_KEY_W + LEGEND_KEY_GAP;
    }
    draw_line(m->d, edge + 1, e->line_y, edge + NAME_GAP - 4, e->text_y,
              &(struct draw_style) { .cls = "leader", .stroke = e->colour });
    draw_text(m->d, x, e->text_y, e->name ? e->name : number,
              &(struct draw_text) { .cls = "series-name",
                                    .size = NAME_FONT,
                                    .level = DRAW_CENTRE,
                                    .colour = ink_of(e->colour) });
}

void chart_names_draw(struct marks *m)
{
    const struct chart *c = m->chart;
    struct end *ends = xcalloc(c->n_series + 1, sizeof(*ends));
    double edge = m->frame->plot.x + m->frame->plot.w;
    bool keyed = needs_keys(c);
    size_t n = 0;

    draw_group(m->d, "names", "names", NULL);
    for (size_t k = 0; k < c->n_series; k++) {
        const struct series *s = &c->series[k];
        uint32_t colour = series_colour(s, k);
        struct draw_point at = last_of(m->frame, s);
        if (s->kind == SERIES_LIMIT)
            name_limit(m, s);
        else if (isfinite(at.y) && !((edge - at.x > EARLY_PX || s->n == 1) &&
                                     name_inside(m, at, s->name, colour)))
            ends[n++] = (struct end) { .line_y = at.y,
                                       .text_y = at.y,
                                       .name = s->name,
                                       .colour = colour,
                                       .keyed = keyed,
                                       .key = chart_legend_item(c, k) };
    }
    spread(ends, n, m->frame->plot);
    for (size_t i = 0; i < n; i++)
        draw_end(m, &ends[i]);
    draw_group_end(m->d);
    free(ends);
}

/* A line from the point to the edge of the data, which the name continues. */
static void draw_way(struct marks *m, struct draw_point at)
{
    draw_line(m->d, at.x + 7, at.y, m->frame->plot.x + m->frame->plot.w, at.y,
              &(struct draw_style) {
                  .cls = "leader", .stroke = PALETTE_FRAME, .dash = DRAW_DOTTED });
}

static void draw_edge(struct marks *m, const struct series *s, uint32_t colour,
                      int *number)
{
    struct end *ends = xcalloc(s->n + 1, sizeof(*ends));
    size_t n = 0, most = (size_t)(m->frame->plot.h / NAME_PITCH);

    for (size_t i = 0; i < s->n && n < most; i++) {
        struct draw_point at = frame_at(m->frame, series_x(s, i), s->y[i]);
        if (!s->labels[i] || !isfinite(at.y) || !frame_inside(m->frame, at))
            continue;
        draw_way(m, at);
        ends[n++] = (struct end) { .line_y = at.y,
                                   .text_y = at.y,
                                   .name = number ? NULL : s->labels[i],
                                   .number = number ? ++*number : 0,
                                   .colour = colour };
    }
    spread(ends, n, m->frame->plot);
    for (size_t i = 0; i < n; i++)
        draw_end(m, &ends[i]);
    free(ends);
}

void chart_edges_draw(struct marks *m, bool numbered)
{
    int number = 0;

    for (size_t k = 0; k < m->chart->n_series; k++)
        if (has_edge_labels(&m->chart->series[k])) {
            draw_group(m->d, "edge-labels", "names", NULL);
            draw_edge(m, &m->chart->series[k], series_colour(&m->chart->series[k], k),
                      numbered ? &number : NULL);
            draw_group_end(m->d);
        }
}
