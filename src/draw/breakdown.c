#include "draw/breakdown.h"

#include "draw/frame.h"
#include "draw/palette.h"

#include <math.h>
#include <stdlib.h>

enum { PART_FONT = 11, TOTAL_W = 62 }; /* pixels */

static uint32_t part_colour(const struct breakdown *b, size_t part)
{
    uint32_t meant = b->meanings ? meaning_colour(b->meanings[part]) : 0;

    return meant ? meant : palette_at(part);
}

static double part_value(const struct breakdown *b, size_t bar, size_t part)
{
    double v = b->values[bar * b->n_parts + part];

    return isfinite(v) && v > 0 ? v : 0;
}

static double total_of(const struct breakdown *b, size_t bar)
{
    double sum = 0;

    for (size_t k = 0; k < b->n_parts; k++)
        sum += part_value(b, bar, k);
    return sum;
}

static void draw_part(const struct breakdown *b, struct draw *d, struct draw_box box,
                      size_t part, double value)
{
    struct draw_style style = { .cls = "part",
                                .tip = b->parts[part],
                                .fill = part_colour(b, part) };
    char text[AXIS_TEXT_MAX];

    if (box.w > 3) {
        style.stroke = PALETTE_WHITE;
        style.width = 0.7;
    }
    draw_rect(d, box, &style);
    axis_value_text(text, &b->value, value);
    if (box.h >= PART_FONT + 3 && draw_text_width(text, PART_FONT, false) + 6 <= box.w)
        draw_text(d, box.x + box.w / 2, box.y + box.h / 2, text,
                  &(struct draw_text) { .cls = "value",
                                        .size = PART_FONT,
                                        .anchor = DRAW_MIDDLE,
                                        .level = DRAW_CENTRE,
                                        .amount = true,
                                        .colour = draw_ink_on(d, style.fill) });
}

static void draw_bar(const struct breakdown *b, const struct frame *f, struct draw *d,
                     size_t bar)
{
    double pitch = fabs(axis_at(&f->y, 1) - axis_at(&f->y, 0)),
           h = fmin(pitch * 0.72, 30);
    double y = axis_at(&f->y, (double)bar), from = 0;
    char id[32], text[AXIS_TEXT_MAX];

    snprintf(id, sizeof(id), "bar-%zu", bar);
    draw_group(d, id, "bar", NULL);
    for (size_t k = 0; k < b->n_parts; k++) {
        double v = part_value(b, bar, k), x0 = axis_at(&f->x, from);
        if (v > 0)
            draw_part(
                b, d,
                (struct draw_box) { x0, y - h / 2, axis_at(&f->x, from + v) - x0, h },
                k, v);
        from += v;
    }
    if (pitch >= PART_FONT + 2)
        draw_text(d, axis_at(&f->x, from) + 6, y,
                  axis_value_text(text, &b->value, from),
                  &(struct draw_text) { .cls = "total",
                                        .size = PART_FONT,
                                        .bold = true,
                                        .level = DRAW_CENTRE,
                                        .colour = PALETTE_INK });
    draw_group_end(d);
}

void breakdown_draw(const struct breakdown *b, struct draw *d)
{
    size_t shown = b->n_bars < BREAKDOWN_BARS_MAX ? b->n_bars : BREAKDOWN_BARS_MAX;
    struct axis x = b->value, y = { .scale = AXIS_CATEGORY,
                                    .categories = b->bars,
                                    .n_categories = shown };
    char *note = shown == b->n_bars
                     ? NULL
                     : xasprintf("%s%sand %zu more", b->subtitle ? b->subtitle : "",
                                 b->subtitle ? " " : "", b->n_bars - shown);
    struct frame f;

    x.from_zero = x.tight = true;
    frame_init(&f, b->title, note ? note : b->subtitle, &x, &y);
    f.provenance = b->provenance;
    f.y_down = true;
    for (size_t i = 0; i < shown; i++)
        axis_view_include(&f.x, total_of(b, i));
    if (isfinite(f.x.hi)) /* room for the totals at the ends of the bars */
        axis_view_include(&f.x, f.x.hi * d->width / (d->width - 2 * TOTAL_W));
    for (size_t k = 0; k < b->n_parts; k++)
        legend_add(&f.legend, (struct legend_item) { .name = b->parts[k],
                                                     .key = LEGEND_BOX,
                                                     .colour = part_colour(b, k) });
    frame_layout(&f, d);
    frame_draw(&f, d);
    for (size_t i = 0; i < shown; i++)
        draw_bar(b, &f, d, i);
    frame_release(&f);
    free(note);
}
