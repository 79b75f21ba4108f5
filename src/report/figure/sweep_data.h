/* What a figure of a sweep shows and the values it has taken in: shared by
 * report/figure/sweep.c, which reads and collects, and sweep_draw.c. */
#ifndef REPORT_FIGURE_SWEEP_DATA_H
#define REPORT_FIGURE_SWEEP_DATA_H

#include "draw/axis.h"
#include "report/figure/sweep.h"

enum sweep_figure_kind {
    FIGURE_LINE,
    FIGURE_POINTS,
    FIGURE_BARS,
    FIGURE_STACKED_BARS,
    FIGURE_FRONT,
    FIGURE_BAND,
    FIGURE_HEATMAP
};
enum sweep_pick { PICK_BEST, PICK_LEAST, PICK_MOST };
enum { FIGURE_REFS_MAX = 8, SCALE_AUTO = -1 };

/* A path of an axis, or a result. */
struct sweep_ref {
    const char *name; /* NULL: none */
    int32_t field;    /* -1: a result */
};

struct sweep_refs {
    int32_t n;
    struct sweep_ref v[FIGURE_REFS_MAX];
};

/* What is known of a quantity by its name. */
struct sweep_quantity {
    const char *name, *label; /* label NULL: made of the name */
    enum axis_unit unit;
    const char *unit_text;
    bool more_is_better;
    double factor; /* to the axis' unit */
};

/* Texts in order of first appearance. */
struct sweep_names {
    const char **v;
    int64_t n, cap;
};

struct sweep_datum {
    int32_t series;
    double x, y, value; /* a category's are its index */
    const char *label;  /* NULL: none */
    bool unfit;         /* it does not fit in memory: a hatched cell */
};

struct sweep_figure {
    const char *file, *title, *question, *x_label, *y_label;
    const char *provenance;
    enum sweep_figure_kind kind;
    enum sweep_pick pick;
    int x_scale, y_scale; /* enum axis_scale, or SCALE_AUTO */
    bool all, efficiency, optimum;
    struct sweep_ref x, value, limit;
    struct sweep_refs y, series, label;
    struct sweep_wheres wheres;
    VEC(struct sweep_datum) data;
    struct sweep_names series_names, x_names, y_names;
    struct sweep_names colour_names; /* of several that make a series, the first */
    struct sweep_names instances;    /* of series that are instances, else "" */
    VEC(int32_t) colours;            /* of series */
    VEC(int32_t) meanings;           /* of series: enum meaning */
    bool x_is_text;                  /* x are indices of x_names */
    double limit_at;                 /* NAN: none */
};

struct sweep_figures {
    struct sweep *sweep;
    int32_t n;
    struct sweep_figure *v;
};

/* Always something: what is not in the table is decided by the name's ending. */
struct sweep_quantity figure_quantity_of(const char *name);

/* The label, in the arena: "micro batch size". */
const char *figure_quantity_label(struct arena *arena, const char *name);

int figure_sweep_write_one(const struct sweep_figure *f, struct arena *arena,
                           const struct draw_to *to, struct err *err);

#endif
