/* The marks of a chart's series. Private to the charts. */
#ifndef DRAW_CHART_MARKS_H
#define DRAW_CHART_MARKS_H

#include "draw/chart.h"
#include "draw/frame.h"

struct stack {
    double *base; /* value up to which earlier series fill, per place */
    size_t n;
};

struct marks {
    const struct chart *chart;
    struct frame *frame;
    struct draw *d;
    struct stack areas, bars;
    size_t n_slots, slot; /* bars next to each other at one category; the next one */
    size_t bar_slot;      /* of the stacked bars */
    size_t n_marked;      /* points with markers, over all series */
    bool labelled;        /* labels follow, and keep off the lines */
};

double series_x(const struct series *s, size_t i);
uint32_t series_colour(const struct series *s, size_t index);
/* Bars, areas, bands: what has no line. */
bool series_is_filled(const struct series *s);
/* How many lines come before it: dashes go by that. */
size_t series_line_order(const struct chart *chart, size_t index);
/* Whether it has markers: lines only where they stay apart. */
bool series_marked(const struct series *s, double pixels);

/* What fills (areas, bars, bands) comes under what is drawn as lines and points. */
void marks_fill(struct marks *m, size_t index);
/* What lies above a limit, hatched: below lines. */
void marks_beyond(struct marks *m, size_t index);
void marks_line(struct marks *m, size_t index);
void marks_labels(struct marks *m, size_t index);
/* The sums of stacked bars above them, where there is room for all. */
void marks_totals(struct marks *m);

#endif
