/* Axes: from the values of a figure to ticks, their labels and pixels.
 *
 * A declaration (struct axis) says what the axis shows. A view is that axis on a
 * canvas: init, include every value, fix the range, lay it out between two pixels.
 * Values are SI; labels are in units people read. Tick labels never overlap: they are
 * thinned, and categories are turned first. */
#ifndef DRAW_AXIS_H
#define DRAW_AXIS_H

#include "base/vec.h"
#include "draw/draw.h"

enum axis_scale {
    AXIS_LINEAR,
    AXIS_LOG2,
    AXIS_LOG10,
    AXIS_CATEGORY
}; /* bytes: never LOG10 */

enum axis_unit {
    AXIS_PLAIN,       /* numbers of what unit_text says */
    AXIS_BYTES,       /* 64 KiB */
    AXIS_SECONDS,     /* 20 us */
    AXIS_BYTES_PER_S, /* 12.5 GB/s */
    AXIS_FLOP_PER_S,  /* 312 TFLOP/s */
    AXIS_FRACTION,    /* 0.5 is 50 % */
    AXIS_USD,
};

struct axis {
    const char *label; /* "message size"; the unit is appended */
    enum axis_scale scale;
    enum axis_unit unit;
    const char *unit_text; /* with AXIS_PLAIN: "samples/s"; NULL: none */
    bool from_zero;        /* the range includes 0 (linear only) */
    bool tight;            /* the range ends with the data, not at a round number */
    double min, max;       /* the range where max > min; else the data's */
    const double *ticks; /* values that have ticks where their labels fit, ascending; */
    size_t n_ticks;      /* 0: round numbers */
    const char *const *categories; /* AXIS_CATEGORY: value i is category i */
    size_t n_categories;
};

enum { AXIS_TEXT_MAX = 48, AXIS_FONT = 12 };

struct axis_tick {
    double value, at; /* at: pixel */
    char *text;       /* NULL: a tick without label */
};

struct axis_view {
    const struct axis *axis;
    double lo, hi;    /* range of values */
    double from, to;  /* pixels of lo and hi; from > to on upright axes */
    bool upright;     /* labels are next to it, not below */
    const char *unit; /* common to all tick labels; NULL: each carries its own */
    double worth;     /* of that unit */
    double rotate;    /* of the tick labels: 0, -45 or -90 degrees */
    double depth;     /* pixels that tick labels take across the axis */
    VEC(struct axis_tick) ticks;
};

void axis_view_init(struct axis_view *view, const struct axis *axis);
void axis_view_release(struct axis_view *view);

/* Extends the range to a value; not finite ones, and those a log scale has no place
 * for, are passed over. */
void axis_view_include(struct axis_view *view, double value);

/* Rounds the range out and chooses the unit. With no value at all the range is 0 to
 * 1. */
void axis_view_fix(struct axis_view *view);

/* Chooses ticks for pixels from..to. Labels of categories are cut to `room` pixels. */
void axis_view_layout(struct axis_view *view, double from, double to, bool upright,
                      double room);

/* Pixel of a value; NAN where the scale has no place for it. */
double axis_at(const struct axis_view *view, double value);

/* "step time (ms)"; the caller frees it. */
char *axis_title(const struct axis_view *view);

/* A single value with its unit, three digits: "12.5 GB/s". */
char *axis_value_text(char buf[AXIS_TEXT_MAX], const struct axis *axis, double value);

#endif
