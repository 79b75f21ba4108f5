/* What has to be said about an SMP job. Where its documents leave two interpretations, the
 * default is said to be inferred, with the memory of both (MODEL.md, R11, "Interpretations");
 * modules that its tensor groups leave whole are named, and where stages are not as it
 * makes them. */
#ifndef SIMULATE_INTERPRETATIONS_H
#define SIMULATE_INTERPRETATIONS_H

#include "base/arena.h"
#include "scenario/scenario.h"

enum { INTERPRETATIONS_MAX = 7 };

/* Writes at most INTERPRETATIONS_MAX warnings, yields their number. Each builds the step of
 * the other interpretation, which is not run. */
int32_t interpretations_note(struct diag *out, struct arena *arena,
                             const struct scenario *s, int64_t peak_B);

#endif
