/* The figures a sweep names in its file, drawn from its records.
 *
 *     { "file": "scaling.svg", "kind": "line", "title": "...", "question": "...",
 *       "x": "gpus", "y": "samples_per_s", "series": "/cluster/instance" }
 *
 * kind      line | points | bars | stacked_bars | front (points, and the line of those
 *           that no other beats in both x and y) | band (a line between two edges) |
 *           heatmap (x and y in rows and columns)
 * x, y      the path of an axis or the name of a result; "y" may be a list of results
 * series    one or several of them: a line for each of their values, coloured by the
 *           first; by default all is one series
 * label     what is written next to each point; of a front, next to those on it
 * value     of a heatmap
 * limit     a result drawn as a line of capacity: "/memory/capacity_bytes"
 * efficiency  true: y is per x and relative to the series' first point
 * optimum   true: the best point of each line says where it is
 * where     comparisons, as the sweep's own; points that do not fit in memory are left
 * out
 *           unless "all" is true, points that failed always are
 * pick      what represents several points of one x and series: best (default: the
 *           fastest, cheapest, smallest), least or most
 * x_scale, y_scale  linear | log2 | log10 | category; chosen by the values by default
 * x_label, y_label  in place of the built-in names */
#ifndef REPORT_FIGURE_SWEEP_H
#define REPORT_FIGURE_SWEEP_H

#include "base/err.h"
#include "draw/draw.h"
#include "sweep/sweep.h"

#include <stdio.h>

struct sweep_figures;

struct sweep_figures *figure_sweep_new(struct sweep *s);
void figure_sweep_free(struct sweep_figures *f);

/* Reads the sweep's "plots", and adds what they show to its outputs. */
int figure_sweep_read(struct sweep_figures *f);

/* Takes in a record; its order decides on that of series and categories. */
void figure_sweep_add(struct sweep_figures *f, int64_t point, json_t *record);

/* Draws all of them into the directory. */
int figure_sweep_write(struct sweep_figures *f, const char *dir, struct draw_look look,
                       struct err *err);

/* One line each: file, question. */
void figure_sweep_list(const struct sweep_figures *f, FILE *out, const char *dir);

#endif
