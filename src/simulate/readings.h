/* What has to be said about an SMP job. Where its documents leave two readings, the
 * default is said to be inferred, with the memory of both (MODEL.md, R11, "Readings");
 * modules that its tensor groups leave whole are named, and where stages are not as it
 * makes them. */
#ifndef SIMULATE_READINGS_H
#define SIMULATE_READINGS_H

#include "base/arena.h"
#include "scenario/scenario.h"

enum { READINGS_MAX = 6 };

/* Writes at most READINGS_MAX warnings, yields their number. Each builds the step of
 * the other reading, which is not run. */
int32_t readings_note(struct diag *out, struct arena *arena, const struct scenario *s,
                      int64_t peak_B);

#endif
