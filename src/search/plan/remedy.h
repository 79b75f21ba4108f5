/* What would make a job fit that does not, in the order of the SageMaker guide: a
 * smaller batch, activation checkpointing, sharding, model parallelism, more instances,
 * bigger ones. Each opens some of the space's values on top of those before, and is
 * checked by a search with simulation. */
#ifndef SEARCH_PLAN_REMEDY_H
#define SEARCH_PLAN_REMEDY_H

#include "search/plan.h"

enum { PLAN_REMEDIES = 6 };

struct plan_remedy {
    const char *what;
    bool tried; /* false: there was nothing left to open */
    bool fits;
    bool has_entry;
    struct plan_entry entry; /* the plan that fits, or what comes nearest */
    const char *cluster;     /* "32 x p4de.24xlarge" */
    const char *text;        /* the plan in words */
};

/* Ends with the first remedy that works; returns how many were looked at. */
int32_t plan_remedies(struct plan_remedy out[PLAN_REMEDIES], struct arena *arena,
                      const struct plan_job *job, const struct plan_options *o);

#endif
