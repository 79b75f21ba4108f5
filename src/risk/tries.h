/* Which plans to try, where more than one may be: the first, and after it those that make
 * the best of all that are tried lose least. A plan that fails or wins for the same reasons
 * as those before it adds little; one that is good where they are not adds more. Plans of
 * one key, or of equal memory, are alike: one is tried, as long as there are others. */
#ifndef RISK_TRIES_H
#define RISK_TRIES_H

#include "risk/risk.h"

enum { RISK_TRIES = 3 };

struct risk_tries {
    int32_t n; /* as many as there are plans, RISK_TRIES at most */
    int32_t plan[RISK_TRIES];
    double lost[RISK_TRIES]; /* the mean regret of the best of the plans up to here,
                                residuals of their own counted: trying shows them */
};

/* After plan `first`, each that adds most, one after the other; of equal ones the earlier.
 * O(plans log plans x draws). */
struct risk_tries risk_tries_make(const struct risk_plan *plans, int32_t n,
                                  int32_t first, const struct risk_widths *w,
                                  const struct risk_options *o);

#endif
