/* Where SMP's documents leave two readings, the default is said to be inferred, with the
 * memory of both (MODEL.md, "Tensor parallelism" and "Pipelines"). */
#ifndef REPLAY_READINGS_H
#define REPLAY_READINGS_H

#include "base/arena.h"
#include "parallel/scenario.h"

enum { READINGS_MAX = 2 };

/* Writes at most READINGS_MAX warnings, yields their number. Each builds the step of the
 * other reading, which is not run. */
int32_t readings_note(const char **out, struct arena *arena, const struct scenario *s,
                      int64_t peak_B);

#endif
