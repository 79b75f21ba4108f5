/* A back end of our own that notes what is drawn: tests of figures ask where things
 * lie, not which pixels they fill. */
#ifndef TESTS_DRAW_BENCH_H
#define TESTS_DRAW_BENCH_H

#include "base/vec.h"
#include "draw/draw.h"

struct text_at {
    struct draw_point corner[4];
    bool legend;
    char text[48];
};

struct record {
    VEC(struct text_at) texts;
    VEC(struct draw_point) markers;
    struct draw_box plot;
    double area[2]; /* of boxes in the first colours */
};

/* A canvas that notes into `r`. */
void open_record(struct draw *d, struct record *r, double width, double height);

/* Asserts that no texts overlap, that nothing lies outside the page, and that marks are
 * within the plot; then releases the record. */
void check_record(struct record *r, double width, double height);
void record_release(struct record *r);

/* A path for a figure, in a folder of its own; what was written there, both removed. The
 * caller frees the text. */
enum { FIGURE_PATH_MAX = 64 };
void figure_path(char path[FIGURE_PATH_MAX]);
char *figure_text(char path[FIGURE_PATH_MAX]);

int n_overlaps(const struct record *r); /* pairs of texts that share pixels */
int n_outside(const struct record *r, double width, double height);

#endif
