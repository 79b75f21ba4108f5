/* The layout of stages that a scenario gives ("partition"): plans keep it where it
 * holds. */
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

#endif
