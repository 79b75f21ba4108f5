/* Legends: keys and names in columns, always next to or below the data, never on it.
 * A canvas grows for them where it may; else what does not fit is said ("and 12 more"). */
#ifndef DRAW_LEGEND_H
#define DRAW_LEGEND_H

#include "base/vec.h"
#include "draw/draw.h"

enum legend_key {
    LEGEND_LINE,
    LEGEND_MARKER,
    LEGEND_LINE_MARKER,
    LEGEND_BOX,
    LEGEND_HATCH,
    LEGEND_NUMBER /* of a point */
};

struct legend_item {
    const char *name;
    enum legend_key key;
    uint32_t colour;
    enum draw_shape shape;
    enum draw_dash dash;
    double width; /* of the line; 0: that of charts */
    int number;
};

struct legend {
    VEC(struct legend_item) items;
    struct draw_box box; /* where it is; w 0: nowhere */
    bool below;          /* set before measuring: never at the right */
    bool whole;          /* the same: it takes what it needs, up to LEGEND_ROWS_MAX */
    bool right;          /* of the data; else below */
    size_t columns, rows, shown; /* the rest is "and N more", in a place of its own */
    double column_w;
};

enum { LEGEND_FONT = 12, LEGEND_ROW = 19, LEGEND_ROWS_MAX = 24 };
enum { LEGEND_KEY_W = 26, LEGEND_KEY_GAP = 7 };

void legend_release(struct legend *legend);
void legend_add(struct legend *legend, struct legend_item item);

/* Chooses its place in a figure: to the right where it fits in a single column of at
 * most 30 % of the width, else below. Sets the size of box, not its place. */
void legend_measure(struct legend *legend, double width, double height);

/* How much higher the figure had to be for what is not shown. */
double legend_lacks(const struct legend *legend);

void legend_draw(const struct legend *legend, struct draw *d);

/* One key alone, LEGEND_KEY_W wide, about the height y. */
void legend_draw_key(const struct legend_item *item, struct draw *d, double x,
                     double y);

#endif
