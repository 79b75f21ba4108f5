/* What a plan's job leaves open. */
#ifndef SEARCH_PLAN_ASSUMED_H
#define SEARCH_PLAN_ASSUMED_H

#include "search/plan/job.h"

/* Fills job->assumed with what the stacks that are searched assume, of what the plans
 * themselves do not choose: "fsdp-torch2 (fsdp), megatron-2022 (megatron)" where they
 * differ. After the stacks were probed. */
void plan_assumed(struct plan_job *job);

/* The quality of the network that the job names; NULL: it names none. */
const json_t *plan_quality(const struct plan_job *job);

#endif
