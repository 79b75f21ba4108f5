/* The data of a sweep for its page: a row each point, in columns with their units, and
 * the figures that the sweep names. */
#ifndef PAGE_SWEEP_H
#define PAGE_SWEEP_H

#include "report/figure/sweep.h"
#include "report/sweep_table.h"

#include <jansson.h>

/* Points beyond these are in the tables alone; the page says so. */
enum { PAGE_POINTS = 20000 };

struct page_sweep {
    const struct sweep *sweep;
    json_t *rows;
    json_t *colours; /* of instances, by their names in the rows (page_palette) */
    int64_t n_left;  /* points that are not in rows */
};

void page_sweep_init(struct page_sweep *p, const struct sweep *s);

/* Takes in a record, in order. */
void page_sweep_add(struct page_sweep *p, json_t *record);

/* All of it, with the figures that lie in `dir` as SVG; a new tree, which takes the
 * rows. `name` is the sweep's as the user gave it. */
json_t *page_sweep_data(struct page_sweep *p, const char *name, const char *dir,
                        const struct sweep_figures *figures,
                        const struct sweep_summary *sum);
void page_sweep_release(struct page_sweep *p);

#endif
