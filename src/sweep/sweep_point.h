/* One point of a sweep: simulated, and what became of it as a line of JSON. */
#ifndef SWEEP_SWEEP_POINT_H
#define SWEEP_SWEEP_POINT_H

#include "base/err.h"
#include "sweep/sweep.h"
#include "sweep/sweep_inputs.h"

extern const struct contract sweep_point_contract;

/* The record of a point, with the name of its schema left out, one line without its end; the caller frees it. What cannot be
 * simulated becomes an error in the record. Threads may share the sweep, but each has a
 * loader of its own for files that points have in common (cfg_loader.shared); the line
 * is the same whatever ran before. What was read for it is added to `inputs`; -> NULL
 * with err set where that shows a file that has changed since. */
char *sweep_point_run(const struct sweep *s, int64_t point, struct cfg_loader *files,
                      struct sweep_inputs *inputs, struct err *err);

/* The scenario of a point, a new tree; NULL with err set where a path leads nowhere. */
json_t *sweep_point_scenario(const struct sweep *s, int64_t point, struct err *err);

/* What an axis' field is at a point (borrowed). */
json_t *sweep_point_value(const struct sweep *s, int32_t field, int64_t point);

#endif
