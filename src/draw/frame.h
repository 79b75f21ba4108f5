/* What every chart has around its data: title, question, axes with grid, legend, and
 * the rectangle that is left for the data. Also the register of places already taken,
 * so that labels among the data never overlap. */
#ifndef DRAW_FRAME_H
#define DRAW_FRAME_H

#include "draw/axis.h"
#include "draw/legend.h"

struct frame {
    const char *title, *subtitle; /* subtitle: the question the figure answers */
    const char *provenance;       /* what the numbers are of; NULL: not said */
    const char *caption;          /* of the data right below it; NULL: none */
    struct axis_view x, y;
    struct legend legend;
    double right_room; /* kept free at the right of the data, for a colour bar */
    double top_room;   /* kept free between the heads and the data */
    double left_room;  /* the data begins there at least */
    double least_h;    /* of the data: a canvas that may grows for it */
    bool y_down;       /* the y axis begins at the top (lanes, rows) */
    bool no_grid, no_x_axis;
    struct draw_box plot; /* where the data is */
    VEC(struct draw_box) taken;
};

/* The axes outlive the frame. */
void frame_init(struct frame *f, const char *title, const char *subtitle,
                const struct axis *x, const struct axis *y);
void frame_release(struct frame *f);

/* After the views include all values and the legend has its items: fixes the ranges and
 * places everything on a canvas, which grows for the legend and `least_h` where it may.
 * Nothing is drawn on it yet. */
void frame_layout(struct frame *f, struct draw *d);

/* Title, subtitle, provenance and caption alone, for figures without axes; d NULL: not
 * drawn. Returns the y where they end. */
double frame_heads(const struct frame *f, struct draw *d, double width);

/* Background, title, grid, axes, legend; the data comes on top. */
void frame_draw(const struct frame *f, struct draw *d);

struct draw_point frame_at(const struct frame *f, double x, double y);
bool frame_inside(const struct frame *f, struct draw_point p);

/* Takes a place inside the plot, free or not. */
void frame_take_anyway(struct frame *f, struct draw_box box);

/* Draws a label near a point where there is room, `gap` pixels from it; nothing where
 * there is none. Returns whether it was drawn. */
bool frame_label(struct frame *f, struct draw *d, struct draw_point at, double gap,
                 const char *text, const struct draw_text *style);

/* The same, and farther away with a line to the point. */
bool frame_label_led(struct frame *f, struct draw *d, struct draw_point at, double gap,
                     const char *text, const struct draw_text *style);

#endif
