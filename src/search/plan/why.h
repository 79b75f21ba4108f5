/* Why the best plan is the best: what bounds it, what more of each resource would
 * bring, and what one change of it costs; all by simulation. */
#ifndef SEARCH_PLAN_WHY_H
#define SEARCH_PLAN_WHY_H

#include "search/plan/near.h"

struct plan_sensitivity {
    const char *what; /* "network x2" */
    bool known;
    double step_time_s, per_sample; /* time per sample over that of the plan */
};

struct plan_alternative {
    enum space_field field; /* what differs from the plan */
    struct plan_entry entry;
    enum category worse; /* the part of the step that grew most */
    double worse_s;
};

enum { PLAN_SENSITIVITIES = 5 };

struct plan_why {
    enum category bottleneck; /* the largest part of the step other than computation */
    struct plan_sensitivity sensitivities[PLAN_SENSITIVITIES];
    int32_t n_alternatives; /* in the order of plans */
    struct plan_alternative alternatives[PLAN_NEAR_MAX];
    int32_t memory; /* index of the fastest alternative that only more memory would let
                       fit, when it is faster than the plan; -1: none */
};

/* Of the best of the outcome's entries, of which there is one at least. */
void plan_why(struct plan_why *w, const struct plan_job *job,
              const struct plan_options *o, const struct plan_outcome *out);

#endif
