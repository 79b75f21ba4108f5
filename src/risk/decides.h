/* Which unknown makes another plan better than the first: the one whose value best
 * separates the draws in which it does from the others. Residuals of the plans' own are
 * left out: what is asked is what could be measured of a system before choosing. */
#ifndef RISK_DECIDES_H
#define RISK_DECIDES_H

#include "risk/risk.h"

/* Unknowns that plans share; up to RESOURCE_N these are resources. */
enum { RISK_UNKNOWN_MEMORY = RESOURCE_N, RISK_UNKNOWNS };
extern const struct name_value risk_unknown_names[];

struct risk_decision {
    bool changes;  /* some draw has another best; else what follows is 0 */
    int32_t other; /* the plan that saves the most where it is better */
    double share;  /* of the draws in which it is */
    bool known;    /* one unknown separates these draws; else several do together */
    int unknown;   /* it, */
    bool above;    /* whose factor on time, or memory, is then above ... */
    double factor; /* ... or below this one, */
    double right;  /* and the share of draws that this shows rightly */
};

/* What decides between plans[first] and the others. O(n x draws). */
struct risk_decision risk_decide(const struct risk_plan *plans, int32_t n,
                                 int32_t first, const struct risk_widths *w,
                                 const struct risk_options *o);

#endif
