/* The plans that no other beats in two things at once. */
#ifndef SEARCH_PLAN_FRONT_H
#define SEARCH_PLAN_FRONT_H

#include "search/plan.h"

enum plan_axis { PLAN_AXIS_COST, PLAN_AXIS_MEMORY }; /* against time */

/* USD per million samples, or bytes; NAN when unknown. */
double plan_axis_value(const struct plan_job *job, const struct plan_entry *e,
                       enum plan_axis axis);

/* Indices of entries on the front of step time against the axis, fastest first, into
 * `front` (room for n_entries); returns how many. */
int32_t plan_front(int32_t *front, const struct plan_job *job,
                   const struct plan_outcome *out, enum plan_axis axis);

#endif
