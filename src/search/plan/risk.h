/* Plans under uncertainty: verdicts of risk/risk.h on all that are listed, and their order by
 * expected regret. */
#ifndef SEARCH_PLAN_RISK_H
#define SEARCH_PLAN_RISK_H

#include "search/plan.h"

/* Fills the entries' verdicts and sorts them by the regret that o->risk.rule says, then
 * by the objective; RISK_NONE leaves all as it is. O(entries x draws). */
void plan_risk_judge(struct plan_outcome *out, const struct plan_options *o);

/* A plan as draws see it. */
struct risk_plan plan_risk_plan(const struct plan_entry *e);

#endif
