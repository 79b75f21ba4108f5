/* What totals are made of: horizontal bars of stacked parts, with the larger parts'
 * values in them and the total at the end. Bars beyond what a page holds are left out,
 * and the subtitle says how many. Ids: bar-0, bar-1, ... */
#ifndef DRAW_BREAKDOWN_H
#define DRAW_BREAKDOWN_H

#include "draw/axis.h"
#include "draw/meaning.h"

struct breakdown {
    const char *title, *subtitle, *provenance;
    const char *const *bars; /* names, from the top */
    size_t n_bars;
    const char *const *parts;     /* names in the legend */
    const enum meaning *meanings; /* of the parts; NULL: colours go by their order */
    size_t n_parts;
    const double *values; /* (n_bars, n_parts); NaN and what is not positive: absent */
    struct axis value;    /* label and unit */
};

enum { BREAKDOWN_BARS_MAX = 60 };

void breakdown_draw(const struct breakdown *b, struct draw *d);

#endif
