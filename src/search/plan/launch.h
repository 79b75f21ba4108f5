/* How SageMaker starts a plan. Its launchers hold NCCL to Simple over EFA, so a plan is
 * simulated with the one that its job is started by: on instances named "ml.", of a
 * scenario that has a dictionary, and where an estimator is asked for. */
#ifndef SEARCH_PLAN_LAUNCH_H
#define SEARCH_PLAN_LAUNCH_H

#include "search/plan/job.h"

/* Takes the launcher that a scenario's "distribution" names (NULL: it has none).
 * `estimator`: the plan is to be written as one. */
void plan_launch_read(struct plan_job *job, const json_t *distribution, bool estimator);

/* Notes what of that is assumed; after the instances and libraries of the space. */
void plan_launch_assume(struct plan_job *job);

/* The "distribution" of a plan in smsim's own words (a new tree); NULL: the script
 * starts its processes itself, or none of SageMaker's launchers sets the library up. */
json_t *plan_launch_json(const struct plan_job *job, const struct space_point *p);

#endif
