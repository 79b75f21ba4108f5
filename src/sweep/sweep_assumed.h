/* What the points of a sweep leave open, printed once for all of them. */
#ifndef SWEEP_SWEEP_ASSUMED_H
#define SWEEP_SWEEP_ASSUMED_H

#include "scenario/assumed.h"
#include "sweep/sweep.h"

/* Adds what the first point leaves open, and what differs from it along each axis, the
 * others at their first value: "flash or unfused". Rows live in the arena, and points
 * that cannot be read have none. At most a few hundred scenarios are read. */
void sweep_assumed(struct assumptions *out, const struct sweep *s, struct arena *arena);

#endif
