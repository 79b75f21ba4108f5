/* Measurements that separate plans (risk/pilot.h), and what they cost: all-reduces on a
 * node, on two, on eight and on all; twenty steps of a plan, on the fewest nodes that it
 * fits on with the batch cut to them, and on all its nodes. */
#ifndef SEARCH_PLAN_PILOT_H
#define SEARCH_PLAN_PILOT_H

#include "risk/pilot.h"
#include "search/plan.h"

enum { PLAN_PILOT_PLANS = 10, PLAN_PILOT_MEASURES = 24, PLAN_PILOT_STEPS = 20 };

struct plan_measure {
    char name[24]; /* "all-reduce-2", "plan-1-on-2" */
    struct pilot_measure measure;
    int32_t plan; /* of the outcome; -1: a collective */
    int64_t nodes;
    const char *instance;
    struct plan_result predicted; /* of the step */
    json_t *tree;                 /* the step's scenario; owned; NULL: none */
    double minutes, instance_minutes, usd;
    bool done;           /* it was measured: */
    double said;         /* log of measured over predicted */
    double regret_after; /* expected */
};

struct plan_pilot {
    int32_t n_plans, n;
    struct pilot *draws;
    struct plan_measure of[PLAN_PILOT_MEASURES];
};

/* Of the first plans of an outcome. */
void plan_pilot_make(struct plan_pilot *p, const struct plan_job *job,
                     const struct plan_outcome *out, const struct plan_options *o);
void plan_pilot_release(struct plan_pilot *p);

/* The measurement of a name; NULL: there is none. */
struct plan_measure *plan_pilot_find(struct plan_pilot *p, const char *name);

/* What was measured, as the logarithm of measured over predicted time. */
void plan_pilot_learn(struct plan_pilot *p, struct plan_measure *m, double said);

/* Fills what each measurement leaves, and sorts them: the least regret first, of equal
 * ones the cheaper; those that were done last. */
void plan_pilot_rank(struct plan_pilot *p);

#endif
