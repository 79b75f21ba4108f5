#include "draw/timeline_parts.h"

#include "draw/palette.h"

#include <math.h>
#include <stdlib.h>

enum { NAME_FONT = 11, NAME_H = 17, TICK_GAP = 6 };

double timeline_parts_room(const struct timeline *t)
{
    for (size_t i = 0; i < t->n_parts; i++)
        if (t->parts[i].name)
            return NAME_H;
    return 0;
}

/* One part on its pixels; its ticks go to the frame's, whose labels end at
 * `labelled_to`. */
static void lay_part(struct axis_view *v, const struct axis *axis,
                     const struct timeline_part *part, double from, double to,
                     struct frame *f, double *labelled_to)
{
    axis_view_init(v, axis);
    axis_view_include(v, part->from_s);
    axis_view_include(v, part->to_s);
    axis_view_fix(v);
    v->unit = NULL;
    axis_view_layout(v, from, to, false, 0);
    for (int64_t i = 0; i < v->ticks.n; i++) {
        struct axis_tick *tick = &v->ticks.v[i];
        double half =
            draw_text_width(tick->text ? tick->text : "", AXIS_FONT, false) / 2;
        if (tick->text && tick->at - half < *labelled_to + TICK_GAP) {
            free(tick->text);
            tick->text = NULL; /* the part before has a label there */
        }
        *labelled_to = tick->text ? tick->at + half : *labelled_to;
        VEC_PUSH(&f->x.ticks, *tick);
    }
    v->ticks.n = 0; /* the frame frees their texts */
}

void timeline_parts_lay(struct timeline_parts *p, const struct timeline *t,
                        struct frame *f, const struct axis *axis)
{
    double shown_s = 0, labelled_to = 0, x = f->plot.x,
           w = f->plot.w - TIMELINE_BREAK_W * ((double)t->n_parts - 1);

    *p = (struct timeline_parts) { .n = 1, .broken = t->n_parts > 0 };
    if (!p->broken) {
        p->part[0] = f->x; /* borrowed */
        return;
    }
    p->n = t->n_parts;
    for (size_t i = 0; i < p->n; i++)
        shown_s += t->parts[i].to_s - t->parts[i].from_s;
    for (int64_t i = 0; i < f->x.ticks.n; i++)
        free(f->x.ticks.v[i].text);
    f->x.ticks.n = 0;
    f->x.unit = NULL;
    for (size_t i = 0; i < p->n; i++) {
        double part_w = w * (t->parts[i].to_s - t->parts[i].from_s) / shown_s;
        lay_part(&p->part[i], axis, &t->parts[i], x, x + part_w, f, &labelled_to);
        x += part_w + TIMELINE_BREAK_W;
    }
}

void timeline_parts_release(struct timeline_parts *p)
{
    for (size_t i = 0; i < p->n && p->broken; i++)
        axis_view_release(&p->part[i]);
}

bool timeline_parts_box(const struct timeline_parts *p, size_t part,
                        const struct timeline_box *b, double *x0, double *x1)
{
    const struct axis_view *v = &p->part[part];
    double start = p->broken ? fmax(b->start_s, v->lo) : b->start_s,
           end = p->broken ? fmin(b->end_s, v->hi) : b->end_s;

    if (p->broken && !(end > start))
        return false;
    *x0 = axis_at(v, start);
    *x1 = axis_at(v, end);
    return true;
}

/* Two slanted lines across the data. */
static void draw_break(const struct frame *f, struct draw *d, double x)
{
    double top = f->plot.y, low = top + f->plot.h;

    draw_rect(d, (struct draw_box) { x, top, TIMELINE_BREAK_W, low - top },
              &(struct draw_style) { .fill = PALETTE_WHITE });
    for (int i = 0; i < 2; i++)
        draw_line(d, x + i * TIMELINE_BREAK_W, low, x + i * TIMELINE_BREAK_W, top,
                  &(struct draw_style) {
                      .stroke = PALETTE_SOFT, .dash = DRAW_DASHED, .width = 1.2 });
}

void timeline_parts_draw(const struct timeline_parts *p, const struct timeline *t,
                         const struct frame *f, struct draw *d)
{
    if (!p->broken)
        return;
    draw_group(d, "break", "break", &f->plot);
    for (size_t i = 0; i + 1 < p->n; i++)
        draw_break(f, d, p->part[i].to);
    draw_group_end(d);
    draw_group(d, "parts", "parts", NULL);
    for (size_t i = 0; i < p->n; i++) {
        const struct axis_view *v = &p->part[i];
        const char *name = t->parts[i].name;
        if (name && draw_text_width(name, NAME_FONT, false) <= v->to - v->from)
            draw_text(d, (v->from + v->to) / 2, f->plot.y - 4, name,
                      &(struct draw_text) { .cls = "part",
                                            .size = NAME_FONT,
                                            .anchor = DRAW_MIDDLE,
                                            .colour = PALETTE_SOFT });
    }
    draw_group_end(d);
}
