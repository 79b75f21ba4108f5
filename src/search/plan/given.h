/* What is given to a plan and could not act is refused by name. */
#ifndef SEARCH_PLAN_GIVEN_H
#define SEARCH_PLAN_GIVEN_H

#include "search/plan.h"

/* Of the request alone: --set of what a plan chooses, or of what another option gives.
 * Errors go to diags; -1 then. */
int plan_given_sets(const struct plan_request *r, struct diags *diags);

/* The same of a launch script, which may lack what a plan chooses: warnings. */
void plan_given_script(const struct plan_request *r, struct diags *diags);

/* Errors about a job that was made of options, so that they name these. */
void plan_given_missing(struct diags *diags);

/* Of a scenario's "parallelism", which a plan replaces: warns of what no plan chooses,
 * and says which plans keep the layout of stages (NULL: none does) and how states are
 * sharded. NULL: there is no such section. */
void plan_given_parallelism(const json_t *parallelism,
                            const struct space_layout *layout,
                            const struct space_own *own, struct diags *diags);

/* Of a job that is read, whose space is made: options about instances where the cluster
 * is taken as it is, libraries that --for or --emit exclude. */
int plan_given_job(const struct plan_job *job, const struct plan_request *r);

/* Costs that are asked for and unknown, budgets without a length of the job. */
int plan_given_budget(const struct plan_job *job, const struct plan_options *o,
                      struct err *err);

#endif
