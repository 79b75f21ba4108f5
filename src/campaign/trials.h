/* A hyperparameter search: many trials of one job, a few of them at once, some stopped
 * early (MODEL.md, "Trials"). */
#ifndef CAMPAIGN_TRIALS_H
#define CAMPAIGN_TRIALS_H

#include "campaign/job.h"

/* Each trial is given to the place that is free first. The stopped ones are spread
 * evenly over the order of trials. With a warm pool only the first job of a place
 * starts cold, and each place is kept, and billed, once after its last job. O(trials x
 * places). */
void trials_run(struct trials_result *r, const struct whole_job *job,
                const struct job_result *one, const struct scenario *s,
                const struct cost_result *cost);

/* Whether trial i is one of the share that is stopped early. */
bool trials_is_stopped(double share, int64_t i);

#endif
