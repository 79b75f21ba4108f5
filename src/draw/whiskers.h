/* Many things compared by a middle and an end of their distribution: a row each, a dot
 * at the middle, a whisker to the end, and a note at the right. Rows beyond what a page
 * holds are left out, and the subtitle says how many. Ids: row-0, row-1, ... */
#ifndef DRAW_WHISKERS_H
#define DRAW_WHISKERS_H

#include "draw/axis.h"
#include "draw/draw.h"

struct whisker {
    const char *name, *note; /* note: NULL for none */
    double dot, end;         /* NaN: not drawn */
};

struct whiskers {
    const char *title, *subtitle, *provenance;
    const struct whisker *rows; /* from the top */
    size_t n_rows;
    const char *dot_name, *end_name; /* in the legend */
    struct axis value;               /* label, unit, scale */
};

enum { WHISKERS_ROWS_MAX = 70, WHISKERS_ROW_H = 17 };

/* The height that its rows need. */
double whiskers_height(const struct whiskers *w);
void whiskers_draw(const struct whiskers *w, struct draw *d);

#endif
