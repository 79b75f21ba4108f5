#include "draw/frame.h"

#include "draw/palette.h"

#include <math.h>
#include <stdlib.h>

enum {
    EDGE = 14, /* free around everything */
    TITLE_FONT = 15,
    TITLE_H = 22,
    SUB_FONT = 12,
    SUB_H = 17,
    SOURCE_FONT = 10,
    SOURCE_H = 14,
    LABEL_FONT = 13, /* axis titles */
    LABEL_H = 20,
    TICK = 5,
    GAP = 4,
    INSET = 7, /* between the frame and the outermost values */
    ROOM_X_MAX = 110,
    CAPTION_GAP = 6,
    ROOM_Y_MAX = 190, /* longest category labels, in wide figures more */
};

void frame_init(struct frame *f, const char *title, const char *subtitle,
                const struct axis *x, const struct axis *y)
{
    *f = (struct frame) { .title = title, .subtitle = subtitle };
    axis_view_init(&f->x, x);
    axis_view_init(&f->y, y);
}

void frame_release(struct frame *f)
{
    axis_view_release(&f->x);
    axis_view_release(&f->y);
    legend_release(&f->legend);
    VEC_RELEASE(&f->taken);
}

static bool has_text(const char *s)
{
    return s && *s;
}

/* What is above the data, in its order. */
enum { HEAD_TITLE, HEAD_SUBTITLE, HEAD_PROVENANCE, HEAD_CAPTION, HEADS };

static const struct head {
    const char *id;
    double font, line;
    bool bold;
    uint32_t colour;
} heads[HEADS] = {
    [HEAD_TITLE] = { "title", TITLE_FONT, TITLE_H, true, PALETTE_INK },
    [HEAD_SUBTITLE] = { "subtitle", SUB_FONT, SUB_H, false, PALETTE_SOFT },
    [HEAD_PROVENANCE] = { "provenance", SOURCE_FONT, SOURCE_H, false, PALETTE_SOFT },
    [HEAD_CAPTION] = { "caption", SUB_FONT, SUB_H, false, PALETTE_INK },
};

/* Lays the heads out from `y` on, and draws them where there is a canvas; returns where
 * they end. */
static double lay_heads(const struct frame *f, struct draw *d, double y, double width)
{
    const char *const texts[HEADS] = { f->title, f->subtitle, f->provenance,
                                       f->caption };

    for (size_t i = 0; i < HEADS; i++) {
        const struct head *h = &heads[i];
        char *lines[DRAW_LINES_MAX];
        size_t n = has_text(texts[i]) ? draw_text_lines(texts[i], h->font, h->bold,
                                                        width - 2 * EDGE, lines)
                                      : 0;
        if (i == HEAD_CAPTION && n > 0 && y > EDGE) /* apart from what is of all */
            y += CAPTION_GAP;
        for (size_t k = 0; k < n; y += h->line, free(lines[k++]))
            if (d)
                draw_text(d, EDGE, y, lines[k],
                          &(struct draw_text) { .id = k ? NULL : h->id,
                                                .cls = h->id,
                                                .size = h->font,
                                                .level = DRAW_TOP,
                                                .bold = h->bold,
                                                .colour = h->colour });
    }
    return y;
}

static double inset_at(const struct axis_view *v, bool low)
{
    double end = low ? v->lo : v->hi;

    if (v->axis->scale == AXIS_CATEGORY || v->axis->tight)
        return 0;
    return v->axis->from_zero && fabs(end) <= 0 ? 0 : INSET;
}

static void layout_axes(struct frame *f, double width)
{
    struct draw_box p = f->plot;
    double low = p.y + p.h, high = p.y, room = fmax(ROOM_Y_MAX, 0.36 * width);

    axis_view_layout(&f->x, p.x + inset_at(&f->x, true),
                     p.x + p.w - inset_at(&f->x, false), false, ROOM_X_MAX);
    if (f->y_down)
        axis_view_layout(&f->y, high + inset_at(&f->y, true),
                         low - inset_at(&f->y, false), true, room);
    else
        axis_view_layout(&f->y, low - inset_at(&f->y, true),
                         high + inset_at(&f->y, false), true, room);
}

/* How far the last flat label, or the first turned one, sticks out of the plot. */
static double overhang(const struct frame *f, bool left)
{
    double most = 0;

    for (int64_t i = 0; i < f->x.ticks.n; i++) {
        const struct axis_tick *tick = &f->x.ticks.v[i];
        double w, right;
        if (!tick->text)
            continue;
        w = draw_text_width(tick->text, AXIS_FONT, false);
        right = f->x.rotate < 0 ? AXIS_FONT : w / 2;
        if (left)
            most = fmax(most, f->plot.x - (tick->at - (f->x.rotate < -60 ? AXIS_FONT
                                                       : f->x.rotate < 0 ? w * 0.71 + 6
                                                                         : w / 2)));
        else
            most = fmax(most, tick->at + right - f->plot.x - f->plot.w);
    }
    return most;
}

static bool axis_has_title(const struct axis_view *v)
{
    char *title = axis_title(v);
    bool has = *title != '\0';

    free(title);
    return has;
}

static void place_legend(struct frame *f, double width, double height)
{
    struct draw_box *box = &f->legend.box;

    if (f->legend.right) {
        box->x = width - EDGE - box->w;
        box->y = f->plot.y + 2;
    } else {
        box->x = fmax(EDGE, fmin(f->plot.x, width - EDGE - box->w));
        box->y = height - EDGE - box->h + 4;
    }
}

/* Places the data between what is around it; returns the height that is left for it,
 * which may be too little. */
static double place_plot(struct frame *f, double top, double width, double height)
{
    double left = 60, bottom = 50, right = EDGE + 4;
    double legend_w = f->legend.right ? f->legend.box.w + 16 : 0;
    double legend_h =
        f->legend.right ? 0 : f->legend.box.h + (f->legend.box.h > 0 ? 6 : 0);

    for (int pass = 0; pass < 4; pass++) {
        f->plot.x = left;
        f->plot.y = top;
        f->plot.w = fmax(40, width - left - right - legend_w - f->right_room);
        f->plot.h = fmax(40, height - top - bottom - legend_h);
        layout_axes(f, width);
        /* growing from the second pass on, so that it settles */
        left = pass ? left : 0;
        left = fmax(left, EDGE + (axis_has_title(&f->y) ? LABEL_H : 0) + f->y.depth +
                              TICK + GAP);
        left = fmax(left, EDGE + overhang(f, true));
        left = fmax(left, f->left_room);
        right = fmax(pass ? right : EDGE + 4, EDGE + overhang(f, false));
        bottom = f->no_x_axis ? GAP
                              : EDGE + TICK + GAP + f->x.depth +
                                    (axis_has_title(&f->x) ? LABEL_H : 0);
    }
    return height - top - bottom - legend_h;
}

double frame_heads(const struct frame *f, struct draw *d, double width)
{
    return lay_heads(f, d, EDGE, width);
}

void frame_layout(struct frame *f, struct draw *d)
{
    double top = lay_heads(f, NULL, EDGE, d->width) + 6 + f->top_room, lacks, h;

    axis_view_fix(&f->x);
    axis_view_fix(&f->y);
    f->legend.whole = d->grown;
    legend_measure(&f->legend, d->width - 2 * EDGE, d->height - top);
    lacks = d->grows ? legend_lacks(&f->legend) : 0;
    if (lacks > 0) {
        draw_grow(d, lacks);
        f->legend.whole = true;
        legend_measure(&f->legend, d->width - 2 * EDGE, d->height - top);
    }
    h = place_plot(f, top, d->width, d->height);
    if (d->grows && h < f->least_h) {
        draw_grow(d, f->least_h - h);
        place_plot(f, top, d->width, d->height);
    }
    place_legend(f, d->width, d->height);
}

struct draw_point frame_at(const struct frame *f, double x, double y)
{
    return (struct draw_point) { axis_at(&f->x, x), axis_at(&f->y, y) };
}

bool frame_inside(const struct frame *f, struct draw_point p)
{
    return p.x >= f->plot.x - 0.5 && p.x <= f->plot.x + f->plot.w + 0.5 &&
           p.y >= f->plot.y - 0.5 && p.y <= f->plot.y + f->plot.h + 0.5;
}

static void fitted(struct draw *d, double x, double y, const char *s, double width,
                   const struct draw_text *style)
{
    char *text = draw_text_fit(s, style->size, style->bold, width);

    draw_text(d, x, y, text, style);
    free(text);
}

static void draw_grid(const struct frame *f, struct draw *d)
{
    const struct draw_style line = { .cls = "grid", .stroke = PALETTE_GRID };
    struct draw_box p = f->plot;

    draw_group(d, "grid", "grid", NULL);
    for (int64_t i = 0; i < f->y.ticks.n; i++)
        if (f->y.ticks.v[i].text && f->y.axis->scale != AXIS_CATEGORY)
            draw_line(d, p.x, f->y.ticks.v[i].at, p.x + p.w, f->y.ticks.v[i].at, &line);
    for (int64_t i = 0; i < f->x.ticks.n; i++)
        if (f->x.ticks.v[i].text && f->x.axis->scale != AXIS_CATEGORY)
            draw_line(d, f->x.ticks.v[i].at, p.y, f->x.ticks.v[i].at, p.y + p.h, &line);
    draw_group_end(d);
}

static void draw_x_axis(const struct frame *f, struct draw *d)
{
    double base = f->plot.y + f->plot.h;
    struct draw_text style = { .cls = "tick-label",
                               .size = AXIS_FONT,
                               .rotate = f->x.rotate,
                               .colour = PALETTE_INK,
                               .anchor = f->x.rotate < 0 ? DRAW_END : DRAW_MIDDLE,
                               .level = f->x.rotate < 0 ? DRAW_CENTRE : DRAW_TOP };
    char *title;

    if (f->no_x_axis)
        return;
    title = axis_title(&f->x);
    draw_group(d, "x-axis", "axis", NULL);
    for (int64_t i = 0; i < f->x.ticks.n; i++) {
        const struct axis_tick *tick = &f->x.ticks.v[i];
        double length = tick->text ? TICK : TICK / 2.0;
        bool turned = f->x.rotate < 0;
        draw_line(d, tick->at, base, tick->at, base + length,
                  &(struct draw_style) { .cls = "tick", .stroke = PALETTE_FRAME });
        draw_text(d, tick->at + (f->x.rotate < 0 && f->x.rotate > -60 ? 3 : 0),
                  base + TICK + GAP + (turned ? 2 : 0), tick->text, &style);
    }
    fitted(d, f->plot.x + f->plot.w / 2, base + TICK + GAP + f->x.depth + 5, title,
           d->width - 2 * EDGE,
           &(struct draw_text) { .id = "x-title",
                                 .cls = "axis-title",
                                 .size = LABEL_FONT,
                                 .anchor = DRAW_MIDDLE,
                                 .level = DRAW_TOP,
                                 .colour = PALETTE_INK });
    draw_group_end(d);
    free(title);
}

static void draw_y_axis(const struct frame *f, struct draw *d)
{
    const struct draw_text style = { .cls = "tick-label",
                                     .size = AXIS_FONT,
                                     .anchor = DRAW_END,
                                     .level = DRAW_CENTRE,
                                     .colour = PALETTE_INK };
    double x = f->plot.x;
    char *title = axis_title(&f->y);

    draw_group(d, "y-axis", "axis", NULL);
    for (int64_t i = 0; i < f->y.ticks.n; i++) {
        const struct axis_tick *tick = &f->y.ticks.v[i];
        double length = tick->text ? TICK : TICK / 2.0;
        draw_line(d, x - length, tick->at, x, tick->at,
                  &(struct draw_style) { .cls = "tick", .stroke = PALETTE_FRAME });
        draw_text(d, x - TICK - GAP, tick->at, tick->text, &style);
    }
    fitted(d, EDGE, f->plot.y + f->plot.h / 2, title, f->plot.h + 8,
           &(struct draw_text) { .id = "y-title",
                                 .cls = "axis-title",
                                 .size = LABEL_FONT,
                                 .rotate = -90,
                                 .anchor = DRAW_MIDDLE,
                                 .level = DRAW_TOP,
                                 .colour = PALETTE_INK });
    draw_group_end(d);
    free(title);
}

void frame_draw(const struct frame *f, struct draw *d)
{
    draw_rect(d, (struct draw_box) { 0, 0, d->width, d->height },
              &(struct draw_style) { .id = "background", .fill = PALETTE_WHITE });
    lay_heads(f, d, EDGE, d->width);
    if (!f->no_grid)
        draw_grid(f, d);
    draw_x_axis(f, d);
    draw_y_axis(f, d);
    draw_rect(
        d, f->plot,
        &(struct draw_style) { .id = "plot", .cls = "plot", .stroke = PALETTE_FRAME });
    legend_draw(&f->legend, d);
}

static bool overlap(struct draw_box a, struct draw_box b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

void frame_take_anyway(struct frame *f, struct draw_box box)
{
    VEC_PUSH(&f->taken, box);
}

/* Takes a place inside the plot, if it is free. */
static bool take(struct frame *f, struct draw_box box)
{
    struct draw_point a = { box.x, box.y }, b = { box.x + box.w, box.y + box.h };

    if (!frame_inside(f, a) || !frame_inside(f, b))
        return false;
    for (int64_t i = 0; i < f->taken.n; i++)
        if (overlap(f->taken.v[i], box))
            return false;
    frame_take_anyway(f, box);
    return true;
}

/* Sides of a point, in rings about it, each farther; the third has a line to it. */
static bool place_label(struct frame *f, struct draw *d, struct draw_point at,
                        double gap, const char *text, const struct draw_text *style,
                        size_t n_rings)
{
    static const struct draw_point sides[] = { { 1, -1 }, { 0, -1 }, { -1, -1 },
                                               { 1, 0 },  { -1, 0 }, { 1, 1 },
                                               { 0, 1 },  { -1, 1 } };
    static const double rings[] = { 0, 10,
                                    26 }; /* beyond the gap; the last has a line */
    double w = draw_text_width(text, style->size, style->bold), h = style->size;

    for (size_t i = 0; i < n_rings * sizeof(sides) / sizeof(*sides); i++) {
        struct draw_point side = sides[i % 8];
        double far = gap + rings[i / 8];
        double diagonal = fabs(side.x) > 0 && fabs(side.y) > 0 ? 0.7 : 1;
        struct draw_box box = { at.x + side.x * far * diagonal + (side.x - 1) * w / 2,
                                at.y + side.y * far * diagonal + (side.y - 1) * h / 2,
                                w, h };
        struct draw_text plain = *style;
        if (!take(f, box))
            continue;
        if (i >= 16)
            draw_line(
                d, at.x + side.x * gap * diagonal, at.y + side.y * gap * diagonal,
                at.x + side.x * (far - 2) * diagonal,
                at.y + side.y * (far - 2) * diagonal,
                &(struct draw_style) { .cls = "leader", .stroke = PALETTE_FRAME });
        plain.level = DRAW_CENTRE;
        plain.anchor = DRAW_START;
        if (style->plate)
            draw_rect(d, (struct draw_box) { box.x - 2, box.y - 1, w + 4, h + 2 },
                      &(struct draw_style) { .cls = "plate", .fill = PALETTE_WHITE });
        draw_text(d, box.x, box.y + h / 2, text, &plain);
        return true;
    }
    return false;
}

bool frame_label(struct frame *f, struct draw *d, struct draw_point at, double gap,
                 const char *text, const struct draw_text *style)
{
    return place_label(f, d, at, gap, text, style, 2);
}

bool frame_label_led(struct frame *f, struct draw *d, struct draw_point at, double gap,
                     const char *text, const struct draw_text *style)
{
    return place_label(f, d, at, gap, text, style, 3);
}
