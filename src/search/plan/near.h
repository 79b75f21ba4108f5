/* Points one change away: for each field the nearest value on either side that the
 * rules allow with all else equal. */
#ifndef SEARCH_PLAN_NEAR_H
#define SEARCH_PLAN_NEAR_H

#include "search/plan.h"

enum { PLAN_NEAR_MAX = 40 };

struct plan_near {
    enum space_field field; /* what differs */
    struct space_point point;
};

/* Fills `near`, by field, the smaller digit first; returns how many. */
int32_t plan_near(struct plan_near near[PLAN_NEAR_MAX], const struct space *s,
                  const struct space_point *from);

#endif
