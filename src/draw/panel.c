#include "draw/panel.h"

#include "base/xmalloc.h"
#include "draw/palette.h"

#include <stdlib.h>

static struct draw_point moved(const struct panel *p, struct draw_point at)
{
    return (struct draw_point) { at.x + p->x, at.y + p->y };
}

static struct draw_box moved_box(const struct panel *p, struct draw_box box)
{
    return (struct draw_box) { box.x + p->x, box.y + p->y, box.w, box.h };
}

static void on_begin(struct draw *d)
{
    (void)d;
}

static void on_rect(struct draw *d, struct draw_box box, const struct draw_style *style)
{
    struct panel *p = d->back;

    p->beneath.methods->rect(&p->beneath, moved_box(p, box), style);
}

static void on_circle(struct draw *d, struct draw_point centre, double radius,
                      const struct draw_style *style)
{
    struct panel *p = d->back;

    p->beneath.methods->circle(&p->beneath, moved(p, centre), radius, style);
}

static void on_path(struct draw *d, const struct draw_point *points, size_t n,
                    bool closed, const struct draw_style *style)
{
    struct panel *p = d->back;
    struct draw_point *there = xcalloc(n + 1, sizeof(*there));

    for (size_t i = 0; i < n; i++)
        there[i] = moved(p, points[i]);
    p->beneath.methods->path(&p->beneath, there, n, closed, style);
    free(there);
}

static void on_curve(struct draw *d, const struct draw_point points[4],
                     const struct draw_style *style)
{
    struct panel *p = d->back;
    struct draw_point there[4];

    for (size_t i = 0; i < 4; i++)
        there[i] = moved(p, points[i]);
    p->beneath.methods->curve(&p->beneath, there, style);
}

static void on_text(struct draw *d, struct draw_point at, const char *s,
                    const struct draw_text *style)
{
    struct panel *p = d->back;

    p->beneath.methods->text(&p->beneath, moved(p, at), s, style);
}

static void on_group(struct draw *d, const char *id, const char *cls,
                     const struct draw_box *clip)
{
    struct panel *p = d->back;
    struct draw_box there = clip ? moved_box(p, *clip) : (struct draw_box) { 0 };

    p->beneath.methods->group(&p->beneath, id, cls, clip ? &there : NULL);
}

static void on_group_end(struct draw *d)
{
    struct panel *p = d->back;

    p->beneath.methods->group_end(&p->beneath);
}

static const struct draw_methods panel_methods = {
    .begin = on_begin,
    .rect = on_rect,
    .circle = on_circle,
    .path = on_path,
    .curve = on_curve,
    .text = on_text,
    .group = on_group,
    .group_end = on_group_end,
};

void panel_open(struct panel *p, struct draw *beneath, struct draw_box box,
                const char *prefix)
{
    p->beneath = *beneath;
    p->beneath.prefix = prefix;
    p->x = box.x;
    p->y = box.y;
    draw_open_on(&p->canvas, &panel_methods, p, NULL, box.w, box.h);
    p->canvas.dark = beneath->dark;
    p->canvas.grown = beneath->grown;
    if (box.x <= 0 &&
        box.y <= 0) /* the ground of all: none shines through their seams */
        draw_rect(beneath, (struct draw_box) { 0, 0, beneath->width, beneath->height },
                  &(struct draw_style) { .fill = PALETTE_WHITE });
    beneath->methods->group(&p->beneath, "panel", "panel", NULL);
}

void panel_close(struct panel *p)
{
    p->beneath.methods->group_end(&p->beneath);
}
