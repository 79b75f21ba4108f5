/* What stacks do by their profiles and on a job's instances, as bits of its space. */
#ifndef SEARCH_PLAN_TRAITS_H
#define SEARCH_PLAN_TRAITS_H

#include "search/plan/job.h"

/* Fills fused_stacks and asked_stacks of the space from the stacks' probes. */
void plan_traits_find(struct plan_job *job);

#endif
