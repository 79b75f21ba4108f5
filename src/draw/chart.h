/* Charts over two axes, declared as data: what is shown, not where it is drawn.
 *
 * Arrays are borrowed. Values are SI; a NaN is a gap. Series get colours, markers and
 * dashes by their order unless `meaning` or `colour` says otherwise. Time and output are linear in
 * the values; lines longer than the picture is wide are reduced to its pixels.
 *
 *     struct chart c = { .title = "Scaling of BERT-large",
 *                        .subtitle = "How far does one more node help?",
 *                        .x = { "GPUs", AXIS_LOG2 },
 *                        .y = { "throughput", .unit_text = "sequences/s", .from_zero =
 *                        true }, .series = series, .n_series = 2 };
 *     return chart_write(&c, "scaling.svg", err);
 *
 * Lines have their names at their ends; other series are named in a legend.
 *
 * Ids in SVG: title, subtitle, plot, x-axis, y-axis, legend or names, series-0,
 * series-1, ... */
#ifndef DRAW_CHART_H
#define DRAW_CHART_H

#include "draw/axis.h"
#include "draw/draw.h"
#include "draw/meaning.h"

enum { CHART_WIDTH = 720, CHART_HEIGHT = 450 };

enum series_kind {
    SERIES_LINE,   /* with markers where there is room for them */
    SERIES_POINTS, /* markers alone */
    SERIES_STEP,   /* a value holds until the next x */
    SERIES_BARS,   /* next to each other; x must be a category axis, one value each */
    SERIES_STACKED_BARS,
    SERIES_STACKED_AREA, /* all have the x values of the first one */
    SERIES_BAND,         /* from y to y2 */
    SERIES_LIMIT,        /* a horizontal capacity line at y[0], black */
};

struct series {
    const char *name; /* in the legend; NULL: not there */
    enum series_kind kind;
    size_t n;
    const double *x; /* NULL: 0, 1, 2, ... */
    const double *y, *y2;
    const char *const *labels; /* of points, drawn where there is room; NULL: none */
    bool labels_at_edge;       /* they are listed at the right of the data, with a line
                                * to their points */
    bool stepped;              /* an area whose values hold until the next x */
    bool no_markers;
    bool hatched;                 /* bars of time that nothing is done in */
    const bool *hollow;           /* points drawn as outlines; NULL: none */
    const double *x_low, *x_high; /* bars across points; NULL: none */
    const bool *faded;            /* points that matter less, drawn grey; NULL: none */
    const char *beyond;   /* SERIES_LIMIT: what lies above it; NULL: not shaded */
    size_t colour;        /* 1 + the palette's index; 0: by order */
    enum meaning meaning; /* decides the colour, where there is one */
};

struct annotation {
    double x, y;
    const char *text;
};

/* A stretch of the x axis, as a coloured line above the data with its name. */
struct chart_phase {
    double from, to;
    const char *name;
    enum meaning meaning;
};

struct chart {
    const char *title, *subtitle; /* subtitle: the question the chart answers */
    const char *provenance;       /* what its numbers are of; NULL: not said */
    struct axis x, y;
    const struct series *series;
    size_t n_series;
    const struct annotation *annotations;
    size_t n_annotations;
    const struct chart_phase *phases; /* ascending */
    size_t n_phases;
    double identity; /* > 0: the line y = x with a band of that fraction; axes alike */
    const char *identity_name; /* of the band in the legend; NULL: not there */
    double width, height;      /* 0: the defaults */
    double left_room;          /* at least, for panels whose axes are to be in line */
    bool legend_below;         /* never at the right */
};

int chart_write(const struct chart *chart, const struct draw_to *to, struct err *err);
void chart_draw(const struct chart *chart, struct draw *d);

/* The points that no other beats in both x and y (less is better, or more), by rising
 * x; fx and fy take up to n values. Returns how many; O(n log n). */
size_t chart_front(size_t n, const double *x, const double *y, bool more_x, bool more_y,
                   double *fx, double *fy);

#endif
