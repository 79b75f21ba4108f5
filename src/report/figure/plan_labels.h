/* Short names of plans in a figure: "tp8 pp16 dp4 mb1". */
#ifndef REPORT_FIGURE_PLAN_LABELS_H
#define REPORT_FIGURE_PLAN_LABELS_H

#include "base/arena.h"
#include "search/plan.h"

/* Names n points into labels[n], each in the arena: instances, library, sharding and the
 * rest of a plan where the points differ in it, degrees above one, and the micro-batch.
 * Points that are not equal have unequal names. */
void plan_labels(const char **labels, struct arena *arena, const struct plan_job *job,
                 const struct space_point *const *points, size_t n);

/* Libraries of n points, each once: "ddp, fsdp or megatron". */
const char *plan_libraries(struct arena *arena, const struct plan_entry *entries,
                           int32_t n);

#endif
