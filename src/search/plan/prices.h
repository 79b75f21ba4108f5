/* What each instance costs an hour: list prices of one date for all of them where there
 * is one, or the user's own. Where list prices of different dates would be compared,
 * the job says so. */
#ifndef SEARCH_PLAN_PRICES_H
#define SEARCH_PLAN_PRICES_H

#include "search/plan/job.h"

/* own: "p4d.24xlarge=32.77" or "...=32.77USD/h"; errors go to the loader's diags. */
int plan_prices(struct plan_job *job, const struct raw_plan *own);

#endif
