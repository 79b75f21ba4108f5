/* The one order of plans: first what the filters say of a plan (its standing), then the
 * objective, then the digits of the point. Lists, fronts, neighbours, JSON and what is
 * emitted all go by it.
 *
 * Filters: a user of the model can run it (search/space/users.h); it keeps the budget. What
 * rules forbid is in no space. That memory may not suffice counts in one of two ways:
 *     point estimate   a filter: it fits with a probability of nine in ten by the stated
 *                      error of predicted memory (interval_memory_is_near; MODEL.md, 14.1)
 *     under risk       the objective over the probability that it fits (risk_fits): a run
 *                      that fails is worth nothing, so that one counts once, and no
 *                      filter counts it again */
#ifndef SEARCH_PLAN_ORDER_H
#define SEARCH_PLAN_ORDER_H

#include "search/plan.h"

/* Fills standing and key of an entry whose result, cost and value are known. */
void plan_order_judge(struct plan_entry *e, const struct plan_job *job,
                      const struct plan_options *o);

/* For qsort: by standing, key, digits. */
int plan_order_compare(const void *a, const void *b);

/* What a plan that is not simulated yet may come to at best. */
struct plan_reach {
    double value;         /* of the objective */
    double excess;        /* the key of PLAN_OVER */
    double need;          /* memory over the GPU's */
    bool user, in_budget; /* whether it may be of the users' and in the budget */
    bool risky;           /* memory counts by its probability, not as a filter */
};

/* Keys up to which a plan of each standing is worth simulating. */
struct plan_limits {
    enum plan_standing listed; /* PLAN_STANDINGS: nothing yet that could be */
    double v[PLAN_STANDINGS];
};

/* The limits that n entries leave: ranks 1 to `listed` of the first standing that can be
 * listed, and the best of each that is kept back where it would gain. O(n log n). */
void plan_order_limits(struct plan_limits *l, const struct plan_entry *entries,
                       int64_t n, int32_t listed);

/* The key that it would be listed by. */
double plan_order_key(const struct plan_reach *r);

/* Whether a plan of that reach may be among what the limits ask for. */
bool plan_order_matters(const struct plan_limits *l, const struct plan_reach *r);

/* The standing and key that it has if it comes to that. */
enum plan_standing plan_order_expect(const struct plan_reach *r, double *key);

#endif
