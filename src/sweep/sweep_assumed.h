/* What the points of a sweep leave open, printed once for all of them. */
#ifndef SWEEP_SWEEP_ASSUMED_H
#define SWEEP_SWEEP_ASSUMED_H

#include "scenario/assumed.h"
#include "scenario/scenario.h"
#include "sweep/sweep.h"

/* The scenarios of the first point, and of those that differ from it along one axis, the
 * others at their first value; a few hundred at most. Points that cannot be read have
 * none. A scenario lives as long as the call. */
void sweep_visit(const struct sweep *s,
                 void (*visit)(void *arg, const struct scenario *s), void *arg);

/* Adds what those scenarios leave open: "flash or unfused". Rows live in the arena. */
void sweep_assumed(struct assumptions *out, const struct sweep *s, struct arena *arena);

#endif
