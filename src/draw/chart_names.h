/* Names of lines at their right ends, in place of a legend: the reader does not match
 * dashes. Lines that share a colour have their keys there, too. Private to the charts. */
#ifndef DRAW_CHART_NAMES_H
#define DRAW_CHART_NAMES_H

#include "draw/chart_marks.h"

/* A series' name, and what it is drawn like. */
struct legend_item chart_legend_item(const struct chart *chart, size_t k);

/* Whether a chart of that size has only lines (bands and limits among them) that all
 * have a name, and few enough of them. */
bool chart_names_suit(const struct chart *chart, double width, double height);

/* Pixels that the names take at the right of the data. */
double chart_names_room(const struct chart *chart);

/* Draws them: next to the data where a line goes to its end, within the data where it
 * ends before. */
void chart_names_draw(struct marks *m);

/* Labels that are listed at the right of the data: the room they take, and they. Where
 * they leave too little of the width to the data, they are numbers there, and the
 * legend has their names. */
bool chart_edges_numbered(const struct chart *chart, double width);
double chart_edges_room(const struct chart *chart, bool numbered);
void chart_edges_fill_legend(const struct chart *chart, struct legend *legend);
void chart_edges_draw(struct marks *m, bool numbered);

#endif
