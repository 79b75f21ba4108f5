#include "draw/heatmap.h"

#include "draw/chart.h"
#include "draw/frame.h"
#include "draw/palette.h"

#include <math.h>
#include <stdlib.h>

enum { BAR_W = 14, BAR_GAP = 16, CELL_FONT = 11, IDS_MAX = 10000 };

#define NOTHING_COLOUR 0xffe8e8e8u

static uint32_t colour_of(const struct axis_view *scale, double value)
{
    double frac = axis_at(scale, value);

    return isfinite(frac) ? palette_amount(frac) : NOTHING_COLOUR;
}

static bool is_hatched(const struct heatmap *map, size_t cell)
{
    return map->hatched && map->hatched[cell] && !isfinite(map->values[cell]);
}

/* Whether there are empty cells, hatched or not. */
static bool has_empty(const struct heatmap *map, bool hatched)
{
    for (size_t i = 0; i < map->x.n_categories * map->y.n_categories; i++)
        if (!isfinite(map->values[i]) && is_hatched(map, i) == hatched)
            return true;
    return false;
}

/* The colours as a bar with an axis, right of the data. */
static void draw_colour_bar(const struct frame *f, struct axis_view *scale,
                            struct draw *d)
{
    double x = f->plot.x + f->plot.w + BAR_GAP, y = f->plot.y, h = f->plot.h;
    char *title = axis_title(scale), *cut = draw_text_fit(title, 12, false, h);
    enum { STEPS = 64 };

    draw_group(d, "colours", "colour-bar", NULL);
    for (int i = 0; i < STEPS; i++)
        draw_rect(d,
                  (struct draw_box) { x, y + h * (STEPS - 1 - i) / STEPS, BAR_W,
                                      h / STEPS + (i ? 0.5 : 0) },
                  &(struct draw_style) { .fill = palette_amount((i + 0.5) / STEPS),
                                         .amount = true });
    axis_view_layout(scale, y + h, y, true, 100);
    for (int64_t i = 0; i < scale->ticks.n; i++) {
        const struct axis_tick *tick = &scale->ticks.v[i];
        if (!tick->text)
            continue;
        draw_line(d, x + BAR_W, tick->at, x + BAR_W + 4, tick->at,
                  &(struct draw_style) { .stroke = PALETTE_FRAME });
        draw_text(d, x + BAR_W + 8, tick->at, tick->text,
                  &(struct draw_text) { .cls = "tick-label",
                                        .size = AXIS_FONT,
                                        .level = DRAW_CENTRE,
                                        .colour = PALETTE_INK });
    }
    draw_text(d, x + BAR_W + 14 + scale->depth, y + h / 2, cut,
              &(struct draw_text) { .id = "value-title",
                                    .cls = "axis-title",
                                    .size = 12,
                                    .rotate = -90,
                                    .anchor = DRAW_MIDDLE,
                                    .level = DRAW_TOP,
                                    .colour = PALETTE_INK });
    draw_group_end(d);
    free(title);
    free(cut);
}

/* The number alone where the colour bar has the unit. */
static char *cell_text(const struct axis_view *scale, double value)
{
    char buf[AXIS_TEXT_MAX];
    double v;

    if (!isfinite(value))
        return xstrdup("");
    if (!scale->unit)
        return xstrdup(axis_value_text(buf, scale->axis, value));
    v = value / scale->worth;
    if (scale->hi >=
        1e4 * scale->worth) { /* thousands: a cell has room for three digits */
        v /= 1e3;
        return xasprintf(v >= 99.95 ? "%.0fk" : v >= 9.995 ? "%.1fk" : "%.2fk", v);
    }
    return xasprintf(fabs(v) >= 99.95 ? "%.0f" : fabs(v) >= 9.995 ? "%.1f" : "%.2f", v);
}

/* Whether every value has room in a cell: all are printed, or none. */
static bool texts_fit(const struct heatmap *map, const struct axis_view *scale,
                      double w, double h)
{
    size_t n = map->x.n_categories * map->y.n_categories;

    if (h < CELL_FONT + 3 || w < CELL_FONT)
        return false;
    for (size_t i = 0; i < n; i++) {
        char *text = cell_text(scale, map->values[i]);
        bool fits = draw_text_width(text, CELL_FONT, false) + 4 <= w;
        free(text);
        if (!fits)
            return false;
    }
    return true;
}

static void draw_cell(const struct axis_view *scale, struct draw *d,
                      struct draw_box box, double value, const char *id, bool print)
{
    struct draw_style style = { .id = id,
                                .cls = "cell",
                                .fill = colour_of(scale, value),
                                .amount = isfinite(value) };

    draw_rect(d, box, &style);
    if (print) {
        char *text = cell_text(scale, value);
        draw_text(d, box.x + box.w / 2, box.y + box.h / 2, text,
                  &(struct draw_text) { .cls = "value",
                                        .size = CELL_FONT,
                                        .anchor = DRAW_MIDDLE,
                                        .level = DRAW_CENTRE,
                                        .amount = style.amount,
                                        .colour = palette_ink_on(style.fill) });
        free(text);
    }
}

static void draw_cells(const struct heatmap *map, const struct frame *f,
                       const struct axis_view *scale, struct draw *d)
{
    size_t nx = map->x.n_categories, ny = map->y.n_categories;
    double w = f->plot.w / (double)nx, h = f->plot.h / (double)ny;
    double gap = w > 16 && h > 12 ? 1 : 0;
    bool print = texts_fit(map, scale, w, h);

    draw_group(d, "cells", "cells", &f->plot);
    for (size_t i = 0; i < nx * ny; i++) {
        struct draw_box box = { f->plot.x + (double)(i % nx) * w,
                                f->plot.y + (double)(i / nx) * h, w - gap, h - gap };
        char id[48];
        snprintf(id, sizeof(id), "cell-%zu-%zu", i / nx, i % nx);
        draw_cell(scale, d, box, map->values[i], nx * ny <= IDS_MAX ? id : NULL, print);
        if (is_hatched(map, i))
            draw_hatch(d, box, PALETTE_FRAME);
    }
    draw_group_end(d);
}

void heatmap_draw(const struct heatmap *map, struct draw *d)
{
    struct axis_view scale;
    struct frame f;

    frame_init(&f, map->title, map->subtitle, &map->x, &map->y);
    f.provenance = map->provenance;
    axis_view_init(&scale, &map->value);
    for (size_t i = 0; i < map->x.n_categories * map->y.n_categories; i++)
        axis_view_include(&scale, map->values[i]);
    axis_view_fix(&scale);
    axis_view_layout(&scale, d->height - 120, 60, true, 100);
    f.right_room = BAR_GAP + BAR_W + scale.depth + 30;
    f.y_down = f.no_grid = true;
    if (map->hatched_name && has_empty(map, true))
        legend_add(&f.legend, (struct legend_item) { .name = map->hatched_name,
                                                     .key = LEGEND_HATCH,
                                                     .colour = NOTHING_COLOUR });
    if (map->nothing && has_empty(map, false))
        legend_add(&f.legend, (struct legend_item) { .name = map->nothing,
                                                     .key = LEGEND_BOX,
                                                     .colour = NOTHING_COLOUR });
    frame_layout(&f, d);
    frame_draw(&f, d);
    draw_colour_bar(&f, &scale, d);
    axis_view_layout(&scale, 0, 1, true, 0); /* now pixels are shares */
    draw_cells(map, &f, &scale, d);
    axis_view_release(&scale);
    frame_release(&f);
}

int heatmap_write(const struct heatmap *map, const struct draw_to *to, struct err *err)
{
    struct draw d;

    if (draw_open(&d, to, CHART_WIDTH, CHART_HEIGHT, err))
        return -1;
    heatmap_draw(map, &d);
    return draw_close(&d, err);
}
