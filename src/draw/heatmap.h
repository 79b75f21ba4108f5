/* A table of numbers as colours, light for large; each value is printed in its cell
 * where there is room. Ids: cell-ROW-COLUMN up to 10,000 cells. */
#ifndef DRAW_HEATMAP_H
#define DRAW_HEATMAP_H

#include "draw/axis.h"

struct heatmap {
    const char *title, *subtitle, *provenance;
    struct axis x, y;  /* AXIS_CATEGORY both; row 0 is at the top */
    struct axis value; /* label, unit and scale (linear or log) of the colours */
    const double
        *values; /* (rows, columns) = (y.n_categories, x.n_categories); NaN: none */
    const char *nothing; /* what NaN means, in the legend: "failed"; NULL: not said */
    const bool *hatched; /* cells without a value of another cause; NULL: none */
    const char *hatched_name; /* what they mean: "does not fit" */
};

int heatmap_write(const struct heatmap *map, const struct draw_to *to, struct err *err);
void heatmap_draw(const struct heatmap *map, struct draw *d);

#endif
