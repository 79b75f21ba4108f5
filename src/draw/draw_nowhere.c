/* The canvas on which nothing appears. */
#include "draw/draw.h"

static void no_begin(struct draw *d)
{
    (void)d;
}

static void no_rect(struct draw *d, struct draw_box box, const struct draw_style *style)
{
    (void)d, (void)box, (void)style;
}

static void no_circle(struct draw *d, struct draw_point centre, double radius,
                      const struct draw_style *style)
{
    (void)d, (void)centre, (void)radius, (void)style;
}

static void no_path(struct draw *d, const struct draw_point *p, size_t n, bool closed,
                    const struct draw_style *style)
{
    (void)d, (void)p, (void)n, (void)closed, (void)style;
}

static void no_curve(struct draw *d, const struct draw_point p[4],
                     const struct draw_style *style)
{
    (void)d, (void)p, (void)style;
}

static void no_text(struct draw *d, struct draw_point at, const char *s,
                    const struct draw_text *style)
{
    (void)d, (void)at, (void)s, (void)style;
}

static void no_group(struct draw *d, const char *id, const char *cls,
                     const struct draw_box *clip)
{
    (void)d, (void)id, (void)cls, (void)clip;
}

static const struct draw_methods nowhere = {
    .begin = no_begin,
    .rect = no_rect,
    .circle = no_circle,
    .path = no_path,
    .curve = no_curve,
    .text = no_text,
    .group = no_group,
    .group_end = no_begin,
};

void draw_open_nowhere(struct draw *d, double width, double height)
{
    draw_open_on(d, &nowhere, NULL, NULL, width, height);
    d->grows = true;
}
