/* Step times by Monte Carlo: each draw replays the step with factors of its own, drawn
 * of (seed, draw), so that draws may run anywhere in any order. */
#ifndef CAMPAIGN_MONTECARLO_H
#define CAMPAIGN_MONTECARLO_H

#include "campaign/uncertainty.h"

/* Whether steps differ between draws at all. */
bool montecarlo_varies(const struct uncertainty *u);

/* Whether every rank of the job is drawn. */
bool montecarlo_unfolds(const struct scenario *s, const struct uncertainty_draws *how);

/* times_s[draws]. Fails at what cannot be simulated. */
int montecarlo_steps(double *times_s, int64_t draws, const struct uncertainty *u,
                     const struct scenario *s, const struct uncertainty_draws *how,
                     struct err *err);

/* Sorts the values and summarises them. */
void montecarlo_summarise(struct distribution *d, double *values, int64_t n);

#endif
