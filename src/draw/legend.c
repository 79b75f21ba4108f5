#include "draw/legend.h"

#include "base/xmalloc.h"
#include "draw/palette.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMN_GAP = 16, DATA_H = 200 /* with its axis */ };

/* What a legend below the data takes at most; in a narrow figure, which has room for
 * few columns, more. */
static const struct below {
    double narrower_than, share, name; /* of the height, of the width */
    double rows;
} below[] = { { 500, 0.5, 0.85, 10 }, { INFINITY, 0.27, 0.45, 6 } };

static const struct below *below_of(double width)
{
    return width < below[0].narrower_than ? &below[0] : &below[1];
}

void legend_release(struct legend *legend)
{
    VEC_RELEASE(&legend->items);
}

void legend_add(struct legend *legend, struct legend_item item)
{
    if (item.name)
        VEC_PUSH(&legend->items, item);
}

static double widest_name(const struct legend *legend)
{
    double w = draw_text_width("and 999999 more", LEGEND_FONT, false) - LEGEND_KEY_W -
               LEGEND_KEY_GAP;

    for (int64_t i = 0; i < legend->items.n; i++)
        w = fmax(w, draw_text_width(legend->items.v[i].name, LEGEND_FONT, false));
    return w;
}

void legend_measure(struct legend *legend, double width, double height)
{
    size_t n = (size_t)legend->items.n, places;
    double name_w = ceil(widest_name(legend)) + 1, right_max = width * 0.3, most;

    const struct below *most_below = below_of(width);

    legend->box = (struct draw_box) { 0 };
    if (n == 0)
        return;
    legend->column_w =
        LEGEND_KEY_W + LEGEND_KEY_GAP +
        fmin(name_w, legend->whole ? width - LEGEND_KEY_W - LEGEND_KEY_GAP
                                   : width * most_below->name);
    legend->right = !legend->below && legend->column_w <= right_max && n >= 2 &&
                    (double)n * LEGEND_ROW <= height * 0.72;
    if (legend->right) {
        legend->columns = 1;
        legend->rows = legend->shown = n;
    } else {
        double columns = floor((width + COLUMN_GAP) / (legend->column_w + COLUMN_GAP));
        legend->columns = columns > 1 ? (size_t)columns : 1;
        legend->rows = (n + legend->columns - 1) / legend->columns;
        most = fmin(most_below->rows, floor(height * most_below->share / LEGEND_ROW));
        if (most_below == &below[0])
            most = fmin(most, floor((height - DATA_H) / LEGEND_ROW));
        most = legend->whole ? LEGEND_ROWS_MAX : fmax(most, 1);
        if ((double)legend->rows > most)
            legend->rows = (size_t)most;
        places = legend->rows * legend->columns;
        legend->shown = n <= places ? n : places - 1;
        legend->columns =
            (legend->shown + (legend->shown < n) + legend->rows - 1) / legend->rows;
    }
    legend->box.w =
        (double)legend->columns * (legend->column_w + COLUMN_GAP) - COLUMN_GAP;
    legend->box.h = (double)legend->rows * LEGEND_ROW;
}

double legend_lacks(const struct legend *legend)
{
    size_t n = (size_t)legend->items.n, rows;

    if (n == 0 || legend->shown >= n)
        return 0;
    rows = (n + legend->columns - 1) / legend->columns;
    rows = rows < LEGEND_ROWS_MAX ? rows : LEGEND_ROWS_MAX;
    return rows > legend->rows ? (double)((rows - legend->rows) * LEGEND_ROW) : 0;
}

void legend_draw_key(const struct legend_item *item, struct draw *d, double x, double y)
{
    struct draw_style style = { .cls = "legend-key" };

    if (item->key == LEGEND_BOX || item->key == LEGEND_HATCH) {
        struct draw_box box = { x + 6, y - 6, LEGEND_KEY_W - 12, 12 };
        style.fill = item->colour;
        draw_rect(d, box, &style);
        if (item->key == LEGEND_HATCH)
            draw_hatch(d, box, PALETTE_FRAME);
        return;
    }
    if (item->key == LEGEND_NUMBER) {
        char text[16];
        snprintf(text, sizeof(text), "%d", item->number);
        draw_text(d, x + LEGEND_KEY_W, y, text,
                  &(struct draw_text) { .cls = "legend-key",
                                        .size = LEGEND_FONT,
                                        .bold = true,
                                        .anchor = DRAW_END,
                                        .level = DRAW_CENTRE,
                                        .colour = item->colour });
        return;
    }
    if (item->key != LEGEND_MARKER) {
        style.stroke = item->colour;
        style.width = item->width > 0 ? item->width : 2;
        style.dash = item->dash;
        draw_line(d, x, y, x + LEGEND_KEY_W, y, &style);
    }
    if (item->key != LEGEND_LINE) {
        struct draw_style mark = { .cls = "legend-key", .fill = item->colour };
        draw_marker(d, item->shape, x + LEGEND_KEY_W / 2.0, y, 4, &mark);
    }
}

void legend_draw(const struct legend *legend, struct draw *d)
{
    struct draw_text style = { .cls = "legend-label",
                               .size = LEGEND_FONT,
                               .level = DRAW_CENTRE,
                               .colour = PALETTE_INK };
    size_t n = (size_t)legend->items.n;

    if (legend->box.w <= 0)
        return;
    draw_group(d, "legend", "legend", NULL);
    for (size_t i = 0; i < legend->shown + (legend->shown < n); i++) {
        double x = legend->box.x +
                   (double)(i / legend->rows) * (legend->column_w + COLUMN_GAP);
        double y = legend->box.y + ((double)(i % legend->rows) + 0.5) * LEGEND_ROW;
        char *name;

        if (i == legend->shown) {
            name = xasprintf("and %zu more", n - legend->shown);
            draw_text(d, x, y, name, &style);
        } else {
            legend_draw_key(&legend->items.v[i], d, x, y);
            name = draw_text_fit(legend->items.v[i].name, LEGEND_FONT, false,
                                 legend->column_w - LEGEND_KEY_W - LEGEND_KEY_GAP);
            draw_text(d, x + LEGEND_KEY_W + LEGEND_KEY_GAP, y, name, &style);
        }
        free(name);
    }
    draw_group_end(d);
}
