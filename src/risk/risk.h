/* Plans under uncertainty: step times and memory drawn over what a prediction does not know,
 * and from the draws how probably each plan is the best, what choosing it costs in the
 * mean, and how probably it does not fit.
 *
 * A draw has one factor for each resource (simulate/resources.h), which all plans share:
 * a network slower than predicted is slower under every plan. Each plan has a residual
 * of its own. The time of a plan in a draw follows from what its step rests on, without
 * a replay (MODEL.md, 14.2):
 *
 *     t' = sum over resources of s_k f_k  (traffic that is hidden first fills its window)
 *        times the plan's own residual
 *
 * Numbers depend on seed, draw and the plan's key alone: draws may be made in any order
 * and by any number of threads. O(plans x draws): 10 us a plan of 200 draws.
 *
 * Files of this folder:
 *     risk, draw, expect: verdicts on plans; the draws; what of memory is not drawn
 *     widths: how wide the unknowns are, and what that was fitted to
 *     tries: which plans to try after the first
 *     decides: the unknown that makes another plan win */
#ifndef RISK_RISK_H
#define RISK_RISK_H

#include "simulate/resources.h"

#include <stdint.h>

enum { RISK_FREEDOM = 4 }; /* degrees of it, of Student's law of what plans share */

/* How wide the unknowns are. Scales of logarithms of time or bytes, measured over
 * predicted. */
struct risk_widths {
    double resource[RESOURCE_N]; /* shared by all plans, of Student's law; of the
                                    network for each doubling of nodes */
    double own;        /* deviation of a plan's residual, on the median system, ... */
    double own_spread; /* ... and of that one's logarithm between systems */
    double slow_share; /* of the runs that are slow for no reason of theirs; */
    double slow;       /* their logarithm is exponential, with this mean */
    double memory_mean, memory_shared, memory_own;
};

/* Fitted to the tables of validate (docs/validation/probabilities.md). */
extern const struct risk_widths risk_widths;

/* A state that a run may be in without anyone's choice, such as a variable of its
 * environment: with that chance it takes so many times as long as predicted. Each plan's
 * run is in its own. */
struct risk_state {
    double chance, times;
};
enum { RISK_STATES = 4 }; /* of a plan; chances of 0 are none */

struct risk_plan {
    uint64_t key;        /* of its own residual: equal plans have equal ones */
    double value, usual; /* what it is judged by, the less the better, and a step of its
                            time: value grows as usual does */
    struct resources by;
    double octaves; /* log2 of its nodes */
    double peak_B, capacity_B;
    struct risk_state states[RISK_STATES]; /* exclude each other: sum of chances <= 1 */
};

/* By which number of its regret a plan is judged. */
enum risk_rule { RISK_NONE, RISK_MEAN, RISK_P90, RISK_MINIMAX };
extern const struct name_value risk_rule_names[];

struct risk_options {
    enum risk_rule rule;
    int32_t draws;
    int64_t seed;
    bool of_memory; /* values are bytes, not times */
};

/* What `plan` draws where nothing else is asked for. */
extern const struct risk_options risk_usual;

/* Regret in a draw: the share of the plan's value that the best one of the draw saves;
 * all of it where the plan does not fit. Residuals of the plans' own times, of one law
 * for all, are left out of it: which plan they favour, no choice can know. */
struct risk_verdict {
    double best; /* probability that no other is better */
    double mean, p90, worst;
    double unfit; /* probability that it does not fit */
};

/* The regret that the rule orders by; of none the mean. */
double risk_regret(const struct risk_verdict *v, enum risk_rule rule);

/* The probability that a plan fits whose predicted memory is that share of the GPU's. */
double risk_fits(const struct risk_widths *w, double need);

/* Verdicts on n plans of one job. */
void risk_judge(struct risk_verdict *out, const struct risk_plan *plans, int32_t n,
                const struct risk_widths *w, const struct risk_options *o);

#endif
