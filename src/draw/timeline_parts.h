/* The parts of a timeline's time axis, at one scale, with a break between two. Private to
 * the timeline. */
#ifndef DRAW_TIMELINE_PARTS_H
#define DRAW_TIMELINE_PARTS_H

#include "draw/frame.h"
#include "draw/timeline.h"

struct timeline_parts {
    size_t n;    /* at least 1 */
    bool broken; /* else the only part is all of the frame's axis, whose view it has */
    struct axis_view part[TIMELINE_PARTS_MAX];
};

/* Room above the data for their names, in pixels. */
double timeline_parts_room(const struct timeline *t);

/* After the frame is laid out: places the parts along its data, and gives its axis their
 * ticks, each with its unit. */
void timeline_parts_lay(struct timeline_parts *p, const struct timeline *t,
                        struct frame *f, const struct axis *axis);
void timeline_parts_release(struct timeline_parts *p);

/* Both ends of a box within one part; false: it has none there. */
bool timeline_parts_box(const struct timeline_parts *p, size_t part,
                        const struct timeline_box *b, double *x0, double *x1);

/* The breaks, and the names above the parts. */
void timeline_parts_draw(const struct timeline_parts *p, const struct timeline *t,
                         const struct frame *f, struct draw *d);

#endif
