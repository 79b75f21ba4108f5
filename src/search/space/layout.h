/* The layout of stages that a scenario gives ("partition"): plans keep it where it
 * holds. Others have one of their own where layers do not come out even. */
#ifndef SEARCH_SPACE_LAYOUT_H
#define SEARCH_SPACE_LAYOUT_H

#include "search/space/space.h"

/* Reads it from a scenario's "parallelism" (NULL: there is none), which a scenario's
 * reader has checked or will. false: no layout is given, or not with the stages that it
 * is of. Values live in the tree. */
bool space_layout_read(struct space_layout *l, const json_t *parallelism,
                       const struct model *m);

/* Whether a plan keeps the layout. Counts of layers are of so many stages and chunks;
 * a method is of the library that the scenario names, and needs ends that come out
 * even. */
bool space_layout_holds(const struct space *s, const struct space_point *p);

/* Layers of the fullest stage of a plan that keeps it; 0: as layers divide. */
double space_layout_most(const struct space *s, const struct space_point *p);

/* Whether a plan has a layout of its own: its layers do not come out even over all chunks of
 * its stages, and its library takes the layers of each. Stages then differ by one layer at
 * most: the first with fewer is the one with the head, then the one with the embedding. */
bool space_layout_spreads(const struct space *s, const struct space_point *p);

/* Writes what is given, or a layout of its own, into "parallelism". */
void space_layout_put(const struct space *s, const struct space_point *p,
                      json_t *parallelism);

/* Says of a plan which it is: ", layout as given", ", 4 layers a stage (3 on 3)", or
 * nothing. Returns the length, as snprintf. */
int space_layout_text(const struct space *s, const struct space_point *p, char *buf,
                      size_t size);

#endif
