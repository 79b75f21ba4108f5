/* What a measurement is worth before a choice between plans: how far the regret that is
 * expected of the best choice falls, in the mean over what the measurement may say.
 *
 *     value of a measurement = regret now - E over its outcomes of the regret after
 *
 * Draws (risk.h) are the possible systems, each with a weight. A measurement says the
 * logarithm of measured over predicted, with an error of its own. In turn each draw is
 * taken to be the truth: the others are weighed by how well they agree with what the
 * measurement would say there, the plan of least regret by them is chosen, and has its
 * regret in that draw. A step shows its plan's own residual, too: what of it the shared
 * unknowns of a draw do not explain. Residuals of plans that were not measured have no
 * part in a choice, but in its regret. O(draws^2 x plans) a measurement. */
#ifndef RISK_PILOT_H
#define RISK_PILOT_H

#include "risk/risk.h"

#include <stdbool.h>

enum pilot_kind {
    PILOT_COLLECTIVE, /* the rate of links, inside a node or between nodes */
    PILOT_STEP        /* a step of a plan */
};

struct pilot_measure {
    enum pilot_kind kind;
    enum resource of;      /* COLLECTIVE: LINKS or NETWORK, ... */
    double octaves;        /* ... and log2 of its nodes */
    int32_t plan;          /* STEP: of which plan, ... */
    struct risk_plan step; /* ... as it is run; its key is the plan's */
    bool whole;            /* STEP: on all nodes of the plan, so that it shows whether
                              it fits, too */
    double error;          /* deviation of the logarithm of what it says */
};

enum { PILOT_PLANS_MAX = 16 };

struct pilot;

/* Plans to choose between, of one job; at most PILOT_PLANS_MAX. */
struct pilot *pilot_new(const struct risk_plan *plans, int32_t n,
                        const struct risk_widths *w, const struct risk_options *o);
void pilot_free(struct pilot *p);

/* The least regret that is expected of a plan, as a share of its value; *choice is it. */
double pilot_regret(const struct pilot *p, int32_t *choice);

/* That of one plan, and the probability that it is the best. */
double pilot_plan_regret(const struct pilot *p, int32_t plan);
double pilot_plan_best(const struct pilot *p, int32_t plan);

/* The regret that is expected after a measurement. */
double pilot_after(const struct pilot *p, const struct pilot_measure *m);

/* A measurement said the logarithm of measured over predicted; INFINITY: the step did not
 * fit. */
void pilot_learn(struct pilot *p, const struct pilot_measure *m, double said);

/* How many draws agree with what was measured, as equal ones. Below 10 or so, what was
 * measured is unlike anything that was drawn. */
double pilot_draws(const struct pilot *p);

#endif
